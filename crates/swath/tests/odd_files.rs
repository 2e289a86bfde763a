//! Sparse files above 4 GiB, the kernel's own files, pipes, folders, names that are no text,
//! links that point to themselves, files larger than memory.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, symlink};

use swath::{Engine, Operation, PageCache, ReadOptions, Reason, Source};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder")
}

#[test]
fn a_sparse_file_above_4_gib_is_read_at_any_offset() {
    let folder = folder();
    let path = folder.path().join("sparse");
    let file = File::create(&path).expect("room");
    let edge = 1_u64 << 32;
    file.set_len(edge + (3 << 20)).expect("a hole costs nothing");
    file.write_all_at(b"needle", edge - 3).expect("room");
    for engine in [Engine::Auto, Engine::Serial, Engine::Pool, Engine::Ring] {
        for page_cache in [PageCache::Keep, PageCache::Bypass] {
            let options = ReadOptions::new()
                .with_engine(engine)
                .with_page_cache(page_cache)
                .with_offset(edge - 1_000_000)
                .with_len(2_000_000);
            let loaded = options.read(&path).expect("read");
            assert_eq!(&loaded.buffer[999_997..1_000_003], b"needle");
            let sum: u64 = b"needle".iter().map(|&byte| u64::from(byte)).sum();
            assert_eq!(options.sum(&path).expect("scan").value, sum);
        }
    }
    let whole = ReadOptions::new().count(&path, 0).expect("scan");
    assert_eq!(whole.value, edge + (3 << 20) - 6);
    let mut reader = swath::reader(&path).expect("opens");
    reader.seek(SeekFrom::Start(edge - 3)).expect("seek");
    let mut needle = [0; 6];
    reader.read_exact(&mut needle).expect("read");
    assert_eq!(&needle, b"needle");
}

#[test]
fn a_file_larger_than_the_memory_at_hand_is_refused_before_anything_is_taken() {
    let folder = folder();
    let path = folder.path().join("huge");
    File::create(&path).and_then(|file| file.set_len(1 << 43)).expect("a hole of 8 TiB");
    let error = swath::read(&path).expect_err("8 TiB");
    assert_eq!((error.operation(), error.reason()), (Operation::Allocate, Reason::OutOfMemory));
    assert!(error.to_string().contains("are available"), "{error}");
}

#[test]
fn the_kernels_own_files_are_read_whatever_length_they_claim() {
    for path in
        ["/proc/self/mountinfo", "/proc/cpuinfo", "/sys/kernel/mm/transparent_hugepage/enabled"]
    {
        let Ok(expected) = std::fs::read(path) else { continue };
        let bytes = swath::read(path).expect("read");
        assert_eq!(bytes.is_empty(), expected.is_empty(), "{path}");
        if path.starts_with("/sys") {
            assert_eq!(*bytes, *expected, "claims a page, has less");
        }
        let newlines = ReadOptions::new().count(path, b'\n').expect("scan").value;
        assert!(newlines > 0, "{path}");
        let mut text = String::new();
        swath::reader(path).expect("opens").read_to_string(&mut text).expect("text");
        assert!(text.contains('\n'));
    }
}

fn pipe_with(bytes: Vec<u8>) -> (File, std::thread::JoinHandle<()>) {
    let (read, write) = std::io::pipe().expect("a pipe");
    let writer = std::thread::spawn(move || {
        let mut write = write;
        write.write_all(&bytes).expect("the reader reads");
    });
    (File::from(OwnedFd::from(read)), writer)
}

#[test]
fn pipes_are_read_in_order_and_say_so() {
    let bytes = swath_reference::bytes(3, 3_000_001);
    let read = |options: ReadOptions| {
        let (pipe, writer) = pipe_with(bytes.clone());
        let loaded = options.read(Source::file(pipe, "pipe"));
        writer.join().expect("written");
        loaded
    };
    let loaded = read(ReadOptions::new().with_workers(7)).expect("read");
    assert!(*loaded.buffer == *bytes);
    assert_eq!(loaded.report.engine, Engine::Serial);
    assert!(loaded.report.reason.contains("not seekable"), "{}", loaded.report.reason);
    let tail = read(ReadOptions::new().with_offset(2_999_999)).expect("read");
    assert!(*tail.buffer == bytes[2_999_999..]);
    let (pipe, writer) = pipe_with(bytes[..1000].to_vec());
    let error = ReadOptions::new().with_len(1001).read(Source::file(pipe, "pipe"));
    writer.join().expect("written");
    assert_eq!(error.expect_err("short").reason(), Reason::Truncated);
}

#[test]
fn pipes_are_scanned_and_read_ahead_of_too() {
    let bytes = swath_reference::bytes(4, 700_000);
    let (pipe, writer) = pipe_with(bytes.clone());
    let scanned = ReadOptions::new().with_chunk_size(1000).sum(Source::file(pipe, "pipe"));
    writer.join().expect("written");
    let scanned = scanned.expect("scan");
    assert_eq!((scanned.value, scanned.report.chunks), (swath_reference::sum(&bytes), 700));
    let (pipe, writer) = pipe_with(bytes.clone());
    let mut reader = ReadOptions::new().reader(Source::file(pipe, "pipe")).expect("opens");
    let mut all = Vec::new();
    reader.read_to_end(&mut all).expect("read");
    writer.join().expect("written");
    assert!(all == bytes && reader.position() == 700_000);
    reader.seek(SeekFrom::Start(5)).expect_err("a pipe only goes on");
}

#[test]
fn folders_missing_files_and_loops_are_typed_errors() {
    let folder = folder();
    let kind = |path: &std::path::Path| {
        let error = swath::read(path).expect_err("not a file");
        assert_eq!(error.path(), path);
        assert!(!error.what_to_try().is_empty(), "{error:?}");
        (error.operation(), error.raw_os_error())
    };
    assert_eq!(kind(folder.path()), (Operation::Read, Some(21)));
    assert_eq!(kind(&folder.path().join("missing")), (Operation::Open, Some(2)));
    let link = folder.path().join("loop");
    symlink(&link, &link).expect("a link");
    assert_eq!(kind(&link), (Operation::Open, Some(40)));
}

#[test]
fn names_that_are_no_text_work() {
    let folder = folder();
    let path = folder.path().join(OsStr::from_bytes(b"caf\xe9 \xff"));
    std::fs::write(&path, b"abc").expect("a legal name");
    assert_eq!(*swath::read(&path).expect("read"), *b"abc");
    std::fs::remove_file(&path).expect("it is there");
    assert!(swath::read(&path).expect_err("gone").to_string().contains("caf"));
}

#[test]
fn an_extent_behind_the_end_is_an_error_and_an_empty_one_is_not() {
    let folder = folder();
    let path = folder.path().join("ten");
    std::fs::write(&path, b"0123456789").expect("room");
    let read = |offset, len| ReadOptions::new().with_offset(offset).with_len(len).read(&path);
    assert!(read(10, 0).expect("empty").buffer.is_empty());
    assert_eq!(*read(8, 2).expect("the end").buffer, *b"89");
    for (offset, len) in [(8, 3), (11, 0), (u64::MAX, 1), (1, u64::MAX)] {
        let error = read(offset, len).expect_err("not there");
        assert!(matches!(error.reason(), Reason::Truncated | Reason::Invalid), "{error}");
    }
    let behind = ReadOptions::new().with_offset(11).read(&path).expect_err("behind the end");
    assert!(behind.to_string().contains("ends at byte 10"), "{behind}");
}

#[test]
fn a_reader_of_a_stream_goes_on_after_an_error_without_repeating_or_panicking() {
    let bytes = swath_reference::bytes(6, 100_000);
    let (pipe, writer) = pipe_with(bytes.clone());
    let mut reader =
        ReadOptions::new().with_len(200_000).reader(Source::file(pipe, "pipe")).expect("opens");
    let mut seen = Vec::new();
    for _ in 0..20 {
        let mut part = [0; 65_536];
        if let Ok(len) = reader.read(&mut part) {
            seen.extend_from_slice(&part[..len]);
        }
    }
    writer.join().expect("written");
    assert!(seen == bytes && reader.position() == 100_000);
}

#[test]
fn a_source_of_any_length_is_not_looked_at_window_by_window() {
    struct Endless;
    impl swath::ReadAt for Endless {
        fn facts(&self) -> std::io::Result<swath::SourceFacts> {
            Ok(swath::SourceFacts::new(Some(u64::MAX)))
        }
        fn read_at(&self, target: &mut [u8], _: u64) -> std::io::Result<usize> {
            target.fill(5);
            Ok(target.len())
        }
    }
    let source = Source::custom(std::sync::Arc::new(Endless));
    let mut reader = ReadOptions::new().reader(source).expect("opens");
    let mut some = vec![0; 3_000_000];
    reader.read_exact(&mut some).expect("read");
    assert!(some.iter().all(|&byte| byte == 5));
}

#[test]
fn the_map_engine_is_refused_without_a_promise_and_says_what_a_map_cannot() {
    let folder = folder();
    let path = folder.path().join("file");
    std::fs::write(&path, vec![3; 300_000]).expect("room");
    let options =
        ReadOptions::new().with_engine(Engine::Map).with_page_cache(PageCache::Bypass);
    for error in [
        options.read(&path).expect_err("no promise"),
        options.read_into(&path, &mut [0; 10]).expect_err("no promise"),
        options.sum(&path).expect_err("no promise"),
    ] {
        assert_eq!((error.operation(), error.reason()), (Operation::Map, Reason::Invalid));
    }
    let file = File::open(&path).expect("it is there");
    let guard = swath::maps::Guard::install(&file, &path).expect("a handler");
    let mapped = options.read_mapped(guard.clone(), &path).expect("read").report;
    let summed = options.sum_mapped(guard, &path).expect("sum").report;
    for report in [mapped, summed] {
        assert_eq!((report.engine, report.page_cache), (Engine::Map, PageCache::Keep));
        assert!(
            report.fallbacks[0].to_string().contains("a map keeps"),
            "{:?}",
            report.fallbacks
        );
    }
}

#[test]
fn a_named_pipe_that_must_be_refused_is_not_waited_for() {
    let folder = folder();
    let path = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if !made.is_ok_and(|status| status.success()) {
        return swath_reference::skip("mkfifo", "no such command");
    }
    let (told, heard) = std::sync::mpsc::channel();
    let other = path.clone();
    std::thread::spawn(move || {
        let plan = swath::classes::ClassPlan::of_whole(4, 2);
        let _ = told.send(swath::classes::read_prioritised(&other, plan).expect_err("a pipe"));
        let _ = told.send(swath::manifest::load(&other).expect_err("a pipe"));
    });
    let next = || heard.recv_timeout(std::time::Duration::from_secs(20)).expect("at once");
    let error = next();
    assert_eq!((error.path(), error.reason()), (&*path, Reason::Invalid), "{error}");
    let error = next();
    assert_eq!((error.path(), error.reason()), (&*path, Reason::Corrupt), "{error}");
    assert!(error.to_string().contains("a named pipe"), "{error}");
}
