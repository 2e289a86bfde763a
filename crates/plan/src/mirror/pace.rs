//! The duration of reads: of one copy on average, and of all copies recently.

use alloc::vec::Vec;

use crate::schedule::Nanos;

/// Times are stored for this many bytes, so that chunks of different lengths compare.
const UNIT: u128 = 1 << 20;

fn per_unit(elapsed: Nanos, len: u64) -> u64 {
    let scaled = u128::from(elapsed) * UNIT / u128::from(len.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX).max(1)
}

fn of_len(per_unit: u64, len: u64) -> Nanos {
    let time = u128::from(per_unit) * u128::from(len) / UNIT;
    u64::try_from(time).unwrap_or(u64::MAX)
}

/// The duration of a read of one copy, learned from earlier reads; later ones weigh more.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace(Option<u64>);

impl Pace {
    /// Learns from a read of `len` bytes that took `elapsed`.
    pub(super) fn learn(&mut self, elapsed: Nanos, len: u64) {
        let new = per_unit(elapsed, len);
        self.0 = Some(match self.0 {
            None => new,
            Some(old) => old - old / 4 + new / 4,
        });
    }

    /// Returns the expected time of a read of `len` bytes; unknown sorts first, so that it gets
    /// measured.
    pub(super) fn of(self, len: u64) -> Option<Nanos> {
        self.0.map(|pace| of_len(pace, len))
    }
}

/// Returns the time that copies of these paces take together for `bytes`, with `slots` reads in
/// flight each, and a last read of `len` bytes; `None` if a pace is unknown, or there are no
/// copies.
pub(super) fn time_for<'p>(
    paces: impl Iterator<Item = &'p Pace>,
    slots: u32,
    bytes: u64,
    len: u64,
) -> Option<Nanos> {
    /// Bits after the binary point.
    const SHIFT: u32 = 40;
    let (mut speed, mut fastest) = (0_u128, u64::MAX);
    for pace in paces {
        let pace = pace.0?;
        fastest = fastest.min(pace);
        speed += ((u128::from(slots) * UNIT) << SHIFT) / u128::from(pace);
    }
    let all = (u128::from(bytes) << SHIFT).checked_div(speed)?;
    Some(u64::try_from(all).unwrap_or(u64::MAX).saturating_add(of_len(fastest, len)))
}

/// The most recent reads of all copies.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent {
    times: Vec<u64>,
    next: usize,
}

/// The number of reads remembered.
const WINDOW: usize = 128;
/// The fewest reads that show which ones are slow.
const LEAST: usize = 16;

impl Recent {
    pub(super) fn push(&mut self, elapsed: Nanos, len: u64) {
        let time = per_unit(elapsed, len);
        if self.times.len() < WINDOW {
            self.times.push(time);
        } else {
            self.times[self.next] = time;
            self.next = (self.next + 1) % WINDOW;
        }
    }

    /// Returns the time for `len` bytes that all but `permille` of a thousand reads did not exceed.
    pub(super) fn quantile(&self, permille: u32, len: u64) -> Option<Nanos> {
        if self.times.len() < LEAST {
            return None;
        }
        let mut times = self.times.clone();
        let kept = usize::try_from(1000_u32.saturating_sub(permille)).unwrap_or(1000);
        let rank = (times.len() * kept).div_ceil(1000).clamp(1, times.len()) - 1;
        let (_, &mut time, _) = times.select_nth_unstable(rank);
        Some(of_len(time, len))
    }
}
