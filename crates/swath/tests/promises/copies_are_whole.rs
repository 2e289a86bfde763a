//! Copies: the bytes of the source, its holes and permissions, or what was there before.

use std::fs::{FileTimes, Permissions};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use swath::append::{AppendOptions, Mode, OrderedOptions};
use swath::copy::{CopyOptions, How, Preserve, Reflink};
use swath::sink::{Durability, HardLinks, Replace};
use swath::{
    CancelToken, Error, Fallback, Input, Operation, OutputOptions, ReadAt, ReadOptions, Reason,
    Source, SourceFacts, copy,
};
use swath_reference::{bytes, skip};

use crate::before::BeforeCall;
use crate::hooked::{Call, Hook, Hooked};

const MIB: u64 = 1 << 20;

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).expect("room");
        path
    }

    fn names(&self) -> usize {
        std::fs::read_dir(self.0.path()).expect("a folder").count()
    }
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("it is there")
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("there").permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("mine");
}

/// A source that fails in another way has a mistake in it.
fn refused<T: std::fmt::Debug>(ended: Result<T, Error>) -> Error {
    ended.expect_err("refused")
}

#[test]
fn every_length_and_number_of_workers_and_chunk_size_gives_the_bytes() {
    let place = Place::new();
    let mut folders = vec![place.path("")];
    let memory = tempfile::tempdir_in("/dev/shm").ok();
    folders.extend(memory.as_ref().map(|folder| folder.path().to_owned()));
    for folder in folders {
        for len in [0, 1, 4095, 4096, 4097, 65_536, 65_537, 3_000_001] {
            let whole = bytes(len as u64, len);
            let (from, to) = (folder.join("from"), folder.join("to"));
            std::fs::write(&from, &whole).expect("room");
            for workers in [0, 1, 3] {
                for chunk_size in [0, 1000, 4096, 1 << 20] {
                    let options = CopyOptions::new()
                        .with_read(
                            ReadOptions::new()
                                .with_workers(workers)
                                .with_chunk_size(chunk_size),
                        )
                        .with_output(OutputOptions::new().with_durability(Durability::None));
                    let copied = options.copy(&from, &to).expect("copied");
                    assert!(read(&to) == whole, "{len} bytes, {workers} × {chunk_size}");
                    assert_eq!((copied.bytes, copied.hole_bytes), (len as u64, 0));
                    assert!(workers == 0 || copied.workers <= workers);
                }
            }
        }
    }
}

#[test]
fn holes_stay_holes() {
    let place = Place::new();
    let from = place.put("from", b"");
    let file = std::fs::OpenOptions::new().write(true).open(&from).expect("ours");
    file.set_len(64 * MIB + 5).expect("a hole");
    for offset in [0, 10 * MIB, 33 * MIB + 4096] {
        file.write_all_at(&bytes(offset, 100_000), offset).expect("room");
    }
    let sparse = std::fs::metadata(&from).expect("there").blocks();
    if sparse * 512 > MIB {
        return skip("holes", "this file system has none");
    }
    for workers in [1, 4] {
        let to = place.path("to");
        let options = CopyOptions::new()
            .with_read(ReadOptions::new().with_workers(workers))
            .with_reflink(Reflink::Never);
        let copied = options.copy(&from, &to).expect("copied");
        assert!(read(&to) == read(&from));
        assert_eq!(copied.bytes, 64 * MIB + 5);
        let data = copied.bytes - copied.hole_bytes;
        assert!((300_000..MIB).contains(&data), "{data} bytes of data");
        let blocks = std::fs::metadata(&to).expect("there").blocks();
        assert!(blocks * 512 <= MIB, "{blocks} blocks");
    }
    let empty = place.put("empty", b"");
    std::fs::OpenOptions::new().write(true).open(&empty).expect("ours").set_len(MIB).expect("");
    let options = CopyOptions::new().with_reflink(Reflink::Never);
    let copied = options.copy(&empty, place.path("to")).expect("copied");
    assert_eq!((copied.bytes, copied.hole_bytes), (MIB, MIB));
    assert!(read(&place.path("to")) == vec![0; 1 << 20]);
    copy(&from, place.path("to")).expect("copied, or shared");
    assert!(read(&place.path("to")) == read(&from));
    assert!(std::fs::metadata(place.path("to")).expect("there").blocks() * 512 <= MIB);
}

#[test]
fn a_reflink_is_used_where_it_can_be_and_an_error_where_it_must() {
    let place = Place::new();
    let whole = bytes(3, 3_000_001);
    let (from, to) = (place.put("from", &whole), place.path("to"));
    let never = CopyOptions::new().with_reflink(Reflink::Never).copy(&from, &to);
    assert_ne!(never.expect("copied").how, How::Reflink);
    let always = CopyOptions::new().with_reflink(Reflink::Always);
    match always.copy(&from, place.path("linked")) {
        Ok(copied) => {
            assert_eq!(copied.how, How::Reflink);
            assert!(read(&place.path("linked")) == whole);
        }
        Err(error) => {
            assert_eq!(
                (error.reason(), error.operation()),
                (Reason::Invalid, Operation::Write)
            );
            assert!(error.to_string().contains("cannot share blocks"), "{error}");
            assert!(!place.path("linked").exists());
            skip("reflink", "this file system has none");
        }
    }
    assert!(read(&to) == whole);
}

#[test]
fn a_new_file_gets_the_permissions_of_its_source_and_a_replaced_one_keeps_its_own() {
    let place = Place::new();
    let from = place.put("from", b"#!/bin/sh\n");
    let plain = mode(&from);
    for (wanted, expected) in
        [(0o700, 0o700), (0o600, 0o600), (0o4755, plain | 0o111 & (plain >> 2))]
    {
        std::fs::set_permissions(&from, PermissionsExt::from_mode(wanted)).expect("ours");
        let to = place.path(&format!("to-{wanted:o}"));
        copy(&from, &to).expect("copied");
        assert_eq!(mode(&to), expected, "{wanted:o}");
    }
    let old = place.put("old", b"old");
    std::fs::set_permissions(&old, PermissionsExt::from_mode(0o640)).expect("ours");
    copy(&from, &old).expect("copied");
    assert_eq!((mode(&old), read(&old)), (0o640, b"#!/bin/sh\n".to_vec()));
}

/// The times of a file, in seconds and nanoseconds: of its last read, and of its last write.
fn times(path: &Path) -> [(i64, i64); 2] {
    let facts = std::fs::metadata(path).expect("there");
    [(facts.atime(), facts.atime_nsec()), (facts.mtime(), facts.mtime_nsec())]
}

fn set_times(path: &Path, accessed: Duration, modified: Duration) {
    let times = FileTimes::new()
        .set_accessed(UNIX_EPOCH + accessed)
        .set_modified(UNIX_EPOCH + modified);
    let file = std::fs::File::options().write(true).open(path).expect("mine");
    file.set_times(times).expect("mine");
}

/// A neighbour who may rename files of this user chooses which one is replaced.
#[test]
fn an_old_file_that_another_one_took_the_place_of_lends_it_no_permissions() {
    for (old, public, expected) in
        [(0o600, 0o664, 0o600), (0o644, 0o604, 0o604), (0o664, 0o600, 0o600)]
    {
        for is_there in [true, false] {
            let place = Place::new();
            let from = place.put("from", b"new bytes");
            std::fs::set_permissions(&from, Permissions::from_mode(old)).expect("mine");
            let (to, other) = (place.path("to"), place.put("other", b"of another file"));
            std::fs::set_permissions(&other, Permissions::from_mode(public)).expect("mine");
            if is_there {
                place.put("to", b"old");
                std::fs::set_permissions(&to, Permissions::from_mode(old)).expect("mine");
            }
            let (target, once) = (to.clone(), std::sync::Once::new());
            let swap =
                move || once.call_once(|| std::fs::rename(&other, &target).expect("mine"));
            let fs = Hooked(Arc::new(BeforeCall(Call::SetLen, swap)));
            let output = OutputOptions::new().with_fs(Arc::new(fs));
            CopyOptions::new().with_output(output).copy(&from, &to).expect("copied");
            let mode = std::fs::metadata(&to).expect("there").permissions().mode();
            assert_eq!(mode & 0o7777 & !expected, 0, "{old:o} {public:o} {is_there}: {mode:o}");
            assert_eq!(read(&to), b"new bytes");
        }
    }
}

/// User 1 may read by the list, and user 2 may not: the permissions alone do not tell.
#[test]
fn a_user_who_may_not_read_a_file_by_its_access_list_may_not_read_a_copy() {
    use rustix::fs::{XattrFlags, setxattr};
    const ALL: u32 = u32::MAX;
    let list = |user_1: u16, user_2: u16, group: u16, others: u16| {
        let users = [(1, 6, ALL), (2, user_1, 1), (2, user_2, 2)];
        let rest = [(4, group, ALL), (16, 7, ALL), (32, others, ALL)];
        swath_reference::access_list(&[users, rest].concat())
    };
    let place = Place::new();
    let from = place.put("from", b"bytes");
    let set =
        |path: &Path, name: &str, list: &[u8]| setxattr(path, name, list, XattrFlags::empty());
    for (given, made) in [
        ((4, 4, 4, 0), 0o600),
        ((4, 0, 4, 4), 0o600),
        ((6, 4, 4, 4), 0o644),
        ((7, 7, 6, 6), 0o666),
    ] {
        let (user_1, user_2, group, others) = given;
        let of_file = list(user_1, user_2, group, others);
        if let Err(error) = set(&from, "system.posix_acl_access", &of_file) {
            return skip("access-control-lists", error);
        }
        let (to, kept) = (place.path("to"), place.path("kept"));
        copy(&from, &to).expect("copied");
        let umask = swath_os::umask::umask().unwrap_or(0);
        assert_eq!(mode(&to), made & !umask, "{given:?}");
        // With all of its attributes, it has the list.
        let options = CopyOptions::new().with_preserve(Preserve::All);
        options.copy(&from, &kept).expect("copied");
        assert_eq!(mode(&kept), mode(&from), "{given:?}");
        std::fs::remove_file(to).and_then(|()| std::fs::remove_file(kept)).expect("ours");
    }
    // A new file gets the list of its folder, and user 1 with it.
    let open = place.put("open", b"bytes");
    set_mode(&open, 0o640);
    let shared = place.path("shared");
    std::fs::create_dir(&shared).expect("room");
    set(&shared, "system.posix_acl_default", &list(6, 6, 6, 0)).expect("as before");
    copy(&open, shared.join("to")).expect("copied");
    assert_eq!(mode(&shared.join("to")), 0o600);
    CopyOptions::new()
        .with_preserve(Preserve::All)
        .copy(&open, shared.join("kept"))
        .expect("copied");
    assert_eq!(mode(&shared.join("kept")), 0o640);
}

#[test]
fn a_copy_that_preserves_all_has_times_mode_and_owner_of_its_source() {
    let place = Place::new();
    let preserving = |reflink, durability| {
        CopyOptions::new()
            .with_reflink(reflink)
            .with_preserve(Preserve::All)
            .with_output(OutputOptions::new().with_durability(durability))
    };
    let (accessed, modified) = (Duration::new(900_000_000, 1), Duration::new(7, 123_456_789));
    for len in [0, 10, 3_000_001] {
        for is_replaced in [false, true] {
            for reflink in [Reflink::Auto, Reflink::Never] {
                let from = place.put("from", &bytes(1, len));
                set_mode(&from, 0o642);
                let is_given = std::os::unix::fs::chown(&from, Some(12), Some(34)).is_ok();
                set_times(&from, accessed, modified);
                let to = place.path("to");
                let _ = std::fs::remove_file(&to);
                if is_replaced {
                    place.put("to", b"old");
                    set_mode(&to, 0o600);
                }
                let copied = preserving(reflink, Durability::Full).copy(&from, &to);
                assert_eq!(copied.expect("copied").fallbacks, [], "{len} {is_replaced}");
                let [read_at, written_at] = times(&to);
                assert_eq!(written_at, (7, 123_456_789));
                // An empty file is read when it is opened: it might be one that the kernel makes.
                assert!(len == 0 || read_at == (900_000_000, 1), "{len}: {read_at:?}");
                assert_eq!(mode(&to), 0o642, "whatever the umask is, and what was there");
                let facts = std::fs::metadata(&to).expect("there");
                assert!(!is_given || (facts.uid(), facts.gid()) == (12, 34));
                assert_eq!(read(&to), read(&from));
            }
        }
    }
    let (from, to) = (place.path("from"), place.path("to"));
    preserving(Reflink::Auto, Durability::None).copy(&from, &to).expect("copied");
    assert_eq!(times(&to)[1], (7, 123_456_789));
    copy(&from, &to).expect("copied");
    assert!(times(&to)[1] > (1_000_000_000, 0), "a plain copy is new");
    let made =
        preserving(Reflink::Auto, Durability::None).copy("/dev/null", place.path("null"));
    assert_eq!((made.expect("copied").bytes, mode(&place.path("null")) & 0o111), (0, 0));
}

#[test]
fn times_that_a_file_system_does_not_keep_are_a_fallback_and_the_copy_is_whole() {
    /// Refuses to set times.
    #[derive(Debug)]
    struct Timeless;

    impl Hook for Timeless {
        fn before(&self, call: Call) -> io::Result<()> {
            let refused = || io::Error::from_raw_os_error(38);
            if call == Call::Times { Err(refused()) } else { Ok(()) }
        }
    }

    let place = Place::new();
    let (from, to) = (place.put("from", b"bytes"), place.path("to"));
    let times = Input::open(&from).and_then(|input| input.times()).expect("inspected");
    let output = OutputOptions::new().with_fs(Arc::new(Hooked(Arc::new(Timeless))));
    let mut out = OrderedOptions::from(output.clone()).ordered(&to).expect("begun");
    out.set_times(times);
    let written = out.commit().expect("committed");
    let copied = CopyOptions::new().with_preserve(Preserve::All).with_output(output);
    let copied = copied.copy(&from, &to).expect("copied");
    assert_eq!(read(&to), b"bytes");
    for fallbacks in [written.fallbacks, copied.fallbacks] {
        let [Fallback::TimesNotKept { why }] = &fallbacks[..] else { panic!("{fallbacks:?}") };
        assert!(why.starts_with("Function not implemented"), "{why}");
    }
}

#[test]
fn a_file_is_not_copied_over_itself() {
    let place = Place::new();
    let from = place.put("from", b"bytes");
    symlink(&from, place.path("link")).expect("linked");
    std::fs::hard_link(&from, place.path("hard")).expect("linked");
    for to in ["from", "link", "hard"] {
        let error = refused(copy(&from, place.path(to)));
        assert_eq!((error.reason(), error.path()), (Reason::Invalid, &*place.path(to)));
        assert!(error.to_string().contains("is the same file as"), "{error}");
    }
    assert_eq!((read(&from), place.names()), (b"bytes".to_vec(), 3));
}

#[test]
fn folders_and_missing_files_are_refused_on_either_side() {
    let place = Place::new();
    let from = place.put("from", b"bytes");
    let error = refused(copy(place.path(""), place.path("to")));
    assert_eq!((error.operation(), error.raw_os_error()), (Operation::Read, Some(21)));
    let error = refused(copy(&from, place.path("")));
    assert_eq!((error.operation(), error.raw_os_error()), (Operation::Create, Some(21)));
    let error = refused(copy(place.path("missing"), place.path("to")));
    assert_eq!((error.operation(), error.io_kind()), (Operation::Open, ErrorKind::NotFound));
    let error = refused(copy(&from, place.path("missing/to")));
    assert_eq!((error.operation(), error.io_kind()), (Operation::Create, ErrorKind::NotFound));
    assert_eq!(place.names(), 1);
}

#[test]
fn a_target_that_must_not_be_replaced_is_not() {
    let place = Place::new();
    let (from, to) = (place.put("from", b"new"), place.put("to", b"old"));
    let refusing =
        CopyOptions::new().with_output(OutputOptions::new().with_replace(Replace::Refused));
    let error = refused(refusing.copy(&from, &to));
    assert_eq!(error.io_kind(), ErrorKind::AlreadyExists);
    refusing.copy(&from, place.path("new")).expect("it is new");
    std::fs::hard_link(&to, place.path("other")).expect("linked");
    assert_eq!(refused(copy(&from, &to)).reason(), Reason::Invalid);
    assert_eq!(read(&to), b"old");
    CopyOptions::new()
        .with_output(OutputOptions::new().with_hard_links(HardLinks::Broken))
        .copy(&from, &to)
        .expect("broken");
    assert_eq!((read(&to), read(&place.path("other"))), (b"new".to_vec(), b"old".to_vec()));
}

#[test]
fn a_pipe_is_copied_until_it_ends_and_a_file_of_the_kernel_too() {
    let place = Place::new();
    let whole = bytes(5, 3_000_001);
    let (reader, mut writer) = io::pipe().expect("a pipe");
    let copied = std::thread::scope(|scope| {
        scope.spawn(|| {
            writer.write_all(&whole).expect("the reader reads");
            drop(writer);
        });
        let source = std::fs::File::from(std::os::fd::OwnedFd::from(reader));
        copy(Source::file(source, "<pipe>"), place.path("piped")).expect("copied")
    });
    assert!(read(&place.path("piped")) == whole);
    assert_eq!((copied.bytes, copied.how, copied.workers), (3_000_001, How::ReadWrite, 1));
    copy("/proc/version", place.path("version")).expect("copied");
    assert_eq!(read(&place.path("version")), read(Path::new("/proc/version")));
    copy("/dev/null", place.path("null")).expect("copied");
    assert_eq!(read(&place.path("null")), b"");
}

#[test]
fn the_position_of_an_open_source_is_neither_used_nor_moved() {
    let place = Place::new();
    let from = place.put("from", b"");
    let mut file = std::fs::File::options().read(true).write(true).open(&from).expect("ours");
    file.set_len(9 * MIB).expect("a hole");
    file.write_all_at(b"data", 4 * MIB).expect("room");
    file.seek(SeekFrom::Start(77)).expect("anywhere");
    let source = Source::file(file.try_clone().expect("a descriptor"), "file");
    copy(source, place.path("to")).expect("copied");
    assert_eq!(file.stream_position().expect("known"), 77);
    assert!(read(&place.path("to")) == read(&from));
}

/// Reports another version each time, or fails at its second half.
struct Unsteady(AtomicU64, Option<ErrorKind>);

impl ReadAt for Unsteady {
    fn facts(&self) -> io::Result<SourceFacts> {
        let version = self.0.fetch_add(1, Ordering::Relaxed);
        let version = if self.1.is_some() { 0 } else { version };
        Ok(SourceFacts::new(Some(4 * MIB)).with_validator([version, 0, 0, 0]))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        match self.1 {
            Some(kind) if offset >= 2 * MIB => Err(kind.into()),
            _ => {
                target.fill(1);
                Ok(target.len())
            }
        }
    }
}

#[test]
fn a_source_that_changes_or_fails_leaves_the_target_as_it_was() {
    let place = Place::new();
    let to = place.put("to", b"old");
    let changed = refused(copy(Source::custom(Arc::new(Unsteady(0.into(), None))), &to));
    assert_eq!(changed.reason(), Reason::Changed);
    let broken = Unsteady(0.into(), Some(ErrorKind::PermissionDenied));
    let failed = refused(copy(Source::custom(Arc::new(broken)), &to));
    assert_eq!(
        (failed.operation(), failed.io_kind()),
        (Operation::Read, ErrorKind::PermissionDenied)
    );
    assert!(failed.extent().is_some_and(|extent| extent.offset() >= 2 * MIB));
    assert_eq!((read(&to), place.names()), (b"old".to_vec(), 1));
}

#[test]
fn a_source_that_is_written_to_while_it_is_copied_is_an_error() {
    let place = Place::new();
    let from = place.put("from", &bytes(1, 4 << 20));
    let to = place.put("to", b"old");
    for shorter in [false, true] {
        let file = std::fs::File::options().write(true).open(&from).expect("ours");
        let options = CopyOptions::new().with_read(
            ReadOptions::new().with_workers(1).with_progress(move |progress| {
                if progress.bytes == progress.total.unwrap_or(0) || shorter {
                    file.set_len(if shorter { 10 } else { 5 << 20 }).expect("ours");
                }
            }),
        );
        // A reflink is a copy of one moment, but its source is not what it was before either.
        let error = refused(options.copy(&from, &to));
        assert!(
            matches!(error.reason(), Reason::Changed | Reason::Truncated),
            "shorter {shorter}: {error:?}"
        );
        assert_eq!(error.path(), from);
    }
    assert_eq!((read(&to), place.names()), (b"old".to_vec(), 2));
}

#[test]
fn progress_reaches_the_length_and_who_cancels_leaves_nothing() {
    let place = Place::new();
    let from = place.put("from", &bytes(1, 5_000_000));
    let most = Arc::new(Mutex::new(0));
    let seen = Arc::clone(&most);
    let options =
        CopyOptions::new().with_read(ReadOptions::new().with_progress(move |progress| {
            assert_eq!(progress.total, Some(5_000_000));
            let mut most = seen.lock().expect("no panic");
            *most = progress.bytes.max(*most);
        }));
    options.copy(&from, place.path("to")).expect("copied");
    assert_eq!(*most.lock().expect("no panic"), 5_000_000);
    let token = CancelToken::new();
    token.cancel();
    let cancelled = CopyOptions::new().with_read(ReadOptions::new().with_cancel(token));
    assert_eq!(refused(cancelled.copy(&from, place.path("none"))).reason(), Reason::Cancelled);
    let token = CancelToken::new();
    let late = token.clone();
    let cancelled = CopyOptions::new()
        .with_read(
            ReadOptions::new()
                .with_workers(1)
                .with_progress(move |_| late.cancel())
                .with_cancel(token),
        )
        .with_reflink(Reflink::Never);
    assert_eq!(refused(cancelled.copy(&from, place.path("none"))).reason(), Reason::Cancelled);
    assert_eq!(place.names(), 2);
}

/// Takes all bytes, and says only when the file is closed that it could not keep them, as FUSE does.
#[derive(Debug)]
struct LateFault;

impl Hook for LateFault {
    fn before(&self, call: Call) -> io::Result<()> {
        if call == Call::Flush { Err(io::Error::from_raw_os_error(5)) } else { Ok(()) }
    }
}

#[test]
fn a_fault_that_the_file_system_reports_at_the_close_leaves_the_target_as_it_was() {
    // With a sync too: the program may have none, which the kernel takes for one that went well.
    for (replace, durability) in [
        (Replace::Allowed, Durability::None),
        (Replace::Refused, Durability::None),
        (Replace::Allowed, Durability::Full),
        (Replace::Refused, Durability::Full),
    ] {
        let output = OutputOptions::new()
            .with_fs(Arc::new(Hooked(Arc::new(LateFault))))
            .with_replace(replace)
            .with_durability(durability);
        for way in 0..4 {
            let place = Place::new();
            let (from, to) = (place.put("from", &bytes(1, 100_000)), place.path("to"));
            if replace == Replace::Allowed {
                place.put("to", b"old");
            }
            let (copy, output) =
                (CopyOptions::new().with_reflink(Reflink::Never), output.clone());
            let append = AppendOptions::new().with_output(output.clone());
            let write = swath::WriteOptions::new().with_output(output.clone());
            let error = match way {
                0 => refused(copy.with_output(output).copy(&from, &to)),
                1 => refused(write.write(&to, b"bytes")),
                2 => refused(append.create(&to).and_then(|out| {
                    out.scope(|w| w.write_all(b"bytes")).expect("taken");
                    out.commit()
                })),
                _ => {
                    let draft = write.create_shared(&to, 5).expect("begun");
                    let writer = write.open_shared(draft.token()).expect("opened");
                    writer.write_at(b"bytes", 0).expect("taken");
                    refused(writer.finish_with(Durability::None))
                }
            };
            let is = (error.operation(), error.raw_os_error());
            assert_eq!(is, (Operation::Write, Some(5)), "{durability:?} {way}");
            match replace {
                Replace::Allowed => assert_eq!(read(&to), b"old"),
                _ => assert!(!to.exists()),
            }
            assert_eq!(place.names(), 1 + usize::from(to.exists()), "{durability:?} {way}");
        }
    }
}

#[test]
fn a_file_whose_old_bytes_are_removed_before_the_commit_is_no_more_open_than_they_were() {
    let place = Place::new();
    let from = place.put("from", b"bytes");
    for (of_input, of_old, wanted) in
        [(0o600, 0o644, 0o600), (0o644, 0o600, 0o600), (0o644, 0o644, 0o644)]
    {
        let to = place.put("to", b"old");
        set_mode(&from, of_input);
        set_mode(&to, of_old);
        let access = Input::open(&from).expect("there").access().expect("known");
        let output = OutputOptions::new().with_permissions(access.expect("a file"));
        let out = AppendOptions::new().with_output(output).create(&to).expect("begun");
        std::fs::remove_file(&to).expect("ours");
        out.commit().expect("committed");
        assert_eq!(mode(&to), wanted & !swath_os::umask::umask().unwrap_or(0));
    }
}

#[test]
fn segments_are_as_open_as_those_that_were_opened_whatever_their_name_leads_to_later() {
    let place = Place::new();
    let (private, public, name) = (place.path("a"), place.path("b"), place.path("name"));
    for (folder, may) in [(&private, 0o700), (&public, 0o755)] {
        let out = AppendOptions::new().with_mode(Mode::Segments).create(folder).expect("begun");
        out.scope(|w| w.write_all(b"bytes")).expect("room");
        out.commit().expect("committed");
        set_mode(folder, may);
    }
    std::fs::rename(&private, &name).expect("ours");
    let opened = Source::custom(Arc::new(swath::append::open(&name).expect("there")));
    let input = Input::open(opened).expect("there");
    std::fs::rename(&name, &private).expect("ours");
    std::fs::rename(&public, &name).expect("ours");
    let access = input.access().expect("known").expect("of a folder");
    assert_eq!(access.in_group(access.group()), 0o600);
}

#[test]
fn a_copy_of_segments_may_be_read_by_those_who_may_read_them() {
    let place = Place::new();
    for (of_folder, of_files, wanted) in [
        (0o700, 0o644, 0o600),
        (0o755, 0o600, 0o600),
        (0o750, 0o644, 0o640),
        (0o755, 0o644, 0o644),
    ] {
        let (folder, to) = (place.path("segments"), place.path("to"));
        let options = AppendOptions::new().with_mode(Mode::Segments);
        let out = options.create(&folder).expect("a folder");
        out.scope(|w| w.write_all(b"private")).expect("room");
        out.commit().expect("committed");
        for entry in std::fs::read_dir(&folder).expect("there") {
            set_mode(&entry.expect("there").path(), of_files);
        }
        set_mode(&folder, of_folder);
        let source = Source::custom(Arc::new(swath::append::open(&folder).expect("segments")));
        copy(source, &to).expect("copied");
        assert_eq!((read(&to), mode(&to)), (b"private".to_vec(), wanted), "{of_folder:o}");
        std::fs::remove_file(&to).expect("there");
        std::fs::remove_dir_all(&folder).expect("there");
    }
}
