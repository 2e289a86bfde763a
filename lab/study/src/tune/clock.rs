//! The elapsed and the remaining time.

use std::time::{Duration, Instant};

/// The progress of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TuneStep {
    /// The setting being measured; before the first one, the step of the preparation.
    pub what: &'static str,
    /// The elapsed time.
    pub elapsed: Duration,
}

/// A start and a budget.
#[derive(Clone, Copy, Debug)]
pub(super) struct BudgetClock {
    pub(super) began: Instant,
    pub(super) budget: Duration,
}

impl BudgetClock {
    pub(super) fn elapsed(self) -> Duration {
        self.began.elapsed()
    }

    pub(super) fn left(self) -> Duration {
        self.budget.saturating_sub(self.elapsed())
    }

    pub(super) fn step(self, what: &'static str) -> TuneStep {
        TuneStep { what, elapsed: self.elapsed() }
    }

    /// Returns the deadline of the next of `count` settings: twice its share, because many need less.
    pub(super) fn until(self, count: usize) -> Instant {
        let share = self.left() / u32::try_from(count).unwrap_or(1).max(1);
        Instant::now() + (share * 2).min(self.left())
    }
}
