//! A panic of the caller's code resumes in the caller, unchanged: from every callback of every
//! verb, whichever thread it was called on, and nothing hangs.

mod reading;
mod trap;
mod writing;

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use trap::{Mine, Trap, quiet};

/// Where a case reads and writes, and how many threads it requests.
struct Place<'p> {
    /// A file of lines.
    input: &'p Path,
    /// A folder of small files.
    files: &'p Path,
    /// A folder to write to.
    folder: &'p Path,
    workers: usize,
}

/// Sets the trap in one callback of one verb. The case ends with the panic, or returns what came
/// instead.
type Case = (&'static str, fn(&Place<'_>, Trap) -> String);

const ROUNDS: usize = 4;

fn input(folder: &Path) {
    let lines: String = (0..400_000).map(|line| format!("line {line}\n")).collect();
    std::fs::write(folder.join("input"), lines).expect("room on disk");
    let files = folder.join("files");
    std::fs::create_dir(&files).expect("a folder");
    for index in 0..600 {
        std::fs::write(files.join(format!("{index:03}")), [7; 5000]).expect("room on disk");
    }
}

/// Runs one case with a watchdog; returns what is wrong with it.
fn trouble(folder: &Path, workers: usize, (name, case): Case) -> Option<String> {
    let (say, heard) = mpsc::channel();
    let folder = folder.to_owned();
    std::thread::spawn(move || {
        let (input, files) = (folder.join("input"), folder.join("files"));
        let room = tempfile::tempdir_in(&folder).expect("a folder");
        let place = Place { input: &input, files: &files, folder: room.path(), workers };
        let trap = Trap::new(workers);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            case(&place, trap.clone())
        }));
        let trouble = match ended {
            Err(payload) if payload.is::<Mine>() => None,
            Err(payload) => Some(format!("another panic: {}", trap::words(&*payload))),
            Ok(said) if !trap.has_sprung() => Some(format!("never called: {said}")),
            Ok(said) => Some(format!("no panic: {said}")),
        };
        say.send(trouble).expect("somebody waits");
    });
    let told = heard.recv_timeout(Duration::from_secs(60));
    let trouble = told.unwrap_or_else(|_| Some(String::from("it hangs")));
    trouble.map(|what| format!("{name}, {workers} workers: {what}"))
}

fn all_keep_their_panic(cases: &[Case]) {
    quiet();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    input(folder.path());
    let mut wrong = Vec::new();
    for &case in cases {
        for workers in [1, 2, 4] {
            for _ in 0..ROUNDS {
                wrong.extend(trouble(folder.path(), workers, case));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_panic_of_a_reading_verbs_callback_is_the_callers() {
    all_keep_their_panic(reading::CASES);
}

#[test]
fn a_panic_of_a_writing_verbs_callback_is_the_callers() {
    all_keep_their_panic(writing::CASES);
}

#[test]
fn a_panic_of_a_source_is_the_callers() {
    all_keep_their_panic(reading::SOURCES);
}
