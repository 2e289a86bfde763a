//! Retries in place, for reads without a scheduler.

use std::time::{Duration, Instant};

use swath_plan::schedule::{Outcome, Pause};

use super::{LeaseTrouble, RETRIES, pause};
use crate::observe::Observer;

/// The longest pause at a time, so that a cancelled read ends soon.
pub(crate) const NAP: Duration = Duration::from_millis(50);

/// Counts retries, and pauses before each.
pub(crate) struct Patience<'o> {
    observer: &'o Observer,
    tried: u32,
    pause: Pause,
}

impl<'o> Patience<'o> {
    pub(crate) fn new(observer: &'o Observer) -> Self {
        Self { observer, tried: 0, pause: pause() }
    }

    /// Returns whether to retry after `outcome`, once the pause is over. A cancelled read is not
    /// retried.
    pub(crate) fn tries_again(&mut self, outcome: Outcome) -> bool {
        let Outcome::Passing { after } = outcome else { return false };
        if self.tried >= RETRIES {
            return false;
        }
        let wait = Duration::from_nanos(self.pause.draw(self.tried, after));
        self.tried += 1;
        let began = Instant::now();
        while let Some(left) = wait.checked_sub(began.elapsed()).filter(|left| !left.is_zero())
        {
            if self.observer.is_cancelled() {
                return false;
            }
            std::thread::sleep(left.min(NAP));
        }
        !self.observer.is_cancelled()
    }

    /// Calls `read` until it succeeds or fails for good; returns the number of retries too.
    pub(crate) fn until_done(
        &mut self,
        mut read: impl FnMut() -> Result<(), LeaseTrouble>,
    ) -> Result<u64, LeaseTrouble> {
        let mut again = 0;
        loop {
            match read() {
                Ok(()) => return Ok(again),
                Err(trouble) if self.tries_again(trouble.outcome) => again += 1,
                Err(trouble) => return Err(trouble),
            }
        }
    }
}
