//! How many blocks of text there is memory for.

use std::io;

use swath::ReadOptions;
use swath::machine::memory_at_hand;

use super::options::BatchOptions;
use crate::share::workers;

/// Blocks that each worker parses in a round of a stream.
const BLOCKS: u64 = 4;
/// Bytes of a block, if the options do not say otherwise.
const BLOCK_SIZE: u64 = 1 << 20;
/// Bytes of memory for a byte of text while it is parsed: itself, and values in buffers that grow by
/// copying.
const PARSING: u64 = 24;
/// The same once it is parsed: the values of two rounds are in memory, and what the caller makes of
/// them may be.
const PARSED: u64 = 24;
/// Bytes that workers read after their blocks.
const LOOK: u64 = if cfg!(test) { 100 } else { 1 << 20 };
/// What takes less than this is not compared with the memory at hand.
const LITTLE: u64 = 16 << 20;

/// Returns how to read a text of `len` bytes with this many workers or fewer: each has a block in
/// memory.
pub(super) fn fitted(options: &BatchOptions, len: u64) -> ReadOptions {
    // The number of cores takes longer to find out than a short text to parse.
    if len.saturating_mul(PARSING) <= LITTLE {
        return options.read.clone();
    }
    let wanted = workers(options.read.workers());
    let fit = Fit { wanted: wanted as u64, times: PARSING, len };
    match usize::try_from(fit.blocks(options, memory_at_hand)) {
        Ok(most) if most < wanted => options.read.clone().with_workers(most),
        _ => options.read.clone(),
    }
}

/// Returns the bytes of text in a round of a stream, of texts of up to `len` bytes.
pub(super) fn round(options: &BatchOptions, len: u64) -> u64 {
    let wanted = BLOCKS.saturating_mul(workers(options.read.workers()) as u64);
    let most = Fit { wanted, times: PARSED, len }.blocks(options, memory_at_hand);
    most.saturating_mul(block_size(options))
}

/// Returns how far before the last byte that was read a worker may read: each has a block, and a round
/// ends in one of them.
pub(super) fn kept(options: &BatchOptions) -> u64 {
    let blocks = (workers(options.read.workers()) as u64).saturating_add(2);
    blocks.saturating_mul(block_size(options)).saturating_add(LOOK)
}

/// Blocks that are in memory at the same time.
#[derive(Clone, Copy)]
struct Fit {
    wanted: u64,
    /// Bytes of memory for a byte of text.
    times: u64,
    /// Bytes of the text.
    len: u64,
}

impl Fit {
    /// Returns how many blocks there is memory for: at least one, at most as many as are wanted.
    fn blocks(self, options: &BatchOptions, at_hand: fn() -> io::Result<u64>) -> u64 {
        let each = block_size(options).saturating_mul(self.times);
        let all = each.saturating_mul(self.wanted).min(self.len.saturating_mul(self.times));
        if all <= LITTLE {
            return self.wanted.max(1);
        }
        let at_hand = at_hand().unwrap_or(u64::MAX);
        (at_hand / each).min(self.wanted).max(1)
    }
}

fn block_size(options: &BatchOptions) -> u64 {
    if options.block_size == 0 { BLOCK_SIZE } else { options.block_size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_as_many_as_there_is_memory_for_and_at_least_one() {
        let of = |size| BatchOptions::new().with_block_size(size);
        let fit = |wanted| Fit { wanted, times: 16, len: u64::MAX };
        let little = || Ok(64 << 20);
        assert_eq!(fit(3).blocks(&of(0), little), 3);
        assert_eq!(fit(4).blocks(&of(0), little), 4);
        assert_eq!(fit(5).blocks(&of(0), little), 4);
        assert_eq!(fit(64).blocks(&of(1 << 10), little), 64);
        assert_eq!(fit(8).blocks(&of(64 << 20), little), 1);
        assert_eq!(fit(8).blocks(&of(u64::MAX), little), 1);
        assert_eq!(fit(256).blocks(&of(0), || Ok(0)), 1);
        let unasked = || panic!("the text is short");
        assert_eq!(Fit { len: 1 << 20, ..fit(8) }.blocks(&of(0), unasked), 8);
        assert_eq!(fit(256).blocks(&of(0), || Err(io::ErrorKind::NotFound.into())), 256);
    }
}
