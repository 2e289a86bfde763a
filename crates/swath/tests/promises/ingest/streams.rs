//! Parts in order, in bounded memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use swath::ingest::{Content, Delivery, Failures, Files, IngestOptions, OpenedBy, Part};
use swath::{Error, Extent, ReadOptions, Reason};
use swath_reference::battery::Battery;
use swath_reference::ingest::read_all;

use crate::ingest::trees::{folder, plant};

/// Joins the parts and checks that each file is complete, in order, and separate.
#[derive(Default)]
struct Together {
    files: BTreeMap<usize, Vec<u8>>,
    order: Vec<usize>,
    open: Option<usize>,
    most: usize,
}

impl Together {
    fn take(&mut self, part: Part<'_>) {
        if let Some(open) = self.open {
            assert_eq!(open, part.index, "one file after the other");
        } else {
            self.order.push(part.index);
        }
        let bytes = self.files.entry(part.index).or_default();
        assert_eq!(part.offset, bytes.len() as u64, "file {}", part.index);
        bytes.extend_from_slice(part.bytes);
        self.most = self.most.max(part.bytes.len());
        self.open = (!part.is_last).then_some(part.index);
    }

    fn assert_same(&self, paths: &[PathBuf], what: &str) {
        assert_eq!(self.files.len(), paths.len(), "{what}");
        for (bytes, (path, expected)) in self.files.values().zip(read_all(paths)) {
            assert!(*bytes == expected.expect("there"), "{what} {path:?}");
        }
    }
}

#[test]
fn a_stream_gives_the_bytes_of_the_serial_reader_for_every_choice() {
    let folder = folder();
    println!("seed 61");
    let paths = plant(folder.path(), 61, 60);
    for delivery in [Delivery::Input, Delivery::Completion] {
        for workers in [1, 2, 3, 4, 5, 6, 7, 8, 64] {
            for (part_size, memory) in
                [(0, 0), (4096, 1), (65_536, 300_000), (1_000_003, 1 << 22)]
            {
                let what = format!("{delivery:?} {workers} workers, {part_size}, {memory}");
                let options = IngestOptions::new()
                    .with_delivery(delivery)
                    .with_read(ReadOptions::new().with_workers(workers))
                    .with_part_size(part_size)
                    .with_memory_limit(memory);
                let mut together = Together::default();
                let report = options
                    .stream(Files::paths(&paths), |part| {
                        together.take(part);
                        Ok::<(), Error>(())
                    })
                    .expect("read");
                together.assert_same(&paths, &what);
                if delivery == Delivery::Input {
                    assert!(together.order.iter().copied().eq(0..60), "{what}");
                }
                let most = if part_size == 0 { 1 << 20 } else { part_size };
                assert!(together.most as u64 <= most, "{what}: {}", together.most);
                assert_eq!(report.files, 60, "{what}");
            }
        }
    }
}

#[test]
fn text_parts_end_between_characters() {
    let folder = folder();
    let mut paths = Vec::new();
    for (index, len) in [10_usize, 5_000, 70_000, 300_000].into_iter().enumerate() {
        for lead in 0..4 {
            let mut text = "x".repeat(lead);
            text.extend("𝄞é€".chars().cycle().take(len / 3));
            let path = folder.path().join(format!("{index}-{lead}"));
            std::fs::write(&path, text).expect("room");
            paths.push(path);
        }
    }
    for part_size in [4096, 65_536, 100_001] {
        let options =
            IngestOptions::new().with_content(Content::Text).with_part_size(part_size);
        let mut together = Together::default();
        options
            .stream(Files::paths(&paths), |part| {
                std::str::from_utf8(part.bytes).expect("whole characters");
                together.take(part);
                Ok::<(), Error>(())
            })
            .expect("read");
        together.assert_same(&paths, "text");
    }
    // A sequence that a part boundary splits, and that never becomes a character.
    let path = folder.path().join("broken");
    let mut bytes = vec![b'x'; 200_000];
    bytes[65_535] = 0xe2;
    std::fs::write(&path, &bytes).expect("room");
    let options = IngestOptions::new().with_content(Content::Text).with_part_size(65_536);
    let error =
        options.stream(Files::paths([&path]), |_| Ok::<(), Error>(())).expect_err("not text");
    assert_eq!((error.reason(), error.extent()), (Reason::Corrupt, Extent::new(65_535, 1)));
    assert_eq!(error.path(), path);
}

#[test]
fn failures_come_as_parts_are_left_out_or_end_it() {
    let folder = folder();
    let mut paths = plant(folder.path(), 62, 50);
    paths.insert(10, folder.path().join("missing"));
    let run = |failures| {
        let (mut failed, mut whole) = (Vec::new(), 0);
        let options = IngestOptions::new().with_failures(failures);
        let report = options.stream(Files::paths(&paths), |part| {
            match part.error {
                Some(error) => failed.push((part.index, error.raw_os_error())),
                None => whole += usize::from(part.is_last),
            }
            Ok::<(), Error>(())
        });
        (report, failed, whole)
    };
    let (report, failed, whole) = run(Failures::Collect);
    let report = report.expect("collected");
    assert_eq!((failed, whole), (vec![(10, Some(2))], 50));
    assert_eq!((report.files, report.failed, report.skipped), (50, 1, 0));
    let (report, failed, whole) = run(Failures::Skip);
    let report = report.expect("left out");
    assert_eq!((failed, whole), (vec![], 50));
    assert_eq!((report.files, report.failed, report.skipped), (50, 0, 1));
    let (report, failed, _) = run(Failures::Fail);
    assert_eq!(report.expect_err("missing").path(), Path::new(&paths[10]));
    assert!(failed.is_empty());
}

#[test]
fn the_callers_error_ends_it() {
    let folder = folder();
    let paths = plant(folder.path(), 63, 100);
    #[derive(Debug)]
    enum Mine {
        Enough,
        Swath,
    }
    impl From<Error> for Mine {
        fn from(_: Error) -> Self {
            Self::Swath
        }
    }
    let mut seen = 0;
    let ended = IngestOptions::new().stream(Files::paths(&paths), |_| {
        seen += 1;
        if seen == 5 { Err(Mine::Enough) } else { Ok(()) }
    });
    assert!(matches!(ended, Err(Mine::Enough)));
    assert_eq!(seen, 5);
    let missing = Files::paths(["/no such file"]);
    let ended = IngestOptions::new().stream(missing, |_| Ok::<(), Mine>(()));
    assert!(matches!(ended, Err(Mine::Swath)));
}

#[test]
fn a_panic_of_the_caller_ends_it() {
    let folder = folder();
    let paths = plant(folder.path(), 64, 100);
    let outcome = std::panic::catch_unwind(|| {
        IngestOptions::new()
            .stream(Files::paths(&paths), |_| -> Result<(), Error> { panic!("on purpose") })
    });
    assert!(outcome.is_err());
}

#[test]
fn a_stream_in_little_memory_ends_with_many_workers_and_files_from_the_device() {
    let folder = folder();
    let mut paths = Vec::new();
    for index in 0..3000 {
        let path = folder.path().join(format!("{index:04}"));
        std::fs::write(&path, swath_reference::bytes(index, 10_000)).expect("room on disk");
        paths.push(path);
    }
    // Old enough for one `fstat` to be proof, which is all that a ring has.
    std::thread::sleep(std::time::Duration::from_secs(5));
    let (worker, ring) = (OpenedBy::Worker, OpenedBy::Ring);
    let settings = [
        (8, 4_000_000, 0, worker),
        (16, 4_000_000, 1024, ring),
        (16, 1, 0, ring),
        (16, 1, 0, worker),
        (64, 1_000_000, 1024, OpenedBy::Auto),
    ];
    let some = Battery::of_list("combinations", 1, settings);
    for (round, (workers, memory, depth, opened_by)) in some.enumerate() {
        for path in &paths {
            let file = std::fs::File::open(path).expect("there");
            if round == 0 {
                file.sync_all().expect("durable, thus clean");
            }
            let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
        }
        let options = IngestOptions::new()
            .with_read(ReadOptions::new().with_workers(workers).with_queue_depth(depth))
            .with_memory_limit(memory)
            .with_opened_by(opened_by);
        let (paths, (done, told)) = (paths.clone(), std::sync::mpsc::channel());
        std::thread::spawn(move || {
            let mut next = 0;
            let report = options.stream(&paths[..], |part| {
                assert!((part.index, part.offset, part.is_last) == (next, 0, true));
                let seed = u64::try_from(part.index).expect("small");
                assert!(part.bytes == swath_reference::bytes(seed, 10_000), "{}", part.index);
                next += 1;
                Ok::<(), Error>(())
            });
            done.send(report.map(|report| report.files)).expect("the receiver waits");
        });
        let ended = told.recv_timeout(std::time::Duration::from_secs(120));
        let files = ended.expect("it hangs").expect("read");
        assert_eq!(files, 3000, "{workers} workers, {memory} bytes");
    }
}

/// A file in the page cache is read at once, and one that is not goes through a ring: the later
/// one must not take all memory before the first one has been read.
#[test]
fn large_files_in_the_page_cache_do_not_overtake_those_on_the_device() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let paths: Vec<PathBuf> =
        (0..6).map(|index| folder.path().join(index.to_string())).collect();
    for path in &paths {
        std::fs::write(path, swath_reference::bytes(1, 4 << 20)).expect("written");
        let file = std::fs::File::open(path).expect("there");
        file.sync_all().expect("on the device");
    }
    for workers in [1, 2] {
        for (index, path) in paths.iter().enumerate() {
            let file = std::fs::File::open(path).expect("there");
            if index % 2 == 0 {
                let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
            } else {
                std::fs::read(path).expect("readable");
            }
        }
        let options = IngestOptions::new()
            .with_read(ReadOptions::new().with_workers(workers))
            .with_part_size(1 << 20)
            .with_memory_limit(2 << 20);
        let (ended, told) = std::sync::mpsc::channel();
        let files = Files::paths(&paths);
        std::thread::spawn(move || {
            let mut together = Together::default();
            let streamed = options.stream(files, |part| -> Result<(), Error> {
                together.take(part);
                Ok(())
            });
            ended.send((streamed.map(drop), together))
        });
        let told = told.recv_timeout(std::time::Duration::from_secs(60));
        let (streamed, together) = told.expect("it never ends");
        streamed.expect("all of them can be read");
        together.assert_same(&paths, "cached and not");
    }
}
