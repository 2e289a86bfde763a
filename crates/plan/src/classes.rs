//! Reads by priority class: the urgent parts first, within a hard window.
//!
//! A *class* is the bytes of one priority; a smaller number is more urgent. [`Arranged`] sorts
//! and coalesces what a plan lists; [`Classes`] decides which bytes a slot reads next.
//!
//! ```text
//! order     class 0  class 1  class 2  class 3  class 4
//! state     complete in flight in flight begins?          window 3: yes, 1 .. 3 are in flight
//!                    ↑ first that is not complete          window 2: no, until 1 is complete
//! ```
//!
//! **How it relates to [`schedule`](crate::schedule).** It is the same scheduler with another
//! order: the same [`Action`]s, [`Outcome`]s and [`Verdict`]s, and the same terms for retries,
//! refused ways and the rate (one implementation, used by both). Only the order differs: there,
//! runs of one file in queues that never change, with a limit in bytes; here, pieces of several
//! files in an order that the caller may change, with a limit in classes. An executor needs one of
//! them and asks it the same questions.
//!
//! **The window.** Classes are begun in order, and the class at position `p` only when the one at
//! `p - window`, and so every one before that, is complete: at most `window` classes are in flight,
//! and none is further ahead. With a window of 1 (*strict*), a class begins when the one before it
//! is complete. Slots without work get [`Park`](Action::Park).
//!
//! It has no atomics and no locks: an executor puts it under one mutex. So its interleavings are
//! the possible orders of calls, and the tests run thousands of those.

mod arrange;
mod chunks;

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU64;
use core::ops::Range;

use crate::schedule::{Action, Again, Nanos, Outcome, Pause, Terms, Verdict, Way};

pub use arrange::{Arranged, ClassPiece, Item, Shape, Span, by_position};
pub use chunks::Chunks;

/// Approximate size of a lease in bytes: adjacent chunks of a class are read together.
pub const LEASE_SIZE: u64 = 1 << 20;
/// Scattered pieces of a class are handed out together, in leases of at least this many bytes.
const SMALL_LEASE: u64 = 128 << 10;

/// The setup of [`Classes`].
#[derive(Clone, Debug)]
pub struct ClassSetup {
    /// The extents to read.
    pub arranged: Arc<Arranged>,
    /// How each file is read.
    pub ways: Vec<Way>,
    /// The number of times that a piece may fail for a transient reason and be retried.
    pub retries: u32,
    /// The pause before a retry.
    pub pause: Pause,
    /// Rate limit in bytes per second, all slots together; `None`: no limit.
    pub rate_bytes_per_s: Option<NonZeroU64>,
}

/// Pieces of one class and file, given to one slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassLease {
    /// The class to read: its index, see [`Arranged::number`].
    pub class: usize,
    /// Index of the file.
    pub file: usize,
    /// Places in the queue of the class; see [`Arranged::piece`].
    pub places: Range<usize>,
    /// How to read them.
    pub way: Way,
    /// The number of earlier attempts at the first of them.
    pub tried: u32,
}

/// The progress of one class.
#[derive(Clone, Debug)]
struct Class {
    /// The part of the queue that is still to be handed out.
    places: Range<usize>,
    /// Number of incomplete pieces.
    left: usize,
    /// Bytes still to be handed out.
    waiting: u64,
    begun: bool,
}

/// The state machine; see the [module](self).
#[derive(Clone, Debug)]
pub struct Classes {
    arranged: Arc<Arranged>,
    ways: Vec<Way>,
    classes: Vec<Class>,
    /// Classes, the most urgent first.
    order: Vec<usize>,
    /// The position of the class being handed out.
    turn: usize,
    /// Classes before this position are complete.
    settled: usize,
    /// The pieces of several classes that have been handed out; empty if no piece has several.
    taken: Vec<bool>,
    again: Again<ClassLease>,
    /// Complete classes that are still to be returned.
    fresh: VecDeque<usize>,
    max_skew: usize,
    terms: Terms,
}

impl Classes {
    /// Starts with everything still to be handed out. Classes without bytes are complete.
    ///
    /// # Panics
    ///
    /// If there are fewer ways than files.
    pub fn new(setup: ClassSetup) -> Self {
        let ClassSetup { arranged, ways, retries, pause, rate_bytes_per_s } = setup;
        assert!(ways.len() >= arranged.files(), "a way for each file");
        let class = |index| {
            let places = arranged.queue(index);
            Class { left: places.len(), places, waiting: arranged.bytes(index), begun: false }
        };
        let classes: Vec<_> = (0..arranged.classes()).map(class).collect();
        let fresh = (0..classes.len()).filter(|&index| classes[index].left == 0).collect();
        let shared = if arranged.is_shared() { arranged.pieces().len() } else { 0 };
        let mut new = Self {
            order: (0..classes.len()).collect(),
            taken: vec![false; shared],
            terms: Terms::new(retries, pause, rate_bytes_per_s),
            turn: 0,
            settled: 0,
            again: Again::new(),
            max_skew: 0,
            arranged,
            ways,
            classes,
            fresh,
        };
        new.settle();
        new
    }

    /// Returns the next action at `now`, the same for any slot.
    pub fn next(&mut self, now: Nanos) -> Action<ClassLease> {
        if self.terms.is_stopped() {
            return Action::Stop;
        }
        let candidate = self.candidate(now);
        // Each lease waits until those before it are paid for, and so does the end.
        if let (Some(until), true) = (self.terms.allows_at(now), candidate != Err(Action::Park))
        {
            return Action::WaitUntil(until);
        }
        match candidate {
            Ok(lease) => {
                self.give(&lease);
                Action::Read(lease)
            }
            Err(instead) => instead,
        }
    }

    /// Whether [`next`](Self::next) has a lease for one more slot at `now`: then a parked slot
    /// should call it.
    pub fn has_more(&mut self, now: Nanos) -> bool {
        !self.terms.is_stopped() && self.candidate(now).is_ok()
    }

    /// Reports the end of `lease` at `now`: its first `done` pieces are complete, and the piece
    /// after them, if any, ended with `outcome`.
    pub fn completed(
        &mut self,
        lease: &ClassLease,
        done: usize,
        outcome: Outcome,
        now: Nanos,
    ) -> Verdict {
        let verdict = self.terms.judge(lease.way, lease.tried, outcome);
        let failed = lease.places.start.saturating_add(done).min(lease.places.end);
        for place in lease.places.start..failed {
            self.complete(place);
        }
        self.settle();
        let rest = |places: Range<usize>, way, tried| ClassLease {
            places,
            way,
            tried,
            class: lease.class,
            file: lease.file,
        };
        match verdict {
            Verdict::Continue | Verdict::Failed => {}
            Verdict::Retry => {
                // The pieces after the failed one have not been tried; the failed one comes first.
                self.push_again(now, rest(failed + 1..lease.places.end, lease.way, 0));
                let before = if done == 0 { lease.tried } else { 0 };
                let at = self.terms.retry_at(before, outcome, now);
                self.push_again(at, rest(failed..failed + 1, lease.way, before + 1));
            }
            Verdict::FellBack => {
                self.ways[lease.file] = Way::Buffered;
                self.push_again(now, rest(failed..lease.places.end, Way::Buffered, 0));
            }
        }
        verdict
    }

    fn push_again(&mut self, not_before: Nanos, lease: ClassLease) {
        if !lease.places.is_empty() {
            self.again.push(not_before, lease);
        }
    }

    /// Returns a complete class that was not returned yet, in the order of completion.
    pub fn next_complete(&mut self) -> Option<usize> {
        self.fresh.pop_front()
    }

    /// Makes `class` the next one to begin. A class that has begun keeps its place, and so do those
    /// before it: the window always holds. Returns whether it moved.
    pub fn promote(&mut self, class: usize) -> bool {
        self.advance();
        let first = match self.order.get(self.turn) {
            Some(&turn) => self.turn + usize::from(self.classes[turn].begun),
            None => return false,
        };
        // A complete class could move anywhere, but would not be counted there.
        let found = self.order[first..].iter().position(|&other| other == class);
        let Some(found) = found.filter(|_| !self.is_complete(class)) else { return false };
        self.order[first..=first + found].rotate_right(1);
        true
    }

    /// Whether [`next_complete`](Self::next_complete) has a class to return.
    pub fn has_complete(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// Returns the classes, the most urgent first.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Whether all bytes of `class` have been read.
    pub fn is_complete(&self, class: usize) -> bool {
        self.classes.get(class).is_some_and(|class| class.left == 0)
    }

    /// Whether every class is complete.
    pub fn all_complete(&self) -> bool {
        self.settled == self.order.len()
    }

    /// Returns the largest number of classes at any time from the first incomplete one to the last
    /// begun one, both included: at most the window.
    pub fn max_skew(&self) -> usize {
        self.max_skew
    }

    /// Returns the number of leases handed out and not reported yet.
    pub fn in_flight(&self) -> usize {
        self.terms.in_flight()
    }

    /// Stops handing out leases.
    pub fn stop(&mut self) {
        self.terms.stop();
    }

    /// Returns the lease for a slot, or the action in its place.
    fn candidate(&mut self, now: Nanos) -> Result<ClassLease, Action<ClassLease>> {
        if let Some(lease) = self.again.due(now) {
            return Ok(lease.clone());
        }
        self.advance();
        let later = self.again.soonest().map(Action::WaitUntil);
        let Some(&index) = self.order.get(self.turn) else {
            return Err(later.unwrap_or(Action::Done));
        };
        let begun = self.classes[index].begun;
        if !begun && self.turn - self.settled >= self.arranged.window() {
            return Err(later.unwrap_or(Action::Park));
        }
        Ok(self.batch(index))
    }

    /// Advances to the first class, and in it to the first place, that can be handed out.
    fn advance(&mut self) {
        while let Some(&index) = self.order.get(self.turn) {
            let class = &mut self.classes[index];
            while class.places.start < class.places.end {
                let piece = self.arranged.index_of(class.places.start);
                if !self.taken.get(piece).is_some_and(|&taken| taken) {
                    return;
                }
                class.places.start += 1;
            }
            self.turn += 1;
        }
    }

    /// Returns a lease from the queue of a class whose first place can be handed out.
    fn batch(&self, index: usize) -> ClassLease {
        let class = &self.classes[index];
        let arranged = &*self.arranged;
        let share = class.waiting / arranged.slots() as u64;
        let most = share.clamp(SMALL_LEASE, LEASE_SIZE);
        let first = class.places.start;
        let file = arranged.piece(first).file;
        let mut bytes = arranged.piece(first).extent.len();
        let mut end = first + 1;
        while end < class.places.end {
            let piece = arranged.piece(end);
            bytes = bytes.saturating_add(piece.extent.len());
            let taken = self.taken.get(arranged.index_of(end)).is_some_and(|&taken| taken);
            if piece.file != file || taken || bytes > most {
                break;
            }
            end += 1;
        }
        ClassLease { class: index, file, places: first..end, way: self.ways[file], tried: 0 }
    }

    /// Removes the lease that `candidate` found.
    fn give(&mut self, lease: &ClassLease) {
        let Self { arranged, classes, taken, .. } = self;
        let pieces = lease.places.clone().map(|place| arranged.piece(place));
        self.terms.give(pieces.map(|piece| piece.extent.len()).sum());
        if self.again.take(lease) {
            return;
        }
        for place in lease.places.clone() {
            let piece = arranged.piece(place);
            if let Some(taken) = taken.get_mut(arranged.index_of(place)) {
                *taken = true;
            }
            for &class in arranged.classes_of(piece) {
                classes[class].waiting -= piece.extent.len();
            }
        }
        let class = &mut classes[lease.class];
        class.places.start = lease.places.end;
        class.begun = true;
        self.max_skew = self.max_skew.max(self.turn - self.settled + 1);
    }

    /// Marks a piece as read.
    fn complete(&mut self, place: usize) {
        let Self { arranged, classes, fresh, .. } = self;
        for &class in arranged.classes_of(arranged.piece(place)) {
            let left = &mut classes[class].left;
            *left = left.saturating_sub(1);
            if *left == 0 {
                fresh.push_back(class);
            }
        }
    }

    fn settle(&mut self) {
        let order = &self.order;
        while order.get(self.settled).is_some_and(|&class| self.classes[class].left == 0) {
            self.settled += 1;
        }
    }
}

#[cfg(test)]
mod simulate;
#[cfg(test)]
mod tests;
