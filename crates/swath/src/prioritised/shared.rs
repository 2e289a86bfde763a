//! The shared state of workers and callers of one read by classes: a state machine, under one mutex.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use swath_os::memory::Leases;
use swath_plan::classes::{Arranged, Chunks, ClassLease, Classes};
use swath_plan::extent::Extent;
use swath_plan::schedule::Action;

use crate::engine::running::{RunState, Running, Schedule};
use crate::engine::{DropBehind, LeaseTrouble};
use crate::error::{Error, Operation, Reason, Result};
use crate::locks::{Mutex, MutexGuard};
use crate::prioritised::plan::{OnChunk, OnClass};
use crate::prioritised::views::{ClassBytes, Memory, PlanLayout};
use crate::source::{Growth, OpenSource};

/// One of the files.
pub(super) struct PlanInput {
    pub(super) source: Arc<OpenSource>,
    pub(super) drop_behind: Option<DropBehind>,
}

/// See the [module](self).
pub(super) struct SharedReading {
    pub(super) running: Running<ByClass>,
    pub(super) inputs: Vec<PlanInput>,
    pub(super) layout: PlanLayout,
    pub(super) memory: Leases<'static>,
    pub(super) chunk_size: NonZeroU64,
    pub(super) growth: Growth,
    pub(super) on_class: Option<OnClass>,
    pub(super) on_chunk: Option<(OnChunk, Mutex<Chunks>)>,
    pub(super) workers: Mutex<Vec<ThreadId>>,
}

/// The order of classes, the state of each, and the workers.
pub(super) struct ByClass {
    pub(super) classes: Classes,
    /// The time at which each class was complete and checked.
    pub(super) announced: Vec<Option<Duration>>,
    /// Pieces that may be read at a time.
    slots: usize,
    /// Whether there is a callback for each class.
    calls: bool,
    /// Callers that wait for a class.
    waiting: usize,
    /// Whether a worker is checking: one at a time, so that classes are announced in the order of completion.
    checking: bool,
    to_call: VecDeque<usize>,
    calling: bool,
    /// Workers that have not ended.
    working: usize,
}

impl ByClass {
    pub(super) fn new(classes: Classes, arranged: &Arranged, calls: bool) -> Self {
        Self {
            classes,
            announced: vec![None; arranged.classes()],
            slots: arranged.slots(),
            calls,
            waiting: 0,
            checking: false,
            to_call: VecDeque::new(),
            calling: false,
            working: 0,
        }
    }
}

/// The action of a worker now.
pub(super) enum Step {
    Read(ClassLease),
    /// Classes are complete: announce them, then ask again.
    Announce,
}

impl Schedule for ByClass {
    type Lease = Step;

    fn next(&mut self, _: usize, now: u64) -> Action<Step> {
        if !self.checking && self.classes.has_complete() {
            return Action::Read(Step::Announce);
        }
        match self.classes.next(now) {
            Action::Read(lease) => Action::Read(Step::Read(lease)),
            Action::WaitUntil(at) => Action::WaitUntil(at),
            Action::Park => Action::Park,
            Action::Done => Action::Done,
            Action::Stop => Action::Stop,
        }
    }

    fn stop(&mut self) {
        self.classes.stop();
    }

    /// Whether there is a lease for it, and fewer workers are awake than can read at a time.
    fn wakes_one_more(&mut self, parked: usize, now: u64) -> bool {
        // A worker in a callback may be busy for long.
        let busy = match self.calls {
            true => self.classes.in_flight(),
            false => self.working.saturating_sub(parked),
        };
        busy < self.slots && self.classes.has_more(now)
    }
}

impl SharedReading {
    fn state(&self) -> MutexGuard<'_, RunState<ByClass>> {
        self.running.state()
    }

    /// Takes back a lease of which this many pieces and bytes were read.
    pub(super) fn take_back(
        &self,
        lease: &ClassLease,
        done: usize,
        bytes: u64,
        trouble: Option<LeaseTrouble>,
    ) {
        self.running.ended(bytes, trouble, |by_class, outcome, now| {
            by_class.classes.completed(lease, done, outcome, now)
        });
    }

    /// Ends the read, unless it is complete.
    pub(super) fn cancel(&self) {
        if !self.state().schedule.classes.all_complete() {
            self.running.fail(self.running.cancelled());
        }
    }

    /// Checks complete classes, wakes waiting callers, and runs the class callback.
    pub(super) fn announce(&self) {
        self.check_complete();
        self.call();
    }

    fn check_complete(&self) {
        let mut state = self.state();
        if state.schedule.checking {
            return;
        }
        state.schedule.checking = true;
        while let Some(class) = state.schedule.classes.next_complete() {
            if state.failure.is_some() {
                // Another worker has checked the files already.
                continue;
            }
            drop(state);
            let checked = self.check_class(class);
            let elapsed = self.running.started.elapsed();
            let failed = checked.map_err(|error| self.running.fail(error)).is_err();
            state = self.state();
            if !failed {
                state.schedule.announced[class] = Some(elapsed);
                state.schedule.to_call.push_back(class);
                if state.schedule.waiting > 0 {
                    self.running.news.notify_all();
                }
            }
        }
        state.schedule.checking = false;
    }

    /// Checks that the files of a class are unchanged.
    fn check_class(&self, class: usize) -> Result<()> {
        let arranged = &self.layout.arranged;
        let queue = arranged.queue(class);
        let mut at = queue.start;
        while at < queue.end {
            let first = arranged.piece(at);
            // The pieces of a queue are ordered by file.
            let more =
                partition(at..queue.end, |place| arranged.piece(place).file == first.file);
            let last = arranged.piece(more - 1);
            let extent = Extent::between(first.extent.offset(), last.extent.end());
            self.inputs[first.file].source.check_unchanged(extent, self.growth)?;
            at = more;
        }
        Ok(())
    }

    fn call(&self) {
        let Some(on_class) = &self.on_class else { return };
        let mut state = self.state();
        if state.schedule.calling {
            return;
        }
        state.schedule.calling = true;
        while let Some(class) = state.schedule.to_call.pop_front() {
            let elapsed = state.schedule.announced[class].unwrap_or_default();
            drop(state);
            let bytes = self.class_bytes(class, elapsed);
            (on_class.lock())(&bytes);
            state = self.state();
        }
        state.schedule.calling = false;
    }

    pub(super) fn class_bytes(&self, class: usize, elapsed: Duration) -> ClassBytes<'_> {
        let memory = Memory::Leased(&self.memory);
        ClassBytes { layout: &self.layout, memory, class, elapsed }
    }

    /// Runs the chunk callback for the chunks of a complete piece.
    pub(super) fn call_chunks(&self, piece: usize, lines: &mut Vec<usize>) {
        let Some((on_chunk, chunks)) = &self.on_chunk else { return };
        lines.clear();
        chunks.lock().done(piece, lines);
        for &line in lines.iter() {
            if let Some(chunk) = self.layout.chunk(Memory::Leased(&self.memory), line) {
                on_chunk(&chunk);
            }
        }
    }

    /// Waits at most `most` until `class` is announced; `None` if it takes longer.
    pub(super) fn wait(
        &self,
        class: usize,
        most: Option<Duration>,
    ) -> Result<Option<Duration>> {
        let until = most.and_then(|most| Instant::now().checked_add(most));
        let mut state = self.state();
        loop {
            if let Some(elapsed) = state.schedule.announced[class] {
                return Ok(Some(elapsed));
            }
            if let Some(failure) = &state.failure {
                return Err(failure.again());
            }
            if state.schedule.working == 0 {
                return Err(self.incomplete());
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            state.schedule.waiting += 1;
            let nap = left.unwrap_or(Duration::from_secs(3600));
            let woken = self.running.news.wait_timeout(state, nap);
            state = woken.0;
            state.schedule.waiting -= 1;
        }
    }

    /// Returns the reason why reading has ended early, if it has.
    pub(super) fn ended(&self) -> Option<Error> {
        let state = self.state();
        match &state.failure {
            Some(failure) => Some(failure.again()),
            None => (state.schedule.working == 0).then(|| self.incomplete()),
        }
    }

    /// Returns the error for a fault of Swath: a partly filled buffer must never be returned.
    pub(super) fn incomplete(&self) -> Error {
        let (name, extent) = self.running.place();
        Error::new(Operation::Read, Reason::Io, name)
            .at(extent)
            .detail("not every byte was delivered")
    }

    /// Returns the time at which a class was announced, if it was.
    pub(super) fn announced(&self, class: usize) -> Option<Duration> {
        self.state().schedule.announced[class]
    }

    /// Makes a class the next one to begin.
    pub(super) fn promote(&self, class: usize) -> bool {
        let mut state = self.state();
        let moved = state.schedule.classes.promote(class);
        self.running.wake_one_more(&mut state);
        moved
    }

    /// Locks the list of workers that have begun.
    pub(super) fn workers(&self) -> MutexGuard<'_, Vec<ThreadId>> {
        self.workers.lock()
    }

    /// Adds to the number of workers.
    pub(super) fn join(&self, workers: usize) {
        self.state().schedule.working += workers;
    }

    /// Subtracts one from the number of workers.
    pub(super) fn leave(&self) {
        let mut state = self.state();
        state.schedule.working = state.schedule.working.saturating_sub(1);
        if state.schedule.working == 0 {
            self.running.news.notify_all();
        }
    }
}

/// Returns the first place for which `holds` is false; it is true for all earlier ones.
fn partition(places: std::ops::Range<usize>, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (places.start, places.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
