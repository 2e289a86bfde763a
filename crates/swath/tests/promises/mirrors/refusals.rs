//! The files that heal does not touch, and the reasons.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use swath::heal::HealOptions;
use swath::manifest;
use swath::mirror::Verify;
use swath::mirror::{MirrorOptions, MirrorState, Mirrored};
use swath::{ReadOptions, Reason, Source};
use swath_reference::bytes;

const LEN: usize = (2 << 20) + 7;

fn copies(folder: &Path, names: &[&str]) -> (Vec<PathBuf>, Vec<u8>) {
    let right = bytes(31, LEN);
    let paths: Vec<_> = names.iter().map(|name| folder.join(name)).collect();
    paths.iter().for_each(|path| std::fs::write(path, &right).expect("room"));
    (paths, right)
}

fn damage(path: &Path) {
    let mut bytes = std::fs::read(path).expect("there");
    bytes[LEN / 2] ^= 1;
    std::fs::write(path, bytes).expect("room");
}

fn pipe(path: &Path) {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).expect("a pipe");
}

#[test]
fn a_copy_that_cannot_be_opened_is_left_alone_and_the_others_are_healed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (paths, right) = copies(folder.path(), &["a", "loop", "pipe", "b", "gone", "c"]);
    let sums = Verify::Manifest(Arc::new(manifest::of(&paths[0]).expect("readable")));
    for index in [1, 2, 4] {
        std::fs::remove_file(&paths[index]).expect("there");
    }
    symlink(&paths[1], &paths[1]).expect("a link to itself");
    pipe(&paths[2]);
    symlink(folder.path().join("nowhere"), &paths[4]).expect("a link that leads nowhere");
    damage(&paths[3]);
    damage(&paths[5]);
    let seen = HealOptions::new().examine(&paths, &sums).expect("one is good");
    assert!(seen.copies[1].error.is_some() && seen.copies[1].bad.is_empty());
    let healed = HealOptions::new().heal(&paths, &sums).expect("one is good");
    let (failed, rewritten): (Vec<_>, Vec<_>) = healed
        .copies
        .iter()
        .map(|copy| (copy.error.is_some(), copy.rewritten.is_some()))
        .unzip();
    assert_eq!(failed, [false, true, true, false, false, false]);
    assert_eq!(rewritten, [false, false, false, true, true, true]);
    let first = healed.failure().expect("two were not healed");
    assert_eq!((first.path(), first.raw_os_error()), (&*paths[1], Some(40)));
    let told = format!("{:?}", healed.copies[2].error.as_ref().expect("a pipe"));
    assert!(told.contains("cannot be read by position"), "{told}");
    assert!(std::fs::symlink_metadata(&paths[1]).expect("there").is_symlink());
    for index in [0, 3, 4, 5] {
        assert!(std::fs::read(&paths[index]).expect("there") == right);
    }
}

#[test]
fn a_copy_that_cannot_be_written_does_not_stop_those_behind_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut paths, right) = copies(folder.path(), &["a", "b", "c"]);
    let sums = Verify::Manifest(Arc::new(manifest::of(&paths[0]).expect("readable")));
    damage(&paths[1]);
    paths.insert(1, folder.path().join("no folder/copy"));
    let healed = HealOptions::new().heal(&paths, &sums).expect("two are good");
    let failed = healed.failure().expect("there is no such folder");
    assert_eq!((failed.path(), failed.raw_os_error()), (&*paths[1], Some(2)));
    assert!(healed.copies[2].rewritten.is_some() && healed.copies[2].error.is_none());
    assert!(std::fs::read(&paths[2]).expect("there") == right);
}

#[test]
fn a_manifest_that_would_cut_every_copy_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (paths, right) = copies(folder.path(), &["a", "b"]);
    for old in [0, 1 << 20, LEN - 1] {
        std::fs::write(folder.path().join("old"), &right[..old]).expect("room");
        let sums = manifest::of(folder.path().join("old")).expect("readable");
        let sums = Verify::Manifest(Arc::new(sums));
        let error = HealOptions::new().heal(&paths, &sums).expect_err("it is another file's");
        let text = error.to_string();
        let both = text.contains(&LEN.to_string()) && text.contains(&format!("says {old},"));
        assert!(both && error.reason() == Reason::Corrupt, "{text}");
        paths.iter().for_each(|path| assert!(std::fs::read(path).expect("there") == right));
    }
}

#[test]
fn copies_that_cannot_be_opened_are_not_called_damaged() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut paths, _) = copies(folder.path(), &["a", "b"]);
    paths[1] = folder.path().join("gone");
    let vote = |paths: &[PathBuf]| {
        let copies = Mirrored::new(paths).with_verify(Verify::Vote);
        ReadOptions::new().read(Source::from(copies)).expect_err("no two are there")
    };
    let error = vote(&paths);
    assert_eq!((error.reason(), error.raw_os_error()), (Reason::Io, Some(2)), "{error:?}");
    assert!(format!("{error:?}").contains("1 cannot be opened"), "{error:?}");
    // Not even with that one would three of four be equal.
    for (name, text) in [("c", "short"), ("d", "shorter")] {
        paths.push(folder.path().join(name));
        std::fs::write(paths.last().expect("there"), text).expect("room");
    }
    assert_eq!(vote(&paths).reason(), Reason::Corrupt);
}

#[test]
fn lengths_without_majority_are_told_in_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut paths, _) = copies(folder.path(), &["a", "b"]);
    std::fs::write(&paths[1], "short").expect("room");
    paths.push(folder.path().join("gone"));
    let error = HealOptions::new().heal(&paths, &Verify::Vote).expect_err("one each");
    let text = error.to_string();
    for part in ["1 has 5 bytes, 1 has 2097159 bytes", "gone: No such file", "of 3 copies 2"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_pipe_is_no_copy_and_is_not_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let (paths, right) = copies(folder.path(), &["a"]);
    let pipe_path = folder.path().join("pipe");
    pipe(&pipe_path);
    let loaded = ReadOptions::new().read(Source::mirrored([&pipe_path, &paths[0]]));
    let loaded = loaded.expect("one is a file");
    assert!(loaded.buffer[..] == right[..]);
    assert_eq!(loaded.report.mirrors[0].state, MirrorState::Unusable);
    let sums = manifest::of(&paths[0]).expect("readable");
    manifest::check(&pipe_path, &sums).expect_err("a pipe");
    for wrong in [&*pipe_path, Path::new("/dev/zero")] {
        let target = folder.path().join("copy");
        let error = MirrorOptions::new().mirror(wrong, &[&target]).expect_err("no file");
        let text = error.to_string();
        assert!(text.contains("by position") && !text.contains("copies"), "{text}");
        assert!(!target.exists());
    }
}

#[test]
fn copies_that_fail_alike_give_the_number_of_the_kernel() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = ["a", "b"].map(|name| folder.path().join(name));
    let read = || ReadOptions::new().read(Source::mirrored(&paths)).expect_err("no copy");
    let error = read();
    assert_eq!(error.raw_os_error(), Some(2));
    assert_eq!(error.io_kind(), std::io::ErrorKind::NotFound);
    assert!(format!("{error:?}").contains("none of its copies can be read: "), "{error:?}");
    symlink(&paths[1], &paths[1]).expect("a link to itself");
    assert_eq!(read().raw_os_error(), None, "one is missing, one is a loop");
}
