//! The next part of each worker, and the state of each part.

use std::collections::VecDeque;

use super::model::Strategy;

/// The parts of a job.
#[derive(Debug)]
pub(super) struct Parts {
    strategy: Strategy,
    /// The first part that was not given to a worker; with static shares, the number of parts.
    next: u32,
    /// The static shares: the next part and the end of each worker's share.
    shares: Vec<Share>,
    /// Parts of lost workers.
    back: VecDeque<u32>,
    states: Vec<PartState>,
    /// Attempts in the order in which they began; some have ended.
    running: VecDeque<(f64, u32)>,
    ended: usize,
    ended_s: f64,
    pub(super) done: usize,
}

#[derive(Clone, Copy, Debug)]
struct Share {
    next: u32,
    end: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct PartState {
    running: u8,
    begun: u32,
    began: f64,
    is_hedged: bool,
    is_done: bool,
}

/// The next action of a free worker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Next {
    /// It does this part.
    Part(u32),
    /// It does a part that is late on another worker.
    Late(u32),
    /// It waits, perhaps until a time at which a part may be late.
    Wait(Option<f64>),
}

impl Parts {
    pub(super) fn new(count: u32, workers: u32, strategy: Strategy) -> Self {
        let share = |worker: u32| {
            let cut = |at: u32| {
                let place = u64::from(count) * u64::from(at) / u64::from(workers);
                u32::try_from(place).unwrap_or(count)
            };
            Share { next: cut(worker), end: cut(worker + 1) }
        };
        let is_static = strategy == Strategy::Static;
        Self {
            strategy,
            next: if is_static { count } else { 0 },
            shares: if is_static { (0..workers).map(share).collect() } else { Vec::new() },
            back: VecDeque::new(),
            states: vec![PartState::default(); count as usize],
            running: VecDeque::new(),
            ended: 0,
            ended_s: 0.0,
            done: 0,
        }
    }

    /// Returns the next part of a worker's own share.
    pub(super) fn own(&mut self, worker: u32) -> Option<u32> {
        let share = self.shares.get_mut(worker as usize)?;
        if share.next == share.end {
            return None;
        }
        share.next += 1;
        Some(share.next - 1)
    }

    /// Gives the unbegun parts of a worker that is gone for good to others.
    pub(super) fn inherit(&mut self, worker: u32) {
        while let Some(part) = self.own(worker) {
            self.back.push_back(part);
        }
    }

    /// Returns the task that the client gives to a free worker.
    pub(super) fn next(&mut self, now: f64) -> Next {
        while let Some(part) = self.back.pop_front() {
            if !self.states[part as usize].is_done {
                return Next::Part(part);
            }
        }
        if (self.next as usize) < self.states.len() {
            self.next += 1;
            return Next::Part(self.next - 1);
        }
        let Strategy::Hedged { late } = self.strategy else { return Next::Wait(None) };
        self.late(now, late)
    }

    /// Returns the part that is late for the longest time, if there is one.
    fn late(&mut self, now: f64, late: f64) -> Next {
        while let Some(&(began, part)) = self.running.front() {
            let state = self.states[part as usize];
            let is_old = state.began.total_cmp(&began).is_ne();
            if state.is_done || state.running != 1 || state.is_hedged || is_old {
                self.running.pop_front();
                continue;
            }
            if self.ended == 0 {
                return Next::Wait(None);
            }
            let mean = self.ended_s / self.ended as f64;
            let at = began + late * mean;
            if now < at {
                return Next::Wait(Some(at));
            }
            self.running.pop_front();
            self.states[part as usize].is_hedged = true;
            return Next::Late(part);
        }
        Next::Wait(None)
    }

    /// Begins an attempt; returns its number among the attempts of this part.
    pub(super) fn begin(&mut self, part: u32, now: f64) -> u32 {
        let state = &mut self.states[part as usize];
        state.running += 1;
        state.begun += 1;
        state.began = now;
        if matches!(self.strategy, Strategy::Hedged { .. }) {
            self.running.push_back((now, part));
        }
        state.begun - 1
    }

    /// Ends an attempt; returns whether it is the first of its part to end.
    pub(super) fn end(&mut self, part: u32, seconds: f64) -> bool {
        let state = &mut self.states[part as usize];
        state.running -= 1;
        let is_first = !std::mem::replace(&mut state.is_done, true);
        if is_first {
            self.done += 1;
            self.ended += 1;
            self.ended_s += seconds;
        }
        is_first
    }

    /// Ends an attempt whose worker is gone.
    pub(super) fn lose(&mut self, part: u32) {
        self.states[part as usize].running -= 1;
    }

    /// Tells the client of a lost attempt; returns whether another worker must do the part.
    pub(super) fn miss(&mut self, part: u32) -> bool {
        let state = &mut self.states[part as usize];
        let is_missing = !state.is_done && state.running == 0;
        if is_missing {
            state.is_hedged = false;
            self.back.push_back(part);
        }
        is_missing
    }
}
