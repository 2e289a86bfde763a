//! A doubly linked skip list with ranks and offsets, for many threads: study E's improved order.
//!
//! Skip lists are by Pugh (1990); links that store their distance are in his *Skip list cookbook*. Both
//! directions are linked, so an insertion after a known item climbs from there and needs no search.
//!
//! ```text
//! level 2   |----------- 4 items, 31 bytes ----------->|
//! level 1   |---- 2 items, 7 bytes --->|-- 2 items --->|      towers: every eighth item
//! items     head → a ⇄ b ⇄ ……………………………… c ⇄ d ⇄ ………………… (back to head)
//! ```
//!
//! **Threads.** The levels share one lock. Only the insertion of a tower and a deletion take it
//! exclusively; all other operations take it in shared mode. Seven of eight insertions have no tower:
//! they lock the item in front, link the new one, and add it to the one link of each level that spans it,
//! which no thread can split or remove at that time. So spans are exact while no thread inserts, and for
//! the holder of the exclusive lock, such as a tower that splits them. A search during insertions may miss
//! those in progress.
//!
//! ```
//! use std::thread;
//! use swath_study::order::{Item, Order, skip::SkipList};
//!
//! let list = SkipList::new();
//! thread::scope(|scope| {
//!     for segment in 0..4 {
//!         let list = &list;
//!         scope.spawn(move || {
//!             let mut last = list.push_shared(Item { segment, offset: 0, len: 1 });
//!             for offset in 1..100 {
//!                 let item = Item { segment, offset, len: 1 };
//!                 last = list.insert_after_shared(last, item).expect("no thread deletes");
//!             }
//!         });
//!     }
//! });
//! assert_eq!(list.seek(250).expect("400 bytes").item.offset, 50);
//! ```

mod nodes;
mod upper;

use self::nodes::{HEAD, NodeStore, SkipNode};
use self::upper::{Upper, levels_of};
use super::{BytePlace, Handle, Item, ItemPlace, Order, PlaceSpan, goes_past};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A concurrent rank-order skip list. See the [module](self).
///
/// The memory of deleted items is freed when the list is dropped.
#[derive(Debug)]
pub struct SkipList {
    nodes: NodeStore,
    upper: RwLock<Upper>,
    count: AtomicUsize,
    bytes: AtomicU64,
}

/// The place of an insertion.
#[derive(Clone, Copy)]
enum Spot {
    After(u32),
    AtEnd,
}

/// The operations that threads may do at the same time.
impl SkipList {
    /// Does [`Order::push`] from any thread, in O(log n) expected. Items that two threads push at the same
    /// time come in either order.
    pub fn push_shared(&self, item: Item) -> Handle {
        self.insert(Spot::AtEnd, item).expect("an end is always there")
    }

    /// Does [`Order::insert_after`] from any thread, in O(log n) expected.
    ///
    /// Two items that threads insert after the same item at the same time come in either order, between that
    /// item and its former successor.
    pub fn insert_after_shared(&self, handle: Handle, item: Item) -> Option<Handle> {
        self.node(handle)?;
        self.insert(Spot::After(handle.index), item)
    }

    /// Does [`Order::update`] from any thread, in O(log n) expected.
    pub fn update_shared(&self, handle: Handle, item: Item) -> Option<Item> {
        let node = self.node(handle)?;
        let upper = self.share();
        let is_there = node.lock();
        if !*is_there {
            return None;
        }
        let old = node.item();
        let change = |bytes: u64| (bytes - old.len).checked_add(item.len);
        self.bytes.fetch_update(SeqCst, SeqCst, change).expect("at most u64::MAX bytes");
        node.set_item(item);
        let change = PlaceSpan { count: 0, bytes: item.len.wrapping_sub(old.len) };
        upper.change_above(&self.nodes, handle.index, change);
        Some(old)
    }

    /// Does [`Order::delete`] from any thread, in O(log n) expected; other threads wait.
    pub fn delete_shared(&self, handle: Handle) -> Option<Item> {
        let node = self.node(handle)?;
        let mut upper = self.take();
        if !std::mem::replace(&mut *node.lock(), false) {
            return None;
        }
        let item = node.item();
        let change =
            PlaceSpan { count: 1_usize.wrapping_neg(), bytes: item.len.wrapping_neg() };
        upper.change_above(&self.nodes, handle.index, change);
        upper.remove_tower(node);
        self.nodes.unlink(node);
        self.count.fetch_sub(1, SeqCst);
        self.bytes.fetch_sub(item.len, SeqCst);
        Some(item)
    }

    fn insert(&self, spot: Spot, item: Item) -> Option<Handle> {
        let change = |bytes: u64| bytes.checked_add(item.len);
        self.bytes.fetch_update(SeqCst, SeqCst, change).expect("at most u64::MAX bytes");
        let index = self.nodes.add(item);
        let levels = levels_of(index);
        let linked = if levels == 0 {
            let upper = self.share();
            let linked = self.link(spot, index);
            linked.inspect(|()| upper.change_above(&self.nodes, index, PlaceSpan::of(&item)))
        } else {
            let mut upper = self.take();
            let linked = self.link(spot, index);
            linked.inspect(|()| upper.insert_tower(&self.nodes, index, levels))
        };
        if linked.is_some() {
            self.count.fetch_add(1, SeqCst);
        } else {
            self.bytes.fetch_sub(item.len, SeqCst);
        }
        linked.map(|()| Handle { index, generation: 0 })
    }

    /// Links a node into the lowest level. The levels' lock is held, so no thread deletes.
    fn link(&self, spot: Spot, index: u32) -> Option<()> {
        match spot {
            Spot::After(previous) => self.nodes.link_after(previous, index, |_| true),
            Spot::AtEnd => loop {
                let last = self.nodes.at(HEAD).previous();
                if self.nodes.link_after(last, index, |next| next == HEAD).is_some() {
                    return Some(());
                }
            },
        }
    }

    fn share(&self) -> RwLockReadGuard<'_, Upper> {
        self.upper.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> RwLockWriteGuard<'_, Upper> {
        self.upper.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the node of a handle of this list; the item may be deleted.
    fn node(&self, handle: Handle) -> Option<&SkipNode> {
        let is_ours = handle.generation == 0 && handle.index != HEAD;
        self.nodes.get(handle.index).filter(|_| is_ours)
    }

    /// Returns the node of an item that is not deleted.
    fn present(&self, handle: Handle) -> Option<&SkipNode> {
        self.node(handle).filter(|node| *node.lock())
    }
}

fn handle(index: u32) -> Option<Handle> {
    (index != HEAD).then_some(Handle { index, generation: 0 })
}

impl Order for SkipList {
    fn new() -> Self {
        let (count, bytes) = (AtomicUsize::new(0), AtomicU64::new(0));
        Self { nodes: NodeStore::new(), upper: RwLock::new(Upper::new()), count, bytes }
    }

    fn len(&self) -> usize {
        self.count.load(SeqCst)
    }

    fn bytes(&self) -> u64 {
        self.bytes.load(SeqCst)
    }

    fn push(&mut self, item: Item) -> Handle {
        self.push_shared(item)
    }

    fn insert_after(&mut self, handle: Handle, item: Item) -> Option<Handle> {
        self.insert_after_shared(handle, item)
    }

    fn insert_at(&mut self, rank: usize, item: Item) -> Option<Handle> {
        let previous = match rank.checked_sub(1) {
            Some(before) => self.at_rank(before)?.index,
            None => HEAD,
        };
        self.insert(Spot::After(previous), item)
    }

    fn delete(&mut self, handle: Handle) -> Option<Item> {
        self.delete_shared(handle)
    }

    fn update(&mut self, handle: Handle, item: Item) -> Option<Item> {
        self.update_shared(handle, item)
    }

    fn get(&self, handle: Handle) -> Option<Item> {
        let node = self.node(handle)?;
        let is_there = node.lock();
        is_there.then(|| node.item())
    }

    fn at_rank(&self, rank: usize) -> Option<Handle> {
        let mut rest = rank;
        let passes = |span: PlaceSpan| goes_past(rest.checked_sub(span.count), &mut rest);
        let found = self.share().descend(&self.nodes, passes);
        handle(found)
    }

    fn seek(&self, offset: u64) -> Option<BytePlace> {
        let mut within = offset;
        let passes = |span: PlaceSpan| goes_past(within.checked_sub(span.bytes), &mut within);
        let found = self.share().descend(&self.nodes, passes);
        let handle = handle(found)?;
        Some(BytePlace { handle, item: self.nodes.at(found).item(), within })
    }

    fn place(&self, handle: Handle) -> Option<ItemPlace> {
        let upper = self.share();
        self.present(handle)?;
        Some(upper.before(&self.nodes, handle.index).place())
    }

    fn next(&self, handle_: Handle) -> Option<Handle> {
        handle(self.present(handle_)?.next())
    }

    fn previous(&self, handle_: Handle) -> Option<Handle> {
        handle(self.present(handle_)?.previous())
    }
}

#[cfg(test)]
mod inspect {
    use super::*;
    use crate::order::tests::Inspect;
    use swath_plan::random::SplitMix64;

    impl Inspect for SkipList {
        fn inspect(&self) {
            let upper = self.share();
            let (mut span, mut node) = (PlaceSpan::default(), HEAD);
            loop {
                let next = self.nodes.at(node).next();
                assert!(*self.nodes.at(node).lock());
                assert_eq!(self.nodes.at(next).previous(), node);
                span += self.nodes.span(node);
                node = next;
                if node == HEAD {
                    break;
                }
            }
            assert_eq!(span, PlaceSpan { count: self.len(), bytes: self.bytes() });
            upper.inspect(&self.nodes);
        }

        fn spoil(&mut self, random: &mut SplitMix64) {
            self.take().spoil(random);
        }
    }
}
