//! The bytes of the serial reader, for every choice.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use swath::ingest::{Arena, Failures, FileOrder, Files, IngestOptions, Ingested, OpenedBy};
use swath::{Error, ReadOptions};
use swath_reference::ingest::{read_all, walk};

use crate::ingest::trees::{folder, plant};

/// Compares a whole table with the result of reading one file after the other.
pub(crate) fn assert_same(ingested: &Ingested, paths: &[PathBuf], what: &str) {
    assert_eq!(ingested.len(), paths.len(), "{what}");
    let mut bytes = 0;
    for (entry, (path, expected)) in ingested.iter().zip(read_all(paths)) {
        assert_eq!(entry.path, path, "{what}");
        let expected = expected.expect("it is there");
        assert!(entry.error.is_none(), "{what} {path:?}");
        assert!(entry.bytes == expected, "{what} {path:?}: {} bytes", expected.len());
        let offset = usize::try_from(entry.offset).expect("in memory");
        assert!(ingested.bytes()[offset..][..expected.len()] == expected, "{what} {path:?}");
        bytes += expected.len() as u64;
    }
    let report = ingested.report();
    assert_eq!((report.files, report.bytes), (paths.len() as u64, bytes), "{what}");
    assert_eq!((report.failed, report.skipped), (0, 0), "{what}");
}

#[test]
fn every_choice_gives_the_bytes_of_the_serial_reader() {
    let folder = folder();
    println!("seed 11");
    plant(folder.path(), 11, 300);
    let paths = walk(folder.path()).expect("listed");
    let arena = Arena::new();
    for workers in [0, 1, 2, 3, 4, 5, 6, 7, 8, 64] {
        for part_size in [0, 4096, 65_536, 1_000_003] {
            let options = IngestOptions::new()
                .with_read(ReadOptions::new().with_workers(workers))
                .with_part_size(part_size)
                .with_arena(arena.clone());
            let what = format!("{workers} workers, parts of {part_size}");
            assert_same(&options.ingest(folder.path()).expect("read"), &paths, &what);
        }
    }
    for order in [FileOrder::Given, FileOrder::Path, FileOrder::Inode, FileOrder::Extent] {
        let options = IngestOptions::new().with_order(order);
        let ingested = options.ingest(Files::paths(&paths)).expect("read");
        assert_same(&ingested, &paths, &format!("{order:?}"));
    }
}

#[test]
fn progress_counts_each_byte_once_however_it_comes() {
    let folder = folder();
    println!("seed 17");
    let paths = plant(folder.path(), 17, 200);
    let len = |path: &PathBuf| path.metadata().expect("it is there").len();
    let total: u64 = paths.iter().map(len).sum();
    for workers in [1, 2, 4] {
        for opened_by in [OpenedBy::Auto, OpenedBy::Worker, OpenedBy::Ring] {
            for part_size in [0, 65_536] {
                let most = Arc::new(AtomicU64::new(0));
                let seen = Arc::clone(&most);
                let read = ReadOptions::new().with_workers(workers);
                let read = read.with_progress(move |progress| {
                    seen.fetch_max(progress.bytes, Ordering::Relaxed);
                });
                let options = IngestOptions::new().with_read(read).with_opened_by(opened_by);
                let options = options.with_part_size(part_size);
                let what = format!("{workers} workers, {opened_by:?}, parts of {part_size}");
                // Some of these files are so young that they are checked again.
                options.ingest(paths.clone()).expect("read");
                assert_eq!(most.load(Ordering::Relaxed), total, "{what}");
                most.store(0, Ordering::Relaxed);
                options.stream(paths.clone(), |_| swath::Result::Ok(())).expect("read");
                assert_eq!(most.load(Ordering::Relaxed), total, "{what}, in a stream");
            }
        }
    }
}

#[test]
fn files_that_are_named_twice_are_read_twice_and_none_is_no_failure() {
    let folder = folder();
    let paths = plant(folder.path(), 12, 14);
    let twice: Vec<_> = paths.iter().chain(paths.iter().rev()).cloned().collect();
    assert_same(&swath::ingest(twice.clone()).expect("read"), &twice, "twice");
    let none = swath::ingest(Vec::new()).expect("nothing to do");
    assert!(none.is_empty() && none.bytes().is_empty() && none.get(0).is_none());
    assert_eq!(none.iter().count(), 0);
}

#[test]
fn an_arena_is_used_again_and_survives_failures() {
    let folder = folder();
    let mut paths = plant(folder.path(), 13, 100);
    // One worker: it fills the same pages each time.
    let options = IngestOptions::new()
        .with_read(ReadOptions::new().with_workers(1))
        .with_arena(Arena::new());
    let first = options.ingest(paths.clone()).expect("read");
    assert!(first.report().populated_bytes > 0, "fresh");
    let beside = options.ingest(paths.clone()).expect("read");
    assert_same(&beside, &paths, "while the first one exists");
    drop(beside);
    assert_same(&first, &paths, "after another one");
    drop(first);
    let again = options.ingest(paths.clone()).expect("read");
    assert_eq!(again.report().populated_bytes, 0, "the same pages");
    assert_same(&again, &paths, "again");
    drop(again);
    paths.push(folder.path().join("missing"));
    options.ingest(paths.clone()).expect_err("one is missing");
    paths.pop();
    let arena = options.ingest(paths.clone()).expect("read").into_arena();
    let last = IngestOptions::new()
        .with_read(ReadOptions::new().with_workers(1))
        .with_arena(arena)
        .ingest(paths.clone())
        .expect("read");
    assert_eq!(last.report().populated_bytes, 0, "handed on by `into_arena`");
}

#[test]
fn files_that_are_not_in_the_page_cache_come_by_the_ring_and_are_the_same() {
    let folder = folder();
    println!("seed 14");
    let mut paths = plant(folder.path(), 14, 40);
    for index in 0..600 {
        let path = folder.path().join(format!("many-{index}"));
        std::fs::write(&path, swath_reference::bytes(index, 3000)).expect("room");
        paths.push(path);
    }
    paths.push(folder.path().join("missing"));
    // Old enough for one `fstat` to be proof, which is all that a ring has.
    std::thread::sleep(std::time::Duration::from_secs(5));
    let missing = paths.len() - 1;
    for round in 0..4 {
        for path in &paths[..missing] {
            let file = std::fs::File::open(path).expect("there");
            if round == 0 {
                file.sync_all().expect("durable, thus clean");
            }
            let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
        }
        let options = IngestOptions::new().with_failures(Failures::Collect);
        let by = [OpenedBy::Auto, OpenedBy::Ring, OpenedBy::Worker, OpenedBy::Ring][round];
        let options = options
            .with_read(ReadOptions::new().with_queue_depth([0, 1, 7, 1024][round]))
            .with_opened_by(by);
        let (mut files, mut ring_files) = (vec![Vec::new(); paths.len()], 0);
        if round % 2 == 0 {
            let ingested = options.ingest(paths.clone()).expect("read");
            assert_eq!(ingested.report().failed, 1);
            ring_files += ingested.report().ring_files;
            for (file, entry) in files.iter_mut().zip(ingested.iter()) {
                file.extend_from_slice(entry.bytes);
            }
        } else {
            let options = options.with_memory_limit(1).with_part_size(65_536);
            let report = options.stream(paths.clone(), |part| {
                files[part.index].extend_from_slice(part.bytes);
                Ok::<(), Error>(())
            });
            ring_files += report.expect("read").ring_files;
        }
        for (file, (path, expected)) in files.iter().zip(read_all(&paths)) {
            assert!(*file == expected.unwrap_or_default(), "round {round}: {path:?}");
        }
        if ring_files == 0 {
            return swath_reference::skip("io-uring", "no ring, or the files stay in memory");
        }
    }
}

#[test]
fn an_arena_that_was_made_for_little_serves_more() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder");
    for name in 0..40 {
        std::fs::write(folder.path().join(format!("{name:02}")), vec![name; 100_000])
            .expect("room on disk");
    }
    let options = IngestOptions::new().with_arena(Arena::new());
    let little = options.clone().with_memory_limit(2 << 20);
    let one = little.ingest(Files::paths([folder.path().join("07")])).expect("100 kB");
    assert_eq!(one.get(0).expect("one").bytes, [7; 100_000]);
    drop(one);
    let all = options.ingest(Files::folder(folder.path())).expect("4 MB fit into memory");
    assert_eq!(all.report().bytes, 4_000_000);
    assert!(all.iter().zip(0..).all(|(entry, name)| entry.bytes == [name; 100_000]));
}
