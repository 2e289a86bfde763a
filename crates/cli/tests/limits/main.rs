//! Every command under every limit: the right result, or an error that says what is missing. Never a
//! panic, a signal or a hang, and never half a file.

mod commands;
mod limit;
mod stage;

use commands::{ALONE, Answer, CASES, Case};
use limit::Limit;
use stage::Stage;
use swath_reference::battery::Battery;
use swath_reference::limits::without_threads;

/// The commands that are tried under a limit: a push tries some of them.
fn cases(all: &'static [Case]) -> Battery<&'static Case> {
    Battery::of_list("limits", all.len() / 14, all)
}

#[test]
fn all_is_right_without_limits() {
    let stage = Stage::make();
    for case in cases(CASES) {
        let ran = stage.run(case, &Limit::None);
        let code = if case.answer == Answer::Refused { 2 } else { 0 };
        assert_eq!(ran.code, Some(code), "{ran:?}");
    }
}

#[test]
fn no_thread_can_be_started() {
    let stage = Stage::make();
    without_threads(move || {
        for case in cases(CASES) {
            let ran = stage.checked(case, &Limit::NoThreads);
            // Slower, and all of it: nothing needs more than one thread but what says so.
            let code = if case.answer == Answer::Refused { 2 } else { 0 };
            assert_eq!(ran.code, Some(code), "{ran:?}");
        }
        // Nor does a report count workers that are not there.
        for case in ALONE {
            let ran = stage.checked(case, &Limit::NoThreads);
            let told = String::from_utf8_lossy(&ran.printed);
            assert!(told.contains(r#""workers":1,"#), "{told}");
        }
    });
}

#[test]
fn a_group_of_processes_is_full() {
    let Some(group) = limit::Group::of_one_process() else { return };
    let stage = Stage::make();
    for case in CASES.iter().filter(|case| ["ingest", "read", "sum"].contains(&case.words[0])) {
        let ran = stage.checked(case, &Limit::Group(&group));
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
}

#[test]
fn descriptors_are_few() {
    let stage = Stage::make();
    for free in 0..=2 {
        for case in cases(CASES) {
            stage.checked(case, &Limit::Descriptors(free));
        }
    }
}

#[test]
fn a_file_is_longer_than_the_address_space() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.as_file().set_len(512 << 20).expect("a hole");
    // Only a cached file is mapped.
    std::io::copy(&mut file, &mut std::io::sink()).expect("readable");
    for verb in ["sum", "scan"] {
        let output = Limit::AddressSpace.command().arg(verb).arg(file.path()).output();
        let output = output.expect("it starts");
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn memory_is_small() {
    let Some(group) = limit::Group::of_memory(64 << 20) else { return };
    let stage = Stage::make();
    let mut battery = cases(commands::LARGE);
    let large: Vec<_> = battery.by_ref().collect();
    stage.make_large(&large);
    for case in cases(CASES).chain(large) {
        stage.checked(case, &Limit::Group(&group));
    }
}

#[test]
fn the_disk_is_full() {
    let stage = Stage::make();
    for case in cases(CASES) {
        stage.checked(case, &Limit::FileSize);
    }
    let Some(disk) = limit::Disk::small() else { return };
    for case in cases(CASES) {
        stage.checked(case, &Limit::Disk(&disk));
    }
}

#[test]
fn standard_output_is_full() {
    let stage = Stage::make();
    for case in cases(CASES) {
        let ran = stage.checked(case, &Limit::FullOutput);
        if case.answer == Answer::Left {
            assert_eq!(ran.code, Some(2), "{ran:?}");
            let mut lines = ran.error.lines().filter(|line| !line.starts_with("swath: note: "));
            let told = lines.next().unwrap_or_default();
            assert!(told.starts_with("swath: wrote "), "{ran:?}");
            assert!(ran.error.contains("cannot write to standard output"), "{ran:?}");
            assert_eq!(ran.left, stage.expected(case), "{ran:?}");
        }
    }
}

#[test]
fn standard_streams_are_closed() {
    let stage = Stage::make();
    for case in cases(CASES) {
        let ran = stage.checked(case, &Limit::Closed);
        // Nobody misses a report of what is left; what was to be printed is not done.
        let is_left = match case.answer {
            Answer::Left => true,
            // It reads standard input.
            Answer::Job => case.words[1] != "write",
            Answer::Measured => !["read", "ingest", "demo"].contains(&case.words[0]),
            Answer::Printed | Answer::Refused => false,
        };
        let code = if is_left { 0 } else { 2 };
        assert_eq!(ran.code, Some(code), "{ran:?}");
    }
}
