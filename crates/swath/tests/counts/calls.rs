//! System calls by which threads disturb each other: waiting and waking (`futex`), changes of the shared
//! address space, after which other cores drop what they know of it (`munmap`, `madvise`), and of a shared
//! table of descriptors (`close`).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cases::{Inputs, WORKERS};
use crate::{CASES, Case, Most};

const NAME: &str = "calls::the_same_work_disturbs_no_more_threads_with_more_workers";
/// The folder of the inputs, the case and the workers of the process that is traced.
const TRACED: &str = "SWATH_TEST_CALLS_TRACED";

/// Calls that are counted.
const CALLS: [&str; 4] = ["futex", "munmap", "madvise", "close"];

/// Changes of the address space: a stack and its guard for each thread, and memory that was too large to
/// keep.
const MAPS: Most = Most { unit: 0.1, worker: 4.0, once: 40.0 };
/// Files that were opened one by one. Those of an ingest are closed in ranges.
const CLOSED: Most = Most { unit: 0.1, worker: 2.0, once: 40.0 };

/// Calls of a process that does the work of a case; of `None`, of one that does nothing.
fn traced(folder: &Path, case: Option<usize>, workers: usize) -> Option<BTreeMap<String, u64>> {
    let log = folder.join("log");
    let case = case.map_or_else(|| String::from("-"), |case| case.to_string());
    let status = Command::new("strace")
        .args(["-f", "-c", "--seccomp-bpf", "-e", &format!("trace={}", CALLS.join(",")), "-o"])
        .arg(&log)
        .arg(std::env::current_exe().expect("this program"))
        .args(["--exact", NAME, "--test-threads=1", "--nocapture"])
        .env(TRACED, format!("{case} {workers} {}", folder.display()))
        .output();
    if !status.is_ok_and(|ended| ended.status.success()) {
        return None;
    }
    let table = fs::read_to_string(&log).expect("a summary");
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let known = rows.filter(|row| row.last().is_some_and(|name| CALLS.contains(name)));
    Some(
        known
            .map(|row| (row[row.len() - 1].to_owned(), row[3].parse().expect("a count")))
            .collect(),
    )
}

/// Does the work of the traced process, if this is one.
fn work() -> bool {
    let Ok(wanted) = std::env::var(TRACED) else { return false };
    let mut words = wanted.splitn(3, ' ');
    let mut word = || words.next().expect("three words");
    let (case, workers, folder) = (word(), word(), word());
    if let Ok(case) = case.parse::<usize>() {
        let Case { name, run, .. } = CASES[case];
        let inputs = Inputs::of(Path::new(folder));
        inputs.clear();
        run(&inputs, workers.parse().expect("a number")).expect(name);
    }
    true
}

#[test]
fn the_same_work_disturbs_no_more_threads_with_more_workers() {
    if work() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    Inputs::made(folder.path());
    let Some(nothing) = traced(folder.path(), None, 0) else {
        return swath_reference::skip("tracing", "strace cannot run here");
    };
    let mut wrong = Vec::new();
    for (index, Case { name, units, futex, .. }) in CASES.into_iter().enumerate() {
        for workers in WORKERS {
            let found = traced(folder.path(), Some(index), workers).expect("strace runs");
            for (call, most) in CALLS.into_iter().zip([futex, MAPS, MAPS, CLOSED]) {
                let of = |table: &BTreeMap<String, u64>| table.get(call).copied().unwrap_or(0);
                let count = of(&found).saturating_sub(of(&nothing));
                println!("{name} × {workers} on {units} units: {count} {call}");
                if !most.allows(count, units, workers) {
                    wrong.push(format!("{name} × {workers}: {count} {call}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
