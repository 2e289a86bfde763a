//! Locks, changes of shared counters, wake-ups and notices of the same work, by number of workers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::counted::Counts;
use cases::{CHUNKS, FILES, Inputs, Run, WORKERS};

#[path = "../../tests/counts/cases.rs"]
mod cases;

/// Set in the process that counts: other tests of this program would count too.
const ALONE: &str = "SWATH_TEST_LOCKS_ALONE";
const NAME: &str = "locks::tests::the_counts_of_the_same_work_do_not_grow_with_workers";

/// The largest cost of one unit of work, and of one worker.
struct Most {
    unit: Counts,
    worker: Counts,
}

struct Case {
    name: &'static str,
    units: u64,
    run: Run,
    most: Most,
}

const fn counts(locks: u64, changes: u64, wake_ups: u64, notices: u64) -> Counts {
    Counts { locks, changes, wake_ups, notices }
}

/// Each unit is taken and ended under the one lock of a read, and its result is put in order. A worker
/// finds once that nothing is left, adds its counts, and looks for the next source.
const TAKEN: Most = Most { unit: counts(3, 0, 0, 0), worker: counts(8, 1, 1, 1) };

/// A block in its turn: also a lock before and in its turn; its thread waits at most once.
const IN_TURN: Most = Most { unit: counts(5, 0, 1, 1), worker: counts(8, 1, 2, 2) };

/// A written block: also a ticket, which is taken, given back, taken out and written. Every second chunk
/// may have to wait for room.
const THROUGH: Most = Most { unit: counts(8, 1, 2, 2), worker: counts(10, 1, 2, 2) };

/// A claim takes two locks, and has 32 files while many are left. The last claims are smaller, about
/// twenty for each worker, so that all workers end at one time.
const CLAIMED: Most = Most { unit: counts(1, 1, 0, 0), worker: counts(64, 32, 2, 2) };

const TICKETS: Most = Most { unit: counts(4, 0, 1, 1), worker: counts(4, 0, 2, 2) };

/// Bytes go into the buffer of a strand; only a stolen strand keeps bytes of its own.
const FORKED: Most = Most { unit: counts(2, 2, 0, 0), worker: counts(8, 4, 0, 0) };

const CASES: [Case; 8] = [
    // A lease into memory is a huge page.
    Case { name: "read", units: CHUNKS / 32, run: cases::read, most: TAKEN },
    Case { name: "scan", units: CHUNKS, run: cases::scan, most: IN_TURN },
    Case { name: "records", units: CHUNKS, run: cases::map_blocks, most: TAKEN },
    Case { name: "records in turn", units: CHUNKS, run: cases::in_turn, most: IN_TURN },
    Case { name: "transform", units: CHUNKS, run: cases::transform, most: THROUGH },
    Case { name: "ingest", units: FILES, run: cases::ingest, most: CLAIMED },
    Case { name: "append, tickets", units: CHUNKS, run: cases::tickets, most: TICKETS },
    Case { name: "append, forks", units: CHUNKS, run: cases::forks, most: FORKED },
];

/// Returns the cost of a case, after removing the output of the previous one.
fn counted(case: &Case, inputs: &Inputs, workers: usize) -> Counts {
    inputs.clear();
    let before = Counts::now();
    (case.run)(inputs, workers).expect(case.name);
    Counts::now().since(before)
}

/// Returns the counts, each with its name and its limit.
fn limits(case: &Case, found: Counts, workers: usize) -> [(&'static str, u64, u64); 4] {
    let Most { unit, worker } = case.most;
    let most = |unit: u64, worker: u64| unit * case.units + worker * workers as u64 + 64;
    [
        ("locks", found.locks, most(unit.locks, worker.locks)),
        ("changes", found.changes, most(unit.changes, worker.changes)),
        ("wake-ups", found.wake_ups, most(unit.wake_ups, worker.wake_ups)),
        ("notices", found.notices, most(unit.notices, worker.notices)),
    ]
}

#[test]
fn the_counts_of_the_same_work_do_not_grow_with_workers() {
    if std::env::var_os(ALONE).is_none() {
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", NAME, "--nocapture", "--test-threads=1"])
            .env(ALONE, "")
            .output()
            .expect("started");
        let [said, failed] =
            [child.stdout, child.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
        print!("{said}");
        assert!(child.status.success(), "{failed}");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let inputs = Inputs::made(folder.path());
    let mut wrong = Vec::new();
    for case in &CASES {
        for workers in WORKERS {
            let found = counted(case, &inputs, workers);
            println!("{} × {workers} on {} units: {found:?}", case.name, case.units);
            for (what, count, most) in limits(case, found, workers) {
                if count > most {
                    wrong.push(format!("{} × {workers}: {count} {what} > {most}", case.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// All locks are counted: only tests use these types of `std`.
#[test]
fn no_file_of_this_crate_locks_uncounted() {
    fn look(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("sources") {
            let path = entry.expect("sources").path();
            if path.is_dir() {
                look(&path, found);
            } else if !path.starts_with(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/locks"))
            {
                let text = fs::read_to_string(&path).expect("text");
                let imports = text.lines().filter(|line| line.starts_with("use std::sync::"));
                if imports.into_iter().any(|line| {
                    line.contains("Mutex,")
                        || line.contains("Mutex}")
                        || line.contains("Condvar")
                }) {
                    found.push(path);
                }
            }
        }
    }
    let mut found = Vec::new();
    look(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert_eq!(found, Vec::<PathBuf>::new());
}
