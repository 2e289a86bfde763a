//! Blocks arrive in file order, whichever worker looks at them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Duration;

use swath::{Block, Reason, Source};
use swath_reference::battery::Battery;
use swath_reference::records as plain;

use crate::records::inputs::{LINES, file, in_order, owned, plain_cut, random, workers};
use crate::records::trouble::failing;

#[test]
fn every_block_is_told_what_is_before_it() {
    let bytes = random(41, 50_000, (b'\n', 0));
    let file = file(&bytes);
    for count in Battery::of_list("combinations", 3, (1..=8).chain([64])) {
        for size in [1, 63, 1000, 1 << 20] {
            let blocks = plain::blocks(&bytes, plain_cut(LINES), size).expect("whole");
            let lens = blocks.iter().map(|block| block.bytes.len());
            let starts: Vec<_> = lens
                .scan(0, |end, len| {
                    *end += len;
                    Some(*end - len)
                })
                .collect();
            for source in [file.path().into(), in_order(&bytes, 333)] {
                let records = workers(count).records(source).with_block_size(size as u64);
                let (mut end, mut turns) = (0, Vec::new());
                let found = records.map_blocks_in_turn(
                    |block| -> swath::Result<_> { Ok((block.index, block.bytes.len())) },
                    |(index, len)| {
                        turns.push(index);
                        end += len;
                        Ok(end - len)
                    },
                    |block, start| Ok((start, owned(block)?)),
                );
                let (found, kept): (Vec<_>, Vec<_>) = found.expect("whole").into_iter().unzip();
                assert_eq!(found, starts, "{count} {size}");
                assert_eq!(kept, blocks, "{count} {size}");
                assert!(turns.is_sorted() && turns.len() == blocks.len(), "{count} {size}");
            }
        }
    }
    let nothing = workers(2).records(in_order(b"", 1));
    let nothing = nothing.map_blocks_in_turn(
        |_| -> swath::Result<_> { Ok(()) },
        |()| Ok(()),
        |_, ()| Ok(()),
    );
    assert_eq!(nothing.expect("nothing to read"), []);
}

/// Which of the closures fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Look,
    Turn,
    Map,
}

/// Runs with `fails` at `step` of every fifteenth block from number 60 on, the first of which
/// takes longest while the next ones wait; returns what came out, and the last block that had
/// its turn.
fn run<E: From<swath::Error> + Send>(
    (source, count, step): (&Source, usize, Step),
    fails: impl Fn(u64) -> Result<(), E> + Sync,
) -> (Result<Vec<u64>, E>, Option<u64>) {
    let at = |here, index| {
        if here != step || index < 60 || index % 15 != 0 {
            return Ok(());
        }
        if index == 60 {
            std::thread::sleep(Duration::from_micros(300));
        }
        fails(index)
    };
    let mut last = None;
    let records = workers(count).records(source.clone()).with_block_size(500);
    let result = records.map_blocks_in_turn(
        |block: Block<'_>| at(Step::Look, block.index).map(|()| block.index),
        |index| {
            at(Step::Turn, index)?;
            last = Some(index);
            Ok(index)
        },
        |_, index| at(Step::Map, index).map(|()| index),
    );
    (result, last)
}

#[test]
fn the_first_failure_of_each_step_is_returned_and_nobody_behind_it_has_a_turn() {
    #[derive(Debug)]
    struct Number(u64);
    impl From<swath::Error> for Number {
        fn from(error: swath::Error) -> Self {
            panic!("{error}")
        }
    }
    let bytes = random(42, 100_000, (b'\n', 0));
    let file = file(&bytes);
    for step in [Step::Look, Step::Turn, Step::Map] {
        for count in [1, 2, 5, 8] {
            for source in [file.path().into(), in_order(&bytes, 999)] {
                for _ in 0..20 {
                    let (result, last) =
                        run((&source, count, step), |index| Err(Number(index)));
                    let Err(Number(60)) = result else {
                        panic!("{step:?} {count}: {result:?}")
                    };
                    if step != Step::Map {
                        assert_eq!(last, Some(59), "{step:?} {count}");
                    }
                }
                let panicked = catch_unwind(AssertUnwindSafe(|| {
                    let bad = |index| -> swath::Result<()> { panic!("block {index} is bad") };
                    run((&source, count, step), bad).0.map(|found| found.len())
                }));
                let message = panicked.expect_err("a panic");
                let message = message.downcast_ref::<String>().expect("a formatted message");
                assert_eq!(message, "block 60 is bad", "{step:?} {count}");
            }
        }
    }
}

#[test]
fn a_read_that_fails_is_tried_again_or_told_and_nobody_waits_for_ever() {
    for count in [1, 2, 4, 8] {
        let run = |source| {
            let turns = Mutex::new(0);
            let records = workers(count).records(source).with_block_size(1000);
            let found = records.map_blocks_in_turn(
                |block| -> swath::Result<_> { Ok(block.records().count()) },
                |count| {
                    *turns.lock().expect("no panic") += count;
                    Ok(count)
                },
                |_, count| Ok(count),
            );
            (found, turns.into_inner().expect("no panic"))
        };
        let (found, turns) = run(failing(2, std::io::ErrorKind::WouldBlock, count > 1));
        assert_eq!(found.expect("tried again").iter().sum::<usize>(), 2000);
        assert_eq!(turns, 2000);
        let (found, turns) = run(failing(u64::MAX, std::io::ErrorKind::Other, count > 1));
        let error = found.expect_err("for good");
        let extent = error.extent().expect("bytes");
        let (offset, len) = (extent.offset(), extent.len());
        assert!((offset..offset + len).contains(&40_321), "{error}");
        assert_eq!(error.reason(), Reason::Io);
        assert!(turns <= 40_000 / 50, "{turns}");
    }
}
