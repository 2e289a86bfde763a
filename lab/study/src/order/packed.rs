//! A packed-memory array: items in order in one array with gaps, and sums above it.
//!
//! The cache-oblivious one of two structures that study E names as future work. Neighbours are adjacent
//! in memory, whatever the sizes of caches and blocks, so a scan is as fast as that of an array. Packed
//! arrays are by Itai, Konheim and Rodeh (1981); the thresholds are those of Bender, Demaine and
//! Farach-Colton, *Cache-oblivious B-trees* (2000).
//!
//! ```text
//! sums       [            5            ]     a binary tree in the order of a heap (Eytzinger):
//!            [     3     ][     2      ]     the children of node k are 2k and 2k + 1
//!            [ 2 ]  [ 1 ]  [ 0 ]  [ 2 ]
//! segments   |ab··| |c···| |····| |de··|     gaps are at the end of each; about log n slots
//! ```
//!
//! If a segment is full, the items of the smallest window around it that is not too dense are spread
//! evenly. Smaller windows may be denser: from 3/4 for the whole array to 1 for a segment. So an insertion
//! moves O(log² n) items, amortised. Likewise a window must not be too sparse: from 1/4 for the whole array
//! to 1/8 for a segment.
//!
//! Difference from the papers: the tree of sums is in heap order, not in van Emde Boas's, so a search
//! touches O(log n) cache lines above the first few levels, not O(log n / log of the line).

use super::arena::Arena;
use super::{BytePlace, Handle, Item, ItemPlace, Order, PlaceSpan, goes_past};
use std::ops::Range;

/// Slots of the smallest array.
const CAPACITY_MIN: usize = 8;

/// A packed-memory array with sums. See the [module](self).
#[derive(Debug)]
pub struct Packed {
    entries: Arena<PackedEntry>,
    /// The segments, each with its items in front.
    slots: Vec<PackedSlot>,
    /// The tree in heap order from index 1: the root, its two children, their four … down to the segments.
    sums: Vec<PlaceSpan>,
    /// Slots of a segment; a power of two.
    segment_size: usize,
    /// The number of segments; a power of two.
    segment_count: usize,
}

#[derive(Debug)]
struct PackedEntry {
    item: Item,
    segment: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct PackedSlot {
    /// The index of the item's entry.
    id: u32,
    len: u64,
}

impl PackedSlot {
    const fn span(self) -> PlaceSpan {
        PlaceSpan { count: 1, bytes: self.len }
    }
}

fn sum(slots: &[PackedSlot]) -> PlaceSpan {
    slots.iter().fold(PlaceSpan::default(), |sum, slot| sum + slot.span())
}

/// The tree of sums.
impl Packed {
    /// Returns the node of a segment.
    const fn leaf(&self, segment: usize) -> usize {
        self.segment_count + segment
    }

    /// Returns the segments below a node.
    const fn segments(&self, node: usize) -> Range<usize> {
        let levels = self.segment_count.ilog2() - node.ilog2();
        let first = (node << levels) - self.segment_count;
        first..first + (1 << levels)
    }

    /// Returns the slots of a segment that hold items.
    fn filled(&self, segment: usize) -> Range<usize> {
        let start = segment * self.segment_size;
        start..start + self.sums[self.leaf(segment)].count
    }

    fn total(&self) -> PlaceSpan {
        self.sums[1]
    }

    /// Changes the sums of `node` and of all nodes above it.
    fn change_up(&mut self, mut node: usize, change: impl Fn(&mut PlaceSpan)) {
        while node > 0 {
            change(&mut self.sums[node]);
            node /= 2;
        }
    }

    /// Returns the first slot for which `passes` returns false; `passes` gets the span to skip. There must be
    /// such a slot.
    fn descend(&self, mut passes: impl FnMut(PlaceSpan) -> bool) -> PackedSlot {
        let mut node = 1;
        while node < self.segment_count {
            node *= 2;
            node += usize::from(passes(self.sums[node]));
        }
        let slots = &self.slots[self.filled(node - self.segment_count)];
        let found = slots.iter().find(|slot| !passes(slot.span()));
        *found.expect("the sums are right")
    }

    /// Returns the segment and the slot of an item.
    fn home(&self, handle: Handle) -> Option<(usize, usize)> {
        let segment = self.entries.get(handle)?.segment as usize;
        let filled = self.filled(segment);
        let is_it = |slot: &PackedSlot| slot.id == handle.index;
        let position = self.slots[filled.clone()].iter().position(is_it);
        Some((segment, filled.start + position.expect("an item is where its entry says")))
    }

    fn handle_at(&self, slot: usize) -> Handle {
        self.entries.handle(self.slots[slot].id)
    }
}

/// The bounds of density, and the moves that keep them.
impl Packed {
    /// Returns the most items that may be below a node.
    fn most(&self, node: usize) -> usize {
        let capacity = self.segments(node).len() * self.segment_size;
        let (depth, height) = (node.ilog2() as usize, self.segment_count.ilog2() as usize);
        if height == 0 { capacity } else { capacity * (3 * height + depth) / (4 * height) }
    }

    /// Returns the fewest items that may be below a node.
    fn least(&self, node: usize) -> usize {
        let capacity = self.segments(node).len() * self.segment_size;
        let (depth, height) = (node.ilog2() as usize, self.segment_count.ilog2() as usize);
        if height == 0 { 0 } else { capacity * (2 * height - depth) / (8 * height) }
    }

    /// Distributes `slots` evenly below a node and recomputes the sums there, not those above.
    fn spread(&mut self, node: usize, slots: &[PackedSlot]) {
        let segments = self.segments(node);
        let (first, count) = (segments.start, segments.len());
        for segment in segments {
            let share = |index: usize| (index - first) * slots.len() / count;
            let slots = &slots[share(segment)..share(segment + 1)];
            let start = segment * self.segment_size;
            self.slots[start..start + slots.len()].copy_from_slice(slots);
            let home = u32::try_from(segment).expect("fewer segments than items");
            for slot in slots {
                self.entries[slot.id].segment = home;
            }
            let leaf = self.leaf(segment);
            self.sums[leaf] = sum(slots);
        }
        self.add_up(node);
    }

    /// Recomputes the sums between a node and the segments.
    fn add_up(&mut self, node: usize) {
        let segments = self.segments(node);
        let (mut from, mut to) = (self.leaf(segments.start), self.leaf(segments.end - 1));
        while from > node {
            (from, to) = (from / 2, to / 2);
            for parent in from..=to {
                self.sums[parent] = self.sums[2 * parent] + self.sums[2 * parent + 1];
            }
        }
    }

    /// Returns all items below a node.
    fn collect(&self, node: usize) -> Vec<PackedSlot> {
        let mut slots = Vec::with_capacity(self.sums[node].count + 1);
        for segment in self.segments(node) {
            slots.extend_from_slice(&self.slots[self.filled(segment)]);
        }
        slots
    }

    /// Moves everything into an array of `capacity` slots, a power of two.
    fn resize(&mut self, capacity: usize, slots: &[PackedSlot]) {
        let size = (capacity.ilog2() as usize).next_power_of_two().max(CAPACITY_MIN);
        (self.segment_size, self.segment_count) = (size, capacity / size);
        self.slots = vec![PackedSlot::default(); capacity];
        self.sums = vec![PlaceSpan::default(); 2 * self.segment_count];
        self.spread(1, slots);
    }
}

/// Edits.
impl Packed {
    /// Inserts an item before the one in `slot` of a segment, or after the last one there.
    fn insert(&mut self, segment: usize, slot: usize, item: Item) -> Handle {
        let bytes = self.total().bytes.checked_add(item.len);
        assert!(bytes.is_some(), "at most u64::MAX bytes");
        let home = u32::try_from(segment).expect("fewer segments than items");
        let handle = self.entries.insert(PackedEntry { item, segment: home });
        let new = PackedSlot { id: handle.index, len: item.len };
        let filled = self.filled(segment);
        if filled.len() < self.segment_size {
            self.slots.copy_within(slot..filled.end, slot + 1);
            self.slots[slot] = new;
            self.change_up(self.leaf(segment), |sum| *sum += new.span());
        } else {
            self.insert_into_window(self.leaf(segment), slot - filled.start, new);
        }
        handle
    }

    /// Inserts `new` after the first `before` items of the full segment `leaf`, and spreads the smallest
    /// window that is not too dense then.
    fn insert_into_window(&mut self, leaf: usize, before: usize, new: PackedSlot) {
        let (mut node, mut before) = (leaf, before);
        while node > 1 && self.sums[node].count >= self.most(node) {
            if node % 2 == 1 {
                before += self.sums[node - 1].count;
            }
            node /= 2;
        }
        let mut slots = self.collect(node);
        slots.insert(before, new);
        if self.sums[node].count >= self.most(node) {
            self.resize(2 * self.slots.len(), &slots);
        } else {
            self.spread(node, &slots);
            self.change_up(node / 2, |sum| *sum += new.span());
        }
    }

    /// Spreads the smallest window around a segment that is not too sparse.
    fn thicken(&mut self, leaf: usize) {
        let mut node = leaf;
        while node > 1 && self.sums[node].count < self.least(node) {
            node /= 2;
        }
        if self.sums[node].count < self.least(node) {
            let slots = self.collect(node);
            self.resize(self.slots.len() / 2, &slots);
        } else if node != leaf {
            let slots = self.collect(node);
            self.spread(node, &slots);
        }
    }
}

impl Order for Packed {
    fn new() -> Self {
        Self::from_items([])
    }

    fn from_items(items: impl IntoIterator<Item = Item>) -> Self {
        let mut entries = Arena::new();
        let slots: Vec<PackedSlot> = (items.into_iter())
            .map(|item| {
                let handle = entries.insert(PackedEntry { item, segment: 0 });
                PackedSlot { id: handle.index, len: item.len }
            })
            .collect();
        let capacity = (slots.len() * 4 / 3 + 1).next_power_of_two().max(CAPACITY_MIN);
        let (slots_, sums) = (Vec::new(), Vec::new());
        let mut packed =
            Self { entries, slots: slots_, sums, segment_size: 0, segment_count: 0 };
        packed.resize(capacity, &slots);
        packed
    }

    fn len(&self) -> usize {
        self.total().count
    }

    fn bytes(&self) -> u64 {
        self.total().bytes
    }

    fn push(&mut self, item: Item) -> Handle {
        let last = self.segment_count - 1;
        self.insert(last, self.filled(last).end, item)
    }

    fn insert_after(&mut self, handle: Handle, item: Item) -> Option<Handle> {
        let (segment, slot) = self.home(handle)?;
        Some(self.insert(segment, slot + 1, item))
    }

    fn insert_at(&mut self, rank: usize, item: Item) -> Option<Handle> {
        match self.at_rank(rank) {
            Some(handle) => {
                let (segment, slot) = self.home(handle)?;
                Some(self.insert(segment, slot, item))
            }
            None => (rank == self.len()).then(|| self.push(item)),
        }
    }

    fn delete(&mut self, handle: Handle) -> Option<Item> {
        let (segment, slot) = self.home(handle)?;
        let (span, end) = (self.slots[slot].span(), self.filled(segment).end);
        self.slots.copy_within(slot + 1..end, slot);
        let leaf = self.leaf(segment);
        self.change_up(leaf, |sum| *sum -= span);
        self.thicken(leaf);
        self.entries.remove(handle).map(|entry| entry.item)
    }

    fn update(&mut self, handle: Handle, item: Item) -> Option<Item> {
        let (segment, slot) = self.home(handle)?;
        let others = self.total().bytes - self.slots[slot].len;
        assert!(others.checked_add(item.len).is_some(), "at most u64::MAX bytes");
        let (old, new) = (self.slots[slot].span(), PlaceSpan::of(&item));
        self.slots[slot].len = item.len;
        self.change_up(self.leaf(segment), |sum| *sum = *sum - old + new);
        Some(std::mem::replace(&mut self.entries[handle.index].item, item))
    }

    fn get(&self, handle: Handle) -> Option<Item> {
        self.entries.get(handle).map(|entry| entry.item)
    }

    fn at_rank(&self, rank: usize) -> Option<Handle> {
        if rank >= self.len() {
            return None;
        }
        let mut rest = rank;
        let slot = self.descend(|span| goes_past(rest.checked_sub(span.count), &mut rest));
        Some(self.entries.handle(slot.id))
    }

    fn seek(&self, offset: u64) -> Option<BytePlace> {
        if offset >= self.bytes() {
            return None;
        }
        let mut within = offset;
        let slot = self.descend(|span| goes_past(within.checked_sub(span.bytes), &mut within));
        let (handle, item) = (self.entries.handle(slot.id), self.entries[slot.id].item);
        Some(BytePlace { handle, item, within })
    }

    fn place(&self, handle: Handle) -> Option<ItemPlace> {
        let (segment, slot) = self.home(handle)?;
        let mut before = sum(&self.slots[self.filled(segment).start..slot]);
        let mut node = self.leaf(segment);
        while node > 1 {
            if node % 2 == 1 {
                before += self.sums[node - 1];
            }
            node /= 2;
        }
        Some(before.place())
    }

    fn next(&self, handle: Handle) -> Option<Handle> {
        let (segment, slot) = self.home(handle)?;
        let mut after = (segment + 1..self.segment_count).map(|it| self.filled(it));
        let here = (slot + 1 < self.filled(segment).end).then_some(slot + 1);
        let next = here.or_else(|| after.find(|it| !it.is_empty()).map(|it| it.start));
        next.map(|slot| self.handle_at(slot))
    }

    fn previous(&self, handle: Handle) -> Option<Handle> {
        let (segment, slot) = self.home(handle)?;
        let mut before = (0..segment).rev().map(|it| self.filled(it));
        let here = (slot > self.filled(segment).start).then(|| slot - 1);
        let previous = here.or_else(|| before.find(|it| !it.is_empty()).map(|it| it.end - 1));
        previous.map(|slot| self.handle_at(slot))
    }
}

#[cfg(test)]
mod inspect {
    use super::*;
    use crate::order::tests::Inspect;
    use swath_plan::random::SplitMix64;

    impl Inspect for Packed {
        fn inspect(&self) {
            assert_eq!(self.slots.len(), self.segment_size * self.segment_count);
            assert_eq!(self.total().count, self.entries.len());
            assert!(self.slots.len() <= CAPACITY_MIN.max(8 * self.len()));
            for segment in 0..self.segment_count {
                let filled = &self.slots[self.filled(segment)];
                assert_eq!(self.sums[self.leaf(segment)], sum(filled));
                assert!(filled.len() >= self.least(self.leaf(segment)));
                for slot in filled {
                    let PackedEntry { item, segment: home } = self.entries[slot.id];
                    assert_eq!((home as usize, item.len), (segment, slot.len));
                }
            }
            for node in 1..self.segment_count {
                let below = self.sums[2 * node] + self.sums[2 * node + 1];
                assert_eq!(self.sums[node], below);
            }
        }

        fn spoil(&mut self, random: &mut SplitMix64) {
            let node = 1 + random.below(self.sums.len() - 1);
            self.sums[node].bytes += 1;
        }
    }
}
