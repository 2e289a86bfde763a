//! Study E: the structure that keeps what was appended in order.

use std::hint::black_box;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};

use super::shape::{asked, chart, metric, read as says};
use crate::experiment::{
    Entrant, Entrants, Experiment, Meter, Outcome, Point, Scale, Stage, Study, all_of, told,
};
use crate::order::flat::Flat;
use crate::order::grown::{Grown, INSERTED, insert_by_all};
use crate::order::linked::LinkedList;
use crate::order::packed::Packed;
use crate::order::skip::SkipList;
use crate::order::tree::BTree;
use crate::order::{Handle, Item, Order};
use crate::random::SplitMix64;
use crate::results::{Chart, Finding, Key, Measure, Selected, State};
use crate::stats::{Bound, Interval};

const LIST: &str = "linked list";
const SKIP: &str = "skip list";
const SKIP_ALL: &str = "skip list, all cores";
const TREE: &str = "B-tree, as ropes are";
const PACKED: &str = "packed array";
const FLAT: &str = "swath, flat index";

/// Runs count as if they had done this many, whatever a slow structure was given.
const REPORTED: f64 = 1e6;

/// By operation.
pub(super) const OPERATIONS: Experiment = Experiment {
    id: "e-orders",
    study: Study::E,
    figure: "time of insertions, deletions, updates, seeks and reading in order, by structure",
    claims: &[
        says(
            "e-orders",
            "A skip list finds a place far faster than a linked list.",
            "",
            "A seek in the skip list is at least 10 × as fast as in the linked list.",
            judge_seek,
        ),
        asked(
            "e-orders-insert",
            "What does an insertion cost, apart from the program around it? What it costs the program \
             is judged in e-append-orders.",
            tell_insert,
        ),
    ],
    scale: Scale { study: "no such measurement", other: "a million items", minutes: 2 },
    least_rounds: 5,
    charts: || {
        let x_names = Operation::ALL.map(|operation| operation.word().to_owned()).to_vec();
        let y = metric("operation_seconds", "");
        let chart = chart("time of one operation", "operation", y).log_y();
        vec![
            Chart { x_names: x_names.clone(), ..chart },
            Chart {
                x_names,
                ..super::shape::chart("time of a million", "operation", Measure::Seconds)
            }
            .log_y(),
        ]
    },
    entrants,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Insert,
    Delete,
    Update,
    Seek,
    Read,
}

impl Operation {
    const ALL: [Self; 5] = [Self::Insert, Self::Delete, Self::Update, Self::Seek, Self::Read];

    fn word(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Delete => "delete",
            Self::Update => "update",
            Self::Seek => "seek",
            Self::Read => "read in order",
        }
    }

    fn place(self) -> f64 {
        Self::ALL.iter().position(|&other| other == self).unwrap_or_default() as f64
    }
}

/// How many items there are, and how many operations a run does.
#[derive(Clone, Copy)]
struct Counts {
    items: usize,
    many: usize,
    /// Of those that go through half of all items each.
    few: usize,
}

/// Operations of `O` that take time in proportion to all items.
type Slow = &'static [Operation];

fn entrants(stage: &Stage) -> Result<Entrants> {
    use Operation::{Delete, Insert, Seek, Update};
    let counts = Counts {
        items: stage.pick(200, 50_000, 1_000_000),
        many: stage.pick(50, 20_000, 100_000),
        few: stage.pick(5, 20, 5),
    };
    let mut entrants = Entrants::default();
    // The flat index is made once, after all was written: changing it makes all of it anew.
    add::<Flat>(&mut entrants, FLAT, counts, &[Insert, Delete, Update]);
    add::<LinkedList>(&mut entrants, LIST, counts, &[Seek]);
    add::<SkipList>(&mut entrants, SKIP, counts, &[]);
    add::<BTree>(&mut entrants, TREE, counts, &[]);
    add::<Packed>(&mut entrants, PACKED, counts, &[]);
    entrants.here.push(insert_shared(stage, counts));
    Ok(entrants)
}

/// A structure, what it is to be used with, and the serial truth about it.
struct Field<O> {
    grown: std::cell::RefCell<Grown<O>>,
    counts: Counts,
}

fn add<O: Order + 'static>(
    entrants: &mut Entrants,
    series: &'static str,
    counts: Counts,
    slow: Slow,
) {
    let grown = match slow.contains(&Operation::Insert) {
        // Grown one by one it would take the square of the time.
        true => Grown::at_once(Grown::<BTree>::new(counts.items).order.iter().map(|it| it.1)),
        false => Grown::<O>::new(counts.items),
    };
    let field = Rc::new(Field { grown: grown.into(), counts });
    for operation in Operation::ALL {
        let count = match slow.contains(&operation) {
            true => counts.few,
            false if operation == Operation::Read => counts.items,
            false => counts.many.min(counts.items),
        };
        entrants.here.push(field.entrant(series, operation, count));
    }
}

impl<O: Order + 'static> Field<O> {
    fn entrant(self: &Rc<Self>, series: &str, operation: Operation, count: usize) -> Entrant {
        let here = Rc::clone(self);
        let expected = self.expected(operation, count);
        let mut random = SplitMix64::new(7);
        Entrant::new(series, operation.place(), State::None, expected, move |meter| {
            let mut grown = here.grown.borrow_mut();
            let outcome = match operation {
                Operation::Insert => insert(&mut grown, count, &mut random, meter)?,
                Operation::Delete => delete(&mut grown, count, &mut random, meter)?,
                Operation::Update => update(&mut grown, count, &mut random, meter)?,
                Operation::Seek => seek(&grown, count, meter)?,
                Operation::Read => read(&grown, meter)?,
            };
            report(meter, count);
            ensure!(
                grown.order.len() == here.counts.items,
                "{} items, where there were {}",
                grown.order.len(),
                here.counts.items
            );
            Ok(outcome)
        })
    }

    /// What an operation is to give, by the plain order of the items.
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

/// Says what a million would have taken, and one.
fn report(meter: &mut Meter, count: usize) {
    let one = meter.seconds() / count as f64;
    meter.note("operation_seconds", one);
    meter.took(one * REPORTED);
}

/// Handles drawn from all; none twice.
fn drawn(handles: &mut [Handle], count: usize, random: &mut SplitMix64) -> Vec<Handle> {
    for index in 0..count {
        let other = index + random.below(handles.len() - index);
        handles.swap(index, other);
    }
    handles[..count].to_vec()
}

fn insert<O: Order>(
    grown: &mut Grown<O>,
    count: usize,
    random: &mut SplitMix64,
    meter: &mut Meter,
) -> Result<Outcome> {
    let places = drawn(&mut grown.handles, count, random);
    let order = &mut grown.order;
    let mut inserted = Vec::with_capacity(count);
    meter.measure(|| {
        inserted.extend(places.iter().map(|&place| order.insert_after(place, INSERTED)));
    })?;
    let outcome = Outcome { bytes: order.bytes(), checksum: order.len() as u64 };
    for handle in inserted {
        order.delete(handle.context("an insertion was refused")?);
    }
    Ok(outcome)
}

/// Deletes what was inserted before, in another order: then all is as it was.
fn delete<O: Order>(
    grown: &mut Grown<O>,
    count: usize,
    random: &mut SplitMix64,
    meter: &mut Meter,
) -> Result<Outcome> {
    let places = drawn(&mut grown.handles, count, random);
    let order = &mut grown.order;
    let inserted: Option<Vec<Handle>> =
        places.iter().map(|&place| order.insert_after(place, INSERTED)).collect();
    let mut inserted = inserted.context("an insertion was refused")?;
    random.shuffle(&mut inserted);
    let mut deleted = 0;
    meter.measure(|| {
        deleted += inserted.iter().filter(|&&handle| order.delete(handle).is_some()).count();
    })?;
    ensure!(deleted == count, "{deleted} of {count} were deleted");
    Ok(Outcome { bytes: order.bytes(), checksum: order.len() as u64 })
}

fn update<O: Order>(
    grown: &mut Grown<O>,
    count: usize,
    random: &mut SplitMix64,
    meter: &mut Meter,
) -> Result<Outcome> {
    let places = drawn(&mut grown.handles, count, random);
    let order = &mut grown.order;
    let mut before = Vec::with_capacity(count);
    meter
        .measure(|| before.extend(places.iter().map(|&place| order.update(place, INSERTED))))?;
    let mut right = 0;
    for (&place, item) in places.iter().zip(before) {
        let item = item.context("an update was refused")?;
        right += u64::from(order.update(place, item) == Some(INSERTED));
    }
    Ok(Outcome { bytes: 0, checksum: right })
}

/// Offsets to look for.
fn offsets(count: usize, bytes: u64) -> impl Iterator<Item = u64> {
    let mut random = SplitMix64::new(12);
    (0..count).map(move |_| random.next_word() % bytes)
}

fn seek<O: Order>(grown: &Grown<O>, count: usize, meter: &mut Meter) -> Result<Outcome> {
    let offsets: Vec<u64> = offsets(count, grown.order.bytes()).collect();
    let look = |&offset: &u64| {
        grown.order.seek(offset).map_or(u64::MAX, |found| found.item.offset + found.within)
    };
    let sum = meter.measure(|| offsets.iter().map(look).fold(0, u64::wrapping_add))?;
    Ok(Outcome { bytes: 0, checksum: sum })
}

fn read<O: Order>(grown: &Grown<O>, meter: &mut Meter) -> Result<Outcome> {
    let all = meter.measure(|| {
        grown.order.iter().fold(Outcome::default(), |all, (handle, item)| {
            black_box(handle);
            Outcome { bytes: all.bytes + item.len, checksum: all.checksum + 1 }
        })
    })?;
    Ok(all)
}

/// Insertions by all workers at the same time: only the skip list takes them.
fn insert_shared(stage: &Stage, counts: Counts) -> Entrant {
    let workers = stage.workers();
    let each = counts.many.min(counts.items).div_ceil(workers);
    let mut grown = Grown::<SkipList>::new(counts.items);
    let all = each * workers;
    let expected = Outcome {
        bytes: grown.order.bytes() + all as u64 * INSERTED.len,
        checksum: (counts.items + all) as u64,
    };
    let mut random = SplitMix64::new(13);
    Entrant::new(SKIP_ALL, Operation::Insert.place(), State::None, expected, move |meter| {
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
    })
}

fn compared(
    runs: &Selected<'_>,
    operation: Operation,
    series: &str,
    other: &str,
) -> Option<Interval> {
    let (x, state) = (operation.place(), State::None);
    runs.speed_up(Key { series, x, state }, Key { series: other, x, state })
}

fn judge_seek(runs: &Selected<'_>, _: State) -> Finding {
    let seek = |series, other| compared(runs, Operation::Seek, series, other);
    let points = [
        Point::new(
            "a seek in the skip list is {} as fast as in the linked list",
            seek(SKIP, LIST),
            Bound::AtLeast(10.0),
        ),
        Point::told(
            "in swath's index, made once, a seek is {} as fast as in the skip list",
            seek(FLAT, SKIP),
        ),
    ];
    all_of(runs, &points)
}

fn tell_insert(runs: &Selected<'_>, _: State) -> Finding {
    let ratio = compared(runs, Operation::Insert, SKIP, LIST);
    told(&[Point::told(
        "an insertion into the skip list is {} as fast as into the linked list",
        ratio,
    )])
}
