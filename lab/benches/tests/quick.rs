//! Every case runs, on tiny files, so that no case rots between two records.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use swath_reference::battery::Battery;

fn quick(only: &str, out: &Path, data: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_swath-benches"));
    command.args(["--quick", "--only", only]).arg("--out").arg(out).arg("--data").arg(data);
    command.output().expect("the program starts")
}

/// The name of every case: a wrong one is answered with the list.
fn cases() -> Vec<String> {
    let output = quick("nonsense", Path::new("/none"), Path::new("/none"));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{told}");
    let (_, list) =
        told.split_once("there is no case nonsense; the cases are ").expect("it is named");
    list.lines().next().unwrap_or_default().split(", ").map(String::from).collect()
}

#[test]
fn every_case_runs_and_leaves_a_record() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder");
    let (out, data) = (folder.path().join("record"), folder.path().join("data"));
    let cases = cases();
    assert!(cases.len() > 60, "{cases:?}");
    let mut battery = Battery::of_list("benches", 5, cases);
    let chosen: Vec<String> = battery.by_ref().collect();
    let output = quick(&chosen.join(","), &out, &data);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");

    let summary = fs::read_to_string(out.join("summary.md")).expect("there are tables");
    for case in &chosen {
        assert!(summary.contains(&format!("## {case}\n")), "{case} is missing:\n{summary}");
    }
    let readme = fs::read_to_string(out.join("README.md")).expect("there is a description");
    assert!(readme.contains("| Kernel |"), "{readme}");
    let raw = fs::read_to_string(out.join("raw.csv")).expect("there are runs");
    assert!(raw.lines().count() > 2 * chosen.len(), "{raw}");
    let left = fs::read_dir(&data).expect("the inputs' folder").count();
    assert_eq!(left, 0, "the inputs are removed");
}
