//! A doubly linked list: the first structure of study E.
//!
//! It inserts after a known item in O(1), as study E needs while it writes. A seek walks from the start.

use super::arena::Arena;
use super::{BytePlace, Handle, Item, ItemPlace, Order, PlaceSpan};

/// No item: the link after the last and before the first.
const NONE: u32 = u32::MAX;

/// A doubly linked list. See the [module](self).
#[derive(Debug)]
pub struct LinkedList {
    nodes: Arena<ListNode>,
    first: u32,
    last: u32,
    bytes: u64,
}

#[derive(Debug)]
struct ListNode {
    item: Item,
    previous: u32,
    next: u32,
}

impl LinkedList {
    /// Links `item` between `previous` and its successor; `NONE` is the start.
    fn insert_behind(&mut self, previous: u32, item: Item) -> Handle {
        let next = if previous == NONE { self.first } else { self.nodes[previous].next };
        let handle = self.nodes.insert(ListNode { item, previous, next });
        *self.link_after(previous) = handle.index;
        *self.link_before(next) = handle.index;
        self.bytes = self.bytes.checked_add(item.len).expect("at most u64::MAX bytes");
        handle
    }

    /// Returns the forward link of `node`; for `NONE`, the link to the first item.
    fn link_after(&mut self, node: u32) -> &mut u32 {
        if node == NONE { &mut self.first } else { &mut self.nodes[node].next }
    }

    /// Returns the backward link of `node`; for `NONE`, the link to the last item.
    fn link_before(&mut self, node: u32) -> &mut u32 {
        if node == NONE { &mut self.last } else { &mut self.nodes[node].previous }
    }

    /// Walks from the start, in O(n), to the first item that `stop` accepts; `stop` gets the span before each
    /// item.
    fn walk(
        &self,
        stop: impl Fn(PlaceSpan, u32, &ListNode) -> bool,
    ) -> Option<(PlaceSpan, u32)> {
        let (mut before, mut at) = (PlaceSpan::default(), self.first);
        while at != NONE {
            let node = &self.nodes[at];
            if stop(before, at, node) {
                return Some((before, at));
            }
            before += PlaceSpan::of(&node.item);
            at = node.next;
        }
        None
    }

    fn handle(&self, node: u32) -> Option<Handle> {
        (node != NONE).then(|| self.nodes.handle(node))
    }
}

impl Order for LinkedList {
    fn new() -> Self {
        Self { nodes: Arena::new(), first: NONE, last: NONE, bytes: 0 }
    }

    fn len(&self) -> usize {
        self.nodes.len()
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn push(&mut self, item: Item) -> Handle {
        self.insert_behind(self.last, item)
    }

    fn insert_after(&mut self, handle: Handle, item: Item) -> Option<Handle> {
        self.nodes.get(handle)?;
        Some(self.insert_behind(handle.index, item))
    }

    fn insert_at(&mut self, rank: usize, item: Item) -> Option<Handle> {
        let previous = match rank.checked_sub(1) {
            Some(before) => self.at_rank(before)?.index,
            None => NONE,
        };
        Some(self.insert_behind(previous, item))
    }

    fn delete(&mut self, handle: Handle) -> Option<Item> {
        let ListNode { item, previous, next } = self.nodes.remove(handle)?;
        *self.link_after(previous) = next;
        *self.link_before(next) = previous;
        self.bytes -= item.len;
        Some(item)
    }

    fn update(&mut self, handle: Handle, item: Item) -> Option<Item> {
        let node = self.nodes.get_mut(handle)?;
        let old = std::mem::replace(&mut node.item, item);
        let bytes = (self.bytes - old.len).checked_add(item.len);
        self.bytes = bytes.expect("at most u64::MAX bytes");
        Some(old)
    }

    fn get(&self, handle: Handle) -> Option<Item> {
        self.nodes.get(handle).map(|node| node.item)
    }

    fn at_rank(&self, rank: usize) -> Option<Handle> {
        let (_, node) = self.walk(|before, _, _| before.count == rank)?;
        self.handle(node)
    }

    fn seek(&self, offset: u64) -> Option<BytePlace> {
        let holds =
            |before: PlaceSpan, _, node: &ListNode| offset - before.bytes < node.item.len;
        let (before, node) = self.walk(holds)?;
        let (handle, item) = (self.nodes.handle(node), self.nodes[node].item);
        Some(BytePlace { handle, item, within: offset - before.bytes })
    }

    fn place(&self, handle: Handle) -> Option<ItemPlace> {
        self.nodes.get(handle)?;
        let (before, _) = self.walk(|_, node, _| node == handle.index)?;
        Some(before.place())
    }

    fn next(&self, handle: Handle) -> Option<Handle> {
        self.handle(self.nodes.get(handle)?.next)
    }

    fn previous(&self, handle: Handle) -> Option<Handle> {
        self.handle(self.nodes.get(handle)?.previous)
    }
}

#[cfg(test)]
mod inspect {
    use super::*;
    use crate::order::tests::Inspect;
    use swath_plan::random::SplitMix64;

    impl Inspect for LinkedList {
        fn inspect(&self) {
            let (mut previous, mut node, mut span) = (NONE, self.first, PlaceSpan::default());
            while node != NONE {
                assert_eq!(self.nodes[node].previous, previous);
                span += PlaceSpan::of(&self.nodes[node].item);
                (previous, node) = (node, self.nodes[node].next);
            }
            assert_eq!((self.last, span.count, span.bytes), (previous, self.len(), self.bytes));
        }

        fn spoil(&mut self, random: &mut SplitMix64) {
            let handle = self.at_rank(random.below(self.len())).expect("it is there");
            self.nodes[handle.index].previous = handle.index;
        }
    }
}
