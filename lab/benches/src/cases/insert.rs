//! Making a structure of a million items at once, as Swath makes its flat index.
//!
//! The cost of insertions is measured by `e-orders` of the study.

use crate::bench::Bench;
use anyhow::Result;
use std::rc::Rc;
use swath_study::fields::orders::{Operation, Structure};
use swath_study::measure::{Entrant, Entrants, Outcome};
use swath_study::order::flat::Flat;
use swath_study::order::grown::Grown;
use swath_study::order::linked::LinkedList;
use swath_study::order::packed::Packed;
use swath_study::order::skip::SkipList;
use swath_study::order::tree::BTree;
use swath_study::order::{Item, Order};

pub(super) const TREE: &str = "B-tree";
pub(super) const PACKED: &str = "packed array";
pub(super) const SKIP: &str = "skip list";
pub(super) const LIST: &str = "linked list";
const FLAT: &str = "flat index";

/// Operations in one run, and fewer for structures that compute all sums again, or walk through half
/// of all items, each time.
pub(super) const SOME: usize = 100_000;
pub(super) const FEW: usize = 5;

/// An entrant that repeats an operation on a structure.
pub(super) fn does<O: Order + 'static>(
    name: &str,
    grown: Grown<O>,
    operation: Operation,
    count: usize,
) -> Entrant {
    Structure::new(grown).entrant(name, operation, count)
}

/// Compares making everything at once, from items in order.
pub(super) fn build_at_once(_: &Bench, count: usize) -> Result<Entrants> {
    let list = Grown::<LinkedList>::new(count).order;
    let items: Rc<Vec<Item>> = Rc::new(list.iter().map(|it| it.1).collect());
    let here = [
        at_once::<Flat>(FLAT, &items),
        at_once::<LinkedList>(LIST, &items),
        at_once::<BTree>(TREE, &items),
        at_once::<Packed>(PACKED, &items),
        at_once::<SkipList>(SKIP, &items),
    ];
    Ok(Entrants::new(here, []))
}

/// Times making the whole structure from items in order; dropping it is not timed.
fn at_once<O: Order + 'static>(name: &str, items: &Rc<Vec<Item>>) -> Entrant {
    let items = Rc::clone(items);
    let bytes = items.iter().map(|item| item.len).sum();
    let expected = Outcome { bytes, checksum: items.len() as u64 };
    Entrant::new(name, expected, move |meter| {
        let order = meter.measure(|| O::from_items(items.iter().copied()))?;
        Ok(Outcome { bytes: order.bytes(), checksum: order.len() as u64 })
    })
}
