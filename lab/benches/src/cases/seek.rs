//! Finding the extent of a byte among a million.
//!
//! Seconds are for a million searches, so they are µs for one. Slow structures search less often,
//! and their time is scaled.

use super::insert::{FEW, LIST, PACKED, SKIP, SOME, TREE, does};
use crate::bench::Bench;
use anyhow::{Context, Result};
use std::rc::Rc;
use swath::append::ExtentIndex;
use swath_study::fields::orders::{Operation, offsets, report};
use swath_study::measure::{Entrant, Entrants, Goal, Meter, Outcome};
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

/// CPU seconds for a million searches: 30 ns each.
const INDEX_SECONDS: f64 = 0.030;

/// Compares the flat index with the structures that also take insertions. The index returns the number
/// of the item that holds the byte; they have the item at hand, so it is also timed with a look at it.
pub(super) fn build(bench: &Bench, count: usize) -> Result<Entrants> {
    let (all, some) = (bench.pick(1_000_000, 100), bench.pick(SOME, 100));
    let list = Grown::<LinkedList>::new(count);
    let flat = Grown::<Flat>::at_once(list.order.iter().map(|it| it.1));
    let tree = Grown::<BTree>::new(count);
    let index = Index::new(&flat.order, &tree.order, all)?;
    let here = [
        index.entrant(INDEX, Searches::Independent),
        index.entrant(INDEX_LATENCY, Searches::OneAfterTheOther),
        does(FLAT, flat, Operation::Seek, all),
        does(TREE, tree, Operation::Seek, some),
        does(PACKED, Grown::<Packed>::new(count), Operation::Seek, some),
        does(SKIP, Grown::<SkipList>::new(count), Operation::Seek, some),
        does(LIST, list, Operation::Seek, FEW),
    ];
    Ok(Entrants::new(here, [Goal::seconds(INDEX, INDEX_SECONDS)]))
}

/// Whether a search may begin before the previous one has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Searches {
    Independent,
    OneAfterTheOther,
}

/// The index alone, and the bytes to find.
struct Index {
    index: ExtentIndex,
    offsets: Vec<u64>,
    /// The sum of all results, as another structure finds it.
    expected: Outcome,
}

impl Index {
    fn new(flat: &Flat, oracle: &BTree, count: usize) -> Result<Rc<Self>> {
        let lens = flat.iter().map(|it| it.1.len);
        let index = ExtentIndex::build(lens).context("the items have too many bytes")?;
        let offsets: Vec<u64> = offsets(count, flat.bytes()).collect();
        let look = |&offset: &u64| {
            let found = oracle.seek(offset);
            let found = found.and_then(|it| Some((oracle.place(it.handle)?, it.within)));
            found.map_or(u64::MAX, |(place, within)| place.rank as u64 + within)
        };
        let checksum = offsets.iter().map(look).fold(0, u64::wrapping_add);
        Ok(Rc::new(Self { index, offsets, expected: Outcome { bytes: 0, checksum } }))
    }

    /// `CHAINED`: a search begins only after the one before it.
    fn look<const CHAINED: bool>(&self) -> u64 {
        let mut sum = 0_u64;
        for &offset in &self.offsets {
            // Sums stay far below 2^63, which no compiler knows: so this adds nothing, and can be
            // computed only after the last search.
            let last = if CHAINED { sum >> 63 } else { 0 };
            let found = self.index.find(offset + last);
            sum =
                sum.wrapping_add(found.map_or(u64::MAX, |(rank, within)| rank as u64 + within));
        }
        sum
    }

    fn entrant(self: &Rc<Self>, name: &str, searches: Searches) -> Entrant {
        let here = Rc::clone(self);
        Entrant::new(name, self.expected, move |meter: &mut Meter| {
            let checksum = match searches {
                Searches::Independent => meter.measure(|| here.look::<false>()),
                Searches::OneAfterTheOther => meter.measure(|| here.look::<true>()),
            }?;
            report(meter, here.offsets.len());
            Ok(Outcome { bytes: 0, checksum })
        })
    }
}
