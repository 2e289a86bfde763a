//! Study E: the structure that keeps appended bytes in order.

use anyhow::Result;

use super::shape::{asked, metric, named_charts, read as says};
use crate::experiment::{Experiment, Point, Scale, Study, all_of, told};
use crate::fields::orders::{Operation, Structure, insert_shared};
use crate::measure::{Entrants, Stage};
use crate::order::Order;
use crate::order::flat::Flat;
use crate::order::grown::Grown;
use crate::order::linked::LinkedList;
use crate::order::packed::Packed;
use crate::order::skip::SkipList;
use crate::order::tree::BTree;
use crate::results::{Chart, Finding, Key, Measure, Selected, State};
use swath_profile::stats::{Bound, Interval};

const LIST: &str = "linked list";
const SKIP: &str = "skip list";
const SKIP_ALL: &str = "skip list, all cores";
const TREE: &str = "B-tree, as ropes are";
const PACKED: &str = "packed array";
const FLAT: &str = "swath, flat index";

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
        let all = [
            ("time of one operation", metric("operation_seconds")),
            ("time of a million", Measure::Seconds),
        ];
        let all = named_charts("operation", &Operation::ALL.map(Operation::word), all);
        all.into_iter().map(Chart::log_y).collect()
    },
    entrants,
};

/// How many items there are, and how many operations a run does.
#[derive(Clone, Copy)]
struct Counts {
    items: usize,
    many: usize,
    /// Operations that go through half of all items each.
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
    // The flat index is made once, after everything was written: a change rebuilds all of it.
    add::<Flat>(&mut entrants, FLAT, counts, &[Insert, Delete, Update]);
    add::<LinkedList>(&mut entrants, LIST, counts, &[Seek]);
    add::<SkipList>(&mut entrants, SKIP, counts, &[]);
    add::<BTree>(&mut entrants, TREE, counts, &[]);
    add::<Packed>(&mut entrants, PACKED, counts, &[]);
    let many = counts.many.min(counts.items);
    entrants.here.push(insert_shared(SKIP_ALL, counts.items, many, stage.workers));
    Ok(entrants)
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
    let structure = Structure::new(grown);
    for operation in Operation::ALL {
        let count = match slow.contains(&operation) {
            true => counts.few,
            false if operation == Operation::Read => counts.items,
            false => counts.many.min(counts.items),
        };
        entrants.here.push(structure.entrant(series, operation, count));
    }
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
