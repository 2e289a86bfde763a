//! A program that a signal ends removes the lock files of its writers, and no others.

use std::ffi::OsStr;
use std::fs;

use swath::machine::Locks;
use swath::sink::{Fs, LocalFs};

#[test]
fn locks_that_are_watched_are_removed_and_no_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let located = LocalFs.locate(&path("any")).expect("located").folder;
    let lock =
        |name: &str| located.lock(OsStr::new(name), None).expect("possible").expect("not held");
    let old = lock("old");
    let watched = Locks::watch();
    let (mine, gone) = (lock("mine"), lock("gone"));
    fs::remove_file(path("gone")).expect("removed by another process");
    fs::write(path("gone"), "of another process").expect("written");
    drop(lock("done"));
    watched.remove();
    let left = |name| path(name).exists();
    assert_eq!(["old", "mine", "gone", "done"].map(left), [true, false, true, false]);
    // Nor is a file that has taken the name since.
    fs::write(path("mine"), "of another process").expect("written");
    drop((old, mine, gone));
    assert_eq!(["old", "mine", "gone"].map(left), [false, true, true]);

    // A writer without its lock still writes all of it.
    let out = swath::append::create(path("out")).expect("begun");
    assert!(path(".out.swath-lock").exists());
    watched.remove();
    assert!(!path(".out.swath-lock").exists());
    out.commit().expect("written");
    assert_eq!(fs::read(path("out")).expect("there"), b"");
}
