//! Short reads, interrupts, transient and lasting failures, lies: faults are sources, not mocks.

use std::io;

use swath::{Engine, ReadOptions, Reason};

use crate::trouble::inputs::{byte_at, changing, faulty};

const MIB: u64 = 1 << 20;

fn options() -> [ReadOptions; 3] {
    [
        ReadOptions::new(),
        ReadOptions::new().with_engine(Engine::Serial).with_chunk_size(1000),
        ReadOptions::new().with_engine(Engine::Pool).with_workers(5).with_chunk_size(70_000),
    ]
}

fn assert_pattern(bytes: &[u8], len: u64) {
    assert_eq!(bytes.len() as u64, len);
    assert!((0..).zip(bytes).all(|(at, &byte)| byte == byte_at(at)));
}

#[test]
fn short_reads_and_interrupts_never_leave_the_engine() {
    for options in options() {
        let source = faulty(3 * MIB + 5, |call, _| match call % 3 {
            0 => Some(Ok(777)),
            1 => Some(Err(io::ErrorKind::Interrupted.into())),
            _ => None,
        });
        let loaded = options.read(source).expect("nothing lasting is wrong");
        assert_pattern(&loaded.buffer, 3 * MIB + 5);
        assert!(loaded.report.retries > 0);
    }
}

#[test]
fn a_passing_failure_is_tried_again_and_counted() {
    for options in options() {
        let source =
            faulty(2 * MIB, |call, _| (call == 1).then(|| Err(io::ErrorKind::TimedOut.into())));
        let loaded = options.read(source).expect("it passed");
        assert_pattern(&loaded.buffer, 2 * MIB);
        assert_eq!(loaded.report.retries, 1);
    }
}

#[test]
fn a_failure_that_does_not_pass_ends_the_read_with_its_bytes() {
    for options in options() {
        let source = faulty(4 * MIB, |_, at| {
            (at >= 3 * MIB).then(|| Err(io::ErrorKind::TimedOut.into()))
        });
        let error = options.read(source).expect_err("it never passes");
        assert_eq!(error.io_kind(), io::ErrorKind::TimedOut, "{error:?}");
        let extent = error.extent().expect("it was about bytes");
        let (offset, len) = (extent.offset(), extent.len());
        assert!(offset + len > 3 * MIB, "{error}");
    }
}

#[test]
fn what_fails_last_is_retried_though_other_workers_have_ended() {
    // The worker that reads the last bytes came later, and the crew could do without it.
    for _ in 0..8 {
        let source = faulty(4 * MIB, |_, at| {
            (at >= 3 * MIB).then(|| Err(io::ErrorKind::TimedOut.into()))
        });
        let error = ReadOptions::new().read(source).expect_err("it never passes");
        assert_eq!(error.io_kind(), io::ErrorKind::TimedOut, "{error:?}");
    }
}

#[test]
fn an_input_error_names_path_and_extent_in_every_verb() {
    const BAD: u64 = 2 * MIB + 512;
    let eio = || {
        faulty(4 * MIB, |_, at| match at {
            // The kernel returns what comes before the bad sector, then the error.
            ..BAD => Some(Ok(usize::try_from(BAD - at).expect("small"))),
            BAD => Some(Err(io::Error::from_raw_os_error(5))),
            _ => None,
        })
    };
    for options in options() {
        let mut errors = vec![
            options.read(eio()).expect_err("EIO"),
            options.sum(eio()).expect_err("EIO"),
            options.read_into(eio(), &mut vec![0; 3 << 20]).expect_err("EIO"),
        ];
        let mut reader = options.reader(eio()).expect("opens");
        let through = io::copy(&mut reader, &mut io::sink()).expect_err("EIO");
        let inner = through.into_inner().expect("holds the typed error");
        errors.push(*inner.downcast::<swath::Error>().expect("of our type"));
        for error in errors {
            assert_eq!(error.raw_os_error(), Some(5), "{error:?}");
            let text = error.to_string();
            assert!(text.starts_with("cannot read faulty at bytes "), "{text}");
            let extent = error.extent().expect("it was about bytes");
            let (offset, len) = (extent.offset(), extent.len());
            assert!(offset <= BAD && BAD < offset + len, "{text}");
        }
    }
}

#[test]
fn a_source_that_ends_early_is_never_short_data() {
    for options in options() {
        let source = || faulty(3 * MIB, |_, at| (at >= 2 * MIB - 3).then_some(Ok(0)));
        for error in [
            options.read(source()).expect_err("it ends early"),
            options.count(source(), b'a').expect_err("it ends early"),
        ] {
            assert_eq!(error.reason(), Reason::Truncated, "{error}");
            assert!(error.to_string().contains("the file ends at byte"), "{error}");
        }
    }
}

#[test]
fn a_source_that_changes_meanwhile_is_an_error() {
    for options in options() {
        let source = || changing(MIB);
        assert_eq!(options.read(source()).expect_err("changed").reason(), Reason::Changed);
        assert_eq!(options.sum(source()).expect_err("changed").reason(), Reason::Changed);
        let mut reader = options.reader(source()).expect("opens");
        let error = io::copy(&mut reader, &mut io::sink()).expect_err("changed");
        assert!(error.to_string().contains("while it was read"), "{error}");
    }
}

#[test]
fn a_panic_in_a_fold_stops_the_scan_and_panics() {
    let scan = || {
        let fold = |chunk: swath::Chunk<'_>| assert!(chunk.index != 5, "on purpose");
        let source = faulty(64 * MIB, |_, _| None);
        ReadOptions::new().with_workers(4).with_chunk_size(4096).scan(source, fold, |(), ()| ())
    };
    assert!(std::panic::catch_unwind(scan).is_err());
}
