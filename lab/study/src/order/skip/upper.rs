//! The levels above the items: links that store their spans.

use super::nodes::{HEAD, NodeStore, SkipNode};
use crate::order::PlaceSpan;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use swath_plan::random::word;

/// Three bits: an eighth of the items of a level are also in the next one.
const BITS_PER_LEVEL: u32 = 3;
/// The most levels: enough for 8^10 items.
const LEVELS_MAX: u32 = 10;
/// The seed of the heights.
const SEED: u64 = 0x51;

/// Returns the number of levels above the lowest that a node has: a function of its index.
pub(super) fn levels_of(index: u32) -> u32 {
    let zeros = word(SEED, u64::from(index)).trailing_zeros();
    (zeros / BITS_PER_LEVEL).min(LEVELS_MAX)
}

/// One level of one tower. The links of a tower are adjacent, the lowest first.
#[derive(Debug)]
struct Link {
    /// Whether the tower has a level above.
    has_above: bool,
    node: u32,
    /// The next link on the same level. The head's links are 0 to `LEVELS_MAX` − 1.
    next: u32,
    previous: u32,
    /// The span from this node, inclusive, to the next node of the level, exclusive.
    count: AtomicUsize,
    bytes: AtomicU64,
}

impl Link {
    fn span(&self) -> PlaceSpan {
        PlaceSpan { count: self.count.load(SeqCst), bytes: self.bytes.load(SeqCst) }
    }

    fn set_span(&self, span: PlaceSpan) {
        self.count.store(span.count, SeqCst);
        self.bytes.store(span.bytes, SeqCst);
    }

    /// Adds `change`; both numbers wrap, so that it may also subtract.
    fn change(&self, change: PlaceSpan) {
        self.count.fetch_add(change.count, SeqCst);
        self.bytes.fetch_add(change.bytes, SeqCst);
    }
}

/// All levels but the lowest.
#[derive(Debug)]
pub(super) struct Upper {
    links: Vec<Link>,
    /// Levels in use.
    levels: u32,
    /// Removed towers, by height less one.
    free: [Vec<u32>; LEVELS_MAX as usize],
}

/// The operations that threads may do at the same time.
impl Upper {
    pub(super) fn new() -> Self {
        let mut upper = Self { links: Vec::new(), levels: 0, free: Default::default() };
        upper.build(LEVELS_MAX, HEAD);
        upper
    }

    fn at(&self, link: u32) -> &Link {
        &self.links[link as usize]
    }

    /// Adds `change` to every link that spans `node`.
    pub(super) fn change_above(&self, nodes: &NodeStore, node: u32, change: PlaceSpan) {
        if self.levels == 0 {
            return;
        }
        let mut node = nodes.at(node);
        while node.tower().is_none() {
            node = nodes.at(node.previous());
        }
        let mut link = node.tower().expect("just seen");
        self.at(link).change(change);
        for _ in 1..self.levels {
            while !self.at(link).has_above {
                link = self.at(link).previous;
            }
            link += 1;
            self.at(link).change(change);
        }
    }

    /// Returns the span before `node`.
    pub(super) fn before(&self, nodes: &NodeStore, node: u32) -> PlaceSpan {
        let (mut link, mut before) = back_to_tower(nodes, node);
        while self.at(link).node != HEAD {
            if self.at(link).has_above {
                link += 1;
            } else {
                link = self.at(link).previous;
                before += self.at(link).span();
            }
        }
        before
    }

    /// Returns the first node that `passes` does not let the search pass, given the span to pass; the head if
    /// there is none.
    pub(super) fn descend(
        &self,
        nodes: &NodeStore,
        mut passes: impl FnMut(PlaceSpan) -> bool,
    ) -> u32 {
        let mut node = HEAD;
        if self.levels > 0 {
            let mut link = self.levels - 1;
            for level in (0..self.levels).rev() {
                while self.at(link).next >= LEVELS_MAX && passes(self.at(link).span()) {
                    link = self.at(link).next;
                }
                link -= u32::from(level > 0);
            }
            node = self.at(link).node;
        }
        if node == HEAD {
            node = nodes.at(HEAD).next();
        }
        while node != HEAD && passes(nodes.span(node)) {
            node = nodes.at(node).next();
        }
        node
    }
}

/// Returns the lowest link of the nearest tower before `node`, and the span from there to `node`.
fn back_to_tower(nodes: &NodeStore, node: u32) -> (u32, PlaceSpan) {
    let (mut node, mut between) = (node, PlaceSpan::default());
    loop {
        node = nodes.at(node).previous();
        between += nodes.span(node);
        if let Some(tower) = nodes.at(node).tower() {
            return (tower, between);
        }
    }
}

/// The operations that one thread does alone.
impl Upper {
    fn at_mut(&mut self, link: u32) -> &mut Link {
        &mut self.links[link as usize]
    }

    /// Allocates a tower of this many levels, each linked to itself; returns the lowest link.
    fn build(&mut self, levels: u32, node: u32) -> u32 {
        let freed = self.free[levels as usize - 1].pop();
        let lowest = freed.unwrap_or_else(|| {
            u32::try_from(self.links.len()).expect("fewer links than items")
        });
        for level in 0..levels {
            let link = lowest + level;
            let (count, bytes) = (AtomicUsize::new(0), AtomicU64::new(0));
            let has_above = level + 1 < levels;
            let new = Link { has_above, node, next: link, previous: link, count, bytes };
            if freed.is_some() {
                *self.at_mut(link) = new;
            } else {
                self.links.push(new);
            }
        }
        lowest
    }

    /// Gives a tower to a node that is in the lowest level and in no span yet.
    pub(super) fn insert_tower(&mut self, nodes: &NodeStore, node: u32, levels: u32) {
        while self.levels < levels {
            self.add_level(nodes, node);
        }
        let own = nodes.span(node);
        let tower = self.build(levels, node);
        let (mut before, mut between) = back_to_tower(nodes, node);
        nodes.at(node).set_tower(Some(tower));
        for level in 0..self.levels {
            if level > 0 {
                while !self.at(before).has_above {
                    before = self.at(before).previous;
                    between += self.at(before).span();
                }
                before += 1;
            }
            if level < levels {
                self.link_after(before, tower + level);
                let whole = self.at(before).span() + own;
                self.at(before).set_span(between);
                self.at(tower + level).set_span(whole - between);
            } else {
                self.at(before).change(own);
            }
        }
    }

    /// Adds a level in which the head spans everything but `node`.
    fn add_level(&mut self, nodes: &NodeStore, node: u32) {
        let mut all = PlaceSpan::default();
        if let Some(below) = self.levels.checked_sub(1) {
            let mut link = below;
            loop {
                all += self.at(link).span();
                link = self.at(link).next;
                if link == below {
                    break;
                }
            }
        } else {
            let mut next = nodes.at(HEAD).next();
            while next != HEAD {
                all += if next == node { PlaceSpan::default() } else { nodes.span(next) };
                next = nodes.at(next).next();
            }
        }
        self.at(self.levels).set_span(all);
        self.levels += 1;
    }

    fn link_after(&mut self, previous: u32, link: u32) {
        let next = self.at(previous).next;
        (self.at_mut(link).previous, self.at_mut(link).next) = (previous, next);
        self.at_mut(next).previous = link;
        self.at_mut(previous).next = link;
    }

    /// Removes the tower of a node, if it has one. The node is in no span.
    pub(super) fn remove_tower(&mut self, node: &SkipNode) {
        let Some(tower) = node.tower() else { return };
        node.set_tower(None);
        let mut levels = 1;
        for link in tower.. {
            let Link { previous, next, has_above, .. } = *self.at(link);
            self.at(previous).change(self.at(link).span());
            self.at_mut(previous).next = next;
            self.at_mut(next).previous = previous;
            if !has_above {
                break;
            }
            levels += 1;
        }
        self.free[levels - 1].push(tower);
    }
}

#[cfg(test)]
mod inspect {
    use super::*;
    use swath_plan::random::SplitMix64;

    impl Upper {
        /// Checks the links of each level against a walk through the items.
        pub(in crate::order::skip) fn inspect(&self, nodes: &NodeStore) {
            for level in 0..LEVELS_MAX {
                let mut link = level;
                loop {
                    let Link { node, next, .. } = *self.at(link);
                    assert_eq!(self.at(next).previous, link);
                    assert_eq!(nodes.at(node).tower(), Some(link - level));
                    let (mut span, mut at) = (PlaceSpan::default(), node);
                    loop {
                        span += nodes.span(at);
                        at = nodes.at(at).next();
                        if at == self.at(next).node {
                            break;
                        }
                    }
                    assert!(level >= self.levels || self.at(link).span() == span);
                    link = next;
                    if link == level {
                        break;
                    }
                }
            }
        }

        pub(in crate::order::skip) fn spoil(&mut self, random: &mut SplitMix64) {
            let link = random.below(self.links.len());
            self.links[link].change(PlaceSpan { count: 0, bytes: 1 });
        }
    }
}
