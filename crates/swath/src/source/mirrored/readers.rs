//! Threads that read for somebody who may stop waiting.
//!
//! They own all they touch, the memory they read into as well: a read that comes too late finds
//! nobody, and writes to nothing that anybody has. So nobody waits for them, not even at the end.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use swath_plan::mirror::Outcome;
use swath_plan::schedule::Nanos;

use super::fetch::{Piece, Trouble};
use super::group::Shared;

/// A chunk to be read.
pub(super) struct Order {
    pub(super) piece: Piece,
    pub(super) buffer: Vec<u8>,
    pub(super) since: Nanos,
    pub(super) reply: Sender<Answer>,
}

/// A chunk that was read, or why not.
pub(super) struct Answer {
    pub(super) copy: usize,
    pub(super) buffer: Vec<u8>,
    pub(super) ended: Result<(), Trouble>,
}

/// The threads of one copy: as many as it has reads in flight.
#[derive(Default)]
pub(super) struct Pool {
    queue: Mutex<Queue>,
    woken: Condvar,
}

#[derive(Default)]
struct Queue {
    orders: VecDeque<Order>,
    idle: usize,
    closed: bool,
}

impl Pool {
    /// Ends its threads, once they have read what they are reading.
    pub(super) fn close(&self) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.woken.notify_all();
    }

    /// The next order, waited for.
    fn take(&self) -> Option<Order> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(order) = queue.orders.pop_front() {
                return Some(order);
            }
            if queue.closed {
                return None;
            }
            queue.idle += 1;
            queue = self.woken.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.idle -= 1;
        }
    }
}

/// Gives `order` to a thread of `copy`; starts one if all are busy.
pub(super) fn submit(shared: &Arc<Shared>, copy: usize, order: Order) {
    let pool = &shared.pools[copy];
    let mut queue = pool.queue.lock().unwrap_or_else(PoisonError::into_inner);
    queue.orders.push_back(order);
    if queue.idle >= queue.orders.len() {
        drop(queue);
        return pool.woken.notify_one();
    }
    drop(queue);
    let theirs = Arc::clone(shared);
    let thread = std::thread::Builder::new().name(format!("swath-mirror-{copy}"));
    if let Err(error) = thread.spawn(move || work(&theirs, copy)) {
        // The others may come to it; if there is none, here is nobody to read it.
        let mut queue = pool.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(order) = queue.orders.pop_back() {
            drop(queue);
            answer(shared, copy, order, |_, _| {
                Err(Trouble { outcome: Outcome::Failed, error })
            });
        }
    }
}

fn work(shared: &Shared, copy: usize) {
    while let Some(order) = shared.pools[copy].take() {
        answer(shared, copy, order, |piece, target| shared.fill(copy, piece, target));
    }
}

fn answer(
    shared: &Shared,
    copy: usize,
    order: Order,
    read: impl FnOnce(Piece, &mut [u8]) -> Result<(), Trouble>,
) {
    let Order { piece, mut buffer, since, reply } = order;
    let ended = catch_unwind(AssertUnwindSafe(|| read(piece, &mut buffer)));
    let ended = ended.unwrap_or_else(|_| {
        let error = io::Error::other("the source panicked");
        Err(Trouble { outcome: Outcome::Failed, error })
    });
    shared.landed(copy, piece.chunk.len(), since);
    if let Err(unheard) = reply.send(Answer { copy, buffer, ended }) {
        shared.put_bounce(unheard.0.buffer);
    }
}
