//! Inputs, and runs of a command in a folder of its own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use swath::job::{Division, JobOptions};
use swath_formats::compressed::{CompressOptions, Format};
use swath_formats::table;
use tempfile::TempDir;

use crate::commands::{Answer, Case};
use crate::limit::{Limit, full};

/// After this, a command hangs.
const PATIENCE: Duration = Duration::from_secs(180);

/// Files by their names below a folder.
pub(crate) type Files = BTreeMap<OsString, Vec<u8>>;

/// The words of a command.
type Words = &'static [&'static str];

/// How a command went.
pub(crate) struct Ran {
    pub(crate) words: Words,
    pub(crate) code: Option<i32>,
    signal: Option<i32>,
    pub(crate) error: String,
    pub(crate) printed: Vec<u8>,
    pub(crate) left: Files,
}

impl fmt::Debug for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { words, code, signal, error, printed, left } = self;
        let (len, left) = (printed.len(), names(left));
        write!(f, "{words:?}: {code:?} {signal:?} {error} {len} bytes printed, left {left:?}")
    }
}

/// The inputs, and what each command makes of them.
pub(crate) struct Stage {
    inputs: TempDir,
    right: Mutex<BTreeMap<Words, (Vec<u8>, Files)>>,
}

impl Stage {
    /// Makes the inputs of all commands but those of `commands::LARGE`.
    pub(crate) fn make() -> Self {
        let stage =
            Self { inputs: tempfile::tempdir().expect("a folder"), right: Mutex::default() };
        for words in [
            &["gen", "bytes", "300KiB", "-o", "bytes"][..],
            &["gen", "bytes", "300KiB", "-o", "copy"],
            &["gen", "letters", "200KiB", "-o", "letters"],
            &["gen", "mtx", "--scale", "6", "-o", "graph.mtx"],
            &["gen", "options", "500", "-o", "options"],
            &["gen", "tree", "--files", "60", "--size", "2kB", "-o", "tree"],
            &["compress", "letters", "letters.zst", "--block-size", "64KiB"],
            &["study", "fib", "8", "--bytes", "1KiB", "-o", "segments", "--mode", "segments"],
            &["manifest", "bytes", "-o", "manifest", "--chunk-size", "64KiB"],
        ] {
            stage.make_by(words);
        }
        stage.make_packed("people.csv", &people(5_000));
        stage
    }

    /// Makes an input by a command.
    fn make_by(&self, words: &[&str]) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_swath"));
        let output = command.args(words).current_dir(self.inputs.path()).output();
        let output = output.expect("the command starts");
        assert!(output.status.success(), "{words:?} {output:?}");
    }

    /// Makes the inputs of some of `commands::LARGE`; the tables among them take more than a small group has, as
    /// columns or as entries.
    pub(crate) fn make_large(&self, cases: &[&Case]) {
        let path = |name: &str| self.inputs.path().join(name);
        let words = || cases.iter().flat_map(|case| case.words);
        let is_read = |name| words().any(|word| word.strip_prefix("IN/") == Some(name));
        let columns =
            |count, field: fn(u32) -> String| (0..count).map(field).collect::<String>();
        if is_read("large") {
            self.make_by(&["gen", "letters", "5MiB", "-o", "large"]);
        }
        if ["larger", "larger.bz2", "larger.zst"].into_iter().any(is_read) {
            self.make_by(&["gen", "letters", "9MiB", "-o", "larger"]);
            self.make_by(&["compress", "--format", "bzip2", "larger", "larger.bz2"]);
            self.make_by(&["compress", "--block-size", "4MiB", "larger", "larger.zst"]);
        }
        if is_read("many") {
            self.make_by(&["gen", "tree", "--files", "96", "--size", "1MiB", "-o", "many"]);
        }
        if is_read("large.arrow") {
            let named = table::BatchWriteOptions::new().with_names(["x"]);
            named.write_array(path("large.arrow"), 1, &vec![0_u64; 9 << 20]).expect("room");
        }
        if ["entries.csv", "entries.csv.gz"].into_iter().any(is_read) {
            let entries = columns(900_000, |row| format!("{row},{},1\n", row % 1000));
            self.make_packed("entries.csv", &format!("row,column,value\n{entries}"));
        }
        if is_read("wide.csv") {
            let (names, row) = (columns(250_000, |it| format!("c{it},")), "1,".repeat(250_000));
            fs::write(path("wide.csv"), format!("{names}x\n{row}1\n")).expect("room");
        }
        if is_read("broad.csv") {
            let (names, row) = (columns(100_000, |it| format!("c{it},")), "a,".repeat(100_000));
            let rows = format!("{row}1\n").repeat(3);
            fs::write(path("broad.csv"), format!("{names}x\n{rows}")).expect("room");
        }
        if ["large.csv", "large.csv.gz"].into_iter().any(is_read) {
            self.make_packed("large.csv", &people(2_500_000));
        }
    }

    /// Makes a text, plain and compressed.
    fn make_packed(&self, name: &str, text: &str) {
        let path = |name: &str| self.inputs.path().join(name);
        fs::write(path(name), text).expect("room");
        let packed = CompressOptions::new().with_format(Format::Gzip);
        packed.compress(path(name), path(&format!("{name}.gz"))).expect("room");
    }

    /// The files that a command leaves, and those that were there, without limits.
    pub(crate) fn expected(&self, case: &Case) -> Files {
        self.right(case).1
    }

    fn right(&self, case: &Case) -> (Vec<u8>, Files) {
        let mut right = self.right.lock().unwrap_or_else(PoisonError::into_inner);
        let made = right.entry(case.words).or_insert_with(|| {
            let ran = self.run(case, &Limit::None);
            (ran.printed, ran.left)
        });
        made.clone()
    }

    /// Runs a command under a limit. Whatever it did, it said so, and left whole files.
    pub(crate) fn checked(&self, case: &Case, limit: &Limit<'_>) -> Ran {
        let ran = self.run(case, limit);
        let what = format!("under {limit:?}: {:?} {:?} {}", ran.words, ran.code, ran.error);
        assert_eq!(ran.signal, None, "a signal {what}");
        assert!(!ran.error.contains("panicked"), "a panic {what}");
        let code = ran.code.expect("no signal");
        if code == 127 && ran.error.contains("shared librar") {
            // Not even the loader could work.
            return ran;
        }
        assert!((0..=2).contains(&code), "{what}");
        let is_heard = !matches!(limit, Limit::Closed);
        if code > 0 && is_heard {
            assert!(ran.error.contains("swath: "), "no message {what}");
        }
        let (printed, mut right) = self.right(case);
        let before = self.before();
        if matches!(limit, Limit::Disk(_)) {
            // What was there before has no room there.
            right.retain(|name, _| !before.contains_key(name));
        }
        if code == 0 && is_heard && case.answer == Answer::Printed {
            assert!(ran.printed == printed, "other output {what}");
        }
        if case.answer == Answer::Job {
            let out = |files: &Files| files.get(OsStr::new("out")).cloned();
            let is_whole = out(&ran.left) == out(&right);
            assert!(is_whole || code != 0 && out(&ran.left).is_none(), "the output {what}");
        }
        if case.answer == Answer::Left {
            if code == 0 {
                assert!(ran.left == right, "other files {what}: {:?}", names(&ran.left));
            }
            for (name, bytes) in &ran.left {
                let is_whole = [right.get(name), before.get(name)].contains(&Some(bytes));
                // A folder of files appears file by file.
                assert!(is_whole || case.words[1] == "tree", "{name:?} is left {what}");
            }
        }
        ran
    }

    pub(crate) fn run(&self, case: &Case, limit: &Limit<'_>) -> Ran {
        let streams = tempfile::tempdir().expect("a folder");
        let folder = match limit {
            Limit::Disk(disk) => tempfile::tempdir_in(disk.path()),
            _ => tempfile::tempdir(),
        };
        let folder = folder.expect("a folder");
        self.furnish(folder.path(), matches!(limit, Limit::Disk(_)));
        if case.words[0] == "job" && case.words[1] != "plan" {
            self.plan_job(folder.path(), case.words[1] == "commit");
        }
        let open = |name| File::create(streams.path().join(name)).expect("a file");
        let out = if matches!(limit, Limit::FullOutput) { full() } else { open("out") };
        let inputs = self.inputs.path().to_str().expect("a plain name");
        let words = case.words.iter().map(|word| word.replace("IN", inputs));
        let mut command = limit.command();
        command.args(words).current_dir(folder.path()).stdin(Stdio::null());
        command.env("XDG_CONFIG_HOME", streams.path()).env("TMPDIR", folder.path());
        command.stdout(out).stderr(open("error"));
        let status = ended(command);
        let read = |name| fs::read(streams.path().join(name)).unwrap_or_default();
        Ran {
            words: case.words,
            code: status.code(),
            signal: status.signal(),
            error: String::from_utf8_lossy(&read("error")).into_owned(),
            printed: read("out"),
            left: files(folder.path()),
        }
    }

    /// Returns the files in a command's folder before it begins.
    fn before(&self) -> Files {
        let folder = tempfile::tempdir().expect("a folder");
        self.furnish(folder.path(), false);
        files(folder.path())
    }

    /// A job with three parts; with what they wrote, if it is to be committed.
    fn plan_job(&self, folder: &Path, is_done: bool) {
        let input = self.inputs.path().join("letters");
        let options = JobOptions::new()
            .with_parts(3)
            .with_division(Division::Bytes)
            .with_folder(folder.join("job"));
        let plan = options.plan([input], folder.join("out")).expect("room");
        for part in plan.parts().filter(|_| is_done) {
            let mut out = part.writer().expect("room");
            out.write_all(format!("part {}", part.index()).as_bytes()).expect("room");
            out.finish().expect("room");
        }
    }

    fn furnish(&self, folder: &Path, is_small: bool) {
        fs::create_dir(folder.join("into")).expect("room");
        let mut bytes = fs::read(self.inputs.path().join("bytes")).expect("it is there");
        if is_small {
            // Copies have no room here.
            return;
        }
        fs::write(folder.join("good"), &bytes).expect("room");
        bytes[100_000] ^= 1;
        fs::write(folder.join("damaged"), &bytes).expect("room");
    }
}

/// A table with text.
fn people(rows: u32) -> String {
    let person = |row: u32| {
        format!("{row},\"name, {row}\",2024-02-{:02},{}.5\n", row % 28 + 1, row % 97)
    };
    "id,name,born,score\n".to_owned() + &(0..rows).map(person).collect::<String>()
}

fn names(files: &Files) -> Vec<&OsString> {
    files.keys().collect()
}

/// Waits for a command to end.
fn ended(mut command: Command) -> ExitStatus {
    let mut child = command.spawn().expect("it starts");
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("it is ours") {
            return status;
        }
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            panic!("it hangs: {command:?}");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// All files below `folder`.
fn files(folder: &Path) -> Files {
    let paths = swath_reference::ingest::walk(folder).expect("it can be listed");
    let name = |path: &Path| path.strip_prefix(folder).expect("below").as_os_str().to_owned();
    paths.iter().map(|path| (name(path), fs::read(path).expect("readable"))).collect()
}
