//! Chooses the copy for each chunk, and the next one if that fails.
//!
//! A pure state machine. A thread that needs a chunk [`begin`](Mirrors::begin)s a [`Request`], asks
//! [`next`](Mirrors::next) which copy to read, and reports when the read has
//! [`landed`](Mirrors::landed) and how it [`completed`](Mirrors::completed), until the chunk is
//! read or no copy is left.
//!
//! ```text
//! copy 0   device a   |read|read|read|read|        slots: reads in flight
//! copy 1   device a   spare: read if copy 0 fails, or instead of it
//! copy 2   device b   |  read  |  read  |  ×       slow: gets less, and nothing near the end
//! ```
//!
//! * **Pull.** A chunk goes to the fastest copy that has a free slot; a slow copy keeps its
//!   slots longer, so it gets fewer chunks. Towards the end a slow copy gets no chunk that it
//!   would finish last.
//! * **One copy for each device.** Of the copies on one device only one is read at a time: together
//!   they are slower.
//! * **Fail-over.** A chunk is tried on every copy before it is given up. A copy that fails at
//!   several chunks in a row is given up, and then only used for chunks that no other copy has.
//! * **Hedges.** A read that takes longer than nearly all others is repeated on another copy,
//!   within a [budget](Hedging) that is never exceeded.
//!
//! Source: study A (mirrored loading), whose fixed even split waits for the slowest copy.

mod len;
mod pace;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use crate::extent::Extent;
use crate::schedule::Nanos;

pub use len::{Agreed, agree};
use pace::{Pace, Recent};

/// The most copies: each request has one bit for each.
pub const MOST: usize = 64;

/// One copy, as it was when opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// A number for the device: equal for copies on the same one.
    pub device: usize,
    /// Its length in bytes; `None` if it cannot be read at all.
    pub len: Option<u64>,
}

/// Second reads, for reads that take long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hedging {
    /// The most second reads per thousand first ones. Reads slower than all but this share are
    /// repeated.
    pub permille: u32,
    /// Second reads allowed on top of that, so that a short read can have some.
    pub burst: u32,
}

/// The setup of [`Mirrors`].
#[derive(Clone, Debug)]
pub struct MirrorSetup {
    /// The copies, at most [`MOST`].
    pub copies: Vec<Copy>,
    /// Failures in a row after which a copy is given up; at least 1.
    pub give_up_after: u32,
    /// `None`: there are no second reads.
    pub hedging: Option<Hedging>,
}

/// The fate of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is in use.
    Good,
    /// It failed several times in a row, and is only used for chunks that no other copy has.
    GivenUp,
    /// It cannot be read, or has changed, and is no longer used.
    Gone,
}

/// The end of a read of one copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyOutcome {
    /// All bytes were read; they passed all checks made.
    Complete,
    /// The copy did not provide the bytes.
    Failed,
    /// It provided wrong bytes.
    Wrong,
    /// It ends here.
    EndsAt(u64),
    /// It is no longer the file that was opened.
    Changed,
}

/// The next step of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirrorStep {
    /// Read the chunk from this copy.
    Read {
        /// The index of the copy.
        copy: usize,
        /// Whether this is a second read in addition to one in flight.
        hedge: bool,
    },
    /// Ask again when any read has landed, or at this time.
    Wait(Option<Nanos>),
    /// No copy is left.
    Failed,
}

/// Counters of one copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Bytes taken from it.
    pub bytes: u64,
    /// Chunks taken from it.
    pub chunks: u64,
    /// Chunks that could not be read from it.
    pub errors: u64,
    /// Those of them that another copy provided.
    pub fail_overs: u64,
    /// Second reads of it that finished first.
    pub hedges_won: u64,
    /// Second reads of it that were not needed.
    pub hedges_lost: u64,
}

/// A requested chunk.
#[derive(Clone, Debug)]
pub struct Request {
    /// Requests with lower numbers began earlier.
    number: u64,
    extent: Extent,
    /// One bit for each copy that has been tried.
    asked: u64,
    /// One bit for each copy that has failed.
    failed: u64,
    flights: Vec<Flight>,
    waiting_since: Option<Nanos>,
}

#[derive(Clone, Copy, Debug)]
struct Flight {
    copy: usize,
    since: Nanos,
    hedge: bool,
}

impl Request {
    /// Returns the requested bytes.
    pub const fn extent(&self) -> Extent {
        self.extent
    }

    /// Whether any copy is being read for it.
    pub fn is_in_flight(&self) -> bool {
        !self.flights.is_empty()
    }
}

#[derive(Clone, Debug)]
struct State {
    device: usize,
    standing: Standing,
    /// Bytes from this offset cannot be read.
    end: u64,
    in_flight: u32,
    failures_in_a_row: u32,
    pace: Pace,
    tally: Tally,
}

/// The state machine; see the [module](self).
#[derive(Clone, Debug)]
pub struct Mirrors {
    copies: Vec<State>,
    give_up_after: u32,
    hedging: Option<Hedging>,
    recent: Recent,
    /// Reads in flight allowed for each copy.
    slots: u32,
    /// Bytes that are expected and have not begun; `None` if unknown.
    left: Option<u64>,
    first_reads: u64,
    hedges: u64,
    begun: u64,
    /// Requests that wait for a slot.
    waiting: Vec<Waiting>,
}

/// A request that waits for a slot.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    number: u64,
    end: u64,
    asked: u64,
}

impl Mirrors {
    /// Starts with nothing read, and one slot for each copy.
    ///
    /// # Panics
    ///
    /// If there are more copies than [`MOST`].
    pub fn new(setup: MirrorSetup) -> Self {
        assert!(setup.copies.len() <= MOST, "a request has a bit for each copy");
        let state = |copy: &Copy| State {
            device: copy.device,
            standing: if copy.len.is_some() { Standing::Good } else { Standing::Gone },
            end: copy.len.unwrap_or(0),
            in_flight: 0,
            failures_in_a_row: 0,
            pace: Pace::default(),
            tally: Tally::default(),
        };
        Self {
            copies: setup.copies.iter().map(state).collect(),
            give_up_after: setup.give_up_after.max(1),
            hedging: setup.hedging,
            recent: Recent::default(),
            slots: 1,
            left: None,
            first_reads: 0,
            hedges: 0,
            begun: 0,
            waiting: Vec::new(),
        }
    }

    /// Announces a read of `bytes` by `workers`.
    pub fn expect(&mut self, bytes: u64, workers: u64) {
        let each = workers.div_ceil(self.active_count().max(1) as u64);
        self.slots = u32::try_from(each).unwrap_or(u32::MAX).max(1);
        self.left = Some(bytes);
    }

    /// Returns the number of copies read in parallel: one for each device.
    pub fn active_count(&self) -> usize {
        (0..self.copies.len()).filter(|&copy| self.is_active(copy)).count()
    }

    /// Whether `copy` is the one on its device that is read.
    pub fn is_active(&self, copy: usize) -> bool {
        let is_good = |it: &State| it.standing == Standing::Good;
        let this = &self.copies[copy];
        let taken =
            self.copies[..copy].iter().any(|it| is_good(it) && it.device == this.device);
        is_good(this) && !taken
    }

    /// Returns the fate of `copy`.
    pub fn standing(&self, copy: usize) -> Standing {
        self.copies[copy].standing
    }

    /// Returns the counters of `copy`.
    pub fn tally(&self, copy: usize) -> Tally {
        self.copies[copy].tally
    }

    /// Begins a request for a chunk.
    pub fn begin(&mut self, extent: Extent) -> Request {
        self.left = self.left.map(|left| left.saturating_sub(extent.len()));
        self.begun += 1;
        Request {
            number: self.begun,
            extent,
            asked: 0,
            failed: 0,
            flights: Vec::new(),
            waiting_since: None,
        }
    }

    /// Returns the step of `request` at `now`. After [`MirrorStep::Read`] the read counts as in
    /// flight. After [`MirrorStep::Wait`], ask again: later requests wait until this one has a
    /// copy.
    pub fn next(&mut self, request: &mut Request, now: Nanos) -> MirrorStep {
        let step = match request.flights.first() {
            Some(&first) => self.second(request, first, now),
            None => self.first(request, now),
        };
        self.waiting.retain(|waiting| waiting.number != request.number);
        match step {
            MirrorStep::Read { copy, hedge } => {
                self.copies[copy].in_flight += 1;
                if hedge {
                    self.hedges += 1;
                } else {
                    self.first_reads += 1;
                }
                request.asked |= 1 << copy;
                request.waiting_since = None;
                request.flights.push(Flight { copy, since: now, hedge });
            }
            MirrorStep::Wait(_) if request.flights.is_empty() => {
                request.waiting_since.get_or_insert(now);
                let Request { number, extent, asked, .. } = *request;
                self.waiting.push(Waiting { number, end: extent.end(), asked });
            }
            MirrorStep::Wait(_) => {}
            MirrorStep::Failed => {}
        }
        step
    }

    /// Records that a read of `len` bytes of `copy`, begun at `since`, has ended, whatever its
    /// outcome and whether or not it is still needed.
    pub fn landed(&mut self, copy: usize, len: u64, since: Nanos, now: Nanos) {
        let state = &mut self.copies[copy];
        state.in_flight = state.in_flight.saturating_sub(1);
        let elapsed = now.saturating_sub(since);
        state.pace.learn(elapsed, len);
        self.recent.push(elapsed, len);
    }

    /// Reports the outcome of the read of `copy` for `request`. Unless it is
    /// [`CopyOutcome::Complete`], ask [`next`](Self::next) again.
    pub fn completed(&mut self, request: &mut Request, copy: usize, outcome: CopyOutcome) {
        let at = request.flights.iter().position(|flight| flight.copy == copy);
        let hedge = at.is_some_and(|at| request.flights.remove(at).hedge);
        if outcome == CopyOutcome::Complete {
            self.delivered(request, copy, hedge);
        } else {
            self.failed(request, copy, outcome);
            let tally = &mut self.copies[copy].tally;
            tally.hedges_lost += u64::from(hedge);
        }
    }

    /// Records that the bytes of a copy for `request` differ from those used.
    pub fn outvoted(&mut self, request: &mut Request, copy: usize) {
        let len = request.extent.len();
        let tally = &mut self.copies[copy].tally;
        tally.bytes = tally.bytes.saturating_sub(len);
        tally.chunks = tally.chunks.saturating_sub(1);
        self.failed(request, copy, CopyOutcome::Wrong);
        self.copies[copy].tally.fail_overs += 1;
    }

    fn delivered(&mut self, request: &mut Request, copy: usize, hedge: bool) {
        for (index, state) in self.copies.iter_mut().enumerate() {
            state.tally.fail_overs += u64::from(request.failed & (1 << index) != 0);
        }
        request.failed = 0;
        for late in request.flights.drain(..) {
            self.copies[late.copy].tally.hedges_lost += u64::from(late.hedge);
        }
        let state = &mut self.copies[copy];
        state.failures_in_a_row = 0;
        state.tally.bytes += request.extent.len();
        state.tally.chunks += 1;
        state.tally.hedges_won += u64::from(hedge);
    }

    fn failed(&mut self, request: &mut Request, copy: usize, outcome: CopyOutcome) {
        request.failed |= 1 << copy;
        let state = &mut self.copies[copy];
        state.tally.errors += 1;
        match outcome {
            CopyOutcome::Changed => state.standing = Standing::Gone,
            // The bytes before the end remain valid.
            CopyOutcome::EndsAt(end) => state.end = state.end.min(end),
            CopyOutcome::Failed | CopyOutcome::Wrong | CopyOutcome::Complete => {
                state.failures_in_a_row += 1;
                let many = state.failures_in_a_row >= self.give_up_after;
                if many && state.standing == Standing::Good {
                    state.standing = Standing::GivenUp;
                }
            }
        }
    }

    /// Whether `copy` may have the bytes of `request` and has not been tried.
    fn may_have(&self, request: &Request, copy: usize) -> bool {
        let state = &self.copies[copy];
        state.standing != Standing::Gone
            && request.asked & (1 << copy) == 0
            && request.extent.end() <= state.end
    }

    /// Returns the copy to read first.
    fn first(&self, request: &Request, now: Nanos) -> MirrorStep {
        let left = || (0..self.copies.len()).filter(|&copy| self.may_have(request, copy));
        let mut active: Vec<usize> = left().filter(|&copy| self.is_active(copy)).collect();
        let read = |copy| MirrorStep::Read { copy, hedge: false };
        if active.is_empty() {
            let spare = left().find(|&copy| self.copies[copy].standing == Standing::Good);
            return spare.or_else(|| left().next()).map_or(MirrorStep::Failed, read);
        }
        let key = |&copy: &usize| {
            let state = &self.copies[copy];
            (state.pace.of(request.extent.len()), state.in_flight, copy)
        };
        active.sort_by_key(key);
        let is_free = |copy: &&usize| {
            let taken = u64::from(self.copies[**copy].in_flight);
            taken + self.waiting_for(**copy, request) < u64::from(self.slots)
        };
        match active.iter().find(is_free) {
            Some(&copy) if !self.would_be_last(request, copy, &active, now) => read(copy),
            _ => MirrorStep::Wait(None),
        }
    }

    /// Returns how many requests earlier than `request` wait for a slot of `copy` or another one.
    fn waiting_for(&self, copy: usize, request: &Request) -> u64 {
        let may_take = |waiting: &&Waiting| {
            waiting.number < request.number
                && waiting.asked & (1 << copy) == 0
                && waiting.end <= self.copies[copy].end
        };
        self.waiting.iter().filter(may_take).count() as u64
    }

    /// Whether the other copies would finish all remaining bytes, this chunk included, before
    /// `copy` finishes this chunk.
    fn would_be_last(
        &self,
        request: &Request,
        copy: usize,
        active: &[usize],
        now: Nanos,
    ) -> bool {
        let (Some(left), len) = (self.left, request.extent.len()) else { return false };
        let Some(own) = self.copies[copy].pace.of(len) else { return false };
        // If the others do not get to it in that time, they have become slower.
        if request.waiting_since.is_some_and(|since| now.saturating_sub(since) >= own) {
            return false;
        }
        let others = active.iter().filter(|&&other| other != copy);
        let paces = others.map(|&other| &self.copies[other].pace);
        pace::time_for(paces, self.slots, left.saturating_add(len), len)
            .is_some_and(|theirs| own > theirs)
    }

    /// Decides whether to make a second read in addition to `first`, and of which copy.
    fn second(&self, request: &Request, first: Flight, now: Nanos) -> MirrorStep {
        let Some(hedging) = self.hedging.filter(|_| request.flights.len() == 1) else {
            return MirrorStep::Wait(None);
        };
        let Some(usual) = self.recent.quantile(hedging.permille, request.extent.len()) else {
            return MirrorStep::Wait(None);
        };
        let due = first.since.saturating_add(usual);
        if now < due {
            return MirrorStep::Wait(Some(due));
        }
        let allowed = u64::from(hedging.burst)
            + (u128::from(self.first_reads) * u128::from(hedging.permille) / 1000)
                .try_into()
                .unwrap_or(u64::MAX / 2);
        if self.hedges >= allowed {
            return MirrorStep::Wait(None);
        }
        // Beyond its slots, which first reads keep busy; but at most as many again.
        let room = |copy: &usize| self.copies[*copy].in_flight < self.slots.saturating_mul(2);
        (0..self.copies.len())
            .filter(|&copy| self.may_have(request, copy))
            .filter(|&copy| self.copies[copy].standing == Standing::Good)
            .filter(room)
            .min_by_key(|&copy| (self.copies[copy].pace.of(request.extent.len()), copy))
            .map_or(MirrorStep::Wait(None), |copy| MirrorStep::Read { copy, hedge: true })
    }
}
