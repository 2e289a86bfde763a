//! Structures that keep items in a serial order while items are inserted anywhere.
//!
//! Study E (*Fast Serial-Append*, PLIO) needs one: many workers append at the same time, each somewhere
//! in the middle of the later file, and a reader seeks in it afterwards. It used a doubly linked list,
//! improved it to a skip list with ranks, and named trees and packed arrays as future work. Here all of
//! them implement one trait, to compare them with Swath's way: no shared structure while writing, and one
//! flat index afterwards.
//!
//! ```text
//!                        insert after     search by rank, by offset     next item
//! flat::Flat             O(n)             O(1), O(1) expected           O(1)
//! linked::LinkedList     O(1)             O(n)                          O(1)
//! skip::SkipList         O(log n)         O(log n)                      O(1)
//! tree::BTree            O(log n)         O(log n)                      O(1)
//! packed::Packed         O(log² n)        O(log n)                      O(log n)
//! ```
//!
//! Only the skip list accepts insertions from several threads at once.
//!
//! ```
//! use swath_study::order::{Item, Order, linked::LinkedList};
//!
//! let item = |segment| Item { segment, offset: 0, len: 10 };
//! let mut list = LinkedList::new();
//! let first = list.push(item(0));
//! list.push(item(1));
//! let between = list.insert_after(first, item(2)).expect("the first is there");
//! let found = list.seek(15).expect("there are 30 bytes");
//! assert_eq!((found.handle, found.within), (between, 5));
//! assert_eq!(list.place(between).expect("still there").rank, 1);
//! ```

mod arena;
pub mod flat;
pub mod grown;
pub mod linked;
pub mod packed;
pub mod skip;
#[cfg(test)]
mod tests;
pub mod tree;

use std::ops::{Add, AddAssign, Sub, SubAssign};

/// An item in the order: an extent of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Item {
    /// The segment's number; structures do not use it.
    pub segment: u32,
    /// The offset in the segment; structures do not use it.
    pub offset: u64,
    /// The number of bytes; may be 0.
    pub len: u64,
}

/// Identifies one item of one structure until it is deleted, even if it moves.
///
/// The structure refuses the handle of a deleted item, even if another item has taken its place. In
/// another structure a handle may stand for any item: do not use it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle {
    index: u32,
    generation: u32,
}

/// The place of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BytePlace {
    /// The handle of the item that holds it.
    pub handle: Handle,
    /// The item itself.
    pub item: Item,
    /// Bytes of the item before it.
    pub within: u64,
}

/// The place of an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ItemPlace {
    /// Items before it.
    pub rank: usize,
    /// Bytes before it.
    pub offset: u64,
}

/// The distance between two places, which inner nodes add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PlaceSpan {
    count: usize,
    bytes: u64,
}

impl PlaceSpan {
    const fn of(item: &Item) -> Self {
        Self { count: 1, bytes: item.len }
    }

    const fn place(self) -> ItemPlace {
        ItemPlace { rank: self.count, offset: self.bytes }
    }
}

/// Sets `rest` to `left`, the remainder after a span; returns false if the span is longer than `rest`.
#[inline]
fn goes_past<T>(left: Option<T>, rest: &mut T) -> bool {
    match left {
        Some(left) => {
            *rest = left;
            true
        }
        None => false,
    }
}

impl Add for PlaceSpan {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { count: self.count + other.count, bytes: self.bytes + other.bytes }
    }
}

impl Sub for PlaceSpan {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { count: self.count - other.count, bytes: self.bytes - other.bytes }
    }
}

impl AddAssign for PlaceSpan {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for PlaceSpan {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

/// Items in a serial order.
///
/// Ranks count from 0; offsets are in bytes, as if all items lay one after the other. The table of the
/// [module](self) lists the costs of each structure. A structure holds fewer than `u32::MAX` items, with
/// at most `u64::MAX` bytes in all: more is a bug in the caller, and panics.
pub trait Order {
    /// Returns a structure without items.
    fn new() -> Self
    where
        Self: Sized;

    /// Returns a structure with these items, in this order, in O(n), unless its docs state another cost.
    fn from_items(items: impl IntoIterator<Item = Item>) -> Self
    where
        Self: Sized,
    {
        let mut order = Self::new();
        for item in items {
            order.push(item);
        }
        order
    }

    /// Returns the number of items.
    fn len(&self) -> usize;

    /// Returns whether there are no items.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of all items together.
    fn bytes(&self) -> u64;

    /// Appends `item` after all other items.
    fn push(&mut self, item: Item) -> Handle;

    /// Inserts `item` directly after another; `None` if that was deleted.
    fn insert_after(&mut self, handle: Handle, item: Item) -> Option<Handle>;

    /// Inserts `item` before the item of this rank, or at the end if the rank is [`len`](Self::len); `None`
    /// for a higher rank.
    fn insert_at(&mut self, rank: usize, item: Item) -> Option<Handle>;

    /// Removes an item and returns it; `None` if it was deleted.
    fn delete(&mut self, handle: Handle) -> Option<Item>;

    /// Replaces an item, which keeps its handle, and returns the old one; `None` if it was deleted.
    fn update(&mut self, handle: Handle, item: Item) -> Option<Item>;

    /// Returns an item; `None` if it was deleted.
    fn get(&self, handle: Handle) -> Option<Item>;

    /// Returns the item of this rank; `None` from [`len`](Self::len) on.
    fn at_rank(&self, rank: usize) -> Option<Handle>;

    /// Returns the item that holds byte `offset`; `None` from [`bytes`](Self::bytes) on. Items of
    /// length 0 are never found.
    fn seek(&self, offset: u64) -> Option<BytePlace>;

    /// Returns the rank and the offset of an item; `None` if it was deleted.
    fn place(&self, handle: Handle) -> Option<ItemPlace>;

    /// Returns the next item; `None` for the last one, and if the item was deleted.
    fn next(&self, handle: Handle) -> Option<Handle>;

    /// Returns the previous item; `None` for the first one, and if the item was deleted.
    fn previous(&self, handle: Handle) -> Option<Handle>;

    /// Iterates over all items in order.
    fn iter(&self) -> impl Iterator<Item = (Handle, Item)> + '_ {
        let mut next = self.at_rank(0);
        std::iter::from_fn(move || {
            let handle = next?;
            next = self.next(handle);
            Some((handle, self.get(handle)?))
        })
    }
}
