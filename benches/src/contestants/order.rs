//! Structures that keep items in order: grown, searched, inserted into.

use anyhow::Context;
use std::rc::Rc;
use swath_study::harness::{Contestant, Expected, Timing, Work, timed};
use swath_study::order::grown::{Grown, INSERTED};
use swath_study::order::{Item, Order};
use swath_study::random::SplitMix64;

/// Searches and insertions are reported as if there had been this many in a run, whatever the
/// number that a slow structure was given: seconds of the tables are then µs of one.
pub(crate) const REPORTED: u32 = 1_000_000;

/// Decides what is drawn.
const SEED: u64 = 11;

/// Offsets to look for.
pub(crate) struct Offsets {
    offsets: Vec<u64>,
}

impl Offsets {
    /// Draws `count` offsets below `bytes`.
    pub(crate) fn new(count: u32, bytes: u64) -> Rc<Self> {
        let mut random = SplitMix64::new(SEED + 1);
        let offsets = (0..count).map(|_| random.next_word() % bytes).collect();
        Rc::new(Self { offsets })
    }

    /// Returns what looking for the first `count` gives.
    fn expected(&self, count: usize, look: impl Fn(u64) -> u64) -> Expected {
        let sum = |sum: u64, &offset: &u64| sum.wrapping_add(look(offset));
        Expected { bytes: 0, checksum: self.offsets[..count].iter().fold(0, sum) }
    }
}

/// Returns something that depends on the item that holds a byte, and on where in it the byte is.
#[inline]
pub(crate) fn look(order: &impl Order, offset: u64) -> u64 {
    order.seek(offset).map_or(u64::MAX, |found| found.item.offset + found.within)
}

/// The same, of the item's rank.
pub(crate) fn look_for_rank(order: &impl Order, offset: u64) -> u64 {
    let found = order.seek(offset).and_then(|it| Some((order.place(it.handle)?, it.within)));
    found.map_or(u64::MAX, |(place, within)| place.rank as u64 + within)
}

/// Whether a search may begin before the one before it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Searches {
    Independent,
    OneAfterTheOther,
}

/// Times the first `count` searches; each is to find what `oracle` finds.
pub(crate) fn seek<'b>(
    name: &str,
    look: impl Fn(u64) -> u64 + 'b,
    oracle: impl Fn(u64) -> u64,
    offsets: &Rc<Offsets>,
    count: u32,
    searches: Searches,
) -> Contestant<'b> {
    let (offsets, many) = (Rc::clone(offsets), count as usize);
    Contestant::new(name, offsets.expected(many, oracle), move || {
        let offsets = &offsets.offsets[..many];
        let (sum, timing) = timed(|| {
            let mut sum = 0_u64;
            for &offset in offsets {
                // Sums stay far below 2^63, which no compiler knows: so this adds nothing, and
                // can be computed only after the last search.
                let last = if searches == Searches::Independent { 0 } else { sum >> 63 };
                sum = sum.wrapping_add(look(offset + last));
            }
            sum
        })?;
        Ok(Work::new(0, sum).with_timing(per_reported(timing, count)))
    })
}

/// Times `count` insertions, each behind an item drawn from all; they are taken out again.
pub(crate) fn insert<'b, O: Order + 'b>(
    name: &str,
    grown: Grown<O>,
    count: u32,
) -> Contestant<'b> {
    let Grown { mut order, handles } = grown;
    let (expected, mut random) = (expected_after(&order, count), SplitMix64::new(SEED + 2));
    Contestant::new(name, expected, move || {
        let places: Vec<_> = (0..count).map(|_| handles[random.below(handles.len())]).collect();
        let mut inserted = Vec::with_capacity(places.len());
        let ((), timing) = timed(|| {
            inserted.extend(places.iter().map(|&place| order.insert_after(place, INSERTED)));
        })?;
        let work = Work::new(order.bytes(), order.len() as u64);
        for handle in inserted {
            order.delete(handle.context("an insertion was refused")?);
        }
        Ok(work.with_timing(per_reported(timing, count)))
    })
}

/// Returns what a structure holds after so many more items: bytes and, as checksum, items.
pub(crate) fn expected_after(order: &impl Order, count: u32) -> Expected {
    let bytes = order.bytes() + u64::from(count) * INSERTED.len;
    Expected { bytes, checksum: order.len() as u64 + u64::from(count) }
}

/// Times making the whole structure from items in order; dropping it is not timed.
pub(crate) fn at_once<'b, O: Order + 'b>(name: &str, items: &Rc<Vec<Item>>) -> Contestant<'b> {
    let items = Rc::clone(items);
    let bytes = items.iter().map(|item| item.len).sum();
    let expected = Expected { bytes, checksum: items.len() as u64 };
    Contestant::new(name, expected, move || {
        let (order, timing) = timed(|| O::from_items(items.iter().copied()))?;
        Ok(Work::new(order.bytes(), order.len() as u64).with_timing(timing))
    })
}

/// What [`REPORTED`] of something would have taken of which `count` took `timing`.
pub(crate) fn per_reported(timing: Timing, count: u32) -> Timing {
    let factor = f64::from(REPORTED) / f64::from(count);
    let (seconds, cpu_seconds) = (timing.seconds * factor, timing.cpu_seconds * factor);
    Timing { seconds, cpu_seconds }
}
