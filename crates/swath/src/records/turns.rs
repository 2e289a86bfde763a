//! Lets pieces through in the order of their numbers, whichever worker has them.
//!
//! A piece that comes too early waits until the pieces before it have been let through. A piece
//! that failed before its turn is *lost*: since it may be retried, those after it give up only
//! once the whole is known to have failed.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a waiting thread checks whether it is over.
const NAP: Duration = Duration::from_millis(50);

/// See the [module](self).
#[derive(Debug, Default)]
pub(crate) struct Turns<S> {
    line: Mutex<Line<S>>,
    moved: Condvar,
}

/// The state under the lock.
#[derive(Debug, Default)]
pub(crate) struct Line<S> {
    /// The number whose turn it is.
    pub(crate) next: u64,
    pub(crate) state: S,
    lost: BTreeSet<u64>,
    /// How many threads wait.
    waiting: usize,
}

impl<S> Turns<S> {
    /// The first turn is that of `first`.
    pub(crate) fn new(first: u64, state: S) -> Self {
        let line = Line { next: first, state, lost: BTreeSet::new(), waiting: 0 };
        Self { line: Mutex::new(line), moved: Condvar::new() }
    }

    /// Waits until at most `ahead` numbers are before `number`; `None` if that will not happen,
    /// which is checked once `is_over`.
    pub(crate) fn wait(
        &self,
        number: u64,
        ahead: u64,
        is_over: &dyn Fn() -> bool,
    ) -> Option<MutexGuard<'_, Line<S>>> {
        let mut line = self.line();
        loop {
            if number <= line.next.saturating_add(ahead) {
                return Some(line);
            }
            if line.lost.first().is_some_and(|&lost| lost < number) && is_over() {
                return None;
            }
            line.waiting += 1;
            let woken = self.moved.wait_timeout(line, NAP);
            line = woken.unwrap_or_else(PoisonError::into_inner).0;
            line.waiting -= 1;
        }
    }

    /// Ends a change of the line and wakes the threads that wait for it.
    pub(crate) fn moved(&self, line: MutexGuard<'_, Line<S>>) {
        let somebody_waits = line.waiting > 0;
        drop(line);
        if somebody_waits {
            self.moved.notify_all();
        }
    }

    /// `number` failed before its turn.
    pub(crate) fn lost(&self, number: u64) {
        let mut line = self.line();
        if number >= line.next {
            line.lost.insert(number);
        }
        self.moved(line);
    }

    /// `number` is tried, perhaps again.
    pub(crate) fn found(&self, number: u64) {
        self.line().lost.remove(&number);
    }

    pub(crate) fn line(&self) -> MutexGuard<'_, Line<S>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
