//! Few descriptors, little memory, no ring: slower, not wrong.

use std::path::{Path, PathBuf};
use std::process::Command;

use swath::ingest::{Delivery, Failures, Files, IngestOptions};
use swath::{Error, Fallback, ReadOptions, Reason};
use swath_reference::ingest::walk;
use swath_reference::limits::without_threads;

use crate::ingest::same::assert_same;
use crate::ingest::trees::{folder, plant};

const FOLDER: &str = "SWATH_TEST_INGEST_FOLDER";

/// Runs the test `name` of this module again in a child with a limit set by a shell.
fn limited(name: &str, limit: &str, body: impl FnOnce(&Path)) {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return body(Path::new(&folder));
    }
    let folder = folder();
    plant(folder.path(), 71, 200);
    let program = std::env::current_exe().expect("this program");
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("{limit} && exec timeout 100 \"$0\" --exact ingest::{name} --nocapture"))
        .arg(program)
        .env(FOLDER, folder.path())
        .output()
        .expect("a shell");
    swath_reference::assert_one_passed(&output);
}

#[test]
fn thirty_two_descriptors_are_enough() {
    limited("limits::thirty_two_descriptors_are_enough", "ulimit -n 32", |folder| {
        let paths = walk(folder).expect("listed");
        for workers in [0, 1, 8, 64] {
            let options = IngestOptions::new()
                .with_read(ReadOptions::new().with_workers(workers))
                .with_part_size(4096);
            let ingested = options.ingest(folder).expect("read");
            assert_same(&ingested, &paths, &format!("{workers} workers"));
            let mut files = 0;
            let report = options.stream(Files::paths(&paths), |part| {
                files += usize::from(part.is_last);
                Ok::<(), Error>(())
            });
            report.expect("read");
            assert_eq!(files, paths.len());
        }
    });
}

/// Reads what a stream passes on, in the order of the files, and compares it with `paths`.
fn assert_streamed(options: &IngestOptions, paths: &[PathBuf], what: &str) {
    let mut files: Vec<Vec<u8>> = vec![Vec::new(); paths.len()];
    let report = options.stream(Files::paths(paths), |part| {
        assert_eq!(part.offset, files[part.index].len() as u64, "{what}");
        files[part.index].extend_from_slice(part.bytes);
        Ok::<(), Error>(())
    });
    assert_eq!(report.expect("read").files, paths.len() as u64, "{what}");
    for (path, bytes) in paths.iter().zip(files) {
        assert!(bytes == std::fs::read(path).expect("there"), "{what} {path:?}");
    }
}

#[test]
fn without_another_thread_the_caller_reads_and_hands_over() {
    let folder = folder();
    plant(folder.path(), 74, 300);
    without_threads(move || {
        let paths = walk(folder.path()).expect("listed");
        for workers in [0, 1, 8] {
            // Two slabs, and parts of large files that exceed both.
            let few = IngestOptions::new()
                .with_read(ReadOptions::new().with_workers(workers))
                .with_memory_limit(1);
            for options in [few.clone(), few.with_part_size(4096)] {
                assert_streamed(&options, &paths, "in order");
                let any = options.clone().with_delivery(Delivery::Completion);
                assert_streamed(&any, &paths, "as they come");
            }
            let ingested = IngestOptions::new()
                .with_read(ReadOptions::new().with_workers(workers))
                .ingest(folder.path())
                .expect("read");
            assert_same(&ingested, &paths, "no threads");
            assert_eq!(ingested.report().workers, 1);
        }
        let report = IngestOptions::new()
            .with_read(ReadOptions::new().with_workers(4))
            .stream(folder.path(), |_| Ok::<(), Error>(()));
        let report = report.expect("read");
        let told = |it: &Fallback| matches!(it, Fallback::WorkerNotStarted { index: None, .. });
        assert!(report.fallbacks.iter().any(told), "{report:?}");
        assert_eq!(report.workers, 1);
        let stopped = IngestOptions::new().stream(folder.path(), |part| match part.index {
            5 => Err(std::io::Error::other("enough")),
            index => {
                assert!(index < 5);
                Ok(())
            }
        });
        assert!(stopped.expect_err("the callback's").to_string().contains("enough"));
    });
}

/// Takes all descriptors but `free` of them, as long as it lives.
fn taken(free: usize) -> Vec<std::fs::File> {
    let mut all: Vec<_> =
        std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()).collect();
    all.truncate(all.len() - free);
    all
}

#[test]
fn one_free_descriptor_is_enough_and_none_is_an_error() {
    let name = "limits::one_free_descriptor_is_enough_and_none_is_an_error";
    limited(name, "ulimit -n 64", |folder| {
        let paths = walk(folder).expect("listed");
        for (free, cold) in [(1, false), (1, true), (2, true), (3, true), (4, true)] {
            let taken = taken(free);
            for workers in [1, 2, 8] {
                for path in paths.iter().filter(|_| cold) {
                    let file = std::fs::File::open(path).expect("there");
                    let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
                }
                let options = IngestOptions::new()
                    .with_read(ReadOptions::new().with_workers(workers))
                    .with_part_size(4096);
                let what = format!("{free} free, {workers} workers");
                let ingested = options.ingest(folder).expect("read");
                assert_same(&ingested, &paths, &what);
                assert_streamed(&options, &paths, &what);
            }
            drop(taken);
        }
        let _taken = taken(0);
        let options = IngestOptions::new().with_read(ReadOptions::new().with_workers(1));
        let error = options.ingest(paths).expect_err("no descriptor");
        assert_eq!(error.raw_os_error(), Some(24), "{error}");
        assert!(error.what_to_try().contains("ulimit -n"), "{error}");
        assert!(options.ingest(folder).is_err());
    });
}

#[test]
fn little_address_space_is_enough() {
    let limit = "ulimit -v 1000000";
    limited("limits::little_address_space_is_enough", limit, |folder| {
        let paths = walk(folder).expect("listed");
        let ingested = IngestOptions::new().ingest(folder).expect("read");
        assert_same(&ingested, &paths, "1 GB of address space");
    });
}

#[test]
fn what_does_not_fit_into_the_memory_limit_is_an_error_that_names_the_file() {
    let folder = folder();
    let paths = plant(folder.path(), 72, 40);
    let options = IngestOptions::new()
        .with_memory_limit(2 << 20)
        .with_read(ReadOptions::new().with_workers(1));
    let error = options.ingest(paths.clone()).expect_err("more than 2 MiB");
    assert_eq!(error.reason(), Reason::OutOfMemory);
    assert!(error.to_string().contains("stream"), "{error}");
    let kept = options.with_failures(Failures::Collect).ingest(paths).expect("collected");
    let report = kept.report();
    assert!(report.failed > 0 && report.files > 0);
    assert_eq!(report.failed + report.files, 40);
}

#[test]
fn a_file_without_a_length_takes_no_more_than_the_memory_limit() {
    const LIMIT: usize = 8 << 20;
    // Its length means nothing, and it has eight bytes for each page of the address space.
    let path = "/proc/self/pagemap";
    let options = IngestOptions::new().with_memory_limit(LIMIT as u64);
    let error = options.stream(path, |_| Ok::<_, swath::Error>(())).expect_err("no end");
    assert_eq!(error.reason(), Reason::OutOfMemory, "{error}");
    let text = error.to_string();
    let held = text
        .split_once("does not end after ")
        .and_then(|(_, text)| text.split_once(" bytes")?.0.parse::<usize>().ok());
    assert!(held.is_some_and(|held| held <= LIMIT), "{text}");
}

#[test]
fn without_a_ring_threads_do_its_work() {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};
    let folder = folder();
    plant(folder.path(), 73, 300);
    let paths = walk(folder.path()).expect("listed");
    let Ok(arch) = TargetArch::try_from(std::env::consts::ARCH) else { return };
    // Neither rings, nor openat2, nor close_range: older kernels, and containers.
    let calls = [425, 426, 427, 437, 436].map(|call: i64| (call, Vec::new()));
    let refuse = SeccompAction::Errno(38);
    let filter = SeccompFilter::new(calls.into(), SeccompAction::Allow, refuse, arch);
    let program: BpfProgram = filter.expect("rules").try_into().expect("compiled");
    let read = std::thread::spawn(move || {
        if seccompiler::apply_filter(&program).is_err() {
            return swath_reference::skip("seccomp", "no filter may be set");
        }
        for path in &paths {
            let file = std::fs::File::open(path).expect("there");
            let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
        }
        let ingested = swath::ingest(folder.path()).expect("read");
        assert_same(&ingested, &paths, "no ring");
        assert_eq!(ingested.report().ring_files, 0);
    });
    read.join().expect("no panic");
}
