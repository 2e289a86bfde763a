//! What time it is, and how much is left.

use std::time::{Duration, Instant};

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The setting that is measured; before the first one, what is prepared.
    pub what: &'static str,
    /// Time that went by.
    pub elapsed: Duration,
}

/// What time it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    pub(super) began: Instant,
    pub(super) budget: Duration,
}

impl Clock {
    pub(super) fn elapsed(self) -> Duration {
        self.began.elapsed()
    }

    pub(super) fn left(self) -> Duration {
        self.budget.saturating_sub(self.elapsed())
    }

    pub(super) fn step(self, what: &'static str) -> Step {
        Step { what, elapsed: self.elapsed() }
    }

    /// Until when the next of `count` settings may take: twice its share, for many need less.
    pub(super) fn until(self, count: usize) -> Instant {
        let share = self.left() / u32::try_from(count).unwrap_or(1).max(1);
        Instant::now() + (share * 2).min(self.left())
    }
}
