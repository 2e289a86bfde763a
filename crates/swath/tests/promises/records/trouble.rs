//! Errors: the first one in file order, wherever it came from, and never a hang.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use swath::reading::Growth;
use swath::{Cut, ReadAt, ReadOptions, Reason, Source, SourceFacts, records_of};

use crate::records::inputs::{CSV, LINES, by_position, file, in_order, owned, random, workers};

/// How a closure may fail.
#[derive(Debug)]
enum Fault {
    Mine(u64),
    Io(swath::Error),
}

impl From<swath::Error> for Fault {
    fn from(error: swath::Error) -> Self {
        Self::Io(error)
    }
}

#[test]
fn the_first_error_in_file_order_is_returned() {
    let bytes = random(31, 100_000, (b'\n', 0));
    let file = file(&bytes);
    for count in [1, 2, 5, 8] {
        for source in [file.path().into(), in_order(&bytes, 999)] {
            for _ in 0..20 {
                let source: Source = source.clone();
                let records = workers(count).records(source).with_block_size(500);
                let error = records.map_blocks(|block| match block.index {
                    // The earlier one fails later.
                    60 => {
                        std::thread::sleep(std::time::Duration::from_micros(300));
                        Err(Fault::Mine(60))
                    }
                    index if index > 60 => Err(Fault::Mine(index)),
                    _ => Ok(()),
                });
                match error {
                    Err(Fault::Mine(60)) => {}
                    Err(Fault::Io(error)) => panic!("{error}"),
                    other => panic!("{other:?}"),
                }
            }
        }
    }
}

#[test]
fn a_panic_comes_out_with_its_message_and_nobody_hangs() {
    let bytes = random(32, 100_000, (b'\n', 0));
    let file = file(&bytes);
    for source in [file.path().into(), in_order(&bytes, 999)] {
        let source: Source = source;
        let records = || workers(4).records(source.clone()).with_block_size(500);
        let panics = |index| -> swath::Result<u64> {
            assert!(index < 50, "block {index} is bad");
            Ok(index)
        };
        let mapped = || drop(records().map_blocks(|block| panics(block.index)));
        let reduced = || {
            let last = records().map_reduce(
                |block| -> swath::Result<_> { Ok(block.index) },
                |_, index| panics(index).unwrap_or(0),
            );
            drop(last);
        };
        let mapped = catch_unwind(AssertUnwindSafe(mapped));
        let reduced = catch_unwind(AssertUnwindSafe(reduced));
        for panicked in [mapped, reduced] {
            let message = panicked.expect_err("a panic");
            let message = message.downcast_ref::<String>().expect("a formatted message");
            assert!(message.starts_with("block ") && message.ends_with(" is bad"), "{message}");
        }
    }
}

/// Fails at one offset, for a while or for good, and returns `a`s and newlines elsewhere.
struct Failing {
    len: u64,
    bad: u64,
    failures: AtomicU64,
    kind: io::ErrorKind,
    /// Fails only once the bytes after it have been read.
    late: bool,
    is_passed: AtomicBool,
}

impl ReadAt for Failing {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(SourceFacts::new(Some(self.len)))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = usize::try_from(self.len.saturating_sub(offset)).expect("small");
        let len = target.len().min(left);
        let holds = (offset..offset + len as u64).contains(&self.bad);
        if offset > self.bad {
            self.is_passed.store(true, Ordering::SeqCst);
        }
        while holds && self.late && !self.is_passed.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        let less = |count: u64| count.checked_sub(1);
        if holds && self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok()
        {
            return Err(self.kind.into());
        }
        for (at, byte) in (offset..).zip(&mut target[..len]) {
            *byte = match at % 50 {
                49 => b'\n',
                7 | 9 => b'"',
                _ => b'a',
            };
        }
        Ok(len)
    }
}

pub(crate) fn failing(failures: u64, kind: io::ErrorKind, late: bool) -> Source {
    let (failures, is_passed) = (failures.into(), false.into());
    let failing = Failing { len: 100_000, bad: 40_321, failures, kind, late, is_passed };
    Source::custom(Arc::new(failing))
}

#[test]
fn a_failure_that_passes_is_tried_again_and_one_that_lasts_is_told_with_its_bytes() {
    for cut in [LINES, CSV] {
        for count in [1, 2, 4, 8] {
            let run = |source| {
                let records =
                    workers(count).records(source).with_cut(cut).with_block_size(1000);
                records
                    .collect_blocks(|block| -> swath::Result<_> { Ok(block.records().count()) })
            };
            let passing =
                run(failing(2, io::ErrorKind::WouldBlock, count > 1)).expect("tried again");
            assert_eq!(passing.value.iter().sum::<usize>(), 2000);
            assert_eq!(passing.report.retries, 2);
            for (failures, kind) in
                [(100, io::ErrorKind::WouldBlock), (u64::MAX, io::ErrorKind::Other)]
            {
                let error = run(failing(failures, kind, count > 1)).expect_err("for good");
                let records = workers(count).records(failing(failures, kind, count > 1));
                let records = records.with_cut(cut).with_block_size(1000);
                let nowhere = swath::Output::stream(io::sink(), "nowhere");
                let transformed =
                    records.transform(nowhere, |_, _| -> swath::Result<()> { Ok(()) });
                let same = transformed.expect_err("for good").to_string();
                assert_eq!(same, error.to_string());
                let extent = error.extent().expect("bytes");
                let (offset, len) = (extent.offset(), extent.len());
                assert!((offset..offset + len).contains(&40_321), "{error}");
                assert_eq!(error.io_kind(), kind);
            }
        }
    }
}

#[test]
fn a_record_longer_than_the_limit_is_refused_with_its_bytes() {
    let bytes = [&b"short\n"[..], &[b'a'; 5000], b"\nshort\n"].concat();
    let file = file(&bytes);
    let whole = by_position(&bytes, 1 << 20);
    for source in [file.path().into(), in_order(&bytes, 99), whole] {
        let source: Source = source;
        for size in [1, 10, 64, 1000] {
            let records = |limit| {
                let records = workers(2).records(source.clone()).with_block_size(size);
                records.with_record_limit(limit).map_blocks(owned)
            };
            let error = records(4000).map(|found| found.len()).expect_err("too long");
            assert_eq!(error.reason(), Reason::Invalid);
            assert_eq!(error.extent().expect("bytes").offset(), 6);
            assert!(
                error.to_string().contains("longer than the limit of 4000 bytes"),
                "{error}"
            );
            records(10_002).expect("short enough");
        }
    }
}

#[test]
fn cuts_that_make_no_sense_are_refused() {
    for cut in [Cut::Fixed(0), Cut::Quoted { quote: 1, delimiter: 1 }] {
        let error = swath::records("/etc/passwd").with_cut(cut).map_blocks(owned);
        assert_eq!(error.expect_err("senseless").reason(), Reason::Invalid);
    }
    let error = swath::records("/no such file").map_blocks(owned).expect_err("missing");
    assert_eq!(error.raw_os_error(), Some(2));
    let paths = ["/etc/passwd", "/no such file", "/etc/group"];
    let error = records_of(paths).map_blocks(owned).expect_err("missing");
    assert_eq!(error.path().to_str(), Some("/no such file"));
    let error = ReadOptions::new().with_len(1 << 40).records("/etc/passwd").map_blocks(owned);
    assert_eq!(error.expect_err("too short").reason(), Reason::Truncated);
    let stream = ReadOptions::new().with_len(100).records(in_order(b"a\nb\n", 1));
    assert_eq!(stream.map_blocks(owned).expect_err("too short").reason(), Reason::Truncated);
}

#[test]
fn a_file_that_changes_while_it_is_read_is_an_error() {
    let bytes = random(33, 300_000, (b'\n', 0));
    for grows in [true, false] {
        for ignored in [true, false] {
            let file = file(&bytes);
            // Past the clock tick in which it was written, so that the change alters its times.
            std::thread::sleep(std::time::Duration::from_millis(20));
            let growth = if ignored { Growth::Ignored } else { Growth::Refused };
            let done = AtomicBool::new(false);
            let handle = Mutex::new(file.reopen().expect("it is there"));
            let records = workers(2).with_growth(growth).records(file.path());
            let result = records.with_block_size(1000).map_blocks(|block| {
                if !done.swap(true, Ordering::SeqCst) {
                    let len = if grows { 300_100 } else { 150_000 };
                    handle.lock().expect("no panic").set_len(len).expect("another length");
                }
                owned(block)
            });
            match (grows && ignored, result) {
                (true, result) => assert!(result.is_ok(), "{result:?}"),
                (false, result) => {
                    let error = result.expect_err("it changed");
                    let reason = error.reason();
                    assert!(matches!(reason, Reason::Changed | Reason::Truncated), "{error}");
                }
            }
        }
    }
}

/// Fails at two places, at the first one only after the second one has failed.
struct Twice(AtomicBool);

impl ReadAt for Twice {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(SourceFacts::new(Some(100_000)))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        let len = target.len().min(usize::try_from(100_000 - offset).expect("small"));
        let holds = |bad| (offset..offset + len as u64).contains(&bad);
        if holds(45_500) {
            self.0.store(true, Ordering::SeqCst);
            return Err(io::ErrorKind::Other.into());
        }
        if holds(40_500) {
            while !self.0.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            // The other one has reported it by then.
            std::thread::sleep(std::time::Duration::from_millis(20));
            return Err(io::ErrorKind::Other.into());
        }
        target[..len].fill(b'\n');
        Ok(len)
    }
}

#[test]
fn of_two_reads_that_fail_the_first_one_in_the_file_is_told() {
    for count in [2, 3, 8] {
        let source = Source::custom(Arc::new(Twice(AtomicBool::new(false))));
        let records = workers(count).records(source).with_block_size(1000);
        let error = records.map_blocks(owned).map(|blocks| blocks.len()).expect_err("twice");
        let extent = error.extent().expect("bytes");
        let (offset, len) = (extent.offset(), extent.len());
        assert!((offset..offset + len).contains(&40_500), "{error}");
    }
}
