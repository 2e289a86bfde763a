//! Files that no other can take the place of: an error that says so, or a write where they are.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use swath::append::{AppendOptions, OrderedOptions};
use swath::heal::HealOptions;
use swath::job::JobOptions;
use swath::mirror::{MirrorOptions, Verify};
use swath::sink::Replace;
use swath::{Error, Fallback, OutputOptions, Reason, WriteOptions};

use crate::hooked::{Call, Hook, Hooked};
use crate::refused::child::{mount, with_own_mounts};
use crate::refused::closed::{NOBODY, as_nobody, file, folder};
use crate::refused::ways::{Way, bytes, names, read};

const KEPT: [Way; 7] = [
    Way::Write,
    Way::Positional,
    Way::Strands,
    Way::Tickets,
    Way::DirectTickets,
    Way::Copy,
    Way::Spilling,
];

fn in_place() -> OutputOptions {
    OutputOptions::new().with_replace(Replace::InPlace)
}

/// Whether it is advised where it is possible.
fn is_advised(way: Way, error: &Error) -> bool {
    match way {
        Way::Shared if error.io_kind() == ErrorKind::PermissionDenied => {
            error.what_to_try() == "check the permissions of its folder"
        }
        Way::Shared => error.what_to_try() == "write to another name",
        _ => error.what_to_try().contains("Replace::InPlace"),
    }
}

/// Writes more and less than is there, and nothing.
fn is_rewritten(way: Way, path: &Path) {
    let before = fs::metadata(path).expect("there");
    for len in [300_000, 0, 70_001, 400_000] {
        let bytes = bytes(len);
        let written = way.leave_as(&in_place(), path, &bytes);
        written.unwrap_or_else(|error| panic!("{way:?}, {len} bytes: {error:?}"));
        assert!(read(path) == bytes, "{way:?}, {len} bytes");
        let after = fs::metadata(path).expect("there");
        let kept = |it: &fs::Metadata| (it.dev(), it.ino(), it.mode(), it.uid(), it.nlink());
        assert_eq!(kept(&after), kept(&before), "{way:?}, {len} bytes");
        let own = path.file_name().expect("named").to_string_lossy().into_owned();
        let left = names(path.parent().expect("a folder"));
        assert!(!left.iter().any(|name| name.contains(&format!("{own}.swath-"))), "{left:?}");
    }
}

#[test]
fn a_mount_point_is_refused_at_once_and_written_in_place() {
    let name = "in_place::a_mount_point_is_refused_at_once_and_written_in_place";
    with_own_mounts(name, || {
        let Some(folder) = mount("root", &["-t", "tmpfs", "none"]) else { return };
        let (real, point) = (folder.join("real"), folder.join("point"));
        for path in [&real, &point] {
            fs::write(path, "old").expect("room");
        }
        fs::set_permissions(&real, fs::Permissions::from_mode(0o604)).expect("mine");
        let mut bind = std::process::Command::new("mount");
        let bound = bind.arg("--bind").args([&real, &point]).status().expect("a command");
        assert!(bound.success(), "{bound}");
        for way in Way::ALL.into_iter().filter(|way| !way.is_folder()) {
            let error = way.leave(&point, b"new").expect_err("a mount point");
            assert_eq!(error.io_kind(), ErrorKind::ResourceBusy, "{way:?}: {error:?}");
            assert!(format!("{error:?}").contains("it is a mount point"), "{way:?}: {error:?}");
            assert!(is_advised(way, &error), "{way:?}: {error:?}");
            assert_eq!(read(&real), b"old", "{way:?}");
        }
        let error = MirrorOptions::new().mirror(&real, &[&point]).expect_err("the same file");
        assert_eq!(error.reason(), Reason::Invalid, "{error:?}");
        let source = folder.join("source");
        fs::write(&source, "of a copy").expect("room");
        let error = MirrorOptions::new().mirror(&source, &[&point]).expect_err("a mount point");
        assert_eq!(error.what_to_try(), "write to another name", "{error:?}");
        KEPT.into_iter().for_each(|way| is_rewritten(way, &point));
        assert!(read(&real) == read(&point) && names(&folder) == ["point", "real", "source"]);
    });
}

#[test]
fn an_immutable_file_is_refused_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let old = file(&folder.path().join("old"), 0o646, 0);
    let source = file(&folder.path().join("source"), 0o646, 0);
    let set = |flag: &str| {
        let mut command = std::process::Command::new("chattr");
        command.arg(flag).arg(&old).output().is_ok_and(|output| output.status.success())
    };
    for kind in ["i", "a"] {
        if !set(&format!("+{kind}")) {
            return swath_reference::skip(
                "chattr",
                "this user or file system sets no attributes",
            );
        }
        for way in Way::ALL.into_iter().filter(|way| !way.is_folder()) {
            let error = way.leave(&old, b"new").expect_err("kept");
            assert_eq!(error.io_kind(), ErrorKind::PermissionDenied, "{way:?}: {error:?}");
            assert!(error.what_to_try().contains("lsattr"), "{way:?}: {error:?}");
        }
        let error = swath::job::plan([&source], &old).expect_err("kept");
        assert!(error.what_to_try().contains("lsattr"), "{error:?}");
        assert!(set(&format!("-{kind}")));
    }
    assert_eq!(names(folder.path()), ["old", "source"]);
}

#[test]
fn a_file_in_a_closed_folder_is_written_in_place_without_a_lock() {
    let Some(folder) = folder(0o555) else { return };
    let old = file(&folder.path().join("old"), 0o646, NOBODY);
    as_nobody(|| {
        for way in Way::ALL.into_iter().filter(|way| !way.is_folder()) {
            let error = way.leave(&old, b"new").expect_err("closed");
            assert_eq!(error.io_kind(), ErrorKind::PermissionDenied, "{way:?}: {error:?}");
            assert!(is_advised(way, &error), "{way:?}: {error:?}");
            assert_eq!(read(&old), b"old", "{way:?}");
        }
        for way in KEPT.into_iter().filter(|way| *way != Way::Spilling) {
            is_rewritten(way, &old);
        }
        let written = WriteOptions::new().with_output(in_place()).write(&old, b"new");
        assert!(written.expect("open").fallbacks.contains(&Fallback::NoLocks));
        let out = OrderedOptions::new().with_output(in_place()).ordered(&old).expect("open");
        assert!(out.commit().expect("open").fallbacks.contains(&Fallback::NoLocks));
        let error = WriteOptions::new()
            .with_output(in_place())
            .write(folder.path().join("new"), b"new")
            .expect_err("nothing is there");
        assert_eq!(error.io_kind(), ErrorKind::PermissionDenied, "{error:?}");
    });
}

#[test]
fn other_names_get_the_bytes_too_and_a_new_file_is_made_in_one_step() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("a"), "old").expect("room");
    fs::hard_link(path("a"), path("b")).expect("linked");
    let options = WriteOptions::new().with_output(in_place());
    options.write(path("a"), b"new").expect("open");
    assert_eq!(read(&path("b")), b"new");
    let out = options.create(path("c"), 3).expect("open");
    assert!(!path("c").exists());
    out.write_at(b"new", 0).expect("room");
    out.commit().expect("room");
    assert_eq!(read(&path("c")), b"new");
}

#[test]
fn one_writer_at_a_time_writes_in_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out");
    fs::write(&path, "old").expect("room");
    let options = WriteOptions::new().with_output(in_place());
    let out = options.create(&path, 5).expect("open");
    let error = options.write(&path, b"two").expect_err("the first is writing");
    assert_eq!(error.reason(), Reason::Busy, "{error:?}");
    let error = swath::write(&path, b"three").expect_err("the first is writing");
    assert_eq!(error.reason(), Reason::Busy, "{error:?}");
    out.write_at(b"first", 0).expect("room");
    out.commit().expect("room");
    assert_eq!((read(&path), names(folder.path())), (b"first".into(), vec!["out".into()]));
}

/// Another program puts a file under a name while that is being locked.
#[derive(Debug)]
struct Swap(PathBuf, PathBuf);

impl Hook for Swap {
    fn before(&self, call: Call) -> io::Result<()> {
        if call == Call::Lock { fs::rename(&self.0, &self.1) } else { Ok(()) }
    }
}

#[test]
fn a_file_that_has_just_been_put_there_is_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    for old in [None, Some("old")] {
        fs::write(path("another"), "another").expect("room");
        let _ = fs::remove_file(path("out"));
        if let Some(old) = old {
            fs::write(path("out"), old).expect("room");
        }
        let swap = Swap(path("another"), path("out"));
        let swapped = in_place().with_fs(Arc::new(Hooked(Arc::new(swap))));
        let written = WriteOptions::new().with_output(swapped).write(path("out"), b"new");
        let error = written.expect_err("it may be another user's");
        assert_eq!(error.reason(), Reason::Changed, "{error:?}");
        assert_eq!(
            (read(&path("out")), names(folder.path())),
            (b"another".into(), vec!["out".into()])
        );
    }
}

/// Another program does something while a target is being locked.
#[derive(Debug)]
struct LockHook(fn(&Path), PathBuf);

impl Hook for LockHook {
    fn before(&self, call: Call) -> io::Result<()> {
        if call == Call::Lock {
            (self.0)(&self.1);
        }
        Ok(())
    }
}

fn while_locking(act: fn(&Path), folder: &Path) -> OutputOptions {
    let hook = LockHook(act, folder.to_owned());
    OutputOptions::new().with_fs(Arc::new(Hooked(Arc::new(hook))))
}

#[test]
fn who_could_not_read_the_target_at_first_cannot_read_the_new_one() {
    let acts: [fn(&Path); 2] = [
        |folder| fs::remove_file(folder.join("out")).expect("there"),
        |folder| fs::rename(folder.join("open"), folder.join("out")).expect("there"),
    ];
    for act in acts {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, mode) in [("out", 0o600), ("open", 0o644)] {
            fs::write(folder.path().join(name), name).expect("room");
            let permissions = fs::Permissions::from_mode(mode);
            fs::set_permissions(folder.path().join(name), permissions).expect("mine");
        }
        let options = WriteOptions::new().with_output(while_locking(act, folder.path()));
        let out = folder.path().join("out");
        options.write(&out, b"new").expect("written");
        assert_eq!(read(&out), b"new");
        assert_eq!(fs::metadata(&out).expect("there").mode() & 0o777, 0o600);
    }
}

#[test]
fn a_folder_of_segments_that_has_just_been_put_there_is_not_written() {
    let acts: [fn(&Path); 3] = [
        |folder| {
            fs::rename(folder.join("out"), folder.join("away")).expect("there");
            fs::rename(folder.join("other"), folder.join("out")).expect("there");
        },
        |folder| fs::rename(folder.join("out"), folder.join("away")).expect("there"),
        |folder| fs::create_dir(folder.join("out")).expect("free"),
    ];
    for (number, act) in acts.into_iter().enumerate() {
        let folder = tempfile::tempdir().expect("a folder");
        let segments = AppendOptions::new().with_mode(swath::append::Mode::Segments);
        for name in ["out", "other"].iter().filter(|_| number < 2) {
            segments.create(folder.path().join(name)).expect("new").commit().expect("room");
        }
        let options = segments.clone().with_output(while_locking(act, folder.path()));
        let error = options.create(folder.path().join("out")).expect_err("another folder");
        assert_eq!(error.reason(), Reason::Changed, "{number}: {error:?}");
    }
}

#[test]
fn an_error_says_that_a_part_may_be_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out");
    fs::write(&path, "old").expect("room");
    let out = OrderedOptions::new().with_output(in_place()).ordered(&path).expect("open");
    drop(out.ticket().expect("open"));
    let error = out.commit().expect_err("a ticket was dropped").to_string();
    let part = format!("({} may hold a part of the new bytes now)", path.display());
    assert!(error.contains(&part), "{error}");
    // Moved away in the meantime: the bytes are not found under the name.
    let out = WriteOptions::new().with_output(in_place()).create(&path, 1).expect("open");
    fs::rename(&path, folder.path().join("moved")).expect("mine");
    fs::write(&path, "another").expect("room");
    let error = out.commit().expect_err("another file is there");
    assert_eq!(error.reason(), Reason::Changed, "{error:?}");
    assert!(error.to_string().contains(&part) && read(&path) == b"another", "{error}");
}

#[test]
fn what_is_read_is_not_written_in_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, link) = (folder.path().join("out"), folder.path().join("link"));
    fs::write(&path, "1\n2\n").expect("room");
    fs::hard_link(&path, &link).expect("linked");
    for from in [&path, &link] {
        let records = swath::records(from).with_output(in_place());
        let same = records.transform(&path, |line, out| -> std::io::Result<()> {
            out.extend_from_slice(line);
            Ok(())
        });
        let error = same.expect_err("the same file");
        let error = error.downcast::<swath::Error>().expect("ours");
        assert_eq!(error.reason(), Reason::Invalid, "{error:?}");
        assert!(error.to_string().contains("it is the input"), "{error}");
    }
    let error = swath::copy::CopyOptions::new().with_output(in_place()).copy(&link, &path);
    assert_eq!(error.expect_err("the same file").reason(), Reason::Invalid);
    assert_eq!((read(&path), names(folder.path()).len()), (b"1\n2\n".into(), 2));
}

#[test]
fn what_must_be_whole_is_never_written_in_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    for name in ["a", "b", "c"] {
        fs::write(path(name), "old").expect("room");
    }
    let append = AppendOptions::new().with_output(in_place());
    let healed = HealOptions::new().with_output(in_place());
    fs::write(path("c"), "odd").expect("room");
    let copies = ["a", "b", "c"].map(path);
    let healed = healed.heal(&copies, &Verify::Vote).expect("two are right");
    let job = JobOptions::new().with_output(in_place());
    let mirror = MirrorOptions::new().with_output(in_place());
    let write = WriteOptions::new().with_output(in_place());
    let refused = [
        append.append_to_existing(path("a")).map(drop),
        write.create_shared(path("a"), 3).map(drop),
        mirror.mirror(path("a"), &[path("b")]).map(drop),
        job.plan([path("a")], path("b")).map(drop),
        healed.failure().map_or(Ok(()), Err),
    ];
    for error in refused.map(|refused| refused.expect_err("must be whole")) {
        assert_eq!(error.reason(), Reason::Invalid, "{error:?}");
        assert!(error.to_string().contains("never written in place"), "{error}");
    }
    let left = ["a", "b", "c"].map(|name| read(&path(name)));
    assert_eq!(left, [&b"old"[..], b"old", b"odd"]);
    let out = append.create(path("a")).expect("open");
    let error = out.checkpoint().expect_err("must be whole");
    assert!(error.to_string().contains("never written in place"), "{error}");
    drop(out);
    assert_eq!(names(folder.path()), ["a", "b", "c"]);
}
