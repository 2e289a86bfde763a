//! Reads many files: into one memory, or one after the other through a callback.
//!
//! ```text
//! Files → listing → claims of workers → place: arena and table, or slabs and a callback
//!                    │ page cache: open, read, look, close
//!                    │ device: many in flight, whatever the number of cores
//!                    └ large, odd, young: with care, large ones in parts
//! ```
//!
//! Nobody has to find the best number of threads: files in the page cache are read by one worker
//! for each core, and what has to come from the device is waited for by as many as keep it busy.
//!
//! **The promise** is the one of every verb: a file that is written, truncated or replaced while
//! it is read is an error with its path, in every case that `fstat` before and after can show;
//! never silently short data. One look is enough where it shows that the file last changed three
//! seconds or more before the call began, by this machine's clock, and that as many bytes came as
//! it is long; that needs a clock which nobody sets back by more than that meanwhile.

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
mod utf8;
mod walk;
mod worker;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

pub use arena::Arena;
pub use collect::{Entry, Ingested};
pub use files::Files;
pub use options::{Content, Delivery, Failures, FileOrder, IngestOptions, OpenedBy, Symlinks};
pub use report::{IngestReport, OrderGain, SystemCalls, TimedFiles};
pub use stream::Part;

use claims::Claims;
use collect::{Results, ToArena};
use file_order::Order;
use listing::Listing;
use worker::run;

use swath_plan::fallback::Fallback;

use crate::error::{Error, Result};

/// Reads files into one memory: a folder with everything below it, a list, a pattern.
///
/// Source: study B (many small files, 1 to 64 threads), with what the guide adds to it.
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
/// The first failure in input order, however many workers there are: a file that cannot be opened
/// or read, that is no regular file, or that changes while it is read; if there is no memory for
/// all of them. [`IngestOptions::with_failures`] goes on instead.
pub fn ingest(files: impl Into<Files>) -> Result<Ingested> {
    IngestOptions::new().ingest(files)
}

/// Reads all of `files` in bounded memory, and calls `each` on this thread for every file or part of a
/// large one, in input order.
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

/// When a call began.
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
    /// Reads all of `files` into one memory.
    ///
    /// # Errors
    ///
    /// As [`ingest`]; with [`Failures::Skip`] and [`Failures::Collect`] only if it is cancelled.
    pub fn ingest(&self, files: impl Into<Files>) -> Result<Ingested> {
        let began = Began::now();
        let listing = files.into().listing(self.symlinks, self.hooks().cancel.as_ref())?;
        let listing = Arc::new(listing);
        let first_source = self.sources(&listing);
        let listed = began.elapsed();
        let arena = self.arena.clone().unwrap_or_else(Arena::shared);
        let store = arena::Store::new(&arena, self.memory_limit, listing.len())?;
        let results = Mutex::new(Results::default());
        let order = Order::of(&listing, self.order);
        let make = || ToArena::new(&store, &results, listing.len());
        let mut parts = Summary::default();
        let mut failure = None;
        let mut timed = Vec::new();
        for places in rounds(&order) {
            let started = Instant::now();
            let claims = Claims::new(&listing, first_source, self, began.seconds, places, true);
            run(&claims, &make, make());
            // Those of other workers, who may have read all of it.
            claims.tell();
            failure = claims.failure();
            parts.add(summary(claims));
            let files = places.map_or(0, <[u32]>::len) as u64;
            timed.push(TimedFiles { files, elapsed: started.elapsed() });
            if failure.is_some() {
                break;
            }
        }
        let populated = store.populated.load(std::sync::atomic::Ordering::Relaxed);
        let (pages, used) = store.into_pages();
        if let Some(error) = failure {
            if let Some(pages) = pages {
                arena.put(pages);
            }
            return Err(error);
        }
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        let keep_failed = self.failures == Failures::Collect;
        let walk_calls = listing.walk_calls;
        let mut ingested =
            results.into_ingested(listing, pages, used, self.arena.clone(), keep_failed);
        let report = ingested.report_mut();
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

    /// Reads `files` and hands them over one after the other, on this thread, in bounded memory:
    /// small files whole, larger ones in parts.
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
    /// A file of which parts have been handed over may still fail: then its last part has no bytes
    /// and an [`error`](Part::error), also where failures are skipped.
    ///
    /// # Errors
    ///
    /// The first one of `each`, after which nothing is handed over any more, and those of
    /// [`collect`](Self::ingest): in input order when all files before it have been handed over.
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

    /// The numbers of these files in a timeline, the first of them; it names them from the
    /// listing, which costs no memory more.
    fn sources(&self, listing: &Arc<Listing>) -> u32 {
        self.hooks().timeline.as_ref().map_or(0, |timeline| {
            let names = Arc::clone(listing);
            timeline.sources_of(listing.len(), move |index| names.path(index).to_owned())
        })
    }
}

/// The files of each round: all of them as they were given, or first some of them and then the
/// others in an order.
fn rounds(order: &Option<Order>) -> Vec<Option<&[u32]>> {
    match order {
        None => vec![None],
        Some(order) => {
            let (sampled, rest) = order.files.split_at(order.sampled);
            vec![Some(sampled), Some(rest)]
        }
    }
}

/// What a claims leaves for the report.
#[derive(Default)]
struct Summary {
    tally: report::Tally,
    threads: usize,
    queue_depth: u64,
    fallbacks: Vec<Fallback>,
}

fn summary(claims: Claims<'_>) -> Summary {
    let threads = claims.most_threads();
    let ring_depth = u64::from(claims.ring_depth());
    let tally = claims.tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    let fallbacks = claims.fallbacks.into_inner().unwrap_or_else(PoisonError::into_inner);
    // A ring each, or a thread each.
    let each = if tally.ring_files > 0 { ring_depth } else { 1 };
    Summary { tally, threads, queue_depth: threads as u64 * each, fallbacks }
}

impl Summary {
    fn add(&mut self, other: Self) {
        self.tally.add(other.tally);
        self.threads = self.threads.max(other.threads);
        self.queue_depth = self.queue_depth.max(other.queue_depth);
        self.fallbacks.extend(other.fallbacks);
    }

    fn fill_in(self, report: &mut IngestReport, options: &IngestOptions) {
        self.tally.fill_in(report);
        report.workers = self.threads as u64;
        report.queue_depth = self.queue_depth;
        report.fallbacks.extend(options.noted());
        report.fallbacks.extend(self.fallbacks);
        let cores = options.cores();
        report.profile = options.profile().map(|profile| profile.name().to_owned());
        report.fallbacks.extend(options.out_of_range());
        report.reason = match (report.misses, report.ring_files) {
            _ if report.files == 0 => String::from("there was nothing to read"),
            (0, _) => format!("all in the page cache: {}", workers(self.threads)),
            (_, 0) if self.threads > cores => {
                format!("not in the page cache, no ring: {} threads wait", self.threads)
            }
            (_, 0) if report.calls.ring > 0 => {
                String::from("not in the page cache, and young: by rings, then looked at twice")
            }
            (_, 0) => format!("hardly any miss of the page cache: {}", workers(self.threads)),
            _ => String::from("not in the page cache: rings with many files in flight"),
        };
    }
}

fn workers(count: usize) -> String {
    if count == 1 { String::from("1 worker") } else { format!("{count} workers") }
}
