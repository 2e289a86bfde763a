//! Drives a headless Chromium by its DevTools protocol, over a pair of pipes.
//!
//! `--remote-debugging-pipe` reads commands from descriptor 3 and answers on 4, in JSON texts that end with
//! a zero byte: no port, no socket, no driver to install. A shell assigns the descriptors.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const FLAGS: [&str; 13] = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--force-prefers-reduced-motion",
];
/// The silence after which a browser counts as lost.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with one tab; it ends when this is dropped.
pub(crate) struct Chromium {
    child: Child,
    commands: ChildStdin,
    answers: Receiver<Value>,
    events: VecDeque<Value>,
    session: Option<String>,
    last_id: u64,
    _profile: TempDir,
}

impl Chromium {
    /// Starts a browser, or returns the reason why it cannot.
    pub(crate) fn start() -> Result<Self, String> {
        let name = NAMES.iter().find(|name| answers_version(name));
        let name =
            name.ok_or_else(|| format!("none of {} can be started", NAMES.join(", ")))?;
        let profile = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", name])
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let commands = child.stdin.take().expect("piped");
        let output = child.stdout.take().expect("piped");
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for text in BufReader::new(output).split(0) {
                let Ok(text) = text else { return };
                let answer = serde_json::from_slice(&text).expect("the browser sends JSON");
                if sender.send(answer).is_err() {
                    return;
                }
            }
        });
        let mut browser = Self {
            child,
            commands,
            answers,
            events: VecDeque::new(),
            session: None,
            last_id: 0,
            _profile: profile,
        };
        let tab = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": tab["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", attach);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Ok(browser)
    }

    /// Sends a command and waits for its answer; earlier events are kept.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let mut command = json!({ "id": self.last_id, "method": method, "params": params });
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        self.commands.write_all(format!("{command}\0").as_bytes()).expect("it listens");
        loop {
            let answer = self.next();
            if answer["id"] != json!(self.last_id) {
                self.events.push_back(answer);
                continue;
            }
            assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
            return answer["result"].clone();
        }
    }

    fn next(&self) -> Value {
        self.answers.recv_timeout(PATIENCE).expect("the browser goes on")
    }

    /// Opens a page and waits until it is loaded.
    pub(crate) fn open(&mut self, url: &str) {
        self.events.clear();
        self.call("Page.navigate", json!({ "url": url }));
        let is_loaded = |event: &Value| event["method"] == json!("Page.loadEventFired");
        while !self.events.iter().any(is_loaded) {
            let event = self.next();
            self.events.push_back(event);
        }
    }

    /// Returns the value of an expression on the page, as JSON.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let params =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", params);
        let failed = &answer["exceptionDetails"];
        assert!(failed.is_null(), "{expression}: {failed}");
        answer["result"]["value"].clone()
    }

    /// Resizes the window.
    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600,
        });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Sets the system's preference for light or dark.
    pub(crate) fn prefer(&mut self, scheme: &str) {
        let feature = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": feature }));
    }

    /// Shows the page as in print.
    pub(crate) fn print(&mut self) {
        self.call("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    }

    /// Returns errors on the console, exceptions, and messages of the browser about the page.
    pub(crate) fn complaints(&self) -> Vec<&Value> {
        const COMPLAINTS: [&str; 3] =
            ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"];
        let method = |event: &Value| event["method"].as_str().unwrap_or_default().to_owned();
        let is_complaint = |event: &&Value| COMPLAINTS.contains(&method(event).as_str());
        self.events.iter().filter(is_complaint).collect()
    }

    /// Returns the requests since the page was opened.
    pub(crate) fn requests(&self) -> Vec<&str> {
        let sent = |event: &&Value| event["method"] == json!("Network.requestWillBeSent");
        let sent = self.events.iter().filter(sent);
        sent.map(|event| event["params"]["request"]["url"].as_str().unwrap_or("?")).collect()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // A clean close leaves no processes, so that the profile can be removed.
        let _ = self.commands.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        for _ in 0..100 {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn answers_version(name: &str) -> bool {
    let mut command = Command::new(name);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
