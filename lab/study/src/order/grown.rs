//! Orders as many steals leave them: neighbours are far apart in memory.

use super::skip::SkipList;
use super::{Handle, Item, Order};
use crate::threads::each;
use swath_plan::random::SplitMix64;

/// The seed of the items and their order.
const SEED: u64 = 11;

/// The item that is inserted into a grown order: one call of study E.
pub const INSERTED: Item = Item { segment: 1, offset: 0, len: 10_240 };

/// Returns item `index`, of about 10 KB, as study E's calls write.
fn item(index: usize, random: &mut SplitMix64) -> Item {
    let len = 5_000 + random.below(10_000) as u64;
    Item { segment: 0, offset: index as u64 * 16_384, len }
}

/// A structure of many items, and their handles in no particular order.
#[derive(Debug)]
pub struct Grown<O> {
    /// The structure.
    pub order: O,
    /// The handles of all items.
    pub handles: Vec<Handle>,
}

impl<O: Order> Grown<O> {
    /// Inserts `count` items, at least one, each after an earlier one. The items and their order are the
    /// same for every structure.
    ///
    /// # Panics
    ///
    /// If the structure refuses an insertion, which is a bug in it.
    pub fn new(count: usize) -> Self {
        let mut random = SplitMix64::new(SEED);
        let mut order = O::new();
        let mut handles = vec![order.push(item(0, &mut random))];
        for index in 1..count {
            let before = handles[random.below(index)];
            let handle = order.insert_after(before, item(index, &mut random));
            handles.push(handle.expect("what was inserted is there"));
        }
        Self { order, handles }
    }

    /// Makes a structure of `items` at once.
    pub fn at_once(items: impl IntoIterator<Item = Item>) -> Self {
        let order = O::from_items(items);
        let handles = order.iter().map(|it| it.0).collect();
        Self { order, handles }
    }
}

/// Inserts after each place, with one thread for each list of places, all at the same time; `None` if an
/// item at a place was deleted, or a thread cannot be started.
///
/// # Panics
///
/// If one of the threads panics.
pub fn insert_by_all(list: &SkipList, places: &[Vec<Handle>]) -> Option<Vec<Handle>> {
    let insert = |&place: &Handle| list.insert_after_shared(place, INSERTED);
    let work = |places: &[Handle]| places.iter().map(insert).collect::<Option<Vec<_>>>();
    let done = each(places.iter().collect(), |own: &Vec<Handle>| work(own)).all().ok()?;
    Some(done.into_iter().collect::<Option<Vec<_>>>()?.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::flat::Flat;
    use crate::order::tree::BTree;

    #[test]
    fn all_structures_grow_to_the_same_items_in_the_same_order() {
        let flat: Vec<Item> =
            Grown::<Flat>::new(300).order.iter().map(|(_, item)| item).collect();
        let tree = Grown::<BTree>::new(300);
        assert!(tree.order.iter().map(|(_, item)| item).eq(flat.iter().copied()));
        assert_eq!((tree.handles.len(), flat.len()), (300, 300));
        assert!(!flat.is_sorted_by_key(|item| item.offset), "they lie apart");
        let again = Grown::<SkipList>::at_once(flat.iter().copied());
        assert!(again.order.iter().map(|(_, item)| item).eq(flat));
    }

    #[test]
    fn what_all_insert_is_all_there() {
        let list = Grown::<SkipList>::new(50);
        let places = vec![list.handles[..30].to_vec(), list.handles[20..].to_vec()];
        let inserted = insert_by_all(&list.order, &places).expect("all places are there");
        assert_eq!((inserted.len(), list.order.len()), (60, 110));
    }
}
