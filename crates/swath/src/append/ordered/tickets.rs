//! The shared state of all tickets of one output: the order, the buffers, and the first failure.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use swath_os::machine;
use swath_plan::extent::Extent;
use swath_plan::fallback::Fallback;
use swath_plan::sequence::{Placed, Refused, Sequence};

use crate::append::ordered::{OrderedOptions, OrderedReport};
use crate::error::{Error, Operation, Reason, Result};
use crate::failures::{FailureLog, caught};
use crate::locks::{Condvar, Mutex, MutexGuard};
use crate::observe::Observer;
use crate::sink::draft::Draft;
use crate::sink::target::{ChunkWrite, PlacementState, Target, refused};
use crate::timeline::{Activity, Recorder};

/// Capacity of the first buffers.
const FIRST_ROOM: usize = 64 << 10;
/// How often a waiting thread checks for cancellation.
const NAP: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(super) struct Tickets {
    path: PathBuf,
    target: Target,
    are_in_place: bool,
    observer: Observer,
    /// The options set no window, so workers may widen it.
    window_is_free: bool,
    window: Mutex<TicketWindow>,
    /// Signals that a chunk was written, or that no more will be.
    changed: Condvar,
    /// Signals that a chunk has a place, or that no more will get one; for threads that only
    /// write.
    placed: Condvar,
    /// The panics of threads that only write: they have no caller in which a panic could resume.
    panics: FailureLog<Infallible>,
}

#[derive(Debug)]
struct TicketWindow {
    sequence: Sequence<Vec<u8>>,
    layout: PlacementState,
    /// Threads that are writing a chunk.
    writing: usize,
    /// Threads that wait for a place, or for the end.
    waiting: usize,
    failure: Option<Error>,
    /// The failure is that a thread panicked while it wrote.
    has_panicked: bool,
    /// Threads that only write; if there are any, other threads do not write.
    writers: usize,
    /// Threads that only write have nothing left to wait for.
    is_complete: bool,
    idle: Vec<Vec<u8>>,
    /// Capacity of the next new buffer.
    room: usize,
    written: OrderedReport,
}

/// A chunk that has been taken out to be written.
struct ChunkWork {
    place: ChunkWrite,
    extent: Extent,
    bytes: Vec<u8>,
}

impl Tickets {
    pub(super) fn new(
        path: PathBuf,
        target: Target,
        options: &OrderedOptions,
        fallbacks: Vec<Fallback>,
    ) -> Self {
        let window = match options.window {
            // The current number takes twenty calls, more than a short output makes.
            0 => 2 * machine::usable_cpus_at_start(),
            window => window,
        };
        let room = match usize::try_from(options.chunk_size).unwrap_or(usize::MAX) {
            0 => FIRST_ROOM,
            room => room,
        };
        let written =
            OrderedReport { bytes: 0, chunks: 0, direct_bytes: 0, buffers: 0, fallbacks };
        Self {
            path,
            target,
            are_in_place: false,
            observer: Observer::new(options.output.hooks.clone(), None),
            window_is_free: options.window == 0,
            window: Mutex::new(TicketWindow {
                sequence: Sequence::new(window),
                layout: PlacementState::default(),
                writing: 0,
                waiting: 0,
                failure: None,
                has_panicked: false,
                writers: 0,
                is_complete: false,
                idle: Vec::new(),
                room,
                written,
            }),
            changed: Condvar::new(),
            placed: Condvar::new(),
            panics: FailureLog::default(),
        }
    }

    /// Sets whether failures say that the target may hold a part of the new bytes.
    pub(super) fn set_in_place(&mut self, are_in_place: bool) {
        self.are_in_place = are_in_place;
    }

    fn failed(&self, error: Error) -> Error {
        if self.are_in_place { error.partial(&self.path) } else { error }
    }

    /// Gives the written file its name. Returns the attributes that were not kept.
    pub(super) fn commit(&self, draft: Draft, len: u64) -> Result<Vec<Fallback>> {
        self.observer.hooks().commit(&self.path, len, || draft.commit_with_notes(len))
    }

    /// Returns a recorder of this thread's work for the output.
    pub(super) fn recorder(&self) -> Recorder {
        self.observer.recorder(&self.path)
    }

    pub(super) fn name(&self) -> &Path {
        &self.path
    }

    /// Announces that `workers` are about to take tickets.
    pub(super) fn widen(&self, workers: usize) {
        if self.window_is_free {
            self.window.lock().sequence.widen(2 * workers);
            self.changed.notify_all();
        }
    }

    pub(super) fn fell_back(&self, what: Fallback) {
        self.window.lock().written.fallbacks.push(what);
    }

    /// Returns the next number and an empty buffer, waiting at most `most`. A waiting thread writes
    /// chunks in the meantime.
    pub(super) fn take(&self, most: Duration) -> Result<Option<(u64, Vec<u8>)>> {
        let _panic = OnPanic::of(self);
        let began = Instant::now();
        let mut window = self.window.lock();
        loop {
            self.look_for_trouble(&mut window)?;
            if let Some(index) = window.sequence.take() {
                return Ok(Some((index, self.buffer(window))));
            }
            window = match self.next_work(&mut window) {
                Some(work) => {
                    drop(window);
                    self.write(work);
                    self.window.lock()
                }
                None if began.elapsed() >= most => return Ok(None),
                None => self.wait(window, most.saturating_sub(began.elapsed())),
            };
        }
    }

    /// Takes chunk `index` back, and writes the chunks that can be written now.
    pub(super) fn give_back(&self, index: u64, bytes: Vec<u8>) -> Result<()> {
        let _panic = OnPanic::of(self);
        let mut window = self.window.lock();
        let len = bytes.len() as u64;
        match window.sequence.deposit(index, len, bytes) {
            Ok(()) => {}
            Err(Refused::Abandoned(_)) => return Err(self.poisoned(&window)),
            Err(Refused::TooLong(_)) => {
                let error = Error::new(Operation::Write, Reason::Invalid, &self.path);
                let error = error.detail("it would be longer than 2^64 bytes");
                window.failure.get_or_insert(error);
            }
        }
        if window.writers > 0 {
            self.look_for_failure(&mut window)?;
            drop(window);
            self.placed.notify_one();
            return Ok(());
        }
        self.drain(window)
    }

    /// Writes chunks that have a place until no more will get one; for threads that only write.
    /// Keeps the panic of a callback for [`end`](Self::end).
    pub(super) fn write_on(&self) {
        // Unwind-safe: after a panic only data under the lock is used.
        let written = caught(|| self.write_until_complete());
        if let Err(panic) = written {
            self.panics.panicked(0, panic);
            self.panicked();
        }
    }

    fn write_until_complete(&self) {
        let mut window = self.window.lock();
        while !window.is_complete && window.failure.is_none() {
            window = match self.next_work(&mut window) {
                Some(work) => {
                    drop(window);
                    // The next chunk may have a place as well.
                    self.placed.notify_one();
                    self.write(work);
                    self.window.lock()
                }
                None => self.placed.wait(window),
            };
        }
    }

    /// Announces that `count` threads have begun to [`write_on`](Self::write_on).
    pub(super) fn hire(&self, count: usize) {
        self.window.lock().writers = count;
    }

    /// Writes chunks until none has a place, or until another thread writes to a stream.
    fn drain<'s>(&'s self, mut window: MutexGuard<'s, TicketWindow>) -> Result<()> {
        loop {
            // Not after the write: a cancellation then comes too late.
            self.look_for_failure(&mut window)?;
            let Some(work) = self.next_work(&mut window) else { return Ok(()) };
            drop(window);
            self.write(work);
            window = self.window.lock();
        }
    }

    /// Returns the next chunk in serial order, if this thread may write it now.
    fn next_work(&self, window: &mut TicketWindow) -> Option<ChunkWork> {
        if self.target.is_stream() && window.writing > 0 {
            return None;
        }
        let Placed { extent, chunk, .. } = window.sequence.place()?;
        window.room = window.room.max(chunk.len());
        window.written.chunks += 1;
        window.writing += 1;
        let place = self.target.place(&mut window.layout, extent, &chunk);
        Some(ChunkWork { place, extent, bytes: chunk })
    }

    /// Writes one chunk, and reports the outcome to every waiting thread.
    fn write(&self, work: ChunkWork) {
        let ChunkWork { place, extent, mut bytes } = work;
        let mut ended =
            TicketWriteEnd { tickets: self, extent, outcome: None, buffer: Vec::new() };
        let outcome = self.observer.hooks().record(Activity::Write, &self.path, extent, || {
            self.target.write(&place, &mut bytes)
        });
        let complete = outcome.is_ok();
        bytes.clear();
        (ended.outcome, ended.buffer) = (Some(outcome), bytes);
        drop(ended);
        if complete {
            self.observer.delivered(extent.len());
        }
    }

    /// Records that number `index` will not come back.
    pub(super) fn abandon(&self, index: u64) {
        self.window.lock().sequence.abandon(index);
        self.changed.notify_all();
    }

    /// Ends writing because of `error`, unless there is another failure already.
    pub(super) fn close(&self, error: Error) {
        let mut window = self.window.lock();
        window.failure.get_or_insert(error);
        window.sequence.cut_at(0);
        drop(window);
        self.changed.notify_all();
        self.placed.notify_all();
    }

    /// Records that a thread panicked while it wrote: the chunk that it had taken out will not
    /// be written.
    fn panicked(&self) {
        self.window.lock().has_panicked = true;
        let panicked = std::io::Error::other("a writing thread panicked");
        self.close(self.failed(Error::io(Operation::Write, &self.path, panicked)));
    }

    /// Returns how the workers of this output ended, according to their `failures`.
    ///
    /// # Panics
    ///
    /// If one of them panicked, or a thread that only writes did while it wrote: errors of other
    /// threads follow from it.
    pub(super) fn end<E>(&self, failures: &FailureLog<E>) -> std::result::Result<(), E> {
        if self.window.lock().has_panicked {
            self.panics.resume();
            failures.resume();
        }
        failures.end()
    }

    /// Waits until all chunks are in their places, and finishes the target.
    pub(super) fn complete(&self) -> Result<OrderedReport> {
        let mut window = self.window.lock();
        loop {
            self.look_for_trouble(&mut window)?;
            let held = window.sequence.held();
            if held > 0 {
                let error = Error::new(Operation::Commit, Reason::Busy, &self.path);
                return Err(error
                    .detail(format!("{held} of its tickets are still open"))
                    .hint("finish every ticket first"));
            }
            if window.sequence.kept() == 0 {
                break;
            }
            window = self.wait(window, NAP);
        }
        window.is_complete = true;
        self.placed.notify_all();
        let len = window.sequence.offset();
        let carried = Extent::between(len, len);
        let finished = self.target.finish(&window.layout, len);
        finished.map_err(|error| Error::io(Operation::Write, &self.path, error).at(carried))?;
        window.written.bytes = len;
        if self.target.is_refused() {
            window.written.fallbacks.push(refused("by a write"));
        }
        Ok(window.written.clone())
    }

    /// Returns an idle buffer, or a new one: there are never more than the window allows.
    fn buffer(&self, mut window: MutexGuard<'_, TicketWindow>) -> Vec<u8> {
        if let Some(idle) = window.idle.pop() {
            return idle;
        }
        window.written.buffers += 1;
        let room = window.room.saturating_add(self.target.room());
        drop(window);
        let mut bytes = Vec::new();
        // If there is no memory for it now, the thread that fills it will notice.
        let _ = bytes.try_reserve_exact(room);
        bytes
    }

    /// Fails once no more chunks can be placed, because of a failure or a dropped ticket.
    fn look_for_trouble(&self, window: &mut TicketWindow) -> Result<()> {
        self.look_for_failure(window)?;
        if window.sequence.cut().is_some() { Err(self.poisoned(window)) } else { Ok(()) }
    }

    fn look_for_failure(&self, window: &mut TicketWindow) -> Result<()> {
        if window.failure.is_none() && self.observer.is_cancelled() {
            let cancelled = Error::cancelled(Operation::Write, &self.path);
            window.failure = Some(self.failed(cancelled));
            window.sequence.cut_at(0);
            self.changed.notify_all();
            self.placed.notify_all();
        }
        window.failure.as_ref().map_or(Ok(()), |failure| Err(failure.again()))
    }

    /// Returns the first failure, or an error for the abandoned ticket.
    fn poisoned(&self, window: &TicketWindow) -> Error {
        if let Some(failure) = &window.failure {
            return failure.again();
        }
        let index = window.sequence.cut().unwrap_or(0);
        let offset = window.sequence.offset();
        let poisoned = Error::new(Operation::Write, Reason::Poisoned, &self.path)
            .at(Extent::between(offset, offset))
            .detail(format!("ticket {index} was dropped before it was done"))
            .hint("finish every ticket, or give up the output if you cannot");
        self.failed(poisoned)
    }

    fn wait<'s>(
        &self,
        mut window: MutexGuard<'s, TicketWindow>,
        most: Duration,
    ) -> MutexGuard<'s, TicketWindow> {
        window.waiting += 1;
        let woken = self.changed.wait_timeout(window, most.min(NAP));
        let mut window = woken.0;
        window.waiting -= 1;
        window
    }
}

/// One write; its drop ends it for all threads, even if the writer of a stream panics.
struct TicketWriteEnd<'s> {
    tickets: &'s Tickets,
    extent: Extent,
    outcome: Option<std::io::Result<u64>>,
    /// Empty again.
    buffer: Vec<u8>,
}

impl Drop for TicketWriteEnd<'_> {
    fn drop(&mut self) {
        let mut window = self.tickets.window.lock();
        window.writing -= 1;
        window.sequence.written();
        let panicked = || Err(std::io::Error::other("the writer panicked"));
        match self.outcome.take().unwrap_or_else(panicked) {
            Ok(direct_bytes) => {
                window.written.direct_bytes += direct_bytes;
                window.idle.push(std::mem::take(&mut self.buffer));
            }
            Err(error) => {
                let error = Error::io(Operation::Write, &self.tickets.path, error);
                let error = self.tickets.failed(error.at(self.extent));
                window.failure.get_or_insert(error);
                window.sequence.cut_at(0);
            }
        }
        let (is_over, waits) = (window.failure.is_some(), window.waiting > 0);
        drop(window);
        if is_over {
            self.tickets.changed.notify_all();
            self.tickets.placed.notify_all();
        } else if waits {
            // One free place in the window: one thread can use it.
            self.tickets.changed.notify_one();
        }
    }
}

/// Guard: the chunk of a thread that panics is never written, so no thread must wait for it.
struct OnPanic<'s> {
    tickets: &'s Tickets,
    /// Whether the thread was panicking before.
    already: bool,
}

impl<'s> OnPanic<'s> {
    /// Must be created before the state is locked, so that it is dropped after the lock is released.
    fn of(tickets: &'s Tickets) -> Self {
        Self { tickets, already: std::thread::panicking() }
    }
}

impl Drop for OnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() && !self.already {
            self.tickets.panicked();
        }
    }
}
