//! A pool: a rate that concurrent users share equally, up to a limit for each.
//!
//! With `n` users each gets `min(each, all / n)`. All get the same, so one number is enough: the amount
//! that a user since the beginning would have got. A user that needs `amount` ends when this number has
//! grown by `amount`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::model::Bandwidth;

/// A rate that concurrent users share equally, up to a limit for each.
///
/// ```
/// use swath_study::scale::{Bandwidth, Pool};
///
/// let mut pool = Pool::new(Bandwidth { all: 10.0, each: 6.0 });
/// pool.join(0.0, 6.0, 0, 0);
/// assert_eq!(pool.next(&[0]), Some(1.0)); // alone: its own limit
/// pool.join(0.0, 6.0, 1, 0);
/// assert_eq!(pool.next(&[0, 0]), Some(1.2)); // two share
/// assert_eq!(pool.leave(1.2), 0);
/// ```
#[derive(Clone, Debug)]
pub struct Pool {
    rate: Bandwidth,
    users: usize,
    /// The bytes that a user since the beginning would have got.
    given: f64,
    /// The time of the last update of `given`.
    at: f64,
    waiting: BinaryHeap<Reverse<User>>,
    order: u64,
    /// The sum of all amounts that were taken completely.
    total: f64,
}

/// A user, ordered by end, then by time of joining.
#[derive(Clone, Copy, Debug)]
struct User {
    ends: f64,
    order: u64,
    amount: f64,
    worker: u32,
    epoch: u32,
}

impl PartialEq for User {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for User {}
impl PartialOrd for User {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for User {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.ends.total_cmp(&other.ends).then(self.order.cmp(&other.order))
    }
}

impl Pool {
    /// Returns an empty pool.
    pub fn new(rate: Bandwidth) -> Self {
        let waiting = BinaryHeap::new();
        Self { rate, users: 0, given: 0.0, at: 0.0, waiting, order: 0, total: 0.0 }
    }

    /// Returns whether the pool has no limit, so that taking from it takes no time.
    pub fn is_endless(&self) -> bool {
        self.rate.all.is_infinite() && self.rate.each.is_infinite()
    }

    fn rate(&self) -> f64 {
        self.rate.each.min(self.rate.all / self.users.max(1) as f64)
    }

    fn advance(&mut self, now: f64) {
        if self.users > 0 {
            self.given += (now - self.at) * self.rate();
        }
        self.at = now;
    }

    /// Begins to take `amount` for a worker. `epoch` identifies its current life.
    pub fn join(&mut self, now: f64, amount: f64, worker: u32, epoch: u32) {
        self.advance(now);
        self.users += 1;
        self.order += 1;
        let (ends, order) = (self.given + amount, self.order);
        self.waiting.push(Reverse(User { ends, order, amount, worker, epoch }));
    }

    /// Removes a lost worker that has not taken its whole amount.
    pub fn abandon(&mut self, now: f64) {
        self.advance(now);
        self.users -= 1;
    }

    /// Returns the time at which the next user ends. Lost users, whose epoch has passed, are dropped.
    pub fn next(&mut self, epochs: &[u32]) -> Option<f64> {
        while let Some(Reverse(user)) = self.waiting.peek() {
            if epochs[user.worker as usize] == user.epoch {
                // Rounding must not move the end into the past.
                return Some(self.at + ((user.ends - self.given) / self.rate()).max(0.0));
            }
            self.waiting.pop();
        }
        None
    }

    /// Removes the user that [`next`](Self::next) found; returns its worker.
    ///
    /// # Panics
    ///
    /// If there is no user.
    pub fn leave(&mut self, now: f64) -> u32 {
        self.advance(now);
        let Reverse(user) = self.waiting.pop().expect("`next` has found it");
        self.users -= 1;
        self.total += user.amount;
        if self.users == 0 {
            // Restart from 0 for precision.
            self.given = 0.0;
            self.waiting.clear();
        }
        user.worker
    }

    /// Returns the bytes taken as a share of those that the pool could have given in `seconds`.
    pub fn used(&self, seconds: f64) -> f64 {
        if self.is_endless() || seconds <= 0.0 {
            0.0
        } else {
            self.total / self.rate.all / seconds
        }
    }
}
