//! The lowest level of the skip list: every item, linked in both directions.

use crate::order::{Item, PlaceSpan};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};

use swath_os::locks::{Mutex, MutexGuard};

/// The node without an item, before the first and after the last.
pub(super) const HEAD: u32 = 0;

/// The value of `tower` in a node without a tower.
const NO_TOWER: u32 = u32::MAX;

/// Nodes of the first chunk; each further one has twice as many.
const FIRST_CHUNK: u32 = 64;
const CHUNKS: usize = 26;
/// The capacity of all chunks: `FIRST_CHUNK` × (2^`CHUNKS` − 1).
const NODES_MAX: u32 = u32::MAX - 63;

/// One item. Its fields are read without a lock, and written
/// - `next`, the next node's `previous`, and the item: under the node's lock,
/// - `tower`: under the exclusive lock on the levels.
#[derive(Debug)]
pub(super) struct SkipNode {
    /// Whether the item is linked and not deleted.
    is_there: Mutex<bool>,
    next: AtomicU32,
    previous: AtomicU32,
    tower: AtomicU32,
    segment: AtomicU32,
    offset: AtomicU64,
    len: AtomicU64,
}

impl SkipNode {
    fn new() -> Self {
        Self {
            is_there: Mutex::new(false),
            next: AtomicU32::new(HEAD),
            previous: AtomicU32::new(HEAD),
            tower: AtomicU32::new(NO_TOWER),
            segment: AtomicU32::new(0),
            offset: AtomicU64::new(0),
            len: AtomicU64::new(0),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_there.lock()
    }

    pub(super) fn next(&self) -> u32 {
        self.next.load(SeqCst)
    }

    pub(super) fn previous(&self) -> u32 {
        self.previous.load(SeqCst)
    }

    /// Returns the lowest link of the node's tower, if it has one.
    pub(super) fn tower(&self) -> Option<u32> {
        Some(self.tower.load(SeqCst)).filter(|&tower| tower != NO_TOWER)
    }

    pub(super) fn set_tower(&self, tower: Option<u32>) {
        self.tower.store(tower.unwrap_or(NO_TOWER), SeqCst);
    }

    /// Returns the item; its fields are consistent only if the node is locked.
    pub(super) fn item(&self) -> Item {
        Item {
            segment: self.segment.load(SeqCst),
            offset: self.offset.load(SeqCst),
            len: self.len.load(SeqCst),
        }
    }

    pub(super) fn set_item(&self, item: Item) {
        self.segment.store(item.segment, SeqCst);
        self.offset.store(item.offset, SeqCst);
        self.len.store(item.len, SeqCst);
    }
}

/// All nodes, also of deleted items. They never move, so a thread may hold one while others add.
#[derive(Debug)]
pub(super) struct NodeStore {
    chunks: [OnceLock<Box<[SkipNode]>>; CHUNKS],
    count: AtomicU32,
}

impl NodeStore {
    pub(super) fn new() -> Self {
        let nodes =
            Self { chunks: [const { OnceLock::new() }; CHUNKS], count: AtomicU32::new(0) };
        let head = nodes.add(Item::default());
        *nodes.at(head).lock() = true;
        nodes.at(head).set_tower(Some(0));
        nodes
    }

    /// Makes a node that is not linked yet.
    pub(super) fn add(&self, item: Item) -> u32 {
        let more = |count: u32| (count < NODES_MAX).then(|| count + 1);
        let index = self.count.fetch_update(SeqCst, SeqCst, more);
        let index = index.expect("fewer than u32::MAX items");
        let (chunk, _) = locate(index);
        self.chunks[chunk].get_or_init(|| {
            let len = (FIRST_CHUNK as usize) << chunk;
            (0..len).map(|_| SkipNode::new()).collect()
        });
        self.at(index).set_item(item);
        index
    }

    pub(super) fn at(&self, index: u32) -> &SkipNode {
        self.get(index).expect("a list knows its own nodes")
    }

    pub(super) fn get(&self, index: u32) -> Option<&SkipNode> {
        let (chunk, within) = locate(index);
        self.chunks.get(chunk)?.get()?.get(within)
    }

    /// Returns the share of a node in the spans above it: nothing for the head.
    pub(super) fn span(&self, index: u32) -> PlaceSpan {
        let count = usize::from(index != HEAD);
        PlaceSpan { count, bytes: self.at(index).len.load(SeqCst) }
    }

    /// Links `index` after `previous`, if that is not deleted and `accepts` its successor.
    pub(super) fn link_after(
        &self,
        previous: u32,
        index: u32,
        accepts: impl FnOnce(u32) -> bool,
    ) -> Option<()> {
        let (before, node) = (self.at(previous), self.at(index));
        let is_there = before.lock();
        let next = before.next();
        if !*is_there || !accepts(next) {
            return None;
        }
        node.previous.store(previous, SeqCst);
        node.next.store(next, SeqCst);
        *node.lock() = true;
        // Now other threads may find it, from either side.
        self.at(next).previous.store(index, SeqCst);
        before.next.store(index, SeqCst);
        Some(())
    }

    /// Unlinks a node. No other thread may link or unlink during the call.
    pub(super) fn unlink(&self, node: &SkipNode) {
        self.at(node.previous()).next.store(node.next(), SeqCst);
        self.at(node.next()).previous.store(node.previous(), SeqCst);
    }
}

/// Returns the chunk of a node, and its index there.
fn locate(index: u32) -> (usize, usize) {
    let shifted = u64::from(index) + u64::from(FIRST_CHUNK);
    let chunk = shifted.ilog2() - FIRST_CHUNK.ilog2();
    let within = shifted - (u64::from(FIRST_CHUNK) << chunk);
    (chunk as usize, usize::try_from(within).expect("a chunk fits into memory"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_lie_one_behind_the_other_up_to_the_last_node() {
        assert_eq!(
            [0, 63, 64, 191, 192].map(locate),
            [(0, 0), (0, 63), (1, 0), (1, 127), (2, 0)]
        );
        let last = (FIRST_CHUNK as usize) << (CHUNKS - 1);
        assert_eq!(locate(NODES_MAX - 1), (CHUNKS - 1, last - 1));
    }

    #[test]
    fn a_node_is_linked_only_in_front_of_what_is_accepted() {
        let nodes = NodeStore::new();
        let [first, second] = [1, 2].map(|len| nodes.add(Item { len, ..Item::default() }));
        assert_eq!(nodes.link_after(HEAD, first, |next| next != HEAD), None);
        assert_eq!(nodes.link_after(HEAD, first, |next| next == HEAD), Some(()));
        assert_eq!(nodes.link_after(HEAD, second, |next| next == HEAD), None);
        assert_eq!(nodes.link_after(second, second, |_| true), None, "it is not there");
        assert_eq!((nodes.at(HEAD).next(), nodes.at(HEAD).previous()), (first, first));
    }
}
