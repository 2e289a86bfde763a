//! Folders and files that are not writable, and owners that cannot be kept.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{Gid, Uid, XattrFlags, chown, getxattr, setxattr};
use swath::sink::HardLinks;
use swath::{OutputOptions, WriteOptions};

use crate::refused::child::{mount, with_own_mounts};
use crate::refused::ways::{Way, names, read};

pub(crate) const NOBODY: u32 = 65534;

/// Runs `body` on a thread, and those it starts, as the user nobody. The caller is root.
pub(crate) fn as_nobody(body: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
            rustix::thread::set_thread_groups(&[]).expect("root may");
            rustix::thread::set_thread_res_gid(group, group, group).expect("root may");
            rustix::thread::set_thread_res_uid(user, user, user).expect("root may");
            body();
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

/// A folder that no other user can reach, or `None` with a message.
pub(crate) fn folder(mode: u32) -> Option<tempfile::TempDir> {
    if !rustix::process::geteuid().is_root() {
        swath_reference::skip("root", "only root becomes another user");
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    fs::set_permissions(folder.path(), Permissions::from_mode(mode)).expect("mine");
    Some(folder)
}

pub(crate) fn file(path: &Path, mode: u32, owner: u32) -> PathBuf {
    fs::write(path, b"old").expect("written");
    chown(path, Some(Uid::from_raw(owner)), Some(Gid::from_raw(owner))).expect("root may");
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("root may");
    path.to_owned()
}

#[test]
fn a_closed_folder_is_an_error_of_every_way_of_writing() {
    for mode in [0o555, 0o700, 0o000] {
        let Some(folder) = folder(mode) else { return };
        let old = file(&folder.path().join("old"), 0o666, NOBODY);
        as_nobody(|| {
            for way in Way::ALL {
                for path in [&old, &folder.path().join("new")] {
                    let error = way.leave(path, b"bytes").expect_err("closed");
                    // A file is not a folder, whatever else is wrong.
                    if !(way.is_folder() && path == &old && mode == 0o555) {
                        assert_eq!(error.io_kind(), ErrorKind::PermissionDenied, "{error:?}");
                    }
                    assert!(!error.what_to_try().is_empty(), "{error:?}");
                }
            }
        });
        assert_eq!((names(folder.path()), read(&old)), (vec!["old".into()], b"old".into()));
    }
}

#[test]
fn a_read_only_file_is_refused_though_its_folder_is_open() {
    let Some(folder) = folder(0o777) else { return };
    let old = file(&folder.path().join("old"), 0o444, 0);
    as_nobody(|| {
        for way in Way::ALL {
            let error = way.leave(&old, b"bytes").expect_err("read-only");
            if !way.is_folder() {
                assert_eq!(error.io_kind(), ErrorKind::PermissionDenied, "{error:?}");
            }
        }
    });
    assert_eq!((names(folder.path()), read(&old)), (vec!["old".into()], b"old".into()));
}

/// Like `/tmp`: all users may create files, and only owners may rename over theirs.
#[test]
fn in_a_sticky_folder_the_file_of_another_is_kept_and_nothing_left() {
    let Some(folder) = folder(0o1777) else { return };
    let old = file(&folder.path().join("old"), 0o666, 12);
    // Even a lock that another user's killed run left is not in the way.
    file(&folder.path().join(".mine.swath-lock"), 0o644, 12);
    as_nobody(|| {
        let error = swath::write(&old, b"bytes").expect_err("not mine");
        assert_eq!(error.io_kind(), ErrorKind::PermissionDenied, "{error:?}");
        swath::write(folder.path().join("mine"), b"new").expect("the lock is free");
    });
    assert_eq!(read(&old), b"old");
    assert_eq!(names(folder.path()), [".mine.swath-lock", "mine", "old"]);
}

#[test]
fn without_its_owner_a_file_is_no_longer_that_of_a_privileged_user() {
    let Some(folder) = folder(0o777) else { return };
    let old = file(&folder.path().join("old"), 0o6776, 12);
    as_nobody(|| {
        swath::write(&old, b"new").expect("it is writable");
    });
    let facts = fs::metadata(&old).expect("there");
    assert_eq!((facts.uid(), facts.gid()), (NOBODY, NOBODY));
    // Not set-user-id, and the group has the permissions of all others.
    assert_eq!(facts.mode() & 0o7777, 0o766);
}

#[test]
fn root_keeps_the_owner_and_the_mode() {
    let Some(folder) = folder(0o755) else { return };
    for way in Way::ALL.into_iter().filter(|way| !way.is_folder() && *way != Way::Copy) {
        let old = file(&folder.path().join("old"), 0o6751, 12);
        way.leave(&old, b"new").unwrap_or_else(|error| panic!("{way:?}: {error:?}"));
        let facts = fs::metadata(&old).expect("there");
        let kept = (facts.uid(), facts.gid(), facts.mode() & 0o7777);
        // Except what made the old bytes a set-user-id program.
        assert_eq!(kept, (12, 12, 0o751), "{way:?}");
    }
}

#[test]
fn attributes_are_kept_in_every_way() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let old = folder.path().join("old");
    fs::write(&old, b"old").expect("written");
    const ALL: u32 = u32::MAX;
    let entries = [(1, 6, ALL), (2, 4, 1), (4, 0, ALL), (16, 4, ALL), (32, 0, ALL)];
    let list = swath_reference::access_list(&entries);
    let attributes = [
        ("extended-attributes", "user.colour", b"red".to_vec()),
        ("access-control-lists", "system.posix_acl_access", list),
    ];
    for (capability, name, value) in attributes {
        if let Err(error) = setxattr(&old, name, &value, XattrFlags::empty()) {
            swath_reference::skip(capability, error);
            continue;
        }
        for way in Way::ALL.into_iter().filter(|way| !way.is_folder() && *way != Way::Copy) {
            way.leave(&old, b"new").unwrap_or_else(|error| panic!("{way:?}: {error:?}"));
            let mut kept = [0; 100];
            let len = getxattr(&old, name, &mut kept[..]).expect("kept");
            assert_eq!(kept[..len], value, "{way:?}");
        }
    }
}

#[test]
fn a_mount_that_is_read_only_is_an_error_of_every_way_of_writing() {
    let name = "closed::a_mount_that_is_read_only_is_an_error_of_every_way_of_writing";
    with_own_mounts(name, || {
        let Some(folder) = mount("root", &["-t", "tmpfs", "none"]) else { return };
        swath::write(folder.join("old"), b"old").expect("written");
        let path = folder.to_str().expect("UTF-8");
        let remounted = crate::refused::child::run(std::process::Command::new("mount").args([
            "-o",
            "remount,ro",
            path,
        ]));
        remounted.expect("remounted");
        for way in Way::ALL {
            let error = way.leave(&folder.join("new"), b"bytes").expect_err("read-only");
            assert_eq!(error.raw_os_error(), Some(30), "{way:?}: {error:?}");
            assert!(!error.what_to_try().is_empty(), "{error:?}");
            let error = way.leave(&folder.join("old"), b"bytes").expect_err("read-only");
            if !way.is_folder() {
                assert_eq!(error.raw_os_error(), Some(30), "{way:?}: {error:?}");
                assert!(error.what_to_try().contains("read-only"), "{error:?}");
            }
        }
        assert_eq!(
            (names(&folder), read(&folder.join("old"))),
            (vec!["old".into()], b"old".into())
        );
    });
}

#[test]
fn folders_devices_and_hard_links_are_refused_in_every_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("folder")).expect("made");
    fs::write(path("folder/letter"), b"dear").expect("written");
    fs::write(path("one"), b"old").expect("written");
    fs::hard_link(path("one"), path("two")).expect("linked");
    symlink("folder", path("link")).expect("linked");
    let before = names(folder.path());
    for way in Way::ALL {
        for target in ["folder", "link", "one", "missing/out", "one/out"] {
            let error = way.leave(&path(target), b"bytes").expect_err("refused");
            assert!(
                error.raw_os_error().is_some() || error.io_kind() == ErrorKind::InvalidInput
            );
            assert_eq!(names(folder.path()), before, "{way:?} {target}");
        }
        let error = way.leave(Path::new("/dev/full"), b"bytes").expect_err("a device");
        assert_ne!(error.io_kind(), ErrorKind::Other, "{error:?}");
    }
    let broken = WriteOptions::new()
        .with_output(OutputOptions::new().with_hard_links(HardLinks::Broken));
    broken.write(path("one"), b"new").expect("asked for");
    assert_eq!((read(&path("one")), read(&path("two"))), (b"new".into(), b"old".into()));
}
