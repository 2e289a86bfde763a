//! Adapts the number of workers to a source while it is read.
//!
//! [`swath_plan::crew`] decides; here the clock is read, and threads are started:
//!
//! ```text
//! Hands → asked, landed → Watch (Crew under a mutex) → foreman: starts a worker → work
//! ```
//!
//! The foreman is a thread that only waits. It ends with the worker that it belongs to.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use swath_plan::crew::{Answers, Bounds, Crew, CrewStep};
use swath_plan::fallback::Fallback;

use crate::locks::{Condvar, Mutex};
use crate::report::Report;

/// Shorter requests, except the first, are reported in groups: a lock for each would be
/// noticeable.
const SHORT: Duration = Duration::from_micros(100);

/// The crew of one read.
pub(crate) struct Watch {
    state: Mutex<WatchState>,
    /// Wakes the foreman to check again.
    news: Condvar,
    started: Instant,
}

struct WatchState {
    crew: Crew,
    over: bool,
    refused: Option<Fallback>,
}

impl Watch {
    pub(crate) fn new(bounds: Bounds) -> Self {
        let state = WatchState { crew: Crew::new(bounds), over: false, refused: None };
        Self { state: Mutex::new(state), news: Condvar::new(), started: Instant::now() }
    }

    /// Returns the number of workers to begin with.
    pub(crate) fn first(&self) -> usize {
        self.state.lock().crew.first()
    }

    /// Whether the idle worker of `slot` should end.
    pub(crate) fn sends_away(&self, slot: usize) -> bool {
        let mut state = self.state.lock();
        slot >= state.crew.first() && state.crew.leaves()
    }

    /// Size of the next request in bytes.
    pub(crate) fn request_size(&self) -> Option<NonZeroU64> {
        NonZeroU64::new(self.state.lock().crew.request_size())
    }

    /// Records that nothing is left to read: no more workers are started.
    pub(crate) fn over(&self) {
        self.state.lock().over = true;
        self.news.notify_all();
    }

    /// Returns a guard; once it is dropped, no more workers are started.
    pub(crate) fn ends(&self) -> ForemanExit<'_> {
        ForemanExit(self)
    }

    /// Adds to a report how many workers there were, and why.
    pub(crate) fn tell(&self, report: &mut Report) {
        let state = self.state.lock();
        let peak = state.crew.peak();
        (report.workers, report.queue_depth) = (peak, peak as u64);
        if let Some(size) = state.crew.grown_size() {
            report.chunk_size = size;
        }
        if peak > state.crew.first() {
            report.reason += &format!(": {peak}");
            // `None` after the source has changed.
            if let Some(shortest) = state.crew.shortest().map(Duration::from_nanos) {
                report.reason += &format!(", the shortest request took {shortest:.1?}");
            }
        }
    }

    /// Returns why there were fewer workers than wanted.
    pub(crate) fn refused(&self) -> Option<Fallback> {
        self.state.lock().refused.clone()
    }

    /// Starts workers with `start` as response times demand, until the read is over.
    pub(crate) fn lead(&self, start: &mut dyn FnMut(usize) -> std::io::Result<()>) {
        let mut state = self.state.lock();
        while !state.over {
            let now = nanos(self.started.elapsed());
            let wait = match state.crew.step(now) {
                CrewStep::Start(slot) => {
                    drop(state);
                    let started = start(slot);
                    state = self.state.lock();
                    if let Err(error) = started {
                        state.crew.refused();
                        state.refused = Some(Fallback::not_started(slot, &error));
                    }
                    continue;
                }
                CrewStep::WaitUntil(at) => Duration::from_nanos(at.saturating_sub(now)),
                CrewStep::Wait => Duration::MAX,
            };
            let woken = self.news.wait_timeout(state, wait.min(Duration::from_secs(3600)));
            state = woken.0;
        }
    }
}

/// See [`Watch::ends`]: works even if the foreman's worker panics.
pub(crate) struct ForemanExit<'w>(&'w Watch);

impl Drop for ForemanExit<'_> {
    fn drop(&mut self) {
        self.0.over();
    }
}

/// Reports the requests of one worker.
pub(crate) struct Teller<'w> {
    watch: Option<&'w Watch>,
    has_asked: bool,
    has_told: bool,
    answers: Answers,
}

const NONE: Answers = Answers { count: 0, shortest: u64::MAX, waited: 0 };

impl<'w> Teller<'w> {
    pub(crate) fn new(watch: Option<&'w Watch>) -> Self {
        Self { watch, has_asked: false, has_told: false, answers: NONE }
    }

    /// Size of the next request in bytes, if it differs from the first one's.
    pub(crate) fn grown_size(&self) -> Option<usize> {
        usize::try_from(self.watch?.state.lock().crew.grown_size()?).ok()
    }

    /// Makes one request; reports how long it took if the crew is being sized.
    pub(crate) fn request<T, E>(
        &mut self,
        request: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let Some(watch) = self.watch else { return request() };
        let began = Instant::now();
        if !self.has_asked {
            self.has_asked = true;
            if watch.state.lock().crew.asked(nanos(began - watch.started)) {
                watch.news.notify_one();
            }
        }
        let answer = request();
        match &answer {
            Ok(_) => self.landed(watch, began.elapsed()),
            Err(_) => watch.state.lock().crew.failed(),
        }
        answer
    }

    fn landed(&mut self, watch: &Watch, took: Duration) {
        let Answers { count, shortest, waited } = &mut self.answers;
        *count += 1;
        *shortest = nanos(took).min(*shortest);
        *waited += nanos(took);
        if self.has_told && *waited < nanos(SHORT) {
            return;
        }
        self.has_told = true;
        let answers = std::mem::replace(&mut self.answers, NONE);
        let now = nanos(watch.started.elapsed());
        if watch.state.lock().crew.landed(now, answers) {
            watch.news.notify_one();
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
