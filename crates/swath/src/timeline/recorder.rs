//! Records the activities of one thread, or of its ring.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;

use super::lanes::{Flight, Flights};
use super::{Activity, BATCH, Lane, Span, Timeline};

/// Nanoseconds; a shorter wait is left as a gap.
const SHORTEST_WAIT: u64 = 1000;

/// Records the activities of one thread, span after span: each begins where the last one ended.
///
/// [`Timeline::recorder`] returns it; it stays on its thread. [`Timeline::spans`] sees its spans once
/// it is dropped, or in batches before. Spans that other recorders of this thread add between two
/// calls are inside the span that the second call ends.
///
/// ```
/// use swath::Timeline;
/// use swath::timeline::Activity;
///
/// let timeline = Timeline::new();
/// let mut recorder = timeline.recorder("made here");
/// let sum: u64 = (0..1000).sum();
/// recorder.lap(Activity::Compute, 0, 1000 * 8);
/// drop(recorder);
/// assert_eq!((timeline.spans()[0].bytes, sum), (8000, 499_500));
/// ```
pub struct Recorder(Option<RecorderState>);

struct RecorderState {
    timeline: Timeline,
    lane: Lane,
    source: u32,
    /// Start of the current span.
    at: u64,
    spans: Vec<Span>,
    /// A lane belongs to one thread.
    _here: PhantomData<*const ()>,
}

impl Recorder {
    pub(super) fn new(timeline: &Timeline, source: u32) -> Self {
        let timeline = timeline.clone();
        let Some(lane) = enter(&timeline) else { return Self(None) };
        let (at, spans) = (timeline.now(), Vec::new());
        Self(Some(RecorderState { timeline, lane, source, at, spans, _here: PhantomData }))
    }

    /// Returns a recorder that records nothing.
    pub(crate) fn off() -> Self {
        Self(None)
    }

    /// Begins a span now; the time since the last one is not recorded.
    pub fn mark(&mut self) {
        if let Some(running) = &mut self.0 {
            running.at = running.timeline.now();
        }
    }

    /// Ends a span of `bytes` bytes at `offset` of the file, and begins the next one.
    pub fn lap(&mut self, activity: Activity, offset: u64, bytes: u64) {
        if let Some(running) = &mut self.0 {
            let (start, now) = (running.at, running.timeline.now());
            running.push(activity, start, now, offset, bytes);
            running.at = now;
        }
    }

    /// As [`lap`](Self::lap), with `bytes` bytes if it succeeded, otherwise 0.
    pub(crate) fn lap_if<T, E>(
        &mut self,
        ended: &Result<T, E>,
        activity: Activity,
        offset: u64,
        bytes: u64,
    ) {
        self.lap(activity, offset, if ended.is_ok() { bytes } else { 0 });
    }

    /// Ends a span of reading and processing at the same time, from a map: one span inside the other.
    pub(crate) fn lap_fused(&mut self, activity: Activity, offset: u64, bytes: u64) {
        if let Some(running) = &mut self.0 {
            let (start, now) = (running.at, running.timeline.now());
            running.push(Activity::Read, start, now, offset, bytes);
            running.push(activity, start, now, offset, bytes);
            running.at = now;
        }
    }

    /// Ends a wait, if it was long enough to be one, and begins the next span.
    pub(crate) fn waited(&mut self) {
        if let Some(running) = &mut self.0 {
            let (start, now) = (running.at, running.timeline.now());
            if now.saturating_sub(start) >= SHORTEST_WAIT {
                running.push(Activity::Wait, start, now, 0, 0);
            }
            running.at = now;
        }
    }

    /// Continues with another file, by its number.
    pub(crate) fn turn_to(&mut self, source: u32) {
        if let Some(running) = &mut self.0 {
            running.source = source;
        }
    }

    /// Continues with another file.
    pub(crate) fn turn_to_path(&mut self, path: &std::path::Path) {
        if let Some(running) = &mut self.0 {
            running.source = running.timeline.source(path);
        }
    }

    /// Records that a read started at the end of the last span.
    pub(crate) fn leave(&self, flights: &mut Flights) -> Flight {
        match &self.0 {
            Some(running) => flights.leave(running.at),
            None => Flight::default(),
        }
    }

    /// Records that a read ended at the end of the last span.
    pub(crate) fn land(
        &mut self,
        flights: &mut Flights,
        flight: Flight,
        offset: u64,
        bytes: u64,
    ) {
        if let (Some(running), Some(lane)) = (&mut self.0, flight.lane) {
            let own = std::mem::replace(&mut running.lane, lane);
            running.push(Activity::Read, flight.started, running.at, offset, bytes);
            running.lane = own;
            flights.end(flight);
        }
    }
}

impl RecorderState {
    fn push(
        &mut self,
        activity: Activity,
        start_ns: u64,
        end_ns: u64,
        offset: u64,
        bytes: u64,
    ) {
        let Self { lane, source, .. } = *self;
        let duration_ns = end_ns.saturating_sub(start_ns);
        self.spans.push(Span { start_ns, duration_ns, offset, bytes, source, lane, activity });
        if self.spans.len() >= BATCH {
            self.timeline.keep(&mut self.spans);
        }
    }
}

impl Drop for RecorderState {
    fn drop(&mut self) {
        self.timeline.keep(&mut self.spans);
        leave(&self.timeline, self.lane);
    }
}

/// The lane of this thread in one timeline, while a recorder uses it.
struct HeldLane {
    /// The key of its timeline, which lives as long as a recorder does.
    timeline: usize,
    lane: Lane,
    recorders: usize,
}

thread_local! {
    static HELD: RefCell<Vec<HeldLane>> = const { RefCell::new(Vec::new()) };
}

fn key(timeline: &Timeline) -> usize {
    Arc::as_ptr(&timeline.0).addr()
}

/// Returns the lane of this thread, a new one if no recorder uses one yet.
fn enter(timeline: &Timeline) -> Option<Lane> {
    let key = key(timeline);
    let entered = HELD.try_with(|held| {
        let mut held = held.borrow_mut();
        if let Some(held) = held.iter_mut().find(|held| held.timeline == key) {
            held.recorders += 1;
            return Some(held.lane);
        }
        let lane = timeline.0.workers.acquire()?;
        held.push(HeldLane { timeline: key, lane, recorders: 1 });
        Some(lane)
    });
    // A thread that is just ending no longer has a lane.
    entered.ok().flatten()
}

/// Ends a recorder of this thread; the last one frees its lane.
fn leave(timeline: &Timeline, lane: Lane) {
    let key = key(timeline);
    let is_last = HELD.try_with(|held| {
        let mut held = held.borrow_mut();
        let Some(at) = held.iter().position(|held| held.timeline == key) else { return true };
        held[at].recorders -= 1;
        let is_last = held[at].recorders == 0;
        if is_last {
            held.swap_remove(at);
        }
        is_last
    });
    if is_last.unwrap_or(true) {
        timeline.0.workers.release(lane);
    }
}
