//! How many threads take part: few files may be much to read.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;

use swath::ingest::{Files, IngestOptions};
use swath::timeline::Lane;
use swath::{ReadOptions, Timeline};

/// Holes: nothing is on the device, and reading still takes time.
fn holes(folder: &tempfile::TempDir, count: usize, len: u64) -> Vec<PathBuf> {
    let paths: Vec<PathBuf> = (0..count).map(|i| folder.path().join(i.to_string())).collect();
    for path in &paths {
        File::create(path).and_then(|file| file.set_len(len)).expect("a hole");
    }
    paths
}

fn lanes(timeline: &Timeline) -> BTreeSet<Lane> {
    timeline.spans().iter().map(|span| span.lane).filter(|lane| !lane.is_in_flight()).collect()
}

#[test]
fn few_files_that_are_large_are_read_by_all_workers() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    for (count, len) in [(1, 256 << 20), (2, 128 << 20), (8, 900 << 10)] {
        let paths = holes(&folder, count, len);
        // On a busy machine a second thread often comes too late for little work, but not always.
        let all = (0..100).any(|_| {
            let timeline = Timeline::new();
            let read = ReadOptions::new().with_workers(3).with_timeline(timeline.clone());
            let options = IngestOptions::new().with_read(read);
            let read = options.ingest(Files::paths(&paths)).expect("readable");
            assert_eq!(read.iter().map(|file| file.len).sum::<u64>(), count as u64 * len);
            lanes(&timeline).len() >= 2
        });
        assert!(all, "{count} files of {len} bytes were read by one thread");
    }
}

#[test]
fn few_files_that_are_small_are_read_by_one() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let paths = holes(&folder, 8, 10_000);
    let timeline = Timeline::new();
    let options = IngestOptions::new()
        .with_read(ReadOptions::new().with_workers(3).with_timeline(timeline.clone()));
    options.ingest(Files::paths(&paths)).expect("readable");
    assert_eq!(lanes(&timeline).len(), 1);
}
