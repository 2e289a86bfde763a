//! Assigns the lowest free number to a lane.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::locks::Mutex;
use crate::timeline::{Lane, Timeline};

/// Lanes of one kind.
pub(super) struct Lanes {
    first: u16,
    state: Mutex<LaneState>,
}

#[derive(Default)]
struct LaneState {
    free: BinaryHeap<Reverse<u16>>,
    /// The number of lanes.
    count: u16,
}

impl Lanes {
    pub(super) fn new(first: u16) -> Self {
        Self { first, state: Mutex::default() }
    }

    /// Takes the lowest free lane; `None` if all numbers are in use.
    pub(super) fn acquire(&self) -> Option<Lane> {
        let mut state = self.state.lock();
        if let Some(Reverse(index)) = state.free.pop() {
            return Some(Lane(self.first | index));
        }
        let index = state.count;
        if index == Lane::IN_FLIGHT {
            return None;
        }
        state.count += 1;
        Some(Lane(self.first | index))
    }

    pub(super) fn release(&self, lane: Lane) {
        self.state.lock().free.push(Reverse(lane.index()));
    }
}

/// A read in flight without a thread: its lane, and when it started.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flight {
    pub(super) lane: Option<Lane>,
    pub(super) started: u64,
}

/// The lanes of one ring for reads in flight; freed when the ring ends.
pub(crate) struct Flights {
    timeline: Option<Timeline>,
    all: Vec<Lane>,
    free: BinaryHeap<Reverse<Lane>>,
}

impl Flights {
    /// Returns lanes of `timeline`, if there is one.
    pub(crate) fn new(timeline: Option<&Timeline>) -> Self {
        Self { timeline: timeline.cloned(), all: Vec::new(), free: BinaryHeap::new() }
    }

    /// Takes a lane for a read that started at this many nanoseconds.
    pub(super) fn leave(&mut self, started: u64) -> Flight {
        let Some(timeline) = &self.timeline else { return Flight::default() };
        let lane = self.free.pop().map(|Reverse(lane)| lane).or_else(|| {
            let new = timeline.0.in_flight.acquire()?;
            self.all.push(new);
            Some(new)
        });
        Flight { lane, started }
    }

    /// Frees the lane of a read that has ended.
    pub(super) fn end(&mut self, flight: Flight) {
        self.free.extend(flight.lane.map(Reverse));
    }
}

impl Drop for Flights {
    fn drop(&mut self) {
        if let Some(timeline) = &self.timeline {
            self.all.iter().for_each(|&lane| timeline.0.in_flight.release(lane));
        }
    }
}
