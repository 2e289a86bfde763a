//! One set of tests for all structures, the bugs that it must catch, and one list that many threads use.

mod battery;
mod mutants;
mod threads;

use super::flat::Flat;
use super::linked::LinkedList;
use super::packed::Packed;
use super::skip::SkipList;
use super::tree::BTree;
use super::{Handle, Item, Order};
use swath_plan::random::SplitMix64;

/// A structure with a view of its internals for tests.
pub(super) trait Inspect: Order {
    /// Panics if the structure's data about its items (links, sums, places) are wrong.
    fn inspect(&self);

    /// Damages some of these data, as an edit that forgets to update them would. The structure must not be
    /// empty.
    fn spoil(&mut self, random: &mut SplitMix64);
}

/// Returns a random item; some are empty, some are long.
fn random_item(random: &mut SplitMix64) -> Item {
    let len = match random.below(16) {
        0 | 1 => 0,
        2 => 1,
        3 => random.next_word() >> 24,
        _ => random.below(100) as u64,
    };
    let segment = u32::try_from(random.below(1000)).expect("small");
    Item { segment, offset: random.next_word(), len }
}

/// Compares a structure with the items that it should hold; returns the first difference. Searches are
/// checked in about `thoroughly` places.
fn compare<O: Order>(
    order: &O,
    model: &[(Handle, Item)],
    random: &mut SplitMix64,
    thoroughly: usize,
) -> Result<(), String> {
    let bytes = model.iter().map(|it| it.1.len).sum();
    same("len", order.len(), model.len())?;
    same("bytes", order.bytes(), bytes)?;
    same("is_empty", order.is_empty(), model.is_empty())?;
    same("at_rank(len)", order.at_rank(model.len()), None)?;
    for beyond in [bytes, bytes + 1, u64::MAX] {
        same("seek(bytes)", order.seek(beyond), None)?;
    }
    let mut walk = order.iter();
    for (rank, expected) in model.iter().enumerate() {
        same(&format!("item {rank} of a walk"), walk.next(), Some(*expected))?;
    }
    same("the end of a walk", walk.next(), None)?;
    drop(walk);
    let mut offset = 0;
    // Compare only some of many items: all would take hours with the slow structures.
    let step = (model.len() / thoroughly).max(1);
    let mut checked = random.below(step);
    for (rank, &(handle, item)) in model.iter().enumerate() {
        if rank == checked || rank + 1 == model.len() {
            compare_item(order, model, rank, offset)?;
            checked += 1 + random.below(2 * step - 1);
        }
        offset += item.len;
        same("get", order.get(handle), Some(item))?;
    }
    Ok(())
}

fn compare_item<O: Order>(
    order: &O,
    model: &[(Handle, Item)],
    rank: usize,
    offset: u64,
) -> Result<(), String> {
    let (handle, item) = model[rank];
    let neighbour = |rank: Option<usize>| model.get(rank?).map(|it| it.0);
    same(&format!("at_rank({rank})"), order.at_rank(rank), Some(handle))?;
    let place = order.place(handle).map(|place| (place.rank, place.offset));
    same(&format!("place of item {rank}"), place, Some((rank, offset)))?;
    same(&format!("next of item {rank}"), order.next(handle), neighbour(Some(rank + 1)))?;
    let previous = neighbour(rank.checked_sub(1));
    same(&format!("previous of item {rank}"), order.previous(handle), previous)?;
    for within in [0, item.len / 2, item.len.saturating_sub(1)] {
        if within < item.len {
            let found = order.seek(offset + within).map(|it| (it.handle, it.item, it.within));
            let expected = Some((handle, item, within));
            same(&format!("seek({})", offset + within), found, expected)?;
        }
    }
    Ok(())
}

fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    found: T,
    expected: T,
) -> Result<(), String> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{what}: {found:?} instead of {expected:?}"))
    }
}
