//! Structures that keep items in order, and the operations on them.

use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use swath_plan::words;

use crate::measure::{Entrant, Meter, Outcome};
use crate::order::grown::{Grown, INSERTED, insert_by_all};
use crate::order::skip::SkipList;
use crate::order::{Handle, Item, Order};
use crate::results::State;
use swath_plan::random::SplitMix64;

/// The number of operations that the reported time stands for, even if a slow structure did fewer:
/// seconds are then µs per operation.
pub const REPORTED: f64 = 1e6;

/// An operation on a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Inserts after random items, then removes the inserted items.
    Insert,
    /// Deletes inserted items, in another order.
    Delete,
    /// Replaces items.
    Update,
    /// Finds the item that holds a byte.
    Seek,
    /// Reads all items in order.
    Read,
}

words!(Operation {
    Insert = "insert", Delete = "delete", Update = "update", Seek = "seek",
    Read = "read in order",
});

impl Operation {
    /// All operations.
    pub const ALL: [Self; 5] =
        [Self::Insert, Self::Delete, Self::Update, Self::Seek, Self::Read];

    /// Returns the index of the operation in [`ALL`](Self::ALL).
    pub fn place(self) -> f64 {
        Self::ALL.iter().position(|&other| other == self).unwrap_or_default() as f64
    }
}

/// A structure of many items.
pub struct Structure<O> {
    grown: RefCell<Grown<O>>,
    items: usize,
}

impl<O: Order + 'static> Structure<O> {
    /// Wraps an order that was grown, or made at once.
    pub fn new(grown: Grown<O>) -> Rc<Self> {
        let items = grown.order.len();
        Rc::new(Self { grown: grown.into(), items })
    }

    /// Returns an entrant that does an operation `count` times, scaled to [`REPORTED`] times.
    pub fn entrant(
        self: &Rc<Self>,
        series: &str,
        operation: Operation,
        count: usize,
    ) -> Entrant {
        let here = Rc::clone(self);
        let expected = self.expected(operation, count);
        let mut random = SplitMix64::new(7);
        let work = move |meter: &mut Meter| {
            let Grown { order, handles, .. } = &mut *here.grown.borrow_mut();
            let mut draw = |random: &mut SplitMix64| drawn(handles, count, random);
            let outcome = match operation {
                Operation::Insert => insert(order, &draw(&mut random), meter)?,
                Operation::Delete => delete(order, &draw(&mut random), &mut random, meter)?,
                Operation::Update => update(order, &draw(&mut random), meter)?,
                Operation::Seek => seek(order, count, meter)?,
                Operation::Read => read(order, meter)?,
            };
            report(meter, count);
            let (now, before) = (order.len(), here.items);
            ensure!(now == before, "{now} items, where there were {before}");
            Ok(outcome)
        };
        Entrant::new(series, expected, work).at(operation.place(), State::None)
    }

    /// Returns the expected result of an operation.
    fn expected(&self, operation: Operation, count: usize) -> Outcome {
        let grown = self.grown.borrow();
        let (bytes, len) = (grown.order.bytes(), grown.order.len() as u64);
        match operation {
            Operation::Insert => Outcome {
                bytes: bytes + count as u64 * INSERTED.len,
                checksum: len + count as u64,
            },
            Operation::Update => Outcome { bytes: 0, checksum: count as u64 },
            Operation::Delete | Operation::Read => Outcome { bytes, checksum: len },
            Operation::Seek => {
                let items: Vec<Item> = grown.order.iter().map(|(_, item)| item).collect();
                let mut ends = Vec::with_capacity(items.len());
                let mut end = 0;
                for item in &items {
                    end += item.len;
                    ends.push(end);
                }
                let found = |offset: u64| {
                    let index = ends.partition_point(|&end| end <= offset);
                    items[index].offset + offset - (ends[index] - items[index].len)
                };
                let sum = offsets(count, bytes).map(found).fold(0, u64::wrapping_add);
                Outcome { bytes: 0, checksum: sum }
            }
        }
    }
}

/// Reports the time of one operation, and scales the run to [`REPORTED`] operations.
pub fn report(meter: &mut Meter, count: usize) {
    let one = meter.seconds() / count as f64;
    meter.note("operation_seconds", one);
    meter.scale(REPORTED / count as f64);
}

/// Draws `count` distinct handles.
fn drawn(handles: &mut [Handle], count: usize, random: &mut SplitMix64) -> Vec<Handle> {
    for index in 0..count {
        let other = index + random.below(handles.len() - index);
        handles.swap(index, other);
    }
    handles[..count].to_vec()
}

fn insert<O: Order>(order: &mut O, places: &[Handle], meter: &mut Meter) -> Result<Outcome> {
    let mut inserted = Vec::with_capacity(places.len());
    meter.measure(|| {
        inserted.extend(places.iter().map(|&place| order.insert_after(place, INSERTED)));
    })?;
    let outcome = Outcome { bytes: order.bytes(), checksum: order.len() as u64 };
    for handle in inserted {
        order.delete(handle.context("an insertion was refused")?);
    }
    Ok(outcome)
}

/// Inserts items, then deletes them in another order, which is timed.
fn delete<O: Order>(
    order: &mut O,
    places: &[Handle],
    random: &mut SplitMix64,
    meter: &mut Meter,
) -> Result<Outcome> {
    let inserted: Option<Vec<Handle>> =
        places.iter().map(|&place| order.insert_after(place, INSERTED)).collect();
    let mut inserted = inserted.context("an insertion was refused")?;
    random.shuffle(&mut inserted);
    let mut deleted = 0;
    meter.measure(|| {
        deleted += inserted.iter().filter(|&&handle| order.delete(handle).is_some()).count();
    })?;
    let count = places.len();
    ensure!(deleted == count, "{deleted} of {count} were deleted");
    Ok(Outcome { bytes: order.bytes(), checksum: order.len() as u64 })
}

fn update<O: Order>(order: &mut O, places: &[Handle], meter: &mut Meter) -> Result<Outcome> {
    let mut before = Vec::with_capacity(places.len());
    meter
        .measure(|| before.extend(places.iter().map(|&place| order.update(place, INSERTED))))?;
    let mut right = 0;
    for (&place, item) in places.iter().zip(before) {
        let item = item.context("an update was refused")?;
        right += u64::from(order.update(place, item) == Some(INSERTED));
    }
    Ok(Outcome { bytes: 0, checksum: right })
}

/// Returns random offsets below `bytes`.
pub fn offsets(count: usize, bytes: u64) -> impl Iterator<Item = u64> {
    let mut random = SplitMix64::new(12);
    (0..count).map(move |_| random.next_word() % bytes)
}

fn seek<O: Order>(order: &O, count: usize, meter: &mut Meter) -> Result<Outcome> {
    let offsets: Vec<u64> = offsets(count, order.bytes()).collect();
    let look = |&offset: &u64| {
        order.seek(offset).map_or(u64::MAX, |found| found.item.offset + found.within)
    };
    let sum = meter.measure(|| offsets.iter().map(look).fold(0, u64::wrapping_add))?;
    Ok(Outcome { bytes: 0, checksum: sum })
}

fn read<O: Order>(order: &O, meter: &mut Meter) -> Result<Outcome> {
    let all = meter.measure(|| {
        order.iter().fold(Outcome::default(), |all, (handle, item)| {
            black_box(handle);
            Outcome { bytes: all.bytes + item.len, checksum: all.checksum + 1 }
        })
    })?;
    Ok(all)
}

/// Returns an entrant in which all workers insert at the same time, `count` items in all, into a skip
/// list.
pub fn insert_shared(series: &str, items: usize, count: usize, workers: usize) -> Entrant {
    let each = count.div_ceil(workers);
    let mut grown = Grown::<SkipList>::new(items);
    let all = each * workers;
    let expected = Outcome {
        bytes: grown.order.bytes() + all as u64 * INSERTED.len,
        checksum: (items + all) as u64,
    };
    let mut random = SplitMix64::new(13);
    let work = move |meter: &mut Meter| {
        let mut draw = || grown.handles[random.below(grown.handles.len())];
        let places: Vec<Vec<Handle>> =
            (0..workers).map(|_| (0..each).map(|_| draw()).collect()).collect();
        let inserted = meter.measure(|| insert_by_all(&grown.order, &places))?;
        let outcome =
            Outcome { bytes: grown.order.bytes(), checksum: grown.order.len() as u64 };
        for handle in inserted.context("an insertion was refused")? {
            grown.order.delete(handle);
        }
        report(meter, all);
        Ok(outcome)
    };
    Entrant::new(series, expected, work).at(Operation::Insert.place(), State::None)
}
