use super::*;
use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::sink::fs::{CLOSED, Lock};

struct TestFolder(tempfile::TempDir, Arc<dyn FsFolder>);

impl TestFolder {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let located = LocalFs.locate(&folder.path().join("any")).expect("located");
        Self(folder, located.folder)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn lock(&self, name: &str) -> io::Result<Option<Box<dyn Lock>>> {
        self.1.lock(OsStr::new(name), None)
    }
}

#[test]
fn a_link_of_the_kernel_to_a_pipe_is_special() {
    let (read, _write) = io::pipe().expect("a pipe");
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&read));
    let located = LocalFs.locate(Path::new(&path)).expect("resolved");
    let facts = located.folder.facts(&located.name).expect("known").expect("there");
    assert_eq!(facts.kind, FileKind::Special);
}

#[test]
fn a_folder_keeps_what_gives_its_files_its_group() {
    let place = TestFolder::new();
    fs::set_permissions(place.path(""), Permissions::from_mode(0o2755)).expect("mine");
    let made = place.1.create_folder(OsStr::new("made")).expect("made");
    made.set_mode(0o750).expect("mine");
    assert_eq!(made.own_facts().expect("known").mode, 0o2750);
}

#[test]
fn a_folder_is_in_place_until_another_takes_its_path() {
    let place = TestFolder::new();
    fs::create_dir(place.path("a")).expect("made");
    let located = LocalFs.locate(&place.path("a/out")).expect("located");
    assert!(located.folder.is_in_place().expect("known"));
    fs::rename(place.path("a"), place.path("b")).expect("moved");
    assert!(!located.folder.is_in_place().expect("known"));
    symlink("b", place.path("a")).expect("linked");
    assert!(located.folder.is_in_place().expect("known"), "by another way");
    fs::remove_file(place.path("a")).expect("removed");
    fs::create_dir(place.path("a")).expect("made");
    assert!(!located.folder.is_in_place().expect("known"));
}

#[test]
fn the_second_holder_is_told_and_the_file_goes_with_the_first() {
    let place = TestFolder::new();
    let first = place.lock("lock").expect("asked").expect("free");
    assert!(place.lock("lock").expect("asked").is_none());
    let other = std::thread::scope(|scope| {
        scope.spawn(|| place.lock("lock").expect("asked").is_none()).join()
    });
    assert!(other.expect("no panic"));
    drop(first);
    assert!(!place.path("lock").exists());
    assert!(place.lock("lock").expect("asked").is_some());
}

#[test]
fn a_file_with_bytes_is_not_a_lock_whoever_locks_it() {
    let place = TestFolder::new();
    fs::write(place.path("lock"), "a file of this user").expect("room");
    let moved = fs::File::open(place.path("lock")).expect("mine");
    moved.lock().expect("free");
    let refused = place.lock("lock").expect_err("another name is to be used");
    assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
    assert!(place.path("lock").exists());
}

#[test]
fn a_lock_that_names_what_is_left_stays_with_it() {
    let place = TestFolder::new();
    let suffix = ".0123456789abcdef";
    fs::write(place.path("lock"), suffix).expect("room");
    fs::set_permissions(place.path("lock"), Permissions::from_mode(CLOSED)).expect("mine");
    for (is_left, made) in [(true, "hidden"), (false, "other")] {
        fs::write(place.path("hidden"), "left").expect("room");
        let lock = place.lock("lock").expect("ours").expect("free");
        let left = lock.exchange(suffix, vec![made.into()]).expect("room");
        assert_eq!(left.as_deref(), Some(suffix));
        drop(lock);
        assert_eq!(place.path("lock").exists(), is_left, "{made}");
    }
}

#[test]
fn a_lock_file_without_a_holder_locks_nobody_out() {
    let place = TestFolder::new();
    fs::write(place.path("lock"), b"").expect("left by a killed run");
    drop(place.lock("lock").expect("asked").expect("free"));
    assert!(!place.path("lock").exists());
}

#[test]
fn only_one_of_many_threads_holds_a_lock_at_a_time() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let place = TestFolder::new();
    let (inside, held) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..500 {
                    let Some(lock) = place.lock("lock").expect("asked") else { continue };
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    held.fetch_add(1, Ordering::SeqCst);
                    inside.fetch_sub(1, Ordering::SeqCst);
                    drop(lock);
                }
            });
        }
    });
    assert!(held.into_inner() > 0);
    assert!(!place.path("lock").exists());
}

#[test]
fn what_is_no_lock_of_this_user_is_refused_and_kept() {
    let place = TestFolder::new();
    symlink("elsewhere", place.path("link")).expect("linked");
    fs::create_dir(place.path("folder")).expect("made");
    fs::write(place.path("one"), b"").expect("written");
    fs::hard_link(place.path("one"), place.path("two")).expect("linked");
    for name in ["link", "folder", "one"] {
        let error = place.lock(name).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{name}");
        assert!(place.path(name).symlink_metadata().is_ok(), "{name}");
    }
    assert!(!place.path("elsewhere").exists());
    fs::remove_file(place.path("two")).expect("removed");
    let stranger = place.1.lock(OsStr::new("one"), Some(12)).unwrap_err();
    assert_eq!(stranger.kind(), io::ErrorKind::AlreadyExists);
    assert!(place.lock("one").expect("mine").is_some());
}

#[test]
fn what_is_opened_is_an_ordinary_file() {
    let place = TestFolder::new();
    fs::create_dir(place.path("folder")).expect("made");
    assert!(place.1.open(OsStr::new("folder")).is_err());
    let null = LocalFs.locate(Path::new("/dev/null")).expect("located");
    assert!(null.folder.open(&null.name).is_err());
    fs::write(place.path("file"), b"bytes").expect("written");
    let file = place.1.open(OsStr::new("file")).expect("ordinary");
    assert!(file.write_at(b"no", 0).is_err());
    let mut bytes = [0; 8];
    assert_eq!(file.read_at(&mut bytes, 1).expect("read"), 4);
}

#[test]
fn attributes_are_those_of_what_was_looked_at_or_of_nothing() {
    let place = TestFolder::new();
    let name = OsStr::new("old");
    fs::write(place.path("old"), b"").expect("written");
    fs::set_permissions(place.path("old"), Permissions::from_mode(0o4711)).expect("mine");
    let seen = place.1.facts(name).expect("known").expect("there");
    let new = place.1.create_new(OsStr::new("new"), CLOSED).expect("made");
    let mode = || new.facts().expect("known").mode;
    for swap in ["link", "file", "nothing"] {
        fs::rename(place.path("old"), place.path("kept")).expect("moved");
        match swap {
            "link" => symlink("kept", place.path("old")).expect("linked"),
            "file" => fs::write(place.path("old"), b"").expect("written"),
            _ => {}
        }
        assert!(!new.copy_attributes(&*place.1, name, &seen).expect("looked"), "{swap}");
        assert_eq!(mode(), 0o600, "{swap}");
        fs::rename(place.path("kept"), place.path("old")).expect("moved back");
    }
    assert!(new.copy_attributes(&*place.1, name, &seen).expect("copied"));
    assert_eq!(mode(), 0o711);
}
