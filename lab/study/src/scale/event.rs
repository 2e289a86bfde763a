//! The events of a simulated job, and their queue: earliest first, then in the order of insertion.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A message of a worker, with a receipt, a request, or both, arrives at the client.
    Message { receipt: bool, request: bool },
    /// A worker has received its part.
    Begin,
    /// The worker has opened its inputs.
    Opened,
    /// The worker has ended its wait for an unshared resource.
    Waited,
    /// The worker's segment has its name.
    Named,
    /// A worker fails.
    Fail { for_good: bool },
    /// A failed worker is back.
    Back,
    /// The client notices that a part has no worker.
    Missed(u32),
    /// The client looks for late parts.
    Check,
    /// The client fails.
    ClientFails,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) at: f64,
    order: u64,
    pub(super) what: What,
    pub(super) worker: u32,
    pub(super) epoch: u32,
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Event {}
impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Event {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.total_cmp(&other.at).then(self.order.cmp(&other.order))
    }
}

/// The queue of coming events.
#[derive(Debug, Default)]
pub(super) struct EventQueue {
    events: BinaryHeap<Reverse<Event>>,
    order: u64,
}

impl EventQueue {
    /// Adds an event of a worker, unless its time is infinite.
    pub(super) fn push(&mut self, at: f64, what: What, worker: u32, epoch: u32) {
        if at.is_finite() {
            self.order += 1;
            self.events.push(Reverse(Event { at, order: self.order, what, worker, epoch }));
        }
    }

    /// Returns the time of the next event; infinity if there is none.
    pub(super) fn first(&self) -> f64 {
        self.events.peek().map_or(f64::INFINITY, |Reverse(event)| event.at)
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        self.events.pop().map(|Reverse(event)| event)
    }
}
