//! A commit into a folder that is closed to its user: the job stays whole, and goes on when it is open.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::child::{code, is_root, stderr};
use crate::jobs::names;

/// A user who may not write to what is closed, as root may.
const OTHER: u32 = 65_534;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
}

#[test]
fn a_commit_without_permission_keeps_every_part_and_can_be_run_again() {
    let top = tempfile::tempdir().expect("a folder");
    set_mode(top.path(), 0o755);
    let program = top.path().join("swath");
    fs::copy(env!("CARGO_BIN_EXE_swath"), &program).expect("room");
    for name in ["target", "jobs"] {
        fs::create_dir(top.path().join(name)).expect("made");
        if is_root() {
            chown(top.path().join(name), Some(OTHER), Some(OTHER)).expect("root may");
        }
    }
    fs::write(top.path().join("in"), "a\nb\nc\n").expect("written");
    let run = |line: &str| -> Output {
        let mut command = Command::new(&program);
        command.arg("job").args(line.split(' ')).current_dir(top.path());
        if is_root() {
            command.uid(OTHER).gid(OTHER);
        }
        command.output().expect("it starts")
    };
    let target = top.path().join("target");
    for folder in ["target/j", "jobs/j"] {
        let planned = run(&format!("plan target/out in --parts 3 --folder {folder} --force"));
        assert_eq!(code(&planned), 0, "{}", stderr(&planned));
        let ran = run(&format!("run {folder} --all -- cat"));
        assert_eq!(code(&ran), 0, "{}", stderr(&ran));
        let whole = names(&top.path().join(folder));
        set_mode(&target, 0o555);
        for _ in 0..2 {
            let refused = run(&format!("commit {folder}"));
            let said = stderr(&refused);
            assert_eq!(code(&refused), 2, "{said}");
            assert!(said.contains("target/out: "), "{said}");
            assert!(said.contains("Permission denied"), "{said}");
            assert!(said.contains("; try: check the permissions"), "{said}");
            assert_eq!(names(&top.path().join(folder)), whole);
        }
        set_mode(&target, 0o755);
        let committed = run(&format!("commit {folder}"));
        assert_eq!(code(&committed), 0, "{}", stderr(&committed));
        assert_eq!(fs::read(target.join("out")).expect("read"), b"a\nb\nc\n");
        assert_eq!(names(&target), ["out"]);
    }
}

/// A drop box: everybody may put files into it, and only root may list them.
#[test]
fn a_job_in_a_folder_that_cannot_be_listed_is_durable_and_leaves_nothing() {
    if !is_root() {
        return swath_reference::skip("root", "only root has another user");
    }
    let top = tempfile::tempdir().expect("a folder");
    set_mode(top.path(), 0o755);
    let (program, input) = (top.path().join("swath"), top.path().join("in"));
    fs::copy(env!("CARGO_BIN_EXE_swath"), &program).expect("room");
    fs::write(&input, "a\nb\nc\n").expect("written");
    fs::create_dir(top.path().join("box")).expect("made");
    set_mode(&top.path().join("box"), 0o1733);
    // Another user's, which cannot be removed.
    fs::write(top.path().join("box/.out.swath-lock"), "").expect("written");
    for line in [
        "plan box/out in --parts 3 --folder box/job",
        "run box/job --all -- cat",
        "commit box/job",
        "plan box/segments in --parts 3 --segments",
        "run box/segments --all -- cat",
        "commit box/segments",
        "plan box/other in --folder box/other.job",
        "abort box/other.job",
    ] {
        let mut command = Command::new(&program);
        command.arg("job").args(line.split(' ')).current_dir(top.path()).uid(OTHER).gid(OTHER);
        let done = command.output().expect("it starts");
        assert_eq!((code(&done), stderr(&done).as_str()), (0, ""), "{line}");
    }
    fs::remove_file(top.path().join("box/.out.swath-lock")).expect("there");
    assert_eq!(names(&top.path().join("box")), ["out", "segments"]);
    assert_eq!(fs::read(top.path().join("box/out")).expect("read"), b"a\nb\nc\n");
}

#[test]
fn a_target_that_only_its_owner_may_replace_is_refused_before_anything_is_done() {
    if !is_root() {
        return swath_reference::skip("root", "only root has another user");
    }
    let top = tempfile::tempdir().expect("a folder");
    let program = top.path().join("swath");
    fs::copy(env!("CARGO_BIN_EXE_swath"), &program).expect("room");
    for name in ["in", "out"] {
        fs::write(top.path().join(name), "a\n").expect("written");
        set_mode(&top.path().join(name), 0o666);
    }
    set_mode(top.path(), 0o1777);
    for line in ["job plan out in --force", "cp in out", "compress -f in out"] {
        let mut command = Command::new(&program);
        command.args(line.split(' ')).current_dir(top.path()).uid(OTHER).gid(OTHER);
        let refused = command.output().expect("it starts");
        let said = stderr(&refused);
        assert_eq!(code(&refused), 2, "{line}: {said}");
        assert!(said.contains("only its owner may replace a file"), "{line}: {said}");
        assert_eq!(names(top.path()), ["in", "out", "swath"], "{line}");
    }
}
