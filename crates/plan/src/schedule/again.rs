//! The reads to repeat, each at its time: not before the time that the source gives; otherwise
//! after growing pauses, and never all at once.

use alloc::vec::Vec;

use super::Nanos;
use crate::random::next_word;

/// The longest pause, unless the source asks for a longer one.
const MOST: Nanos = 2_000_000_000;

/// The pause before a read that failed for a transient reason is retried. The default only waits if
/// the source asks for it.
///
/// ```
/// use swath_plan::schedule::Pause;
///
/// let mut pause = Pause { first: 1000, seed: 7 };
/// assert!((500..=1000).contains(&pause.draw(0, 0)), "by half at most, so that not all come at
/// once");
/// assert!((2000..=4000).contains(&pause.draw(2, 0)), "doubled each time");
/// assert!((9000..=11_250).contains(&pause.draw(0, 9000)), "never before the source says");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pause {
    /// The pause before the first retry; doubled each time. 0: no pause.
    pub first: Nanos,
    /// Determines the variation of pauses.
    pub seed: u64,
}

impl Pause {
    /// Returns the pause before another retry, after `tried` earlier ones, if the source asks for
    /// `after`.
    pub fn draw(&mut self, tried: u32, after: Nanos) -> Nanos {
        let doubled = self.first.checked_shl(tried).unwrap_or(MOST).min(MOST.max(self.first));
        let doubled = if self.first > 0 && doubled == 0 { MOST } else { doubled };
        let own = doubled - self.below(doubled / 2 + 1);
        let asked = after.saturating_add(self.below(after / 4 + 1));
        own.max(asked)
    }

    /// Returns a number below `bound`.
    fn below(&mut self, bound: u64) -> u64 {
        next_word(&mut self.seed) % bound.max(1)
    }
}

/// Leases to hand out again, each at its time.
#[derive(Clone, Debug)]
pub(crate) struct Again<L> {
    waiting: Vec<(Nanos, L)>,
}

impl<L: PartialEq> Again<L> {
    pub(crate) fn new() -> Self {
        Self { waiting: Vec::new() }
    }

    pub(crate) fn push(&mut self, not_before: Nanos, lease: L) {
        self.waiting.push((not_before, lease));
    }

    /// Returns the latest addition among those that are due.
    pub(crate) fn due(&self, now: Nanos) -> Option<&L> {
        let due = |entry: &&(Nanos, L)| entry.0 <= now;
        self.waiting.iter().rev().find(due).map(|(_, lease)| lease)
    }

    /// Returns the time of the next one.
    pub(crate) fn soonest(&self) -> Option<Nanos> {
        self.waiting.iter().map(|&(not_before, _)| not_before).min()
    }

    /// Removes the lease that `due` found; returns whether it was here.
    pub(crate) fn take(&mut self, lease: &L) -> bool {
        let found = self.waiting.iter().rposition(|(_, other)| other == lease);
        found.map(|place| self.waiting.remove(place)).is_some()
    }
}
