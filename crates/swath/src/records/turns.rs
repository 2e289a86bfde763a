//! Lets workers take turns in the order of their pieces.
//!
//! A piece that comes too early waits for the turns of all pieces before it. A piece that failed
//! before its turn is *lost*: since it may be retried, later pieces give up only once the whole
//! read has failed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::locks::{Condvar, Mutex, MutexGuard};

/// How often a waiting thread checks whether it is over.
const NAP: Duration = Duration::from_millis(50);

/// See the [module](self).
#[derive(Debug, Default)]
pub(crate) struct Turns<S> {
    line: Mutex<Line<S>>,
}

/// The state under the lock.
#[derive(Debug, Default)]
pub(crate) struct Line<S> {
    /// The number whose turn it is.
    pub(crate) next: u64,
    pub(crate) state: S,
    lost: BTreeSet<u64>,
    waiting: WaitingThreads,
}

/// Waiting threads, by the turn that each waits for. Each has a condition of its own, so that a turn wakes
/// only the threads that can use it: waking all would cost one wake-up per worker for each piece.
#[derive(Debug, Default)]
struct WaitingThreads {
    threads: BTreeMap<Key, Arc<Condvar>>,
    last: u64,
    /// Conditions of threads that have waited, for reuse without an allocation.
    spare: Vec<Arc<Condvar>>,
}

/// Ordered by turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    turn: u64,
    /// Distinguishes threads that wait for the same turn.
    number: u64,
}

/// A thread that waits.
#[derive(Debug)]
struct WaitingPlace {
    key: Key,
    moved: Arc<Condvar>,
}

impl WaitingThreads {
    /// Adds a thread that waits for `turn`.
    fn join(&mut self, turn: u64) -> WaitingPlace {
        self.last += 1;
        let key = Key { turn, number: self.last };
        let moved = self.spare.pop().unwrap_or_default();
        self.threads.insert(key, Arc::clone(&moved));
        WaitingPlace { key, moved }
    }

    /// Removes a thread that has waited, until its turn or in vain.
    fn leave(&mut self, place: WaitingPlace) {
        self.threads.remove(&place.key);
        self.spare.push(place.moved);
    }

    /// Takes out the threads that may continue at turn `next`.
    fn due(&mut self, next: u64) -> Vec<Arc<Condvar>> {
        let mut due = Vec::new();
        while let Some(first) = self.threads.first_entry()
            && first.key().turn <= next
        {
            due.push(first.remove());
        }
        due
    }
}

impl<S> Turns<S> {
    /// Returns turns that begin with that of `first`.
    pub(crate) fn new(first: u64, state: S) -> Self {
        let waiting = WaitingThreads::default();
        let line = Line { next: first, state, lost: BTreeSet::new(), waiting };
        Self { line: Mutex::new(line) }
    }

    /// Waits until at most `ahead` numbers are before `number`; `None` if that will never happen,
    /// because an earlier one was lost and `is_over`.
    pub(crate) fn wait(
        &self,
        number: u64,
        ahead: u64,
        is_over: &dyn Fn() -> bool,
    ) -> Option<MutexGuard<'_, Line<S>>> {
        let mut line = self.line();
        let turn = number.saturating_sub(ahead);
        let mut place = None;
        let comes = loop {
            if turn <= line.next {
                break true;
            }
            if line.lost.first().is_some_and(|&lost| lost < number) && is_over() {
                break false;
            }
            let place = place.get_or_insert_with(|| line.waiting.join(turn));
            let woken = place.moved.wait_timeout(line, NAP);
            line = woken.0;
        };
        if let Some(place) = place {
            line.waiting.leave(place);
        }
        comes.then_some(line)
    }

    /// Ends a change of the line and wakes the threads whose turn has come.
    pub(crate) fn moved(&self, mut line: MutexGuard<'_, Line<S>>) {
        let next = line.next;
        let due = line.waiting.due(next);
        drop(line);
        due.iter().for_each(|thread| thread.notify_one());
    }

    /// Records that `number` failed before its turn; all waiting threads check whether theirs will come.
    pub(crate) fn lost(&self, number: u64) {
        let mut line = self.line();
        if number >= line.next {
            line.lost.insert(number);
        }
        let all: Vec<_> = line.waiting.threads.values().cloned().collect();
        drop(line);
        all.iter().for_each(|thread| thread.notify_one());
    }

    /// Records that `number` is being tried, perhaps again.
    pub(crate) fn found(&self, number: u64) {
        self.line().lost.remove(&number);
    }

    pub(crate) fn line(&self) -> MutexGuard<'_, Line<S>> {
        self.line.lock()
    }
}
