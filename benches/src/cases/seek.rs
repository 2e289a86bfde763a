//! Finding the extent of a byte among a million.
//!
//! Seconds are those of a million searches, so they are µs of one. Slow structures search less
//! often, and their time is scaled.

use crate::bench::Bench;
use crate::case::{Case, Goal};
use crate::contestants::control;
use crate::contestants::order::{Offsets, REPORTED, Searches, look, look_for_rank, seek};
use anyhow::{Context, Result};
use std::rc::Rc;
use swath::append::ExtentIndex;
use swath_study::harness::Contestant;
use swath_study::order::Order;
use swath_study::order::flat::Flat;
use swath_study::order::grown::Grown;
use swath_study::order::linked::LinkedList;
use swath_study::order::packed::Packed;
use swath_study::order::skip::SkipList;
use swath_study::order::tree::BTree;

const INDEX: &str = "flat index";
const INDEX_LATENCY: &str = "flat index, one search after the other";
const FLAT: &str = "flat index, and the item";
const TREE: &str = "B-tree";
const PACKED: &str = "packed array";
const SKIP: &str = "skip list";
const LIST: &str = "linked list";

/// CPU seconds of a million searches: 30 ns each.
const INDEX_SECONDS: f64 = 0.030;

/// Searches of the trees, and of the list, each of whose walks through half of all items.
const SOME: u32 = 100_000;
const FEW: u32 = 5;

/// Compares the flat index with the structures that can also be inserted into. It says which
/// item holds the byte; they have the item at hand, so it is timed with a look at that, too.
pub(super) fn build(bench: &Bench, count: usize) -> Result<Case<'_>> {
    let list = Grown::<LinkedList>::new(count).order;
    let flat = Rc::new(Grown::<Flat>::at_once(list.iter().map(|it| it.1)).order);
    let tree = Rc::new(Grown::<BTree>::new(count).order);
    let offsets = Offsets::new(searches(bench, REPORTED), flat.bytes());
    let (all, some) = (searches(bench, REPORTED), searches(bench, SOME));
    let index = |name, searches| index(name, &flat, &tree, &offsets, all, searches);
    let contestants = vec![
        index(INDEX, Searches::Independent)?,
        index(INDEX_LATENCY, Searches::OneAfterTheOther)?,
        of(FLAT, Rc::clone(&flat), &*tree, &offsets, all),
        of(TREE, tree, &*flat, &offsets, some),
        of(PACKED, Rc::new(Grown::<Packed>::new(count).order), &*flat, &offsets, some),
        of(SKIP, Rc::new(Grown::<SkipList>::new(count).order), &*flat, &offsets, some),
        of(LIST, Rc::new(list), &*flat, &offsets, FEW),
        control::memory(bench),
    ];
    let goals = vec![Goal::seconds(INDEX, INDEX_SECONDS)];
    Ok(Case { contestants, absent: Vec::new(), goals })
}

/// The index alone, of the items of `flat`.
fn index<'b>(
    name: &str,
    flat: &Flat,
    oracle: &BTree,
    offsets: &Rc<Offsets>,
    count: u32,
    searches: Searches,
) -> Result<Contestant<'b>> {
    let lens = flat.iter().map(|it| it.1.len);
    let index = ExtentIndex::build(lens).context("the items have too many bytes")?;
    let look = move |offset| {
        index.find(offset).map_or(u64::MAX, |(rank, within)| rank as u64 + within)
    };
    Ok(seek(name, look, |offset| look_for_rank(oracle, offset), offsets, count, searches))
}

fn of<'b, O: Order + 'b>(
    name: &str,
    order: Rc<O>,
    oracle: &impl Order,
    offsets: &Rc<Offsets>,
    count: u32,
) -> Contestant<'b> {
    let find = move |offset| look(&*order, offset);
    seek(name, find, |offset| look(oracle, offset), offsets, count, Searches::Independent)
}

fn searches(bench: &Bench, count: u32) -> u32 {
    if bench.quick { 100 } else { count }
}
