//! The shared state of the workers of one ingest: the files taken, the failures, the end.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use swath_plan::fallback::Fallback;
use swath_plan::files::{Window, share};

use super::file_reader::SMALL;
use super::listing::Listing;
use super::options::IngestOptions;
use super::report::IngestTally;
use crate::error::{Error, Operation};
use crate::locks::{AtomicU64, AtomicUsize, Condvar, Mutex};
use crate::observe::Observer;
use crate::source::Identity;
use crate::timeline::{Flights, Recorder};

/// A file that several workers read.
pub(super) struct Large {
    pub(super) index: usize,
    pub(super) before: Identity,
    /// Offset of its bytes in the destination.
    pub(super) base: usize,
    /// Parts that are not read yet.
    pub(super) left: AtomicUsize,
    pub(super) failed: AtomicBool,
}

/// The next claim of a worker.
pub(super) enum WorkerClaim {
    /// Files `.0 .. .1` of the order.
    Files(usize, usize),
    /// A part of a large file: its offset and its length.
    Part(Arc<Large>, u64, usize),
}

/// See the [module](self).
pub(super) struct Claims<'c> {
    pub(super) listing: &'c Listing,
    pub(super) options: &'c IngestOptions,
    /// The number of the first file in a timeline.
    first_source: u32,
    /// When the call began, in seconds since 1970.
    pub(super) began: i64,
    order: Option<&'c [u32]>,
    /// Large files have parts for all workers, so idle workers wait for them.
    shares: bool,
    queue: Mutex<FileQueue>,
    changed: Condvar,
    stop: AtomicBool,
    /// The first failed file in input order: later files are no longer needed.
    failed_at: AtomicUsize,
    failure: Mutex<Option<(usize, Error)>>,
    /// Bytes read, for progress.
    came: AtomicU64,
    told: AtomicU64,
    observer: Observer,
    pub(super) tally: Mutex<IngestTally>,
    pub(super) fallbacks: Mutex<Vec<Fallback>>,
}

struct FileQueue {
    next: usize,
    end: usize,
    parts: VecDeque<(Arc<Large>, u64, usize)>,
    /// Workers that may still find parts for others.
    busy: usize,
    window: Window,
    /// Threads that were started, including the first one.
    started: usize,
    most_threads: usize,
}

/// Reading this many bytes takes several times as long as starting a thread.
const WORTH_A_THREAD: u64 = 2 << 20;
/// The most files of one claim.
const CLAIM: usize = 32;

impl<'c> Claims<'c> {
    pub(super) fn new(
        listing: &'c Listing,
        first_source: u32,
        options: &'c IngestOptions,
        began: i64,
        order: Option<&'c [u32]>,
        shares: bool,
    ) -> Self {
        let (cores, depth) = (options.cores().max(1), options.depth() as usize);
        let most = match (options.workers(), depth) {
            (0, 0) => 64,
            (0, depth) => depth,
            (workers, _) => workers,
        };
        // Each thread needs some descriptors.
        let most = most.min(swath_os::descriptors::limit() / 8).max(1);
        let end = order.map_or(listing.len(), <[u32]>::len);
        let queue = FileQueue {
            next: 0,
            end,
            parts: VecDeque::new(),
            busy: 0,
            window: Window::new(cores.min(most), most),
            // Fewer if there are few files.
            started: cores.min(most).min(end.div_ceil(8)).max(1),
            most_threads: cores.min(most),
        };
        Self {
            listing,
            options,
            first_source,
            began,
            order,
            shares,
            queue: Mutex::new(queue),
            changed: Condvar::new(),
            stop: AtomicBool::new(false),
            failed_at: AtomicUsize::new(usize::MAX),
            failure: Mutex::default(),
            came: AtomicU64::new(0),
            told: AtomicU64::new(0),
            observer: Observer::new(options.hooks().clone(), None),
            tally: Mutex::default(),
            fallbacks: Mutex::default(),
        }
    }

    /// Returns the file at a place of the order.
    pub(super) fn at(&self, place: usize) -> usize {
        self.order.map_or(place, |order| order[place] as usize)
    }

    /// Returns the number of threads to begin with.
    pub(super) fn threads(&self) -> usize {
        self.queue.lock().started
    }

    /// Records that a thread met a file of `len` bytes; returns whether to start another thread: one is
    /// missing, and the remaining files, if they are as long, take longer than the start.
    pub(super) fn met_large(&self, len: u64) -> bool {
        let mut queue = self.queue.lock();
        let left = self.left(&queue);
        let useful = queue.parts.len().saturating_add(left);
        let is_much = !queue.parts.is_empty() || left as u64 * len >= WORTH_A_THREAD;
        let is_missing =
            is_much && queue.started < queue.window.threads() && queue.started <= useful;
        queue.started += usize::from(is_missing);
        is_missing
    }

    /// Returns how many descriptors one thread may hold.
    pub(super) fn share(&self) -> usize {
        let threads = self.queue.lock().window.threads().max(1);
        swath_os::descriptors::limit().saturating_sub(16) / 2 / threads
    }

    /// Returns how many files one worker's ring may have in flight; 0 for no ring.
    pub(super) fn ring_depth(&self) -> u32 {
        // Twice what the device needs: some files wait for directories and inodes, or to be
        // collected. More would cost processor time.
        let wanted = match self.options.depth() {
            0 => 128,
            depth => depth,
        };
        let threads =
            u32::try_from(self.queue.lock().window.threads().max(1)).unwrap_or(u32::MAX);
        let limit = u32::try_from(swath_os::descriptors::limit() / 2).unwrap_or(u32::MAX);
        // The memory limit of a stream includes bytes in rings.
        let room = match (self.shares, self.options.memory_limit) {
            (true, _) | (_, 0) => u32::MAX,
            (_, bytes) => u32::try_from(bytes / 4 / SMALL as u64).unwrap_or(u32::MAX) / threads,
        };
        (wanted / threads).min(room).clamp(1, 128).min(limit)
    }

    /// Whether no file is left to claim.
    pub(super) fn is_drained(&self) -> bool {
        self.left(&self.queue.lock()) == 0
    }

    /// Returns the number of files left to claim. After a failed file nothing is left; in another
    /// reading order, files before it may still come.
    fn left(&self, queue: &FileQueue) -> usize {
        if self.order.is_none() && self.is_beyond(queue.next) {
            return 0;
        }
        queue.end - queue.next
    }

    /// Whether a file comes after a failed one.
    pub(super) fn is_beyond(&self, index: usize) -> bool {
        // Relaxed: a worker that misses it reads one file in vain.
        index > self.failed_at.load(Ordering::Relaxed)
    }

    /// Returns the next claim, waiting while other workers may find parts; `None` when all is done.
    /// With `again`, the worker has finished its previous claim.
    pub(super) fn next(&self, again: bool) -> Option<WorkerClaim> {
        let mut queue = self.queue.lock();
        queue.busy -= usize::from(again);
        loop {
            if self.is_stopped() {
                break;
            }
            if let Some((large, offset, len)) = queue.parts.pop_front() {
                queue.busy += 1;
                return Some(WorkerClaim::Part(large, offset, len));
            }
            let left = self.left(&queue);
            if left > 0 {
                let first = queue.next;
                queue.next += share(left, queue.window.threads(), CLAIM);
                queue.busy += 1;
                return Some(WorkerClaim::Files(first, queue.next));
            }
            if queue.busy == 0 || !self.shares {
                break;
            }
            queue = self.changed.wait(queue);
        }
        drop(queue);
        self.changed.notify_all();
        None
    }

    /// Queues the parts of a large file before all other claims.
    pub(super) fn share_out(&self, large: &Arc<Large>, part_len: usize) {
        let mut queue = self.queue.lock();
        let mut offset = 0;
        while offset < large.before.len {
            let left = usize::try_from(large.before.len - offset).unwrap_or(usize::MAX);
            let len = left.min(part_len);
            queue.parts.push_back((Arc::clone(large), offset, len));
            offset += len as u64;
        }
        drop(queue);
        self.changed.notify_all();
    }

    /// Records that a thread waits for the device; returns whether to start another one.
    pub(super) fn missed(&self) -> bool {
        let mut queue = self.queue.lock();
        let grows = queue.window.missed();
        queue.started += usize::from(grows);
        queue.most_threads = queue.most_threads.max(queue.window.threads());
        grows
    }

    /// Records that a thread could not be started.
    pub(super) fn not_started(&self, error: &std::io::Error) {
        let mut queue = self.queue.lock();
        queue.window.refused();
        queue.started = queue.started.saturating_sub(1).max(1);
        queue.most_threads = queue.most_threads.min(queue.window.threads().max(1));
        drop(queue);
        self.fell_back(Fallback::WorkerNotStarted { index: None, why: error.to_string() });
    }

    /// Records that only this many of the first threads run; 0: only the caller's.
    pub(super) fn only(&self, running: usize) {
        let running = running.max(1);
        let mut queue = self.queue.lock();
        queue.window.only(running);
        (queue.started, queue.most_threads) = (running, running);
    }

    pub(super) fn fell_back(&self, what: Fallback) {
        self.fallbacks.lock().push(what);
    }

    pub(super) fn most_threads(&self) -> usize {
        self.queue.lock().most_threads
    }

    /// Records that file `index` failed, which ends the ingest: only earlier files are still read,
    /// because one of them may fail too. Keeps the first failure in input order.
    pub(super) fn fail(&self, index: usize, error: Error) {
        let mut failure = self.failure.lock();
        if failure.as_ref().is_none_or(|&(first, _)| index < first) {
            *failure = Some((index, error));
        }
        drop(failure);
        self.failed_at.fetch_min(index, Ordering::Relaxed);
        drop(self.queue.lock());
        self.changed.notify_all();
    }

    pub(super) fn stop(&self) {
        // Relaxed: the failure itself is protected by a mutex.
        self.stop.store(true, Ordering::Relaxed);
        drop(self.queue.lock());
        self.changed.notify_all();
    }

    /// Whether no more work should begin: after a failure or a cancellation.
    pub(super) fn is_stopped(&self) -> bool {
        if self.stop.load(Ordering::Relaxed) {
            return true;
        }
        let cancelled = self.observer.is_cancelled();
        if cancelled {
            self.stop.store(true, Ordering::Relaxed);
            self.changed.notify_all();
        }
        cancelled
    }

    /// Returns the failure that ends the ingest, if there is one.
    pub(super) fn failure(&self) -> Option<Error> {
        let failed = self.failure.lock().take();
        let cancelled = || {
            self.observer.is_cancelled().then(|| {
                let path =
                    if self.listing.len() > 0 { self.listing.path(0) } else { Path::new("") };
                Error::cancelled(Operation::Read, path)
            })
        };
        failed.map(|(_, error)| error).or_else(cancelled)
    }

    /// Counts `bytes` more as read.
    pub(super) fn came(&self, bytes: u64) {
        // Relaxed: a counter for display only.
        self.came.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Calls the progress callback, if there is one: only on the calling thread.
    pub(super) fn tell(&self) {
        let came = self.came.load(Ordering::Relaxed);
        let told = self.told.swap(came, Ordering::Relaxed);
        if came > told {
            self.observer.delivered(came - told);
        }
    }

    /// Returns a recorder of this thread's activity, for a timeline.
    pub(super) fn recorder(&self) -> Recorder {
        let timeline = self.options.hooks().timeline.as_ref();
        timeline.map_or_else(Recorder::off, |timeline| timeline.recorder_of(self.first_source))
    }

    /// Returns lanes for files in flight, for a timeline.
    pub(super) fn flights(&self) -> Flights {
        Flights::new(self.options.hooks().timeline.as_ref())
    }

    /// Returns the number of a file in a timeline.
    pub(super) fn source(&self, index: usize) -> u32 {
        self.first_source.saturating_add(u32::try_from(index).unwrap_or(u32::MAX))
    }

    pub(super) fn count(&self, tally: IngestTally) {
        self.tally.lock().add(tally);
    }
}

/// How often a waiting thread checks for cancellation.
pub(super) const NAP: Duration = Duration::from_millis(50);

/// Stops the ingest if a worker panics, so that no other worker waits for it.
pub(super) struct StopOnPanic<'c>(pub(super) &'c Claims<'c>);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}
