//! The results of blocks come in file order, whatever the number of workers.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use swath::{CancelToken, Reason};
use swath_reference::battery::Battery;
use swath_reference::records as plain;

use crate::records::inputs::{LINES, file, in_order, owned, plain_cut, random, workers};

#[test]
fn values_are_combined_from_left_to_right() {
    let bytes = random(21, 50_000, (b'\n', 0));
    let file = file(&bytes);
    let wanted = plain::split(&bytes, plain_cut(LINES)).expect("whole").concat();
    for count in Battery::of_list("combinations", 3, (1..=8).chain([64])) {
        for size in [1, 63, 1000, 1 << 20] {
            for source in [file.path().into(), in_order(&bytes, 333)] {
                let records = workers(count).records(source).with_block_size(size);
                let joined = records.map_reduce(
                    |block| -> swath::Result<_> { Ok(block.bytes.to_vec()) },
                    // Not commutative: any other order gives other bytes.
                    |left, right| [left, right].concat(),
                );
                assert_eq!(
                    joined.expect("whole").value.as_ref(),
                    Some(&wanted),
                    "{count} {size}"
                );
            }
        }
    }
    let nothing = workers(2).records(in_order(b"", 1));
    let nothing = nothing.map_reduce(|_| -> swath::Result<u8> { Ok(1) }, |left, _| left);
    assert_eq!(nothing.expect("nothing to read").value, None);
}

#[test]
fn blocks_are_folded_into_a_value_for_each_worker() {
    let bytes = random(27, 50_000, (b'\n', 0));
    let file = file(&bytes);
    let mut wanted = plain::blocks(&bytes, plain_cut(LINES), 100).expect("whole");
    wanted.sort_by_key(|block| block.index);
    for count in [1, 2, 3, 8] {
        for source in [file.path().into(), in_order(&bytes, 333)] {
            let made = AtomicU64::new(0);
            let init = || {
                made.fetch_add(1, Ordering::Relaxed);
                Vec::new()
            };
            let records = workers(count).records(source).with_block_size(100);
            let folded = records.fold_reduce(
                init,
                |seen, block| -> swath::Result<()> {
                    seen.push(owned(block)?);
                    Ok(())
                },
                |left, right| [left, right].concat(),
            );
            let mut seen = folded.expect("whole").value;
            seen.sort_by_key(|block| block.index);
            assert_eq!(seen, wanted, "{count}");
            let made = made.into_inner();
            assert!((1..=count as u64).contains(&made), "{made} values, {count} workers");
        }
    }
    let nothing = workers(2).records(in_order(b"", 1));
    let nothing = nothing.fold_reduce(|| 7, |_, _| swath::Result::Ok(()), |left, _| left);
    assert_eq!(nothing.expect("nothing to read").value, 7);
}

#[test]
fn every_block_is_given_out_once() {
    let bytes = random(22, 50_000, (b'\n', 0));
    let file = file(&bytes);
    for source in [file.path().into(), in_order(&bytes, 333)] {
        let seen = Mutex::new(Vec::new());
        let records = workers(4).records(source).with_block_size(100);
        let report = records.for_each_block(|block| -> swath::Result<()> {
            seen.lock().expect("no panic").push(owned(block)?);
            Ok(())
        });
        let mut seen = seen.into_inner().expect("no panic");
        seen.sort_by_key(|block| block.index);
        assert_eq!(seen, plain::blocks(&bytes, plain_cut(LINES), 100).expect("whole"));
        let report = report.expect("whole");
        assert_eq!((report.bytes, report.chunk_size), (50_000, 100));
        assert!(report.workers > 1 && report.calls > 0, "{report:?}");
    }
}

#[test]
fn the_report_adds_up_several_sources() {
    let files = [file(&[b'a'; 1000]), file(&[b'\n'; 500])];
    let paths = files.iter().map(|file| file.path());
    let counted = workers(2).records_of(paths).collect_blocks(owned).expect("whole");
    assert_eq!((counted.report.bytes, counted.value.len()), (1500, 2));
    assert!(counted.report.reason.starts_with("2 sources"), "{}", counted.report.reason);
}

#[test]
fn progress_reaches_the_total_and_a_cancelled_run_says_so() {
    let bytes = random(23, 300_000, (b'\n', 0));
    let file = file(&bytes);
    for source in [file.path().into(), in_order(&bytes, 3333)] {
        let most = std::sync::Arc::new(AtomicU64::new(0));
        let seen = std::sync::Arc::clone(&most);
        let options = workers(3).with_progress(move |progress| {
            seen.fetch_max(progress.bytes, Ordering::SeqCst);
        });
        let source: swath::Source = source;
        options.records(source.clone()).with_block_size(1000).map_blocks(owned).expect("whole");
        assert_eq!(most.load(Ordering::SeqCst), 300_000);
        let token = CancelToken::new();
        let options = workers(3).with_cancel(token.clone());
        let records = options.records(source).with_block_size(1000);
        let error = records.for_each_block(|_| -> swath::Result<()> {
            token.cancel();
            Ok(())
        });
        assert_eq!(error.expect_err("cancelled").reason(), Reason::Cancelled);
    }
}

#[test]
fn records_in_a_block_are_those_of_the_reference() {
    let bytes = random(24, 60_000, (b'\n', b'"'));
    let file = file(&bytes);
    for (cut, size) in [(LINES, 500), (crate::records::inputs::CSV, 500), (LINES, 60_000)] {
        let Ok(wanted) = plain::split(&bytes, plain_cut(cut)) else { continue };
        let records = workers(2).records(file.path()).with_cut(cut).with_block_size(size);
        let found = records.map_blocks(|block| -> swath::Result<Vec<_>> {
            let mut records = block.records();
            let mut found = Vec::new();
            loop {
                let offset = records.offset();
                let Some(record) = records.next() else { return Ok(found) };
                found.push((offset, record.to_vec()));
            }
        });
        let found = found.expect("whole").concat();
        let mut offset = 0;
        assert_eq!(found.len(), wanted.len());
        for ((at, record), wanted) in found.iter().zip(wanted) {
            assert_eq!(
                (*at, &record[..]),
                (offset, wanted.strip_suffix(b"\n").unwrap_or(wanted))
            );
            offset += wanted.len() as u64;
        }
    }
}

#[test]
fn few_values_wait_for_the_first_one() {
    let bytes = vec![b'\n'; 100_000];
    let file = file(&bytes);
    for source in [file.path().into(), in_order(&bytes, 5000)] {
        let ahead = AtomicU64::new(0);
        let records = workers(4).records(source).with_block_size(100);
        let map = |block: swath::Block<'_>| -> swath::Result<u64> {
            if block.index > 0 {
                return Ok(ahead.fetch_add(1, Ordering::SeqCst));
            }
            // Until the others have stopped, or have done everything.
            let mut before = u64::MAX;
            while before != ahead.load(Ordering::SeqCst) {
                before = ahead.load(Ordering::SeqCst);
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
            assert!(before < 100, "{before} blocks have values before the first one");
            Ok(0)
        };
        records.map_reduce(map, |left, right| left + right).expect("whole");
        assert_eq!(ahead.load(Ordering::SeqCst), 999);
    }
}
