//! The bytes of the serial reader, for every choice.

use std::path::PathBuf;

use swath::{Arena, FileOrder, Files, IngestOptions, Ingested};
use swath_reference::ingest::{read_all, walk};

use crate::trees::{folder, plant};

/// Compares a whole table with what reading one file after the other gives.
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
                .with_workers(workers)
                .with_part_size(part_size)
                .with_arena(arena.clone());
            let what = format!("{workers} workers, parts of {part_size}");
            assert_same(&options.collect(folder.path()).expect("read"), &paths, &what);
        }
    }
    for order in [FileOrder::Given, FileOrder::Path, FileOrder::Inode, FileOrder::Extent] {
        let options = IngestOptions::new().with_order(order);
        let ingested = options.collect(Files::paths(&paths)).expect("read");
        assert_same(&ingested, &paths, &format!("{order:?}"));
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
    let options = IngestOptions::new().with_workers(1).with_arena(Arena::new());
    let first = options.collect(paths.clone()).expect("read");
    assert!(first.report().populated_bytes > 0, "fresh");
    let beside = options.collect(paths.clone()).expect("read");
    assert_same(&beside, &paths, "while the first one is alive");
    drop(beside);
    assert_same(&first, &paths, "after another one");
    drop(first);
    let again = options.collect(paths.clone()).expect("read");
    assert_eq!(again.report().populated_bytes, 0, "the same pages");
    assert_same(&again, &paths, "again");
    drop(again);
    paths.push(folder.path().join("missing"));
    options.collect(paths.clone()).expect_err("one is missing");
    paths.pop();
    let arena = options.collect(paths.clone()).expect("read").into_arena();
    let last = IngestOptions::new()
        .with_workers(1)
        .with_arena(arena)
        .collect(paths.clone())
        .expect("read");
    assert_eq!(last.report().populated_bytes, 0, "handed on by `into_arena`");
}
