//! Study E: the structure that keeps appended bytes in order.

use anyhow::Result;

use super::shape::{metric, named_charts};
use crate::experiment::{Claim, Experiment, Point, Scale, Study, all_of, told};
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
const LIST_OF_TENTH: &str = "linked list, a tenth of the items";
const SKIP_OF_TENTH: &str = "skip list, a tenth of the items";

/// Compares the structures by operation.
pub(super) const OPERATIONS: Experiment = Experiment {
    id: "e-orders",
    study: Study::E,
    figure: "time of insertions, deletions, updates, seeks and reading in order, by structure",
    claims: &[
        Claim::new("e-orders", judge_seek),
        Claim::new("e-orders-list", |runs, _| {
            all_of(runs, &[grown(runs, LIST, Operation::Seek, Bound::AtLeast(5.0))])
        }),
        Claim::new("e-orders-list-insert", |runs, _| {
            let bound = Bound::AtMost(3.0);
            all_of(
                runs,
                &[Operation::Insert, Operation::Update].map(|it| grown(runs, LIST, it, bound)),
            )
        }),
        Claim::new("e-orders-skip", judge_logarithmic),
        Claim::new("e-orders-balanced", judge_logarithmic),
        Claim::new("e-orders-tree", |runs, _| {
            let points = [Operation::Insert, Operation::Seek].map(|operation| {
                let sentence = format!("{}: {{}} as fast as the B-tree", operation.word());
                let ratio = compared(runs, operation, SKIP, TREE);
                Point::new(sentence, ratio, Bound::AtLeast(0.9))
            });
            all_of(runs, &points)
        }),
        Claim::new("e-orders-future", |runs, _| {
            let points = [TREE, PACKED].map(|series| {
                let ratio = compared(runs, Operation::Insert, series, SKIP);
                Point::told(
                    format!(
                        "insertions into the {series} are {{}} as fast as into the skip list"
                    ),
                    ratio,
                )
            });
            told(&points)
        }),
        Claim::new("e-orders-insert", tell_insert),
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

/// The number of items, and the number of operations in a run.
#[derive(Clone, Copy)]
struct OrderCounts {
    items: usize,
    many: usize,
    /// The number of operations that each walk half of all items.
    few: usize,
}

/// Operations whose time is proportional to the number of items.
type Slow = &'static [Operation];

fn entrants(stage: &Stage) -> Result<Entrants> {
    use Operation::{Delete, Insert, Seek, Update};
    let counts = OrderCounts {
        items: stage.pick(200, 50_000, 1_000_000),
        many: stage.pick(50, 20_000, 100_000),
        few: stage.pick(5, 20, 5),
    };
    let mut entrants = Entrants::default();
    // The flat index is made once, after all writes: each change rebuilds it.
    add::<Flat>(&mut entrants, FLAT, counts, &[Insert, Delete, Update]);
    add::<LinkedList>(&mut entrants, LIST, counts, &[Seek]);
    add::<SkipList>(&mut entrants, SKIP, counts, &[]);
    add::<BTree>(&mut entrants, TREE, counts, &[]);
    add::<Packed>(&mut entrants, PACKED, counts, &[]);
    let tenth = OrderCounts { items: counts.items / 10, ..counts };
    add::<LinkedList>(&mut entrants, LIST_OF_TENTH, tenth, &[Seek]);
    add::<SkipList>(&mut entrants, SKIP_OF_TENTH, tenth, &[]);
    let many = counts.many.min(counts.items);
    entrants.here.push(insert_shared(SKIP_ALL, counts.items, many, stage.workers));
    Ok(entrants)
}

fn add<O: Order + 'static>(
    entrants: &mut Entrants,
    series: &'static str,
    counts: OrderCounts,
    slow: Slow,
) {
    let grown = match slow.contains(&Operation::Insert) {
        // One by one it would take quadratic time.
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
            Bound::AtLeast(1.1),
        ),
        Point::new(
            "reading it in order is {} as fast",
            compared(runs, Operation::Read, SKIP, LIST),
            Bound::AtLeast(1.0),
        ),
        Point::told(
            "in swath's index, made once, a seek is {} as fast as in the skip list",
            seek(FLAT, SKIP),
        ),
    ];
    all_of(runs, &points)
}

/// Compares an operation on all items with one on a tenth of them.
fn grown(runs: &Selected<'_>, series: &str, operation: Operation, bound: Bound) -> Point {
    let of_tenth = if series == LIST { LIST_OF_TENTH } else { SKIP_OF_TENTH };
    let ratio = compared(runs, operation, of_tenth, series);
    let sentence = format!("{}: {{}} as long with ten times the items", operation.word());
    Point::new(sentence, ratio, bound)
}

fn judge_logarithmic(runs: &Selected<'_>, _: State) -> Finding {
    use Operation::{Delete, Insert, Seek, Update};
    let bound = Bound::AtMost(3.0);
    all_of(runs, &[Insert, Seek, Delete, Update].map(|it| grown(runs, SKIP, it, bound)))
}

fn tell_insert(runs: &Selected<'_>, _: State) -> Finding {
    let ratio = compared(runs, Operation::Insert, SKIP, LIST);
    told(&[Point::told(
        "an insertion into the skip list is {} as fast as into the linked list",
        ratio,
    )])
}
