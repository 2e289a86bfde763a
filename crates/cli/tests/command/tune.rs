//! `tune` measures a file system and keeps a profile, which reads then go by and name; nothing that
//! is wrong with a profile keeps a read from its bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::child::{code, stderr, stdout, swath, word};

/// A folder to measure in, one for settings, and a file to read.
struct Home {
    _folder: tempfile::TempDir,
    data: PathBuf,
    config: PathBuf,
    file: PathBuf,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let [data, config] = ["data", "config"].map(|name| folder.path().join(name));
        fs::create_dir(&data).expect("made");
        let file = folder.path().join("file");
        fs::write(&file, swath_reference::bytes(1, 9 << 20)).expect("written");
        Self { _folder: folder, data, config, file }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = swath();
        command.args(words).env("XDG_CONFIG_HOME", &self.config);
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        let output = self.command(words).output().expect("the command starts");
        assert!(!stderr(&output).contains("panicked"), "{output:?}");
        output
    }

    fn tune(&self, words: &[&str]) -> Output {
        self.run(&[&["tune", "--path", word(&self.data)], words].concat())
    }

    /// Measures in a second, and gives the file of the profile.
    fn tuned(&self) -> (Value, PathBuf) {
        let output = self.tune(&["--budget", "1", "--json"]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let json = parsed(&output);
        let path = PathBuf::from(json["path"].as_str().expect("a path"));
        (json, path)
    }

    /// Returns the report of `read` about its file.
    fn report(&self, words: &[&str]) -> (Value, String) {
        let output = self.run(&[&["read", "--json", word(&self.file)], words].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let report = parsed(&output)["runs"][0].clone();
        assert_eq!(report["bytes"], 9 << 20);
        (report, stderr(&output))
    }

    /// A profile of this file system with these settings, and no others.
    fn with_settings(&self, settings: &str) -> PathBuf {
        let kept =
            fs::read_dir(self.config.join("swath/profiles")).into_iter().flatten().flatten();
        // Within a second nothing may be compared, which does not replace what is there.
        let path = kept.map(|kept| kept.path()).next().unwrap_or_else(|| self.tuned().1);
        let text = fs::read_to_string(&path).expect("kept");
        let head = text.split("[settings]").next().expect("what it is for");
        // One that changes nothing has a file that no verb reads.
        fs::remove_file(&path).expect("there");
        let path = path.with_extension("toml");
        fs::write(&path, format!("{head}[settings]\n{settings}\n")).expect("written");
        path
    }
}

fn parsed(output: &Output) -> Value {
    let text = stdout(output);
    serde_json::from_str(text.lines().last().unwrap_or_default()).expect("JSON")
}

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

#[test]
fn what_was_measured_is_kept_shown_used_named_and_cleared() {
    let home = Home::new();
    assert_eq!(home.report(&[]).0["profile"], Value::Null);
    let (json, path) = home.tuned();
    assert!(path.starts_with(&home.config) && path.exists(), "{json}");
    let measured = json["measured"].as_array().expect("every setting");
    assert_eq!(measured.len(), 12, "{json}");
    assert!(measured.iter().all(|one| one["because"].is_string()));
    assert_eq!(entries(&home.data), 0, "files are left");
    let shown = parsed(&home.tune(&["--show", "--json"]));
    assert_eq!((&shown["key"], &shown["settings"]), (&json["key"], &json["settings"]));
    let text = stdout(&home.tune(&["--show"]));
    assert!(text.contains("warm-workers") && text.contains(word(&path)), "{text}");

    if json["settings"].as_object().is_some_and(serde_json::Map::is_empty) {
        assert_eq!(home.report(&[]).0["profile"], Value::Null, "it changes nothing");
    }
    let path = home.with_settings("warm_workers = 2");
    let name = &json["name"];
    assert!(name.as_str().is_some_and(|name| name.contains(" on ")), "{name}");
    assert_eq!(&home.report(&[]).0["profile"], name);
    assert_eq!(home.report(&["--no-profile"]).0["profile"], Value::Null);
    let text = stdout(&home.run(&["read", word(&home.file)]));
    assert!(text.contains(&format!("profile {}", name.as_str().expect("text"))), "{text}");
    for words in [&["sum", "--json"][..], &["scan", "--json"], &["ingest", "--json"]] {
        let words = [words, &[word(&home.file)]].concat();
        assert_eq!(&parsed(&home.run(&words))["profile"], name, "{words:?}");
        let words = [&words[..], &["--no-profile"]].concat();
        assert_eq!(parsed(&home.run(&words))["profile"], Value::Null, "{words:?}");
    }

    let output = home.tune(&["--clear"]);
    assert_eq!((code(&output), path.exists()), (0, false));
    assert!(stdout(&output).contains(word(&path)));
    assert_eq!(home.report(&[]).0["profile"], Value::Null);
    let output = home.tune(&["--show"]);
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("try: run `swath tune --path"), "{}", stderr(&output));
    let (_, path) = home.tuned();
    assert_eq!((code(&home.tune(&["--clear", "--all"])), path.exists()), (0, false));
}

#[test]
fn a_profile_decides_where_no_flag_does() {
    let home = Home::new();
    home.with_settings("warm_workers = 1\nwarm_chunk_size_bytes = 262144");
    home.report(&[]);
    let (tuned, _) = home.report(&[]);
    assert_eq!(
        (&tuned["workers"], &tuned["chunk_size_bytes"]),
        (&1.into(), &262_144.into()),
        "{tuned}"
    );
    assert!(tuned["reason"].as_str().is_some_and(|why| why.contains("as tuned")), "{tuned}");
    let (asked, _) = home.report(&["--workers", "2", "--chunk-size", "1MiB"]);
    assert_eq!((&asked["workers"], &asked["chunk_size_bytes"]), (&2.into(), &(1 << 20).into()));
    let (plain, _) = home.report(&["--no-profile"]);
    assert_eq!(plain["chunk_size_bytes"], 1 << 20);
    home.with_settings("warm_workers = 1000000");
    let (bounded, _) = home.report(&[]);
    assert!(bounded["fallbacks"][0].as_str().is_some_and(|it| it.contains("warm workers")));
}

#[test]
fn what_is_wrong_with_a_profile_is_one_line_and_the_defaults() {
    let home = Home::new();
    let path = home.with_settings("warm_workers = \"all\"");
    let good = fs::read_to_string(&path).expect("there").replace("\"all\"", "1");
    for wrong in [
        fs::read_to_string(&path).expect("there"),
        good.replace("version = 1", "version = 7"),
        good[..good.len() / 3].to_owned(),
        String::from("\u{1}"),
    ] {
        fs::write(&path, wrong).expect("damaged");
        let (report, said) = home.report(&[]);
        assert_eq!(report["profile"], Value::Null);
        assert!(said.contains(word(&path)) && said.contains("the defaults are used"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert_eq!(home.report(&["--no-profile"]).1, "", "without the profile");
        let output = home.tune(&["--show"]);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains("try: run swath tune"), "{}", stderr(&output));
    }
    for (wrong, why) in
        [("cores = ", "cores = 9"), ("device = \"", "device = \"77:")].into_iter()
    {
        fs::write(&path, good.replace(wrong, why)).expect("of another place");
        let (report, said) = home.report(&[]);
        assert_eq!((&report["profile"], &*said), (&Value::Null, ""), "{why}");
        assert!(stderr(&home.tune(&["--show"])).contains("not used here"), "{why}");
    }
    fs::write(&path, good).expect("mended");
    assert_ne!(home.report(&[]).0["profile"], Value::Null);
}

#[test]
fn another_file_system_has_no_part_in_it() {
    let home = Home::new();
    home.with_settings("warm_workers = 1");
    let Ok(memory) = tempfile::NamedTempFile::new_in("/dev/shm") else {
        return swath_reference::skip("tmpfs", "/dev/shm cannot be written");
    };
    fs::write(memory.path(), vec![1; 100_000]).expect("written");
    let device = |path: &Path| {
        let facts = fs::metadata(path).expect("there");
        std::os::unix::fs::MetadataExt::dev(&facts)
    };
    if device(memory.path()) == device(&home.file) {
        return swath_reference::skip("tmpfs", "the tests are in memory themselves");
    }
    let output = home.run(&["read", "--json", word(memory.path())]);
    assert_eq!(parsed(&output)["runs"][0]["profile"], Value::Null);
    let output = home.run(&["tune", "--budget", "1", "--path", "/dev/shm", "--json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let json = parsed(&output);
    let notes = json["notes"].as_array().expect("notes");
    assert!(notes.iter().any(|note| note.to_string().contains("in memory")), "{json}");
    assert_eq!(entries(&home.config.join("swath/profiles")), 2);
}

#[test]
fn where_nothing_can_be_kept_or_made_nothing_is_measured() {
    let home = Home::new();
    fs::write(&home.config, "a file, no folder").expect("written");
    let output = home.tune(&["--budget", "60"]);
    assert_eq!(code(&output), 2);
    let said = stderr(&output);
    assert!(said.contains("try: set XDG_CONFIG_HOME") && said.contains("config"), "{said}");
    assert_eq!(home.report(&[]).0["profile"], Value::Null);
    fs::remove_file(&home.config).expect("removed");
    for place in ["/proc/self", "/no/such/folder"] {
        let output = home.run(&["tune", "--budget", "60", "--path", place]);
        assert_eq!(code(&output), 2);
        let said = stderr(&output);
        assert!(said.contains(place) && said.contains("try: name a"), "{said}");
    }
    assert_eq!(entries(&home.config.join("swath/profiles")), 0);
}

#[test]
fn ctrl_c_leaves_no_file_and_no_half_profile() {
    let home = Home::new();
    let mut command = home.command(&["tune", "--budget", "600", "--path", word(&home.data)]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    let patience = Instant::now() + Duration::from_secs(60);
    while entries(&home.data) == 0 && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(5));
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("kill").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(stderr(&output).contains("nothing is saved"), "{}", stderr(&output));
    assert_eq!(entries(&home.data), 0, "files are left");
    assert_eq!(entries(&home.config.join("swath/profiles")), 0);
}
