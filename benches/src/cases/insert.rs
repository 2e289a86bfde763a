//! Inserting somewhere into a million items, and making the structure of all of them at once.
//!
//! Seconds of insertions are those of a million, so they are µs of one; fewer are made, and their
//! time is scaled. What Swath does instead, appending to a rope while writing and making the flat
//! index once, is the flat index's line of the second case.

use crate::bench::Bench;
use crate::case::Case;
use crate::contestants::control;
use crate::contestants::order::{at_once, expected_after, insert, per_reported};
use anyhow::{Context, Result};
use std::rc::Rc;
use swath_study::harness::{Contestant, Work, timed};
use swath_study::order::flat::Flat;
use swath_study::order::grown::{Grown, insert_by_all};
use swath_study::order::linked::LinkedList;
use swath_study::order::packed::Packed;
use swath_study::order::skip::SkipList;
use swath_study::order::tree::BTree;
use swath_study::order::{Handle, Item, Order};
use swath_study::random::SplitMix64;

const FLAT: &str = "flat index";
const TREE: &str = "B-tree";
const PACKED: &str = "packed array";
const SKIP: &str = "skip list";
const LIST: &str = "linked list";

/// Insertions in one run, and those that make all sums anew each time.
const SOME: u32 = 100_000;
const FEW: u32 = 5;

/// Compares insertions behind any item, the skip list's by all workers too.
pub(super) fn build(bench: &Bench, count: usize) -> Result<Case<'_>> {
    let some = if bench.quick { 100 } else { SOME };
    let list = Grown::<LinkedList>::new(count);
    let flat = Grown::<Flat>::at_once(list.order.iter().map(|it| it.1));
    let contestants = vec![
        insert(LIST, list, some),
        insert(TREE, Grown::<BTree>::new(count), some),
        insert(PACKED, Grown::<Packed>::new(count), some),
        insert(SKIP, Grown::<SkipList>::new(count), some),
        insert_shared(bench, count, some)?,
        insert(FLAT, flat, FEW),
        control::memory(bench),
    ];
    Ok(Case { contestants, absent: Vec::new(), goals: Vec::new() })
}

/// Times insertions by all workers at the same time, `count` of them together.
fn insert_shared(bench: &Bench, items: usize, count: u32) -> Result<Contestant<'_>> {
    let workers = u32::try_from(bench.workers)?;
    let each = count.div_ceil(workers);
    let list = Grown::<SkipList>::new(items).order;
    let handles: Vec<_> = list.iter().map(|it| it.0).collect();
    let (expected, mut random) = (expected_after(&list, each * workers), SplitMix64::new(1));
    let name = format!("skip list, {workers} workers");
    Ok(Contestant::new(name, expected, move || {
        let mut draw = || handles[random.below(handles.len())];
        let places: Vec<Vec<Handle>> =
            (0..workers).map(|_| (0..each).map(|_| draw()).collect()).collect();
        let (inserted, timing) = timed(|| insert_by_all(&list, &places))?;
        let work = Work::new(list.bytes(), list.len() as u64);
        for handle in inserted.context("an insertion was refused")? {
            list.delete_shared(handle);
        }
        Ok(work.with_timing(per_reported(timing, each * workers)))
    }))
}

/// Compares making everything at once, from items in order.
pub(super) fn build_at_once(bench: &Bench, count: usize) -> Result<Case<'_>> {
    let list = Grown::<LinkedList>::new(count).order;
    let items: Rc<Vec<Item>> = Rc::new(list.iter().map(|it| it.1).collect());
    let contestants = vec![
        at_once::<Flat>(FLAT, &items),
        at_once::<LinkedList>(LIST, &items),
        at_once::<BTree>(TREE, &items),
        at_once::<Packed>(PACKED, &items),
        at_once::<SkipList>(SKIP, &items),
        control::memory(bench),
    ];
    Ok(Case { contestants, absent: Vec::new(), goals: Vec::new() })
}
