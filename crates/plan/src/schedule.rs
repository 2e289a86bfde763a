//! The one scheduler: which slot moves which bytes next.
//!
//! A pure state machine. An executor asks [`next`](Scheduler::next) for a slot (a place for one
//! read in flight: a blocked worker, or an entry of a ring), does what the [`Action`] says, and
//! reports with [`completed`](Scheduler::completed). Time is a number that the executor passes
//! in.
//!
//! ```text
//! queue 0, buffered  |run|run|      ← slots 0, 1   (workers)
//! queue 1, direct    |run|          ← slots 2 … 17 (ring entries)
//! lease              about 1 MiB of one run: chunks are coalesced, so small ones cost no lock
//! ```
//!
//! Retries, a refused way, the rate limit and the limit on running ahead are decided only here.
//! Reads by priority class have their own order, in [`classes`](crate::classes), under the same
//! terms.

mod again;
mod terms;

use alloc::vec::Vec;
use core::num::NonZeroU64;

use crate::extent::Extent;

pub(crate) use again::Again;
pub use again::Pause;
pub(crate) use terms::Terms;

/// Nanoseconds since the read began.
pub type Nanos = u64;

/// The way of bytes from the file into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// `pread(2)` through the page cache.
    Buffered,
    /// `O_DIRECT`, bypassing the page cache.
    Direct,
}

/// Adjacent bytes that are read in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The bytes.
    pub extent: Extent,
    /// The way to read them.
    pub way: Way,
}

/// The cuts of runs into leases: at `base`, and after every `size` bytes from there.
#[derive(Clone, Copy, Debug)]
pub struct LeaseCut {
    /// An offset in the file at which a lease may start.
    pub base: u64,
    /// Size of a lease in bytes.
    pub size: NonZeroU64,
}

impl LeaseCut {
    /// Returns the number of leases in an extent.
    pub(crate) fn leases(&self, extent: Extent) -> u64 {
        let Some(last) = extent.len().checked_sub(1) else { return 0 };
        let lease = |offset: u64| offset.saturating_sub(self.base) / self.size;
        lease(extent.offset() + last) - lease(extent.offset()) + 1
    }
}

/// The setup of a scheduler.
#[derive(Clone, Debug)]
pub struct ScheduleSetup {
    /// Runs in the order in which to hand them out, one list for each queue.
    pub queues: Vec<Vec<Run>>,
    /// For each slot, the queues it serves, first choice first.
    pub slots: Vec<Vec<usize>>,
    /// The cuts.
    pub cut: LeaseCut,
    /// The number of times that a lease may fail for a transient reason and be retried.
    pub retries: u32,
    /// The pause before a retry.
    pub pause: Pause,
    /// Bytes that may be handed out beyond the [`released`](Scheduler::released) ones; `None`: all.
    pub ahead: Option<NonZeroU64>,
    /// Rate limit in bytes per second, all slots together; `None`: no limit.
    pub rate_bytes_per_s: Option<NonZeroU64>,
}

/// Bytes given to one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The bytes.
    pub extent: Extent,
    /// The way to read them.
    pub way: Way,
    /// The number of earlier attempts.
    pub tried: u32,
}

/// The next action of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action<L = Lease> {
    /// Read these bytes, then report.
    Read(L),
    /// Ask again at this time, or after a change: because of the rate limit, or of a later retry.
    WaitUntil(Nanos),
    /// Ask again after the next `released`: because of the limit on running ahead.
    Park,
    /// No bytes are left for this slot.
    Done,
    /// The whole read has failed or was cancelled.
    Stop,
}

/// The end of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All bytes were read.
    Complete,
    /// Failed for a reason that may pass, at the earliest after this time if the source knows; 0:
    /// it does not.
    Passing {
        /// Counted from now.
        after: Nanos,
    },
    /// The source refuses this way of reading; if it is the buffered one, it refuses these bytes.
    Refused,
    /// Failed for good.
    Fatal,
}

/// The consequence of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Go on.
    Continue,
    /// The bytes will be handed out again.
    Retry,
    /// These bytes, and all others for direct reads, will be read through the page cache.
    FellBack,
    /// The read has failed: report the current error.
    Failed,
}

/// The state machine; see the [module](self).
#[derive(Clone, Debug)]
pub struct Scheduler {
    setup: ScheduleSetup,
    /// Initial size of a lease in bytes.
    first_size: NonZeroU64,
    /// For each queue: the current run, and the next offset in it.
    cursors: Vec<(usize, u64)>,
    again: Again<Lease>,
    direct_refused: bool,
    keeps_order: bool,
    released: u64,
    terms: Terms,
}

impl Scheduler {
    /// Starts with all bytes still to be handed out. `released` starts at the lowest offset.
    pub fn new(mut setup: ScheduleSetup) -> Self {
        for queue in &mut setup.queues {
            queue.retain(|run| !run.extent.is_empty());
        }
        let first = |queue: &Vec<Run>| queue.first().map_or(0, |run| run.extent.offset());
        let cursors = setup.queues.iter().map(|queue| (0, first(queue))).collect();
        let starts = setup.queues.iter().flatten().map(|run| run.extent.offset());
        let released = starts.min().unwrap_or(0);
        let terms = Terms::new(setup.retries, setup.pause, setup.rate_bytes_per_s);
        let first_size = setup.cut.size;
        Self {
            setup,
            first_size,
            cursors,
            again: Again::new(),
            direct_refused: false,
            keeps_order: false,
            released,
            terms,
        }
    }

    /// Stops handing out leases as long as one waits for a retry: for consumers that take leases in
    /// order, where workers with a later lease wait.
    pub fn keep_order(&mut self) {
        self.keeps_order = true;
    }

    /// Returns the number of slots.
    pub fn slots(&self) -> usize {
        self.setup.slots.len()
    }

    /// Returns the number of leases handed out and not reported yet.
    pub fn in_flight(&self) -> usize {
        self.terms.in_flight()
    }

    /// Returns the action of `slot` at `now`. An unknown slot is done.
    pub fn next(&mut self, slot: usize, now: Nanos) -> Action {
        if self.terms.is_stopped() {
            return Action::Stop;
        }
        let candidate = self.candidate(slot, now);
        // Each lease waits until those before it are paid for, and so does the end.
        if let (Some(until), true) = (self.terms.allows_at(now), candidate != Err(Action::Park))
        {
            return Action::WaitUntil(until);
        }
        let lease = match candidate {
            Ok(lease) => lease,
            Err(instead) => return instead,
        };
        self.terms.give(lease.extent.len());
        self.take(slot, lease);
        Action::Read(lease)
    }

    /// Reports the end of `lease` at `now`.
    pub fn completed(&mut self, lease: Lease, outcome: Outcome, now: Nanos) -> Verdict {
        let verdict = self.terms.judge(lease.way, lease.tried, outcome);
        match verdict {
            Verdict::Continue | Verdict::Failed => {}
            Verdict::Retry => {
                let at = self.terms.retry_at(lease.tried, outcome, now);
                self.again.push(at, Lease { tried: lease.tried + 1, ..lease });
            }
            Verdict::FellBack => {
                self.direct_refused = true;
                self.again.push(now, Lease { way: Way::Buffered, ..lease });
            }
        }
        verdict
    }

    /// Records that everything before `offset` has been consumed: leases up to `offset + ahead` may
    /// start.
    pub fn released(&mut self, offset: u64) {
        self.released = self.released.max(offset);
    }

    /// From now on, cuts the remaining bytes every `least` bytes, or every initial size if that is
    /// more.
    pub fn cut_by(&mut self, least: NonZeroU64) {
        self.setup.cut.size = least.max(self.first_size);
    }

    /// Stops handing out leases.
    pub fn stop(&mut self) {
        self.terms.stop();
    }

    /// Returns the lease for `slot`, or the action in its place.
    fn candidate(&self, slot: usize, now: Nanos) -> Result<Lease, Action> {
        if let Some(&lease) = self.again.due(now) {
            return Ok(lease);
        }
        if let (true, Some(at)) = (self.keeps_order, self.again.soonest()) {
            return Err(Action::WaitUntil(at));
        }
        let queues = self.setup.slots.get(slot).map_or(&[][..], Vec::as_slice);
        let mut instead = Action::Done;
        for &queue in queues {
            let Some(lease) = self.head(queue) else { continue };
            let bound = self.setup.ahead.map(|ahead| self.released.saturating_add(ahead.get()));
            // The lease at `released` itself is always handed out; otherwise a limit smaller than a
            // lease would hang.
            let first = lease.extent.offset() <= self.released;
            if first || bound.is_none_or(|bound| lease.extent.end() <= bound) {
                return Ok(lease);
            }
            instead = Action::Park;
        }
        Err(self.again.soonest().map_or(instead, Action::WaitUntil))
    }

    /// Returns the next lease of `queue`.
    fn head(&self, queue: usize) -> Option<Lease> {
        let &(index, offset) = self.cursors.get(queue)?;
        let run = self.setup.queues[queue].get(index)?;
        let LeaseCut { base, size } = self.setup.cut;
        // The first cut after `offset`; the base itself if that is later.
        let cut = match offset.checked_sub(base) {
            Some(from_base) => {
                base.saturating_add((from_base / size + 1).saturating_mul(size.get()))
            }
            None => base,
        };
        let extent = Extent::between(offset, cut.min(run.extent.end()));
        let way = if self.direct_refused { Way::Buffered } else { run.way };
        Some(Lease { extent, way, tried: 0 })
    }

    /// Removes the lease that `candidate` found.
    fn take(&mut self, slot: usize, lease: Lease) {
        if self.again.take(&lease) {
            return;
        }
        for &queue in &self.setup.slots[slot] {
            let (index, offset) = &mut self.cursors[queue];
            if *offset == lease.extent.offset() && *index < self.setup.queues[queue].len() {
                *offset = lease.extent.end();
                if *offset == self.setup.queues[queue][*index].extent.end() {
                    *index += 1;
                    let next = self.setup.queues[queue].get(*index);
                    *offset = next.map_or(0, |run| run.extent.offset());
                }
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests;
