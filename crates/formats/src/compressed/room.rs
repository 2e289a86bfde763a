//! Decides how many workers, and how long tables, fit in memory. This happens before anything is
//! read, because a full control group kills the process without a message.

use swath::{Fallback, ReadOptions};

use super::Format;
use super::codec::CodecShape;
use super::work::MOST_DECODED;
use super::zstd::Tables;

/// The memory of the program and of the read-ahead.
const BASE: u64 = 8 << 20;

/// The memory of libdeflate's encoder at its highest level.
const GZIP: u64 = 9 << 20;

/// A compression that fits in memory.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fitted {
    pub(super) shape: CodecShape,
    pub(super) workers: usize,
    /// Differences from the request.
    pub(super) fallbacks: Vec<Fallback>,
}

/// Fits `workers` with `shape` into their share of the `at_hand` bytes. Fewer workers do not change
/// a byte of the output. Only if a single worker does not fit, zstd's tables get shorter, which
/// loses some of the gain of a high level.
pub(super) fn fit(mut shape: CodecShape, workers: usize, at_hand: u64) -> Fitted {
    let room = room(at_hand);
    let mut fallbacks = Vec::new();
    if shape.format == Format::Zstd && per_worker(shape) > room {
        let usual = Tables::of(shape.level, shape.block_size);
        let mut tables = usual;
        while per_worker(shape) > room && tables.shorten() {
            shape.tables = Some(tables);
        }
        if tables != usual {
            fallbacks.push(Fallback::ShorterTables { level: shape.level });
        }
    }
    let (workers, fewer) = fewer(workers, room, per_worker(shape));
    fallbacks.extend(fewer);
    Fitted { shape, workers, fallbacks }
}

/// Returns the number of `workers` that have memory for decoding frames of `item` bytes, and a
/// fallback if that is not all of them. The output is the same.
pub(super) fn to_decode(
    format: Format,
    item: u64,
    workers: usize,
    at_hand: u64,
) -> (usize, Option<Fallback>) {
    let context = match format {
        // bzip2's manual: 100 kB and 4 times the block, and the decoded block.
        Format::Bzip2 => 4 << 20,
        Format::Zstd | Format::Gzip | Format::Bgzf => 1 << 20,
    };
    let item = item.clamp(1 << 20, MOST_DECODED as u64);
    fewer(workers, room(at_hand), context + 3 * item)
}

/// Limits reading ahead to an eighth of the `at_hand` bytes: returns options with fewer workers,
/// unless the caller gave their number.
pub(super) fn to_read(read: &ReadOptions, at_hand: u64) -> ReadOptions {
    /// Requests in flight at a device; `EACH`: the bytes of one, with the block that it replaces.
    const IN_FLIGHT: u64 = 16;
    const EACH: u64 = 4 << 20;
    let most = (at_hand / 8 / EACH).max(1);
    match usize::try_from(most) {
        Ok(few) if most < IN_FLIGHT && read.workers() == 0 => read.clone().with_workers(few),
        _ => read.clone(),
    }
}

/// Returns the share of the `at_hand` bytes for workers; other programs need memory too.
fn room(at_hand: u64) -> u64 {
    (at_hand - at_hand / 4).saturating_sub(BASE)
}

fn fewer(workers: usize, room: u64, each: u64) -> (usize, Option<Fallback>) {
    let most = usize::try_from(room / each).unwrap_or(usize::MAX).max(1);
    let fewer = Fallback::FewerWorkers { asked: workers as u64, used: most as u64 };
    (workers.min(most), (most < workers).then_some(fewer))
}

/// Returns the bytes of one worker: a block, a context, and two frames that wait for their place.
fn per_worker(shape: CodecShape) -> u64 {
    let block = shape.block_size.max(1 << 20) as u64;
    let context = match shape.format {
        Format::Zstd => {
            let usual = || Tables::of(shape.level, shape.block_size);
            shape.tables.unwrap_or_else(usual).bytes()
        }
        Format::Gzip | Format::Bgzf => GZIP,
        // bzip2's manual: 400 kB and 8 times the block.
        Format::Bzip2 => 400_000 + 8 * block,
    };
    context + 3 * block
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(format: Format, level: i32) -> CodecShape {
        let block_size = usize::try_from(format.default_block_size(level)).expect("a few MiB");
        CodecShape { format, level, block_size, tables: None }
    }

    #[test]
    fn where_there_is_memory_nothing_changes() {
        for format in [Format::Zstd, Format::Gzip, Format::Bgzf, Format::Bzip2] {
            for level in format.levels() {
                let shape = shape(format, level);
                let fallbacks = Vec::new();
                for at_hand in [8 << 30, u64::MAX] {
                    let fitted = fit(shape, 8, at_hand);
                    assert_eq!(
                        fitted,
                        Fitted { shape, workers: 8, fallbacks: fallbacks.clone() }
                    );
                }
            }
        }
    }

    #[test]
    fn where_there_is_little_there_are_fewer_workers_and_it_is_said() {
        let fitted = fit(shape(Format::Bzip2, 9), 16, 60 << 20);
        assert!((1..16).contains(&fitted.workers), "{fitted:?}");
        assert_eq!(fitted.shape, shape(Format::Bzip2, 9));
        let fewer = Fallback::FewerWorkers { asked: 16, used: fitted.workers as u64 };
        assert_eq!(fitted.fallbacks, [fewer]);
    }

    #[test]
    fn decoders_are_as_many_as_there_is_memory_for() {
        for format in [Format::Zstd, Format::Gzip, Format::Bgzf, Format::Bzip2] {
            assert_eq!(to_decode(format, 0, 8, 8 << 30), (8, None));
            let (few, said) = to_decode(format, 0, 16, 60 << 20);
            assert!((1..16).contains(&few) && said.is_some(), "{format}: {few}");
            assert_eq!(to_decode(format, 32 << 20, 2, 60 << 20).0, 1);
            // Whatever a header claims.
            assert_eq!(to_decode(format, u64::MAX, 1, 0).0, 1);
        }
    }

    #[test]
    fn as_many_read_ahead_as_there_is_memory_for() {
        let workers = |given, at_hand: u64| {
            to_read(&ReadOptions::new().with_workers(given), at_hand << 20).workers()
        };
        assert_eq!([0, 60, 128, 511, 512].map(|at_hand| workers(0, at_hand)), [1, 1, 4, 15, 0]);
        assert_eq!(workers(7, 60), 7);
    }

    #[test]
    fn tables_get_shorter_only_for_a_lone_worker() {
        for level in [12, 19, 22] {
            let fitted = fit(shape(Format::Zstd, level), 2, 60 << 20);
            assert_eq!((fitted.workers, fitted.fallbacks.len()), (1, 2), "{fitted:?}");
            assert!(per_worker(fitted.shape) <= 37 << 20, "{fitted:?}");
        }
        let two = fit(shape(Format::Zstd, 19), 4, 400 << 20);
        assert_eq!((two.workers, two.shape.tables), (2, None), "{two:?}");
    }

    #[test]
    fn what_never_fits_is_tried_by_one() {
        for format in [Format::Zstd, Format::Gzip, Format::Bgzf, Format::Bzip2] {
            assert_eq!(fit(shape(format, 9), 4, 0).workers, 1);
        }
    }
}
