//! Runs a plan: dumb executors of the scheduler's actions.
//!
//! ```text
//! Scheduler → Job::next → worker: fill → Visit → Job::completed → Scheduler
//! ```
//!
//! A [`Job`] is one running read. Workers (threads of our own, never of the caller's pools) and
//! the ring ask it for leases; a [`Visit`] says where the bytes of a lease go. Nothing is decided
//! here: not what comes next, not whether to try again.

pub(crate) mod crew;
pub(crate) mod fill;
pub(crate) mod patience;
pub(crate) mod ring;
pub(crate) mod stream;
pub(crate) mod worker;

use std::collections::hash_map::RandomState;
use std::convert::Infallible;
use std::hash::{BuildHasher, Hasher};
use std::num::NonZeroU64;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use swath_os::map::Map;
use swath_os::priority::IoPriority;
use swath_plan::extent::Extent;
use swath_plan::fallback::Fallback;
use swath_plan::schedule::{Action, Lease, Outcome, Pause, Scheduler, Verdict};
use swath_plan::window::{Residency, WINDOW_SIZE};

use crate::engine::crew::Watch;
use crate::engine::patience::NAP;
use crate::error::{Error, Operation, Result};
use crate::failures::{Failures, Payload};
use crate::observe::Observer;
use crate::report::{Report, Tally};
use crate::source::{Growth, Opened};

/// How often a lease may fail for a passing reason.
pub(crate) const RETRIES: u32 = 3;
/// What is waited before the first time that one is tried again, more or less.
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// What is waited before something is tried again; different in each read.
pub(crate) fn pause() -> Pause {
    let first = u64::try_from(FIRST_PAUSE.as_nanos()).unwrap_or(u64::MAX);
    Pause { first, seed: RandomState::new().build_hasher().finish() }
}

/// Where the bytes of a lease go. One implementation for each thing a verb does with them.
pub(crate) trait Visit: Sync {
    /// What one worker keeps from lease to lease.
    type Scratch;

    /// Made once by each worker.
    ///
    /// # Errors
    ///
    /// If there is no memory for it.
    fn scratch(&self) -> Result<Self::Scratch>;

    /// Reads `lease` with `hands` and does with it what is to be done.
    ///
    /// # Errors
    ///
    /// With what the scheduler is to be told.
    fn visit(
        &self,
        hands: &mut fill::Hands<'_>,
        scratch: &mut Self::Scratch,
        lease: &Lease,
    ) -> std::result::Result<(), Trouble>;
}

/// A lease that was not read, and what the scheduler is told about it.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) error: Error,
    pub(crate) outcome: Outcome,
}

impl Trouble {
    pub(crate) fn fatal(error: Error) -> Self {
        Self { error, outcome: Outcome::Fatal }
    }
}

/// Which windows are dropped from the page cache behind the read: those that were not in it.
#[derive(Debug)]
pub(crate) struct DropBehind {
    pub(crate) first_window: u64,
    pub(crate) residency: Vec<Residency>,
}

impl DropBehind {
    fn wants(&self, offset: u64) -> bool {
        let index = (offset / WINDOW_SIZE).saturating_sub(self.first_window);
        let known = usize::try_from(index).ok().and_then(|index| self.residency.get(index));
        !matches!(known, Some(Residency::Resident))
    }

    /// Drops `extent` of `source`, which has been read, if it was not there before.
    pub(crate) fn drop(&self, source: &Opened, extent: Extent) {
        use swath_os::advise::{FileAdvice, advise_file};
        if !self.wants(extent.offset()) {
            return;
        }
        for file in source.files() {
            // A failure costs memory of the page cache, no data.
            let _ = advise_file(file, extent.offset(), extent.len(), FileAdvice::DontNeed);
        }
    }
}

/// How a job is run, beyond what the scheduler knows.
#[derive(Default)]
pub(crate) struct Manner {
    /// Bytes of one call.
    pub(crate) chunk_size: Option<NonZeroU64>,
    pub(crate) drop_behind: Option<DropBehind>,
    pub(crate) io_priority: Option<IoPriority>,
    /// What the source may do while it is read.
    pub(crate) growth: Growth,
    /// Who finds out how many workers it takes, where that is not known.
    pub(crate) watch: Option<Watch>,
}

/// One running read.
pub(crate) struct Job<'m> {
    pub(crate) source: Arc<Opened>,
    pub(crate) manner: Manner,
    /// A promised or guarded map of the extent that bytes are copied from instead of being read.
    map: Option<&'m Map<'m>>,
    pub(crate) observer: Observer,
    extent: Extent,
    state: Mutex<State>,
    released: Condvar,
    started: Instant,
    /// Of the caller's code, by the offset that it was called for.
    panics: Failures<Infallible>,
}

struct State {
    scheduler: Scheduler,
    failure: Option<Error>,
    tally: Tally,
    fallbacks: Vec<Fallback>,
    /// How many workers there are, if fewer than were meant.
    workers: Option<u64>,
}

impl State {
    /// Keeps the failure that is first in file order, of those that come.
    fn fail_at(&mut self, error: Error) {
        let offset = |error: &Error| error.extent().map_or(0, Extent::offset);
        if self.failure.as_ref().is_none_or(|first| offset(&error) < offset(first)) {
            self.failure = Some(error);
        }
    }
}

/// What a slot does now.
pub(crate) enum Turn {
    Read(Lease),
    Later(Duration),
    Over,
}

impl<'m> Job<'m> {
    pub(crate) fn new(
        source: Arc<Opened>,
        extent: Extent,
        scheduler: Scheduler,
        manner: Manner,
        observer: Observer,
    ) -> Self {
        // The last slot is the ring's.
        source.expect(extent, scheduler.slots().saturating_sub(1).max(1) as u64);
        let state = State {
            scheduler,
            failure: None,
            tally: Tally::default(),
            fallbacks: Vec::new(),
            workers: None,
        };
        Self {
            source,
            manner,
            map: None,
            observer,
            extent,
            state: Mutex::new(state),
            released: Condvar::new(),
            started: Instant::now(),
            panics: Failures::default(),
        }
    }

    /// The same, which copies from a map of its extent.
    pub(crate) fn copying_from(self, map: Option<&'m Map<'m>>) -> Self {
        Self { map, ..self }
    }

    /// The same, whose consumer takes leases in turn, and keeps who has a later one waiting.
    pub(crate) fn keeping_order(mut self) -> Self {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.scheduler.keep_order();
        self
    }

    /// What `slot` does now, without waiting.
    pub(crate) fn turn(&self, slot: usize) -> Turn {
        let mut state = self.state();
        self.turn_locked(&mut state, slot).unwrap_or(Turn::Later(Duration::from_micros(100)))
    }

    /// The next lease of `slot`, waited for; `None` when there is none left for it.
    pub(crate) fn next(&self, slot: usize) -> Option<Lease> {
        let watch = self.manner.watch.as_ref();
        if watch.is_some_and(|watch| watch.sends_away(slot)) {
            return None;
        }
        let lease = self.wait_for_lease(slot);
        if let (None, Some(watch)) = (&lease, watch) {
            watch.over();
        }
        lease
    }

    fn wait_for_lease(&self, slot: usize) -> Option<Lease> {
        let size = self.manner.watch.as_ref().and_then(Watch::request_size);
        let mut state = self.state();
        if let Some(size) = size {
            state.scheduler.cut_by(size);
        }
        loop {
            let wait = match self.turn_locked(&mut state, slot) {
                Some(Turn::Read(lease)) => return Some(lease),
                Some(Turn::Over) => return None,
                Some(Turn::Later(wait)) => wait,
                None => NAP,
            };
            // Woken by what is released, to be tried again, or fails; the time-out is for cancellation.
            let woken = self.released.wait_timeout(state, wait);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// `None` stands for "parked".
    fn turn_locked(&self, state: &mut State, slot: usize) -> Option<Turn> {
        if self.observer.is_cancelled() && state.failure.is_none() {
            let error = Error::cancelled(Operation::Read, self.source.name());
            state.failure = Some(error.at(self.extent));
            state.scheduler.stop();
        }
        let now = self.now();
        Some(match state.scheduler.next(slot, now) {
            Action::Read(lease) => Turn::Read(lease),
            Action::WaitUntil(at) => {
                // In short naps, so that a cancelled read does not sleep on.
                let nap = Duration::from_nanos(at.saturating_sub(now));
                Turn::Later(nap.min(NAP))
            }
            Action::Park => return None,
            Action::Done | Action::Stop => Turn::Over,
        })
    }

    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Tells the scheduler how `lease` ended.
    pub(crate) fn completed(&self, lease: Lease, ended: std::result::Result<(), Trouble>) {
        let (outcome, error) = match ended {
            Ok(()) => (Outcome::Complete, None),
            Err(trouble) => (trouble.outcome, Some(trouble.error)),
        };
        if outcome == Outcome::Complete {
            self.drop_behind(lease.extent);
            self.observer.delivered(lease.extent.len());
        }
        let mut state = self.state();
        if outcome == Outcome::Complete {
            state.tally.bytes += lease.extent.len();
        }
        match (state.scheduler.completed(lease, outcome, self.now()), error) {
            (Verdict::Continue, _) | (_, None) => {}
            (Verdict::Retry, Some(_)) => {
                state.tally.retries += 1;
                drop(state);
                self.released.notify_all();
            }
            (Verdict::FellBack, Some(error)) => {
                if state.fallbacks.is_empty() {
                    state.fallbacks.push(Opened::fell_back(&error));
                }
            }
            (Verdict::Failed, Some(error)) => {
                state.fail_at(error);
                drop(state);
                self.released.notify_all();
            }
        }
    }

    fn drop_behind(&self, extent: Extent) {
        if let Some(behind) = &self.manner.drop_behind {
            behind.drop(&self.source, extent);
        }
    }

    /// Everything before `offset` has been consumed.
    pub(crate) fn release(&self, offset: u64) {
        self.state().scheduler.released(offset);
        self.released.notify_all();
    }

    /// Ends the job with `error`, unless it has failed already.
    pub(crate) fn fail(&self, error: Error) {
        let mut state = self.state();
        state.failure.get_or_insert(error);
        state.scheduler.stop();
        drop(state);
        self.released.notify_all();
    }

    /// The caller's code panicked while this thread was at `offset`: nobody is to wait for it.
    pub(crate) fn panicked(&self, offset: u64, panic: Payload) {
        self.panics.panicked(offset, panic);
        self.stop();
    }

    /// The panic that is first in file order, if the caller's code panicked, and its offset.
    pub(crate) fn panic(&self) -> Option<(u64, Payload)> {
        self.panics.panic()
    }

    /// Goes on with that panic, if there is one.
    pub(crate) fn resume_panic(&self) {
        self.panics.resume();
    }

    /// Ends the job without an error of its own: a worker panicked, or nobody listens any more.
    pub(crate) fn stop(&self) {
        self.state().scheduler.stop();
        self.released.notify_all();
    }

    pub(crate) fn fell_back(&self, what: Fallback) {
        self.state().fallbacks.push(what);
    }

    /// Says how many workers there are, where not all could be started.
    pub(crate) fn has_workers(&self, count: usize) {
        self.state().workers = Some(count as u64);
    }

    /// Adds what one worker counted.
    pub(crate) fn count(&self, tally: Tally) {
        self.state().tally.add(tally);
    }

    /// Whether it has failed, so that nothing is tried again.
    pub(crate) fn has_failed(&self) -> bool {
        self.panics.any() || self.state().failure.is_some()
    }

    /// The first failure, taken out.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.state().failure.take()
    }

    /// Ends it: its failure, a change of its source, or `report` with what was counted.
    pub(crate) fn finish(&self, mut report: Report) -> Result<Report> {
        if let Some(error) = self.failure() {
            return Err(error);
        }
        self.source.check_unchanged(self.extent, self.manner.growth)?;
        self.tell(&mut report);
        Ok(report)
    }

    /// Says in a report what has been counted so far, and what was done instead of what was meant.
    pub(crate) fn tell(&self, report: &mut Report) {
        let (tally, workers) = {
            let state = self.state();
            (state.tally, state.workers)
        };
        if let Some(watch) = &self.manner.watch {
            watch.tell(report);
        }
        if let Some(workers) = workers {
            let missing = report.workers.saturating_sub(workers);
            report.queue_depth = report.queue_depth.saturating_sub(missing);
            report.workers = workers;
        }
        report.fill_in(tally, self.fallbacks());
        self.source.tell(report);
    }

    /// What was done instead of what was meant, so far.
    pub(crate) fn fallbacks(&self) -> Vec<Fallback> {
        let refused = self.manner.watch.as_ref().and_then(Watch::refused);
        self.state().fallbacks.iter().cloned().chain(refused).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Changes under the lock are complete before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
