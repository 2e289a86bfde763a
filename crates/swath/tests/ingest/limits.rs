//! Few descriptors, little memory, no ring: slower, not wrong.

use std::path::Path;
use std::process::Command;

use swath::{Error, Failures, Files, IngestOptions, Reason};
use swath_reference::ingest::walk;

use crate::same::assert_same;
use crate::trees::{folder, plant};

const FOLDER: &str = "SWATH_TEST_INGEST_FOLDER";

/// Runs the test `name` again in a child that a shell has limited.
fn limited(name: &str, limit: &str, body: impl FnOnce(&Path)) {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return body(Path::new(&folder));
    }
    let folder = folder();
    plant(folder.path(), 71, 200);
    let program = std::env::current_exe().expect("this program");
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("{limit} && exec \"$0\" --exact {name} --nocapture"))
        .arg(program)
        .env(FOLDER, folder.path())
        .output()
        .expect("a shell");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn thirty_two_descriptors_are_enough() {
    limited("limits::thirty_two_descriptors_are_enough", "ulimit -n 32", |folder| {
        let paths = walk(folder).expect("listed");
        for workers in [0, 1, 8, 64] {
            let options = IngestOptions::new().with_workers(workers).with_part_size(4096);
            let ingested = options.collect(folder).expect("read");
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

#[test]
fn little_address_space_is_enough() {
    let limit = "ulimit -v 1000000";
    limited("limits::little_address_space_is_enough", limit, |folder| {
        let paths = walk(folder).expect("listed");
        let ingested = IngestOptions::new().collect(folder).expect("read");
        assert_same(&ingested, &paths, "1 GB of address space");
    });
}

#[test]
fn what_does_not_fit_into_the_memory_limit_is_an_error_that_names_the_file() {
    let folder = folder();
    let paths = plant(folder.path(), 72, 40);
    let options = IngestOptions::new().with_memory_limit(2 << 20).with_workers(1);
    let error = options.collect(paths.clone()).expect_err("more than 2 MiB");
    assert_eq!(error.reason(), Reason::OutOfMemory);
    assert!(error.to_string().contains("stream"), "{error}");
    let kept = options.with_failures(Failures::Collect).collect(paths).expect("collected");
    let report = kept.report();
    assert!(report.failed > 0 && report.files > 0);
    assert_eq!(report.failed + report.files, 40);
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
