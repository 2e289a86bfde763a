//! A B-tree whose inner nodes store the number of items and bytes below each child.
//!
//! One of two structures that study E names as future work: an order-statistic tree (Cormen, Leiserson,
//! Rivest and Stein, *Introduction to Algorithms*, on augmenting data structures) with the fan-out of a
//! B-tree (Bayer and McCreight, 1972), so that a search touches few cache lines.
//!
//! ```text
//! inner     [ 2 items, 20 bytes | 3 items, 9 bytes ]
//! leaves    [ 15 | 5 ]        ⇄ [ 3 | 3 | 3 ]          all at one depth, 8 to 32 parts each
//! ```
//!
//! A handle is the index of a table entry that names the leaf of an item. A split or a merge updates the
//! entries of the items that it moves, so handles stay valid.

use super::arena::Arena;
use super::{BytePlace, Handle, Item, ItemPlace, Order, PlaceSpan, goes_past};

/// Parts of a full node: twelve cache lines, of which a search reads half.
const MAX: usize = 32;
/// The least number of parts in a node other than the root.
const MIN: usize = MAX / 4;

/// No node: the parent of the root, and the neighbour at both ends of a level.
const NONE: u32 = u32::MAX;

/// An order-statistic B-tree. See the [module](self).
#[derive(Debug)]
pub struct BTree {
    entries: Arena<TreeEntry>,
    nodes: Vec<TreeNode>,
    /// Free nodes, for reuse.
    free: Vec<u32>,
    root: u32,
    total: PlaceSpan,
}

#[derive(Debug)]
struct TreeEntry {
    item: Item,
    leaf: u32,
}

#[derive(Debug)]
struct TreeNode {
    is_leaf: bool,
    parent: u32,
    /// The neighbours on the same level.
    previous: u32,
    next: u32,
    parts: Vec<NodePart>,
}

/// An item of a leaf, or a child of an inner node.
#[derive(Clone, Copy, Debug)]
struct NodePart {
    /// The index of the item's entry, or of the child node.
    id: u32,
    span: PlaceSpan,
}

impl TreeNode {
    fn new(is_leaf: bool) -> Self {
        let parts = Vec::with_capacity(MAX + 1);
        Self { is_leaf, parent: NONE, previous: NONE, next: NONE, parts }
    }

    fn span(&self) -> PlaceSpan {
        self.parts.iter().fold(PlaceSpan::default(), |sum, part| sum + part.span)
    }

    fn position(&self, id: u32) -> usize {
        let found = self.parts.iter().position(|part| part.id == id);
        found.expect("a part is where its home says")
    }
}

/// Going down and up.
impl BTree {
    fn node(&self, node: u32) -> &TreeNode {
        &self.nodes[node as usize]
    }

    fn node_mut(&mut self, node: u32) -> &mut TreeNode {
        &mut self.nodes[node as usize]
    }

    /// Returns the first entry for which `passes` returns false; `passes` gets the span to skip.
    fn descend(&self, mut passes: impl FnMut(PlaceSpan) -> bool) -> Option<u32> {
        let mut node = self.node(self.root);
        loop {
            let part = node.parts.iter().find(|part| !passes(part.span))?;
            if node.is_leaf {
                return Some(part.id);
            }
            node = self.node(part.id);
        }
    }

    /// Returns the leaf of an item, and its position there.
    fn home(&self, handle: Handle) -> Option<(u32, usize)> {
        let leaf = self.entries.get(handle)?.leaf;
        Some((leaf, self.node(leaf).position(handle.index)))
    }

    /// Updates the totals of `node` in all nodes above it.
    fn change_above(&mut self, mut node: u32, change: impl Fn(&mut PlaceSpan)) {
        change(&mut self.total);
        while self.node(node).parent != NONE {
            let parent = self.node(node).parent;
            let position = self.node(parent).position(node);
            change(&mut self.node_mut(parent).parts[position].span);
            node = parent;
        }
    }

    /// Returns the item at a position of a leaf, if there is one.
    fn handle_at(&self, leaf: u32, position: Option<usize>) -> Option<Handle> {
        let part = self.node(leaf).parts.get(position?)?;
        Some(self.entries.handle(part.id))
    }
}

/// Growing.
impl BTree {
    fn insert(&mut self, leaf: u32, position: usize, item: Item) -> Handle {
        assert!(self.total.bytes.checked_add(item.len).is_some(), "at most u64::MAX bytes");
        let span = PlaceSpan::of(&item);
        self.change_above(leaf, |above| *above += span);
        let handle = self.entries.insert(TreeEntry { item, leaf });
        self.insert_part(leaf, position, NodePart { id: handle.index, span });
        handle
    }

    fn insert_part(&mut self, node: u32, position: usize, part: NodePart) {
        self.node_mut(node).parts.insert(position, part);
        self.adopt(node, position);
        let count = self.node(node).parts.len();
        if count > MAX {
            // Appends alone would leave all nodes half full.
            let is_at_end = position + 1 == count && self.node(node).next == NONE;
            self.split(node, if is_at_end { count - MIN } else { count / 2 });
        }
    }

    /// Stores the new place of the parts of `node` from `position` on.
    fn adopt(&mut self, node: u32, position: usize) {
        for index in position..self.node(node).parts.len() {
            let id = self.node(node).parts[index].id;
            if self.node(node).is_leaf {
                self.entries[id].leaf = node;
            } else {
                self.node_mut(id).parent = node;
            }
        }
    }

    /// Moves the parts of `left` from `at` on to a new node after it.
    fn split(&mut self, left: u32, at: usize) {
        let right = self.new_node(self.node(left).is_leaf);
        let parts = self.node_mut(left).parts.split_off(at);
        self.node_mut(right).parts.extend(parts);
        self.adopt(right, 0);
        self.link(right, self.node(left).next);
        self.link(left, right);
        let (span, span_right) = (self.node(left).span(), self.node(right).span());
        if left == self.root {
            self.root = self.new_node(false);
            self.node_mut(self.root).parts.push(NodePart { id: left, span });
            self.adopt(self.root, 0);
        }
        let parent = self.node(left).parent;
        let position = self.node(parent).position(left);
        self.node_mut(parent).parts[position].span = span;
        self.insert_part(parent, position + 1, NodePart { id: right, span: span_right });
    }

    fn new_node(&mut self, is_leaf: bool) -> u32 {
        if let Some(node) = self.free.pop() {
            *self.node_mut(node) = TreeNode::new(is_leaf);
            return node;
        }
        self.nodes.push(TreeNode::new(is_leaf));
        u32::try_from(self.nodes.len() - 1).expect("fewer nodes than items")
    }

    /// Makes two nodes of a level neighbours; either may be `NONE`.
    fn link(&mut self, left: u32, right: u32) {
        if left != NONE {
            self.node_mut(left).next = right;
        }
        if right != NONE {
            self.node_mut(right).previous = left;
        }
    }
}

/// Shrinking.
impl BTree {
    /// Refills a node with too few parts from a sibling, or merges both.
    fn shrink(&mut self, node: u32) {
        if node == self.root {
            self.lower_root();
        } else if self.node(node).parts.len() < MIN {
            let parent = self.node(node).parent;
            let position = self.node(parent).position(node);
            let left = position.min(self.node(parent).parts.len() - 2);
            self.balance(parent, left);
        }
    }

    fn lower_root(&mut self) {
        let root = self.node(self.root);
        if !root.is_leaf && root.parts.len() == 1 {
            let child = root.parts[0].id;
            self.free.push(self.root);
            self.root = child;
            self.node_mut(child).parent = NONE;
        }
    }

    /// Balances child `position` of `parent` and the next one, or merges them.
    fn balance(&mut self, parent: u32, position: usize) {
        let [left, right] = [0, 1].map(|next| self.node(parent).parts[position + next].id);
        let mut moved = std::mem::take(&mut self.node_mut(right).parts);
        self.node_mut(left).parts.append(&mut moved);
        let count = self.node(left).parts.len();
        if count > MAX {
            moved.extend(self.node_mut(left).parts.drain(count / 2..));
            self.node_mut(right).parts = moved;
            self.adopt(left, 0);
            self.adopt(right, 0);
            let span = self.node(right).span();
            self.node_mut(parent).parts[position + 1].span = span;
        } else {
            self.adopt(left, 0);
            self.link(left, self.node(right).next);
            self.free.push(right);
            self.node_mut(parent).parts.remove(position + 1);
        }
        let span = self.node(left).span();
        self.node_mut(parent).parts[position].span = span;
        self.shrink(parent);
    }
}

impl Order for BTree {
    fn new() -> Self {
        let nodes = vec![TreeNode::new(true)];
        let total = PlaceSpan::default();
        Self { entries: Arena::new(), nodes, free: Vec::new(), root: 0, total }
    }

    fn len(&self) -> usize {
        self.total.count
    }

    fn bytes(&self) -> u64 {
        self.total.bytes
    }

    fn push(&mut self, item: Item) -> Handle {
        let mut node = self.root;
        while !self.node(node).is_leaf {
            node = self.node(node).parts.last().expect("inner nodes have children").id;
        }
        self.insert(node, self.node(node).parts.len(), item)
    }

    fn insert_after(&mut self, handle: Handle, item: Item) -> Option<Handle> {
        let (leaf, position) = self.home(handle)?;
        Some(self.insert(leaf, position + 1, item))
    }

    fn insert_at(&mut self, rank: usize, item: Item) -> Option<Handle> {
        match self.at_rank(rank) {
            Some(handle) => {
                let (leaf, position) = self.home(handle)?;
                Some(self.insert(leaf, position, item))
            }
            None => (rank == self.len()).then(|| self.push(item)),
        }
    }

    fn delete(&mut self, handle: Handle) -> Option<Item> {
        let (leaf, position) = self.home(handle)?;
        let span = self.node_mut(leaf).parts.remove(position).span;
        self.change_above(leaf, |above| *above -= span);
        self.shrink(leaf);
        self.entries.remove(handle).map(|entry| entry.item)
    }

    fn update(&mut self, handle: Handle, item: Item) -> Option<Item> {
        let (leaf, position) = self.home(handle)?;
        let (old, new) = (self.node(leaf).parts[position].span, PlaceSpan::of(&item));
        let others = self.total.bytes - old.bytes;
        assert!(others.checked_add(item.len).is_some(), "at most u64::MAX bytes");
        self.node_mut(leaf).parts[position].span = new;
        self.change_above(leaf, |above| *above = *above - old + new);
        Some(std::mem::replace(&mut self.entries[handle.index].item, item))
    }

    fn get(&self, handle: Handle) -> Option<Item> {
        self.entries.get(handle).map(|entry| entry.item)
    }

    fn at_rank(&self, rank: usize) -> Option<Handle> {
        let mut rest = rank;
        let found = self.descend(|span| goes_past(rest.checked_sub(span.count), &mut rest));
        found.map(|entry| self.entries.handle(entry))
    }

    fn seek(&self, offset: u64) -> Option<BytePlace> {
        let mut within = offset;
        let found =
            self.descend(|span| goes_past(within.checked_sub(span.bytes), &mut within))?;
        let (handle, item) = (self.entries.handle(found), self.entries[found].item);
        Some(BytePlace { handle, item, within })
    }

    fn place(&self, handle: Handle) -> Option<ItemPlace> {
        let (mut node, mut position) = self.home(handle)?;
        let mut before = PlaceSpan::default();
        loop {
            let parts = &self.node(node).parts[..position];
            before += parts.iter().fold(PlaceSpan::default(), |sum, part| sum + part.span);
            let parent = self.node(node).parent;
            if parent == NONE {
                return Some(before.place());
            }
            position = self.node(parent).position(node);
            node = parent;
        }
    }

    fn next(&self, handle: Handle) -> Option<Handle> {
        let (leaf, position) = self.home(handle)?;
        let following = self.node(leaf).next;
        self.handle_at(leaf, position.checked_add(1)).or_else(|| {
            (following != NONE).then(|| self.handle_at(following, Some(0))).flatten()
        })
    }

    fn previous(&self, handle: Handle) -> Option<Handle> {
        let (leaf, position) = self.home(handle)?;
        let before = self.node(leaf).previous;
        self.handle_at(leaf, position.checked_sub(1)).or_else(|| {
            let last = |before| self.node(before).parts.len().checked_sub(1);
            (before != NONE).then(|| self.handle_at(before, last(before))).flatten()
        })
    }
}

#[cfg(test)]
mod inspect {
    use super::*;
    use crate::order::tests::Inspect;
    use swath_plan::random::SplitMix64;

    impl BTree {
        /// Checks everything below a node; returns its sum and its depth.
        fn inspect_below(&self, node: u32, parent: u32) -> (PlaceSpan, usize) {
            let TreeNode { is_leaf, parent: above, ref parts, .. } = *self.node(node);
            assert_eq!(above, parent);
            assert!(parts.len() <= MAX && (node == self.root || parts.len() >= MIN));
            assert!(is_leaf || parts.len() > 1);
            let mut depth = None;
            for part in parts {
                let (span, below) = if is_leaf {
                    assert_eq!(self.entries[part.id].leaf, node);
                    (PlaceSpan::of(&self.entries[part.id].item), 0)
                } else {
                    self.inspect_below(part.id, node)
                };
                assert_eq!(part.span, span);
                assert_eq!(*depth.get_or_insert(below), below, "all leaves are equally deep");
            }
            (self.node(node).span(), depth.unwrap_or(0) + 1)
        }
    }

    impl Inspect for BTree {
        fn inspect(&self) {
            let (span, depth) = self.inspect_below(self.root, NONE);
            assert_eq!((span, self.entries.len()), (self.total, self.len()));
            assert!(
                MIN.pow(u32::try_from(depth).expect("few") - 1) <= 2 * self.len().max(1) * MIN
            );
        }

        fn spoil(&mut self, random: &mut SplitMix64) {
            let node = random.below(self.nodes.len());
            if let Some(part) = self.nodes[node].parts.first_mut() {
                part.span.bytes += 1;
            }
        }
    }

    #[test]
    fn two_nodes_become_one_only_if_that_holds_both() {
        for (more, depth) in [(0, 1), (1, 2)] {
            let mut tree = BTree::from_items([Item::default(); MAX + 1]);
            let full = MAX + 1 - MIN;
            assert_eq!(tree.node(0).parts.len(), full, "pushes leave nodes nearly full");
            for _ in 0..more {
                tree.insert_at(0, Item::default()).expect("in front");
            }
            let last = tree.at_rank(tree.len() - 1).expect("there are many");
            tree.delete(last).expect("it is there");
            tree.inspect();
            assert_eq!(tree.inspect_below(tree.root, NONE).1, depth);
        }
    }
}
