//! Reads many files: into one buffer, or one after the other through a callback.
//!
//! ```text
//! Files → listing → claims → workers → destination: arena and table, or slabs and a callback
//!                             │ page cache: open, read, inspect, close
//!                             │ device: many in flight, for any number of cores
//!                             └ large, unusual, young: with more checks, large ones in parts
//! ```
//!
//! The number of threads is chosen for you: files in the page cache are read by one worker for
//! each core; for files on the device there are as many requests in flight as keep it busy.
//!
//! **The promise** is that of every verb: a file that is written, truncated or replaced while it
//! is read is an error with its path, in every case that `fstat` before and after can show; data
//! is never silently short. One `fstat` is enough if it shows that the file last changed at least
//! three seconds before the call began, by this machine's clock, and that the number of bytes
//! read is its length. This requires that the clock is not set back by more than three seconds
//! during the call.

mod arena;
mod claims;
mod collect;
mod destination;
mod file_order;
mod file_reader;
mod files;
mod glob;
mod in_flight;
mod listing;
mod options;
mod report;
mod second_look;
mod sort_names;
mod stream;
mod summary;
mod utf8;
mod walk;
mod worker;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::Scope;
use std::time::{Duration, Instant, SystemTime};

pub use arena::Arena;
pub use collect::{Entry, Ingested};
pub use files::Files;
pub use options::{Content, Delivery, Failures, FileOrder, IngestOptions, OpenedBy, Symlinks};
pub use report::{IngestReport, OrderGain, SystemCalls, TimedFiles};
pub use stream::Part;

use claims::{Claims, StopOnPanic};
use collect::{Results, ToArena};
use destination::Destination;
use file_order::ReadingOrder;
use listing::Listing;
use summary::Summary;
use worker::Worker;

use crate::error::{Error, Result};
use crate::locks::{AtomicUsize, Mutex};
use crate::threads::{self, Separate};

/// Reads files into one buffer: a folder with everything below it, a list, or a pattern.
///
/// Source: study B (many small files, 1 to 64 threads).
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # std::fs::write(folder.path().join("a"), "first").unwrap();
/// # std::fs::write(folder.path().join("b"), "second").unwrap();
/// let ingested = swath::ingest(folder.path())?;
/// let texts: Vec<&[u8]> = ingested.iter().map(|entry| entry.bytes).collect();
/// assert_eq!(texts, [&b"first"[..], b"second"]);
/// # Ok::<(), swath::Error>(())
/// ```
///
/// # Errors
///
/// The first failure in input order, for any number of workers: a file that cannot be opened or
/// read, is not a regular file, or changes while it is read; not enough memory for all files.
/// [`IngestOptions::with_failures`] continues instead.
pub fn ingest(files: impl Into<Files>) -> Result<Ingested> {
    IngestOptions::new().ingest(files)
}

/// Reads all of `files` in bounded memory, and calls `each` on this thread for every file, or
/// part of a large one, in input order.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # std::fs::write(folder.path().join("a"), "first").unwrap();
/// # std::fs::write(folder.path().join("b"), "second").unwrap();
/// let mut bytes = 0;
/// swath::ingest::stream(folder.path(), |part| {
///     bytes += part.bytes.len();
///     Ok::<(), swath::Error>(())
/// })?;
/// assert_eq!(bytes, 11);
/// # Ok::<(), swath::Error>(())
/// ```
///
/// # Errors
///
/// As [`IngestOptions::stream`].
pub fn stream<E: From<Error> + Send>(
    files: impl Into<Files>,
    each: impl FnMut(Part<'_>) -> std::result::Result<(), E>,
) -> std::result::Result<IngestReport, E> {
    IngestOptions::new().stream(files, each)
}

/// The time at which a call began.
struct Began {
    at: Instant,
    seconds: i64,
}

impl Began {
    fn now() -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let seconds = since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(0));
        Self { at: Instant::now(), seconds }
    }

    fn elapsed(&self) -> Duration {
        self.at.elapsed()
    }
}

impl IngestOptions {
    /// Reads all of `files` into one buffer.
    ///
    /// # Errors
    ///
    /// As [`ingest`]; with [`Failures::Skip`] and [`Failures::Collect`] only a cancellation.
    pub fn ingest(&self, files: impl Into<Files>) -> Result<Ingested> {
        self.ingest_all(files.into())
    }

    fn ingest_all(&self, files: Files) -> Result<Ingested> {
        let began = Began::now();
        let listing = files.listing(self.symlinks, self.hooks().cancel.as_ref())?;
        let listing = Arc::new(listing);
        let first_source = self.sources(&listing);
        let listed = began.elapsed();
        let arena = self.arena.clone().unwrap_or_else(Arena::shared);
        let store = arena::ArenaStore::new(&arena, self.memory_limit, listing.len())?;
        let results = Mutex::new(Results::default());
        let order = ReadingOrder::of(&listing, self.order);
        let make = || ToArena::new(&store, &results, listing.len());
        let mut parts = Summary::default();
        let mut failure = None;
        let mut timed = Vec::new();
        for places in rounds(&order) {
            let started = Instant::now();
            let claims = Claims::new(&listing, first_source, self, began.seconds, places, true);
            run(&claims, &make, make());
            // Other workers may have read everything, and failed.
            claims.tell();
            failure = claims.failure();
            parts.add(Summary::of(claims));
            let files = places.map_or(0, <[u32]>::len) as u64;
            timed.push(TimedFiles { files, elapsed: started.elapsed() });
            if failure.is_some() {
                break;
            }
        }
        let populated = store.populated.load(Ordering::Relaxed);
        let (pages, used) = store.into_pages();
        if let Some(error) = failure {
            if let Some(pages) = pages {
                arena.put(pages);
            }
            return Err(error);
        }
        let results = results.into_inner();
        let keep_failed = self.failures == Failures::Collect;
        let walk_calls = listing.walk_calls;
        let mut ingested =
            results.into_ingested(listing, pages, used, self.arena.clone(), keep_failed);
        let report = &mut ingested.report;
        parts.fill_in(report, self);
        report.calls.walk = walk_calls;
        report.populated_bytes = populated;
        if let (Some(order), &[given, ordered]) = (&order, &timed[..]) {
            report.calls.order = order.calls;
            let sorting = order.sorting;
            report.order = Some(OrderGain { order: self.order, sorting, given, ordered });
        }
        (report.listing, report.elapsed) = (listed, began.elapsed());
        Ok(ingested)
    }

    /// Reads `files` and passes them to `each` one after the other, on this thread, in bounded
    /// memory: small files whole, larger ones in parts.
    ///
    /// ```
    /// let mut bytes = 0;
    /// let report = swath::ingest::IngestOptions::new().stream(
    ///     swath::ingest::Files::paths(["/etc/passwd", "/etc/group"]),
    ///     |part| {
    ///         bytes += part.bytes.len() as u64;
    ///         Ok::<(), swath::Error>(())
    ///     },
    /// )?;
    /// assert_eq!((report.files, report.bytes), (2, bytes));
    /// # Ok::<(), swath::Error>(())
    /// ```
    ///
    /// A file may still fail after some of its parts have been passed on: its last part then has no
    /// bytes and an [`error`](Part::error), even if failures are skipped.
    ///
    /// # Errors
    ///
    /// The first error of `each`, after which `each` is not called again, and those of
    /// [`ingest`](Self::ingest): in input order, once all files before it have been passed on.
    pub fn stream<E: From<Error> + Send>(
        &self,
        files: impl Into<Files>,
        each: impl FnMut(Part<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<IngestReport, E> {
        let began = Began::now();
        let listing = files.into().listing(self.symlinks, self.hooks().cancel.as_ref())?;
        let listing = Arc::new(listing);
        let first_source = self.sources(&listing);
        let listed = began.elapsed();
        let mut report = stream::stream(self, &listing, first_source, began.seconds, each)?;
        report.calls.walk = listing.walk_calls;
        report.left_out = listing.left_out;
        (report.listing, report.elapsed) = (listed, began.elapsed());
        Ok(report)
    }

    /// Returns the number of the first of these files in a timeline, which takes their names from
    /// the listing and so needs no further memory.
    fn sources(&self, listing: &Arc<Listing>) -> u32 {
        self.hooks().timeline.as_ref().map_or(0, |timeline| {
            let names = Arc::clone(listing);
            timeline.sources_of(listing.len(), move |index| names.path(index).to_owned())
        })
    }
}

/// Returns the files of each round: all as given, or some as given and then the others in order.
fn rounds(order: &Option<ReadingOrder>) -> Vec<Option<&[u32]>> {
    match order {
        None => vec![None],
        Some(order) => {
            let (sampled, rest) = order.files.split_at(order.sampled);
            vec![Some(sampled), Some(rest)]
        }
    }
}

/// Runs one worker, claim after claim, until nothing is left.
fn work<'e, P: Destination + 'e>(mut worker: Worker<'_, 'e, P>, claims: &Claims<'_>) {
    let _stop = StopOnPanic(claims);
    let mut again = false;
    loop {
        if claims.is_drained() {
            // The ring may return a large file, which other workers could help to read.
            worker.drain();
        }
        match claims.next(again) {
            Some(claim) => {
                worker.claimed(claim);
                again = true;
            }
            None if worker.has_files_left() => {
                worker.drain();
                again = false;
            }
            None => break,
        }
    }
    worker.end();
}

/// The setup of the workers of one ingest.
struct IngestTeam<'e, P> {
    claims: &'e Claims<'e>,
    make: &'e (dyn Fn() -> P + Sync + 'e),
    /// The number of the next thread to start.
    next: AtomicUsize,
}

impl<'e, P: Destination + 'e> IngestTeam<'e, P> {
    fn new(claims: &'e Claims<'e>, make: &'e (dyn Fn() -> P + Sync + 'e)) -> Self {
        Self { claims, make, next: AtomicUsize::new(1) }
    }
}

impl<P: Destination> Separate for IngestTeam<'_, P> {
    fn run<'scope, 'env>(&'env self, scope: &'scope Scope<'scope, 'env>, _slot: usize) {
        let start = Starter { scope, team: self };
        work(Worker::new(start, (self.make)(), false), self.claims);
    }
}

/// Starts workers: the first ones, and more when files have to be waited for.
struct Starter<'s, 'e, P> {
    scope: &'s Scope<'s, 'e>,
    team: &'e IngestTeam<'e, P>,
}

impl<P> Clone for Starter<'_, '_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Starter<'_, '_, P> {}

impl<'e, P: Destination + 'e> Starter<'_, 'e, P> {
    /// Starts the first workers, of which `here` already run; returns the number that run then.
    fn first(self, here: usize) -> usize {
        let (mut running, wanted) = (here, self.team.claims.threads());
        while running < wanted && self.more() {
            running += 1;
        }
        if running < wanted {
            self.team.claims.only(running);
        }
        running
    }

    /// Starts one more worker.
    fn more(self) -> bool {
        // Relaxed: only numbers the workers.
        let slot = self.team.next.fetch_add(1, Ordering::Relaxed);
        let started = threads::start_separate(self.scope, slot, self.team);
        if let Err(error) = &started {
            self.team.claims.not_started(error);
        }
        started.is_ok()
    }
}

/// Runs workers until nothing is left. This thread is one worker, and fills `to`.
fn run<P: Destination>(claims: &Claims<'_>, make: &(dyn Fn() -> P + Sync), to: P) {
    let team = IngestTeam::new(claims, make);
    std::thread::scope(|scope| {
        let start = Starter { scope, team: &team };
        start.first(1);
        work(Worker::new(start, to, true), claims);
    });
}

/// Runs workers until nothing is left, while this thread does `work`. If no worker can be started,
/// returns `false` and does not begin `work`, which would wait for ever.
fn run_beside<P: Destination>(
    claims: &Claims<'_>,
    make: &(dyn Fn() -> P + Sync),
    work: &mut dyn FnMut(),
) -> bool {
    let team = IngestTeam::new(claims, make);
    std::thread::scope(|scope| {
        let there = Starter { scope, team: &team }.first(0) > 0;
        if there {
            let _stop = StopOnPanic(claims);
            work();
        }
        there
    })
}
