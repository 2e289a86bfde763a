//! Every case runs, on tiny files, so that no case rots between two records.

use std::fs;
use std::process::Command;

#[test]
fn every_case_runs_and_leaves_a_record() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder");
    let out = folder.path().join("record");
    let output = Command::new(env!("CARGO_BIN_EXE_swath-benches"))
        .arg("--quick")
        .arg("--out")
        .arg(&out)
        .arg("--data")
        .arg(folder.path().join("data"))
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");

    let summary = fs::read_to_string(out.join("summary.md")).expect("there are tables");
    for case in [
        "small-8KiB",
        "cold-8MiB",
        "sum-1MiB",
        "regret-half-8MiB",
        "memory-8MiB",
        "seek-1k",
        "compress-zstd",
        "files-warm-100k-10kB",
        "files-calls-20k-10kB",
    ] {
        assert!(summary.contains(&format!("## {case}\n")), "{case} is missing:\n{summary}");
    }
    let readme = fs::read_to_string(out.join("README.md")).expect("there is a description");
    assert!(readme.contains("| Kernel |"), "{readme}");
    let raw = fs::read_to_string(out.join("raw.csv")).expect("there are runs");
    assert!(raw.lines().count() > 100, "{raw}");
    let left = fs::read_dir(folder.path().join("data")).expect("the inputs' folder").count();
    assert_eq!(left, 0, "the inputs are removed");
}

#[test]
fn a_case_that_does_not_exist_is_named() {
    let output = Command::new(env!("CARGO_BIN_EXE_swath-benches"))
        .args(["--quick", "--only", "nonsense"])
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("there is no case nonsense"), "{said}");
}
