//! Sizes blocks and rounds by the available memory.

use std::io;

use swath::ReadOptions;
use swath::machine::memory_at_hand;

use crate::share::workers;
use crate::table::options::BatchOptions;

/// Workers that read from a device, on a machine with fewer cores.
const IN_FLIGHT: usize = 16;
/// Blocks that each worker parses in the first round of a stream.
const BLOCKS: u64 = 4;
/// A round has at most this many times the text of the first.
const LONGEST: u64 = 16;
/// Target bytes of values per round: between rounds, workers wait for each other.
const VALUES: u64 = 32 << 20;
/// Memory that rounds after the first leave to the program and its caller.
const RESERVE: u64 = 64 << 20;
/// The default size of a block in bytes.
const BLOCK_SIZE: u64 = 1 << 20;
/// Memory for each byte of text being parsed: the byte, and values in buffers that grow by copying.
const PARSING: u64 = 24;
/// Memory for each byte of parsed text: the values of two rounds, and perhaps the caller's copy.
const PARSED: u64 = 24;
/// Bytes that workers read past their blocks.
const LOOK: u64 = if cfg!(test) { 100 } else { 1 << 20 };
/// Tables that take less than this are not compared with the available memory.
pub(in crate::table) const LITTLE: u64 = 16 << 20;
/// A table with more bytes of values than this, and more than this many for each byte of text, is
/// refused: it would take minutes to fill it with missing values.
pub(in crate::table) const MOST_MISSING: u64 = 2 << 30;
pub(in crate::table) const TIMES_MISSING: u64 = 4096;

/// Returns the options for a text of `len` bytes, with as many workers as have memory for their
/// blocks.
pub(in crate::table) fn fitted(options: &BatchOptions, len: u64) -> ReadOptions {
    fitted_to(options, len, memory_at_hand)
}

fn fitted_to(
    options: &BatchOptions,
    len: u64,
    at_hand: fn() -> io::Result<u64>,
) -> ReadOptions {
    // Finding the number of cores takes longer than parsing a short text.
    if len.saturating_mul(PARSING) <= LITTLE {
        return options.read.clone();
    }
    let given = options.read.workers();
    let cores = workers(given);
    // By default, a device may have this many reads in flight.
    let wanted = if given == 0 { cores.max(IN_FLIGHT) } else { given };
    let fit = BlockFit { wanted: wanted as u64, times: PARSING, len };
    match usize::try_from(fit.blocks(options, at_hand)) {
        Ok(most) if most < wanted => options.read.clone().with_workers(most.min(cores)),
        _ => options.read.clone(),
    }
}

/// Returns the bytes of text in the first round of a stream of texts of up to `len` bytes.
fn round(options: &BatchOptions, len: u64) -> u64 {
    let wanted = BLOCKS.saturating_mul(workers(options.read.workers()) as u64);
    let most = BlockFit { wanted, times: PARSED, len }.blocks(options, memory_at_hand);
    most.saturating_mul(block_size(options))
}

/// The size of the rounds of a stream.
#[derive(Clone, Copy, Debug)]
pub(in crate::table) struct RoundSize {
    /// Bytes of text in the first round.
    first: u64,
    /// The most bytes of text in a later round.
    most: u64,
    /// Target bytes of values per round.
    values: u64,
    /// Bytes of text in the next round.
    pub(in crate::table) next: u64,
}

impl RoundSize {
    /// Sizes rounds for texts of up to `len` bytes, a byte of which becomes at most `times` bytes
    /// of values.
    pub(in crate::table) fn of(options: &BatchOptions, len: u64, times: u64) -> Self {
        let first = round(options, len);
        // A short text is one round.
        let at_hand = if len <= first { 0 } else { memory_at_hand().unwrap_or(u64::MAX) };
        Self::within(first, at_hand.saturating_sub(RESERVE), times)
    }

    /// Sizes rounds so that any two after the first fit in `room`.
    fn within(first: u64, room: u64, times: u64) -> Self {
        let most = (room / 2 / times.max(1)).min(first.saturating_mul(LONGEST)).max(first);
        // This leaves room for the caller's copies.
        Self { first, most, values: VALUES.min(room / 8), next: first }
    }

    /// Sizes the next round from the `values` bytes that `len` bytes of text became.
    pub(in crate::table) fn learn(&mut self, len: u64, values: u64) {
        let fitting = u128::from(self.values) * u128::from(len) / u128::from(values.max(1));
        // One round may not be typical of the next.
        let most = self.most.min(self.next.saturating_mul(4));
        self.next = u64::try_from(fitting).unwrap_or(u64::MAX).min(most).max(self.first);
    }
}

/// Returns the size of a block that takes no more memory than usual, if `len` bytes of text become
/// `values` bytes; 0 for the default.
pub(in crate::table) fn short_block(len: u64, values: u64) -> u64 {
    const LEAST: u64 = 4096;
    match values / len.max(1) {
        times if times <= PARSED => 0,
        times => (BLOCK_SIZE * PARSED / times).max(LEAST),
    }
}

/// Returns how far before the last byte read a worker may read: each has a block, and a round ends
/// in one of them.
pub(in crate::table) fn kept(options: &BatchOptions) -> u64 {
    let blocks = (workers(options.read.workers()) as u64).saturating_add(2);
    blocks.saturating_mul(block_size(options)).saturating_add(LOOK)
}

/// The blocks to hold in memory at the same time.
#[derive(Clone, Copy)]
struct BlockFit {
    wanted: u64,
    /// Bytes of memory for each byte of text.
    times: u64,
    /// Bytes of the text.
    len: u64,
}

impl BlockFit {
    /// Returns the number of blocks that fit in memory: at least one, at most `wanted`.
    fn blocks(self, options: &BatchOptions, at_hand: fn() -> io::Result<u64>) -> u64 {
        let each = block_size(options).saturating_mul(self.times);
        let all = each.saturating_mul(self.wanted).min(self.len.saturating_mul(self.times));
        if all <= LITTLE {
            return self.wanted.max(1);
        }
        let at_hand = at_hand().unwrap_or(u64::MAX);
        // A text of unknown length is decompressed while it is parsed, which takes as much memory.
        let at_hand = if self.len == u64::MAX { at_hand / 2 } else { at_hand };
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
    fn blocks_are_short_where_few_bytes_have_many_values() {
        assert_eq!(short_block(1 << 20, 0), 0);
        assert_eq!(short_block(1 << 20, PARSED << 20), 0);
        // Twice as many values, half of the text.
        assert_eq!(short_block(1 << 20, PARSED << 21), BLOCK_SIZE / 2);
        assert_eq!(short_block(40_000, 3_000 * 3_000 * 9), 12_427);
        assert_eq!(short_block(1, u64::MAX), 4096);
    }

    #[test]
    fn rounds_grow_as_far_as_their_values_may() {
        let rounds = |room, times| RoundSize::within(8 << 20, room, times);
        let next = |rounds: &mut RoundSize, len: u64, values: u64| {
            rounds.learn(len << 20, values << 20);
            rounds.next >> 20
        };
        let mut free = rounds(1 << 30, 4);
        // A tenth of the text: four times as much each time, up to 16 times.
        assert_eq!([8, 32, 128].map(|len| next(&mut free, len, len / 8)), [32, 128, 128]);
        // As much as the text; then more than may be.
        assert_eq!(
            [(128, 128), (32, 32), (32, 64)].map(|(l, v)| next(&mut free, l, v)),
            [32, 32, 16]
        );
        assert_eq!([(16, 1600), (8, 0)].map(|(l, v)| next(&mut free, l, v)), [8, 32]);
        // Values of up to 4 times the text: room for 20 MiB of text.
        let mut little = rounds(160 << 20, 4);
        assert_eq!(
            [(8, 1), (20, 10), (20, 16)].map(|(l, v)| next(&mut little, l, v)),
            [20, 20, 20]
        );
        assert_eq!(next(&mut little, 20, 32), 12);
        assert_eq!(next(&mut rounds(0, 4), 8, 1), 8);
        let mut long = RoundSize::within(u64::MAX, 1, 1);
        long.learn(u64::MAX, 1);
        assert_eq!(long.next, u64::MAX);
    }

    #[test]
    fn workers_have_memory_for_a_block_each_also_those_that_wait_for_a_device() {
        let workers = |given, at_hand: fn() -> io::Result<u64>| {
            let read = ReadOptions::new().with_workers(given);
            fitted_to(&BatchOptions::new().with_read(read), 1 << 30, at_hand).workers()
        };
        assert_eq!(workers(0, || Ok(30 << 20)), 1);
        let cores = super::workers(0);
        assert_eq!(workers(0, || Ok(360 << 20)), cores.min(15));
        assert_eq!(workers(0, || Ok(1 << 40)), 0);
        assert_eq!([3, 2].map(|given| workers(given, || Ok(50 << 20))), [2, 2]);
    }

    #[test]
    fn blocks_are_as_many_as_there_is_memory_for_and_at_least_one() {
        let of = |size| BatchOptions::new().with_block_size(size);
        let fit = |wanted| BlockFit { wanted, times: 16, len: 1 << 50 };
        let little = || Ok(64 << 20);
        assert_eq!(BlockFit { len: u64::MAX, ..fit(4) }.blocks(&of(0), little), 2);
        assert_eq!(fit(3).blocks(&of(0), little), 3);
        assert_eq!(fit(4).blocks(&of(0), little), 4);
        assert_eq!(fit(5).blocks(&of(0), little), 4);
        assert_eq!(fit(64).blocks(&of(1 << 10), little), 64);
        assert_eq!(fit(8).blocks(&of(64 << 20), little), 1);
        assert_eq!(fit(8).blocks(&of(u64::MAX), little), 1);
        assert_eq!(fit(256).blocks(&of(0), || Ok(0)), 1);
        let unasked = || panic!("the text is short");
        assert_eq!(BlockFit { len: 1 << 20, ..fit(8) }.blocks(&of(0), unasked), 8);
        assert_eq!(fit(256).blocks(&of(0), || Err(io::ErrorKind::NotFound.into())), 256);
    }
}
