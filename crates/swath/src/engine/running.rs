//! The shared state of the workers of one running read: a schedule that hands out leases, under
//! one mutex.
//!
//! ```text
//! worker, ring: next, turn → Schedule → a lease, a nap, or the end
//! worker, ring: ended → Schedule → again, another way, or the failure that ends it
//! ```

use std::convert::Infallible;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use swath_os::priority::{IoPriority, IoPriorityGuard, set_thread_io_priority};
use swath_plan::extent::Extent;
use swath_plan::fallback::Fallback;
use swath_plan::schedule::{Action, Outcome, Verdict};

use super::LeaseTrouble;
use super::crew::Watch;
use super::patience::NAP;
use super::presence::Presence;
use crate::error::{Error, Operation};
use crate::failures::{FailureLog, Payload};
use crate::locks::{Condvar, Mutex, MutexGuard};
use crate::observe::Observer;
use crate::report::{ReadTally, Report};
use crate::source::OpenSource;

/// Hands out leases in an order of its own.
pub(crate) trait Schedule {
    /// The unit of work that a worker gets at a time.
    type Lease;

    /// Returns the action of `slot` at `now`.
    fn next(&mut self, slot: usize, now: u64) -> Action<Self::Lease>;

    /// Stops handing out work.
    fn stop(&mut self);

    /// Cuts future leases to this many bytes, if they are cut when they are handed out.
    fn cut_by(&mut self, _: NonZeroU64) {}

    /// Whether to wake one more of the `parked` workers at `now`, since no other event will.
    fn wakes_one_more(&mut self, _parked: usize, _now: u64) -> bool {
        false
    }
}

/// One running read.
pub(crate) struct Running<S> {
    pub(crate) observer: Observer,
    /// Determines the number of workers during the read, if it is not known.
    pub(crate) watch: Option<Watch>,
    io_priority: Option<IoPriority>,
    /// The first source, if there is one; `extent` is read of it.
    first: Option<Arc<OpenSource>>,
    extent: Extent,
    state: Mutex<RunState<S>>,
    /// Wakes workers that have nothing to do now.
    released: Condvar,
    /// Wakes callers that wait for bytes, or for the failure.
    pub(crate) news: Condvar,
    pub(crate) started: Instant,
    pub(crate) presence: Presence,
    /// Panics of the caller's code, by the offset or slot of the call.
    panics: FailureLog<Infallible>,
}

/// The state under the lock.
pub(crate) struct RunState<S> {
    pub(crate) schedule: S,
    pub(crate) failure: Option<Error>,
    tally: ReadTally,
    fallbacks: Vec<Fallback>,
    /// The number of workers, if fewer than planned.
    workers: Option<usize>,
    parked: usize,
    /// A worker has ended because it found nothing left.
    is_over: bool,
}

/// The action of a slot now.
pub(crate) enum Turn<L> {
    Work(L),
    Later(Duration),
    Over,
}

impl<S: Schedule> Running<S> {
    /// A read of `extent` of the `first` source, and perhaps others; `schedule` hands out its
    /// leases.
    pub(crate) fn new(
        schedule: S,
        first: Option<Arc<OpenSource>>,
        extent: Extent,
        observer: Observer,
        watch: Option<Watch>,
        io_priority: Option<IoPriority>,
    ) -> Self {
        let state = RunState {
            schedule,
            failure: None,
            tally: ReadTally::default(),
            fallbacks: Vec::new(),
            workers: None,
            parked: 0,
            is_over: false,
        };
        Self {
            observer,
            watch,
            io_priority,
            first,
            extent,
            state: Mutex::new(state),
            released: Condvar::new(),
            news: Condvar::new(),
            started: Instant::now(),
            presence: Presence::begin(),
            panics: FailureLog::default(),
        }
    }

    /// Returns the read, timed from an earlier instant.
    pub(crate) fn since(self, started: Instant) -> Self {
        Self { started, ..self }
    }

    /// Returns the name of the first source, and its extent.
    pub(crate) fn place(&self) -> (&Path, Extent) {
        let name = self.first.as_ref().map_or(Path::new("<plan>"), |first| first.name());
        (name, self.extent)
    }

    /// Returns the action of `slot` now, without waiting.
    pub(crate) fn turn(&self, slot: usize) -> Turn<S::Lease> {
        let mut state = self.state();
        self.turn_locked(&mut state, slot).unwrap_or(Turn::Later(Duration::from_micros(100)))
    }

    /// Waits for the next lease of `slot`; `None` when nothing is left for it.
    pub(crate) fn next(&self, slot: usize) -> Option<S::Lease> {
        if self.sends_away(slot) {
            return None;
        }
        let lease = self.wait_for_lease(slot);
        if let (None, Some(watch)) = (&lease, &self.watch) {
            watch.over();
        }
        lease
    }

    /// Whether the crew no longer needs this worker. Once a worker has found nothing left, the others stay to
    /// the end, to retry leases that may still fail.
    fn sends_away(&self, slot: usize) -> bool {
        let Some(watch) = &self.watch else { return false };
        let mut state = self.state();
        let leaves = !state.is_over && watch.sends_away(slot);
        if leaves {
            self.wake_one_more(&mut state);
        }
        leaves
    }

    fn wait_for_lease(&self, slot: usize) -> Option<S::Lease> {
        let size = self.watch.as_ref().and_then(Watch::request_size);
        let mut state = self.state();
        if let Some(size) = size {
            state.schedule.cut_by(size);
        }
        loop {
            let wait = match self.turn_locked(&mut state, slot) {
                Some(Turn::Work(lease)) => {
                    self.wake_one_more(&mut state);
                    return Some(lease);
                }
                Some(Turn::Over) => {
                    self.wake_all(&state);
                    return None;
                }
                Some(Turn::Later(wait)) => wait,
                None => NAP,
            };
            state.parked += 1;
            // Woken by a release, by a retry that is due, or by a failure; the time-out is for
            // cancellation.
            let woken = self.released.wait_timeout(state, wait);
            state = woken.0;
            state.parked -= 1;
        }
    }

    /// `None` means "parked".
    fn turn_locked(&self, state: &mut RunState<S>, slot: usize) -> Option<Turn<S::Lease>> {
        if self.observer.is_cancelled() && state.failure.is_none() {
            state.failure = Some(self.cancelled());
            self.stop_locked(state);
        }
        let now = self.now();
        Some(match state.schedule.next(slot, now) {
            Action::Read(lease) => Turn::Work(lease),
            Action::WaitUntil(at) => {
                // Short naps, so that a cancelled read ends soon.
                let nap = Duration::from_nanos(at.saturating_sub(now));
                Turn::Later(nap.min(NAP))
            }
            Action::Park => return None,
            Action::Done | Action::Stop => {
                state.is_over = true;
                Turn::Over
            }
        })
    }

    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Returns the error of a cancelled read.
    pub(crate) fn cancelled(&self) -> Error {
        let (name, extent) = self.place();
        Error::cancelled(Operation::Read, name).at(extent)
    }

    /// Counts `bytes` that were read; `tell` reports to the schedule how their lease ended.
    pub(crate) fn ended(
        &self,
        bytes: u64,
        trouble: Option<LeaseTrouble>,
        tell: impl FnOnce(&mut S, Outcome, u64) -> Verdict,
    ) {
        if bytes > 0 {
            self.observer.delivered(bytes);
        }
        let (outcome, error) = match trouble {
            None => (Outcome::Complete, None),
            Some(LeaseTrouble { error, outcome }) => (outcome, Some(error)),
        };
        let mut state = self.state();
        state.tally.bytes += bytes;
        match (tell(&mut state.schedule, outcome, self.now()), error) {
            (Verdict::Continue, _) | (_, None) => {}
            (Verdict::Retry, Some(_)) => {
                state.tally.retries += 1;
                self.wake_all(&state);
            }
            (Verdict::FellBack, Some(error)) => {
                if !state.fallbacks.iter().any(Fallback::is_direct_refused) {
                    state.fallbacks.push(OpenSource::fell_back(&error));
                }
            }
            (Verdict::Failed, Some(error)) => {
                state.fail_at(error);
                self.stop_locked(&mut state);
            }
        }
    }

    /// Ends the read with `error`, unless it has failed already.
    pub(crate) fn fail(&self, error: Error) {
        let mut state = self.state();
        state.failure.get_or_insert(error);
        self.stop_locked(&mut state);
    }

    /// Ends the read without an error: a worker panicked, or the result is no longer wanted.
    pub(crate) fn stop(&self) {
        self.stop_locked(&mut self.state());
    }

    fn stop_locked(&self, state: &mut RunState<S>) {
        state.schedule.stop();
        self.wake_all(state);
        self.news.notify_all();
    }

    /// Wakes all waiting workers, to check again.
    pub(crate) fn wake_all(&self, state: &RunState<S>) {
        if state.parked > 0 {
            self.released.notify_all();
        }
    }

    /// Wakes one worker if the schedule says so; it will wake the next.
    pub(crate) fn wake_one_more(&self, state: &mut RunState<S>) {
        if state.parked > 0 && state.schedule.wakes_one_more(state.parked, self.now()) {
            self.released.notify_one();
        }
    }

    /// Keeps a panic of the caller's code at `number` and stops the read, so that no thread waits for it.
    pub(crate) fn panicked(&self, number: u64, panic: Payload) {
        self.panics.panicked(number, panic);
        self.stop();
    }

    /// Returns the first panic of the caller's code, with its number.
    pub(crate) fn panic(&self) -> Option<(u64, Payload)> {
        self.panics.panic()
    }

    /// Resumes that panic, if there is one.
    pub(crate) fn resume_panic(&self) {
        self.panics.resume();
    }

    /// Gives this thread's reads the requested priority until the guard is dropped. Only the thread
    /// with `say` set reports a refusal.
    pub(crate) fn set_io_priority(&self, say: bool) -> Option<IoPriorityGuard> {
        let refused = match set_thread_io_priority(self.io_priority?) {
            Ok(guard) => return Some(guard),
            Err(error) => error,
        };
        if say {
            self.fell_back(Fallback::PriorityNotSet { why: refused.to_string() });
        }
        None
    }

    pub(crate) fn fell_back(&self, what: Fallback) {
        self.state().fallbacks.push(what);
    }

    /// Records the number of workers, if not all could be started.
    pub(crate) fn has_workers(&self, count: usize) {
        self.state().workers = Some(count);
    }

    /// Adds the counts of one worker.
    pub(crate) fn count(&self, tally: ReadTally) {
        self.state().tally.add(tally);
    }

    /// Whether the read has failed, so that nothing is retried.
    pub(crate) fn has_failed(&self) -> bool {
        self.panics.any() || self.state().failure.is_some()
    }

    /// Takes out the first failure.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.state().failure.take()
    }

    /// Adds the current counts and the fallbacks to a report.
    pub(crate) fn tell(&self, report: &mut Report) {
        let (tally, workers, mut fallbacks) = {
            let state = self.state();
            (state.tally, state.workers, state.fallbacks.clone())
        };
        if let Some(watch) = &self.watch {
            watch.tell(report);
            fallbacks.extend(watch.refused());
        }
        if let Some(workers) = workers {
            let missing = report.workers.saturating_sub(workers);
            report.queue_depth = report.queue_depth.saturating_sub(missing as u64);
            report.workers = workers;
        }
        report.fill_in(tally, fallbacks);
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, RunState<S>> {
        // Not poisoned: changes under the lock are complete before anything can panic.
        self.state.lock()
    }
}

impl<S> RunState<S> {
    /// Keeps the first failure in file order, among those of one source.
    fn fail_at(&mut self, error: Error) {
        let offset = |error: &Error| error.extent().map_or(0, Extent::offset);
        let comes_before =
            |first: &Error| first.path() == error.path() && offset(&error) < offset(first);
        if self.failure.as_ref().is_none_or(comes_before) {
            self.failure = Some(error);
        }
    }
}
