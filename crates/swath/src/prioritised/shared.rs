//! What workers and callers of one read by classes share: the state machine behind one mutex.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::num::NonZeroU64;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use swath_os::memory::Leases;
use swath_os::priority::IoPriority;
use swath_plan::classes::{Chunks, Classes, Lease};
use swath_plan::extent::Extent;
use swath_plan::fallback::Fallback;
use swath_plan::schedule::{Action, Outcome, Verdict};

use crate::engine::crew::Watch;
use crate::engine::patience::NAP;
use crate::engine::{DropBehind, Trouble};
use crate::error::{Error, Operation, Reason, Result};
use crate::failures::Failures;
use crate::observe::Observer;
use crate::prioritised::plan::{OnChunk, OnClass};
use crate::prioritised::views::{ClassBytes, Layout, Memory};
use crate::report::Tally;
use crate::source::{Growth, Opened};

/// One of the files.
pub(super) struct Input {
    pub(super) source: Arc<Opened>,
    pub(super) drop_behind: Option<DropBehind>,
}

/// See the [module](self).
pub(super) struct Shared {
    pub(super) inputs: Vec<Input>,
    pub(super) layout: Layout,
    pub(super) memory: Leases<'static>,
    pub(super) chunk_size: NonZeroU64,
    pub(super) io_priority: Option<IoPriority>,
    pub(super) growth: Growth,
    pub(super) observer: Observer,
    pub(super) on_class: Option<OnClass>,
    pub(super) on_chunk: Option<(OnChunk, Mutex<Chunks>)>,
    pub(super) started: Instant,
    pub(super) state: Mutex<State>,
    /// Workers that were told to park.
    pub(super) room: Condvar,
    /// Callers that wait for a class.
    pub(super) news: Condvar,
    /// Who finds out how many workers it takes, where that is not known.
    pub(super) watch: Option<Watch>,
    pub(super) helpers: Helpers,
}

/// Workers that were started later, by another one.
#[derive(Default)]
pub(super) struct Helpers {
    ids: Mutex<Vec<ThreadId>>,
    pub(super) panics: Failures<Infallible>,
}

impl Helpers {
    pub(super) fn add(&self, id: ThreadId) {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).push(id);
    }

    /// Whether this thread is one of them.
    pub(super) fn are_here(&self) -> bool {
        let here = std::thread::current().id();
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).contains(&here)
    }
}

pub(super) struct State {
    classes: Classes,
    /// When each class was complete and checked.
    announced: Vec<Option<Duration>>,
    failure: Option<Error>,
    tally: Tally,
    fallbacks: Vec<Fallback>,
    parked: usize,
    waiting: usize,
    /// One worker checks at a time, so that classes are announced in the order of completion.
    checking: bool,
    to_call: VecDeque<usize>,
    calling: bool,
    /// Workers that have not ended.
    working: usize,
}

impl State {
    pub(super) fn new(classes: Classes, count: usize) -> Self {
        Self {
            classes,
            announced: vec![None; count],
            failure: None,
            tally: Tally::default(),
            fallbacks: Vec::new(),
            parked: 0,
            waiting: 0,
            checking: false,
            to_call: VecDeque::new(),
            calling: false,
            working: 0,
        }
    }
}

/// A lease that came back: how many of its pieces are complete, and what is wrong with the next.
pub(super) struct Ended {
    pub(super) lease: Lease,
    pub(super) done: usize,
    pub(super) bytes: u64,
    pub(super) trouble: Option<Trouble>,
}

/// What a worker does now.
pub(super) enum Turn {
    Read(Lease),
    /// Classes are complete: say so, then ask again.
    Announce,
    Over,
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // Changes under the lock are complete before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes back what a worker had, and says what it does now; waits until there is something.
    pub(super) fn turn(&self, slot: usize, ended: Option<Ended>) -> Turn {
        let mut state = self.state();
        if let Some(ended) = ended {
            self.take_back(&mut state, ended);
        }
        loop {
            if !state.checking && state.classes.has_complete() {
                // The class may have opened the window for others.
                self.wake_one(&mut state);
                return Turn::Announce;
            }
            if self.watch.as_ref().is_some_and(|watch| watch.sends_away(slot)) {
                self.wake_one(&mut state);
                return Turn::Over;
            }
            self.look_for_cancel(&mut state);
            let now = self.now();
            let wait = match state.classes.next(now) {
                Action::Read(lease) => {
                    self.wake_one(&mut state);
                    return Turn::Read(lease);
                }
                Action::WaitUntil(at) => Duration::from_nanos(at.saturating_sub(now)).min(NAP),
                Action::Park => NAP,
                Action::Done | Action::Stop => {
                    self.room.notify_all();
                    self.watch.as_ref().inspect(|watch| watch.over());
                    return Turn::Over;
                }
            };
            state.parked += 1;
            // Woken when there is a lease; the time-out is for cancellation.
            let woken = self.room.wait_timeout(state, wait);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
            state.parked -= 1;
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Wakes one parked worker if there is a lease for it, and not as many are awake as can read
    /// at one time; it will wake the next.
    fn wake_one(&self, state: &mut State) {
        // Whoever calls somebody may be busy with that for long.
        let busy = match self.on_class {
            Some(_) => state.classes.in_flight(),
            None => state.working.saturating_sub(state.parked),
        };
        let may_read = busy < self.layout.arranged.slots();
        if state.parked > 0 && may_read && state.classes.has_more(self.now()) {
            self.room.notify_one();
        }
    }

    fn take_back(&self, state: &mut State, ended: Ended) {
        let Ended { lease, done, bytes, trouble } = ended;
        state.tally.bytes += bytes;
        let (outcome, error) = match trouble {
            None => (Outcome::Complete, None),
            Some(Trouble { error, outcome }) => (outcome, Some(error)),
        };
        match (state.classes.completed(&lease, done, outcome, self.now()), error) {
            (Verdict::Continue, _) | (_, None) => {}
            (Verdict::Retry, Some(_)) => state.tally.retries += 1,
            (Verdict::FellBack, Some(error)) => {
                if !state.fallbacks.iter().any(Fallback::is_direct_refused) {
                    state.fallbacks.push(Opened::fell_back(&error));
                }
            }
            (Verdict::Failed, Some(error)) => self.fail_locked(state, error),
        }
    }

    fn look_for_cancel(&self, state: &mut State) {
        if self.observer.is_cancelled() && state.failure.is_none() {
            self.fail_locked(state, self.cancelled());
        }
    }

    fn cancelled(&self) -> Error {
        let (name, extent) = self.place_of_all();
        Error::cancelled(Operation::Read, name).at(extent)
    }

    /// The first file, and what is read of it.
    pub(super) fn place_of_all(&self) -> (&std::path::Path, Extent) {
        let spans = self.layout.arranged.spans_of(0);
        let offset = spans.first().map_or(0, |span| span.extent.offset());
        let end = spans.last().map_or(0, |span| span.extent.end());
        let name = self
            .inputs
            .first()
            .map_or(std::path::Path::new("<plan>"), |input| input.source.name());
        (name, Extent::between(offset, end))
    }

    fn fail_locked(&self, state: &mut State, error: Error) {
        state.failure.get_or_insert(error);
        state.classes.stop();
        self.room.notify_all();
        self.news.notify_all();
    }

    /// Ends the read with `error`, unless it has failed already.
    pub(super) fn fail(&self, error: Error) {
        self.fail_locked(&mut self.state(), error);
    }

    /// Ends the read, unless it is complete.
    pub(super) fn cancel(&self) {
        let mut state = self.state();
        if !state.classes.all_complete() {
            let error = self.cancelled();
            self.fail_locked(&mut state, error);
        }
    }

    /// Checks classes that are complete, tells who waits, and calls who wants to be called.
    pub(super) fn announce(&self) {
        self.check_complete();
        self.call();
    }

    fn check_complete(&self) {
        let mut state = self.state();
        if state.checking {
            return;
        }
        state.checking = true;
        while let Some(class) = state.classes.next_complete() {
            if state.failure.is_some() {
                // Who knows what the file is now.
                continue;
            }
            drop(state);
            let checked = self.check_class(class);
            let elapsed = self.started.elapsed();
            state = self.state();
            match checked {
                Ok(()) => {
                    state.announced[class] = Some(elapsed);
                    state.to_call.push_back(class);
                    if state.waiting > 0 {
                        self.news.notify_all();
                    }
                }
                Err(error) => self.fail_locked(&mut state, error),
            }
        }
        state.checking = false;
    }

    /// Whether the files of a class are what they were.
    fn check_class(&self, class: usize) -> Result<()> {
        let arranged = &self.layout.arranged;
        let queue = arranged.queue(class);
        let mut at = queue.start;
        while at < queue.end {
            let first = arranged.piece(at);
            // Pieces of a queue come file by file.
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
        if state.calling {
            return;
        }
        state.calling = true;
        while let Some(class) = state.to_call.pop_front() {
            let elapsed = state.announced[class].unwrap_or_default();
            drop(state);
            let bytes = self.class_bytes(class, elapsed);
            (on_class.lock().unwrap_or_else(PoisonError::into_inner))(&bytes);
            state = self.state();
        }
        state.calling = false;
    }

    pub(super) fn class_bytes(&self, class: usize, elapsed: Duration) -> ClassBytes<'_> {
        let memory = Memory::Leased(&self.memory);
        ClassBytes { layout: &self.layout, memory, class, elapsed }
    }

    /// A piece is complete: calls who wants each chunk.
    pub(super) fn call_chunks(&self, piece: usize, lines: &mut Vec<usize>) {
        let Some((on_chunk, chunks)) = &self.on_chunk else { return };
        lines.clear();
        chunks.lock().unwrap_or_else(PoisonError::into_inner).done(piece, lines);
        for &line in lines.iter() {
            if let Some(chunk) = self.layout.chunk(Memory::Leased(&self.memory), line) {
                on_chunk(&chunk);
            }
        }
    }

    /// Waits until `class` was announced, for so long at most; `None` if it takes longer.
    pub(super) fn wait(
        &self,
        class: usize,
        most: Option<Duration>,
    ) -> Result<Option<Duration>> {
        let until = most.and_then(|most| Instant::now().checked_add(most));
        let mut state = self.state();
        loop {
            if let Some(elapsed) = state.announced[class] {
                return Ok(Some(elapsed));
            }
            if let Some(failure) = &state.failure {
                return Err(failure.again());
            }
            if state.working == 0 {
                return Err(self.incomplete());
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            state.waiting += 1;
            let nap = left.unwrap_or(Duration::from_secs(3600));
            let woken = self.news.wait_timeout(state, nap);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
            state.waiting -= 1;
        }
    }

    /// Why nothing more comes, once nothing does.
    pub(super) fn ended(&self) -> Option<Error> {
        let state = self.state();
        match &state.failure {
            Some(failure) => Some(failure.again()),
            None => (state.working == 0).then(|| self.incomplete()),
        }
    }

    /// A fault of ours; never hand over a buffer that is half filled.
    pub(super) fn incomplete(&self) -> Error {
        let (name, extent) = self.place_of_all();
        Error::new(Operation::Read, Reason::Io, name)
            .at(extent)
            .detail("not every byte was delivered")
    }

    /// When a class was announced, if it was.
    pub(super) fn announced(&self, class: usize) -> Option<Duration> {
        self.state().announced[class]
    }

    /// Makes a class the next one to begin.
    pub(super) fn promote(&self, class: usize) -> bool {
        let mut state = self.state();
        let moved = state.classes.promote(class);
        self.wake_one(&mut state);
        moved
    }

    /// So many workers more.
    pub(super) fn join(&self, workers: usize) {
        self.state().working += workers;
    }

    /// A worker less.
    pub(super) fn leave(&self) {
        let mut state = self.state();
        state.working = state.working.saturating_sub(1);
        if state.working == 0 {
            self.news.notify_all();
        }
    }

    pub(super) fn count(&self, tally: Tally) {
        self.state().tally.add(tally);
    }

    pub(super) fn fell_back(&self, what: Fallback) {
        self.state().fallbacks.push(what);
    }
}

/// What is left when all workers have ended.
pub(super) struct Summary {
    pub(super) failure: Option<Error>,
    pub(super) announced: Vec<Option<Duration>>,
    pub(super) max_skew: usize,
    pub(super) tally: Tally,
    pub(super) fallbacks: Vec<Fallback>,
}

impl From<State> for Summary {
    fn from(state: State) -> Self {
        let max_skew = state.classes.max_skew();
        let State { failure, announced, tally, fallbacks, .. } = state;
        Self { failure, announced, max_skew, tally, fallbacks }
    }
}

/// The first place for which `holds` does not hold; it does for all before.
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
