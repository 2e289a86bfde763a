//! The calls on names (stat, open, remove) that processes make for each segment.
//!
//! ```text
//! group  0 ── 16 calls ──▶ thread 1 ──▶ the next group …      each thread waits for its own calls
//!        1 ── 16 calls ──▶ thread 2 ──▶ …                     10 threads in each process
//! ```
//!
//! The latency of each call limits one process; the rate of the folders limits all of them together.

use super::model::Job;

/// The number of threads in which a process of [`swath::job`] makes its calls.
pub(super) const THREADS: usize = 10;
/// Calls that a thread takes at one time.
pub(super) const GROUP: usize = 16;

/// The processes and threads that make calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callers {
    /// Processes, at most one for each folder.
    pub processes: usize,
    /// Threads of each process. With one, each call waits for the call before.
    pub threads: usize,
}

/// One process with the library's number of threads.
pub const ONE_PROCESS: Callers = Callers { processes: 1, threads: THREADS };

/// Returns the calls that the busiest thread makes one after the other, if one process makes `count`.
pub(super) fn in_turn(count: usize, threads: usize) -> usize {
    let Some(full) = count.div_ceil(GROUP).checked_sub(1) else { return 0 };
    // The last group may be short; its length counts only if it begins a new round.
    let rounds = full / threads;
    let last = if full % threads == 0 { count - full * GROUP } else { GROUP };
    rounds * GROUP + last
}

impl Job {
    /// Returns the seconds in which processes make one call for each of `count` segments. Each process makes
    /// the calls of whole folders, one folder after the other.
    pub fn calls_s(&self, count: usize, by: Callers) -> f64 {
        let folders = self.folders.max(1);
        let folders_each = folders.div_ceil(by.processes.clamp(1, folders));
        let waits = folders_each * in_turn(count.div_ceil(folders), by.threads.max(1));
        self.waits_s(count as f64, waits as f64)
    }

    /// Returns the seconds of `count` calls, of which one caller makes `in_turn` one after the other.
    pub(super) fn waits_s(&self, count: f64, in_turn: f64) -> f64 {
        let wait_s = 1.0 / self.storage.operations_per_s + self.storage.latency_s;
        (in_turn * wait_s).max(count / self.operations_per_s())
    }

    /// Returns the seconds in which one process lists the names of `segments` segments.
    pub fn list_s(&self, segments: usize) -> f64 {
        segments as f64 / self.storage.names_per_s
    }

    /// Returns the seconds until a restarted client knows which parts are done: it lists the folders and looks
    /// at each segment.
    pub fn relist_s(&self, segments: usize) -> f64 {
        self.list_s(segments) + self.calls_s(segments, ONE_PROCESS)
    }
}
