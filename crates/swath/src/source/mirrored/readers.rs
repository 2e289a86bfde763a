//! Threads that read for a caller that may stop waiting.
//!
//! An order owns everything it touches, including the memory it reads into: a late read has no
//! receiver, and writes to memory that nothing else uses. So no code waits for these threads, not
//! even at the end.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use crate::locks::{Condvar, Mutex};
use crate::threads;

/// The order to a thread. Its argument is the error if no thread could be started.
pub(super) type ReaderOrder = Box<dyn FnOnce(io::Result<()>) + Send>;

/// The threads of one copy: one for each of its reads in flight.
#[derive(Default)]
pub(super) struct Pool {
    queue: Mutex<OrderQueue>,
    woken: Condvar,
}

#[derive(Default)]
struct OrderQueue {
    orders: VecDeque<ReaderOrder>,
    idle: usize,
    closed: bool,
}

impl Pool {
    /// Makes its threads end after their current reads.
    pub(super) fn close(&self) {
        self.queue.lock().closed = true;
        self.woken.notify_all();
    }

    /// Gives `order` to a thread; starts one, named after `copy`, if all are busy.
    pub(super) fn submit(self: &Arc<Self>, copy: usize, order: ReaderOrder) {
        let mut queue = self.queue.lock();
        queue.orders.push_back(order);
        if queue.idle >= queue.orders.len() {
            drop(queue);
            return self.woken.notify_one();
        }
        drop(queue);
        let theirs = Arc::clone(self);
        let work = move || {
            while let Some(order) = theirs.take() {
                order(Ok(()));
            }
        };
        if let Err(error) = threads::start_for_good(copy, Box::new(work)) {
            // If other threads exist, one may take the order; otherwise it fails here.
            let order = self.queue.lock().orders.pop_back();
            if let Some(order) = order {
                order(Err(error));
            }
        }
    }

    /// Waits for the next order.
    fn take(&self) -> Option<ReaderOrder> {
        let mut queue = self.queue.lock();
        loop {
            if let Some(order) = queue.orders.pop_front() {
                return Some(order);
            }
            if queue.closed {
                return None;
            }
            queue.idle += 1;
            queue = self.woken.wait(queue);
            queue.idle -= 1;
        }
    }
}
