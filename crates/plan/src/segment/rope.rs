//! A sequence of pieces that grows at its end, and to which another one can be appended in O(1).
//!
//! A strand keeps its output as a [`Rope`]. When two strands join, the right one's rope is appended
//! to the left one's. They share no structure while they run, so nothing is locked and no order can
//! be lost. The rope is read from left to right once, when the output is committed.
//!
//! ```text
//! left  [a][b]          left.concat(right)   [a][b][c][d]
//! right [c][d]
//! ```
//!
//! Study E (PLIO) instead inserts each strand into one shared list when it is stolen. Taken
//! literally, that loses the order of bytes written after a join.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem;

/// A piece of a rope.
pub trait RopePiece: Sized {
    /// Its length in bytes.
    fn len(&self) -> u64;

    /// Whether it is empty: empty pieces are dropped.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Merges `next` into this piece, or returns it.
    fn absorb(&mut self, next: Self) -> Option<Self>;
}

/// Bytes of one log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogExtent {
    /// The index of the log.
    pub log: u32,
    /// Offset from the start of the log.
    pub offset: u64,
    /// Length in bytes.
    pub len: u64,
}

impl RopePiece for LogExtent {
    fn len(&self) -> u64 {
        self.len
    }

    fn absorb(&mut self, next: Self) -> Option<Self> {
        if self.log == next.log && self.offset + self.len == next.offset {
            self.len += next.len;
            None
        } else {
            Some(next)
        }
    }
}

/// The most pieces of a rope that are copied: cheaper than a node.
const FEW: usize = 16;

/// Pieces in order; see the [module](self).
#[derive(Debug)]
pub struct Rope<P: RopePiece> {
    len: u64,
    /// The pieces before `last`.
    before: Option<Node<P>>,
    last: Vec<P>,
}

#[derive(Debug)]
enum Node<P> {
    Leaf(Vec<P>),
    Pair(Box<(Node<P>, Node<P>)>),
}

impl<P: RopePiece> Default for Rope<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: RopePiece> Rope<P> {
    /// Returns a rope without pieces; takes no memory.
    pub const fn new() -> Self {
        Self { len: 0, before: None, last: Vec::new() }
    }

    /// Returns its length in bytes.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether it has no bytes.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends one piece. An empty one costs nothing; a contiguous one extends the last piece.
    pub fn push(&mut self, piece: P) {
        if piece.is_empty() {
            return;
        }
        self.len += piece.len();
        let left_over = match self.last.last_mut() {
            Some(last) => last.absorb(piece),
            None => Some(piece),
        };
        self.last.extend(left_over);
    }

    /// Calls `grow` to extend the last piece, if there is one; returns whether it returned `true`.
    pub fn grow_last(&mut self, grow: impl FnOnce(&mut P) -> bool) -> bool {
        let Some(last) = self.last.last_mut() else { return false };
        let before = last.len();
        let has_grown = grow(last);
        self.len += last.len() - before;
        has_grown
    }

    /// Appends `right` after everything in `self`, in O(1).
    ///
    /// Call it on the strand that forked, after both branches have ended. PLIO instead inserts at
    /// the steal, which loses the order of bytes written after a join.
    pub fn concat(&mut self, mut right: Self) {
        if right.before.is_none() && right.last.len() <= FEW {
            for piece in mem::take(&mut right.last) {
                self.push(piece);
            }
        } else {
            self.len += right.len;
            let left = mem::take(&mut self.last);
            let whole = pair(self.before.take(), Some(Node::Leaf(left)));
            self.before = pair(whole, right.before.take());
            self.last = mem::take(&mut right.last);
        }
    }

    /// Takes all pieces out, in order; joins contiguous neighbours.
    #[must_use]
    pub fn into_pieces(mut self) -> Vec<P> {
        let mut pieces: Vec<P> = Vec::new();
        let last = Node::Leaf(mem::take(&mut self.last));
        let mut stack: Vec<Node<P>> = Vec::new();
        stack.push(last);
        stack.extend(self.before.take());
        while let Some(node) = stack.pop() {
            match node {
                Node::Leaf(leaf) => leaf.into_iter().for_each(|piece| join(&mut pieces, piece)),
                Node::Pair(both) => {
                    let (left, right) = *both;
                    stack.push(right);
                    stack.push(left);
                }
            }
        }
        pieces
    }
}

fn join<P: RopePiece>(pieces: &mut Vec<P>, piece: P) {
    let left_over = match pieces.last_mut() {
        Some(last) => last.absorb(piece),
        None => Some(piece),
    };
    pieces.extend(left_over);
}

fn pair<P>(left: Option<Node<P>>, right: Option<Node<P>>) -> Option<Node<P>> {
    match (left, right) {
        (Some(left), Some(right)) => Some(Node::Pair(Box::new((left, right)))),
        (one, other) => one.or(other),
    }
}

/// Drops without recursion: a rope may be as deep as the program forked.
impl<P: RopePiece> Drop for Rope<P> {
    fn drop(&mut self) {
        let mut stack: Vec<Node<P>> = Vec::new();
        stack.extend(self.before.take());
        while let Some(node) = stack.pop() {
            if let Node::Pair(both) = node {
                let (left, right) = *both;
                stack.push(left);
                stack.push(right);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn extent(log: u32, offset: u64, len: u64) -> LogExtent {
        LogExtent { log, offset, len }
    }

    #[test]
    fn contiguous_pieces_become_one_and_empty_ones_none() {
        let mut rope = Rope::new();
        for piece in [extent(0, 0, 4), extent(0, 4, 0), extent(0, 4, 6), extent(1, 10, 1)] {
            rope.push(piece);
        }
        rope.push(extent(0, 10, 2));
        assert_eq!(rope.len(), 13);
        assert_eq!(rope.into_pieces(), [extent(0, 0, 10), extent(1, 10, 1), extent(0, 10, 2)]);
    }

    #[test]
    fn any_tree_of_concatenations_reads_from_left_to_right() {
        for shape in 0_u64..64 {
            for count in [0, 1, 2, FEW, FEW + 1, 5 * FEW] {
                let mut ropes: Vec<Rope<LogExtent>> = Vec::new();
                let mut expected = Vec::new();
                for index in 0..8 {
                    let mut rope = Rope::new();
                    for step in 0..count as u64 {
                        let piece = extent(index, 2 * step, 1);
                        rope.push(piece);
                        expected.push(piece);
                    }
                    ropes.push(rope);
                }
                let mut choice = shape;
                while ropes.len() > 1 {
                    let at = usize::try_from(choice).expect("small") % (ropes.len() - 1);
                    choice = choice / 3 + 1;
                    let right = ropes.remove(at + 1);
                    ropes[at].concat(right);
                }
                let whole = ropes.remove(0);
                assert_eq!(whole.len(), expected.len() as u64);
                assert_eq!(whole.into_pieces(), expected, "shape {shape}, {count} each");
            }
        }
    }

    #[test]
    fn neighbours_across_a_concatenation_become_one() {
        let mut left = Rope::new();
        let mut right = Rope::new();
        (0..40).for_each(|step| left.push(extent(0, 2 * step, 1)));
        right.push(extent(0, 79, 1));
        (0..40).for_each(|step| right.push(extent(1, 2 * step, 1)));
        left.concat(right);
        assert_eq!(left.into_pieces().len(), 80);
    }

    #[test]
    fn a_rope_as_deep_as_a_hundred_thousand_forks_is_read_and_dropped() {
        for read in [true, false] {
            let mut rope = Rope::new();
            for step in 0..100_000_u64 {
                let mut deeper = Rope::new();
                (0..=FEW as u64).for_each(|at| deeper.push(extent(1, 100 * step + 2 * at, 1)));
                deeper.concat(rope);
                rope = deeper;
            }
            let count = if read { rope.into_pieces().len() } else { 1_700_000 };
            assert_eq!(count, 1_700_000);
        }
    }

    #[test]
    fn the_last_piece_can_grow_in_place() {
        let mut rope = Rope::new();
        assert!(!rope.grow_last(|_| true), "no last piece");
        rope.push(extent(0, 0, 4));
        assert!(rope.grow_last(|last| {
            last.len += 3;
            true
        }));
        assert!(!rope.grow_last(|_| false));
        assert_eq!(rope.len(), 7);
        assert_eq!(rope.into_pieces(), [extent(0, 0, 7)]);
    }

    #[test]
    fn a_rope_without_pieces_is_empty() {
        let mut rope: Rope<LogExtent> = Rope::default();
        rope.concat(Rope::new());
        assert!(rope.is_empty());
        assert_eq!(rope.into_pieces(), vec![]);
    }
}
