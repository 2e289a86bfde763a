//! The activity of each worker: a record of one or several runs, chunk by chunk.
//!
//! Pass a [`Timeline`] to the options of any verb that moves bytes. It shows *where the time went*:
//! waits, reads in flight, late chunks. It decides nothing, and costs one reading of the clock for
//! each span; without it nothing is recorded.
//!
//! ```text
//! worker 0     |wait|---read 0---|compute 0|---read 2---|compute 2|
//! worker 1     |---read 1---|compute 1|wait|---read 3---|...
//! in flight 0  |-------read 4-------|--read 6--|
//! in flight 1      |-------read 5---------|
//! ```
//!
//! A *lane* is a worker, or a slot for a read that the kernel makes while its worker continues. It
//! does one thing at a time. Spans of one lane never overlap partly: one lies inside another (a write
//! while records are parsed) or after it.

mod lanes;
mod recorder;
mod sources;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use lanes::Lanes;
use sources::Sources;
use swath_plan::words;

use crate::locks::{Mutex, MutexGuard};

pub(crate) use lanes::{Flight, Flights};
pub use recorder::Recorder;

/// The activity during a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Activity {
    /// Waiting for work, for room, or for another thread. Waits below a microsecond are left out.
    Wait,
    /// Opening and inspecting files for later reads in flight.
    Open,
    /// Reading bytes of a file: from the page cache, the device, or a map.
    Read,
    /// Entering fresh memory into the page table, before data is read into it.
    Populate,
    /// Parsing records, in Swath or in a closure that receives them.
    Parse,
    /// Processing bytes: sums, folds, closures.
    Compute,
    /// Writing bytes to a file or a stream.
    Write,
    /// Copying by the kernel, which moves or shares bytes between files, outside this process.
    Copy,
    /// Making a file durable and giving it its name.
    Commit,
}

words!(Activity {
    Wait = "wait", Open = "open", Read = "read", Populate = "populate", Parse = "parse",
    Compute = "compute", Write = "write", Copy = "copy", Commit = "commit",
});

/// A thread, or a slot for a read in flight without a thread.
///
/// Numbers are reused, lowest first, once a lane's owner has ended; so there are never more lanes
/// than owners at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane(u16);

impl Lane {
    const IN_FLIGHT: u16 = 1 << 15;

    /// Its number among the workers, or among the slots for reads in flight, from 0.
    pub fn index(self) -> u16 {
        self.0 & !Self::IN_FLIGHT
    }

    /// Whether it is a slot for reads in flight, which no thread waits for.
    pub fn is_in_flight(self) -> bool {
        self.0 & Self::IN_FLIGHT != 0
    }
}

/// For example `worker 3` and `in flight 15`.
impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_in_flight() { "in flight" } else { "worker" };
        write!(f, "{kind} {}", self.index())
    }
}

/// One activity: its time, its lane and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span {
    /// Start, in nanoseconds since the timeline was created.
    pub start_ns: u64,
    /// Duration in nanoseconds.
    pub duration_ns: u64,
    /// Offset in the file, in bytes; 0 if bytes have no place.
    pub offset: u64,
    /// Number of bytes. 0 if it failed, or if bytes were only skipped to reach the requested
    /// ones.
    pub bytes: u64,
    /// The number of the file, for [`Timeline::path`].
    pub source: u32,
    /// The lane.
    pub lane: Lane,
    /// The activity.
    pub activity: Activity,
}

const _: () = assert!(size_of::<Span>() <= 40, "there may be millions of them");

impl Span {
    /// The end, in nanoseconds since the timeline was created.
    pub fn end_ns(&self) -> u64 {
        self.start_ns + self.duration_ns
    }
}

/// A record of activities, chunk by chunk, with lane and time. Clones share it.
///
/// It costs the run one reading of the clock for each span: two to four for a chunk, one for a
/// small file. A lane holds one thing at a time, but a span can lie inside another: a write
/// while records are parsed.
///
/// ```
/// use swath::{ReadOptions, Timeline};
/// use swath::timeline::Activity;
///
/// let timeline = Timeline::new();
/// ReadOptions::new().with_timeline(timeline.clone()).sum("/etc/passwd")?;
/// let spans = timeline.spans();
/// let read: u64 =
///     spans.iter().filter(|span| span.activity == Activity::Read).map(|span| span.bytes).sum();
/// assert_eq!(read, std::fs::metadata("/etc/passwd")?.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It can be passed to several calls, one after the other or at the same time; their spans are
/// collected on one clock. By default at most [`MOST`](Self::MOST) spans are kept, 40 bytes
/// each; later ones are only [counted](Self::dropped).
#[derive(Clone)]
pub struct Timeline(Arc<SharedTimeline>);

struct SharedTimeline {
    began: Instant,
    most: usize,
    kept: Mutex<SpanStore>,
    sources: Mutex<Sources>,
    workers: Lanes,
    in_flight: Lanes,
}

/// Spans, in the batches in which they arrived.
#[derive(Default)]
struct SpanStore {
    batches: Vec<Vec<Span>>,
    count: usize,
    dropped: u64,
}

impl Timeline {
    /// Maximum number of spans kept by default: 160 MB.
    pub const MOST: usize = 4 << 20;

    /// Returns an empty timeline. Its clock starts now.
    pub fn new() -> Self {
        Self::with_most(Self::MOST)
    }

    /// Returns a timeline that keeps only the first `spans` spans.
    pub fn with_most(spans: usize) -> Self {
        Self(Arc::new(SharedTimeline {
            began: Instant::now(),
            most: spans,
            kept: Mutex::default(),
            sources: Mutex::default(),
            workers: Lanes::new(0),
            in_flight: Lanes::new(Lane::IN_FLIGHT),
        }))
    }

    /// Returns a recorder of this thread's activities on `path`, for work outside Swath; see
    /// [`Recorder`].
    ///
    /// A thread has one lane, even if several recorders use it.
    pub fn recorder(&self, path: impl AsRef<Path>) -> Recorder {
        Recorder::new(self, self.source(path.as_ref()))
    }

    /// Returns all recorded spans: lane by lane, in the order of their start, outer spans before
    /// inner ones.
    ///
    /// Recorders pass their spans on in batches and when they end. So the spans are complete
    /// once the call has returned, or the [`Reader`](crate::Reader) or
    /// [`Prioritised`](crate::classes::Prioritised) has been dropped.
    pub fn spans(&self) -> Vec<Span> {
        sorted(self.kept().batches.concat())
    }

    /// As [`spans`](Self::spans), and removes them, to make room for new ones. Also resets the count of
    /// dropped spans; the clock continues.
    pub fn take(&self) -> Vec<Span> {
        let SpanStore { mut batches, count, .. } = std::mem::take(&mut *self.kept());
        // Copies into the first batch and frees each other one: never twice the memory.
        let mut spans = if batches.is_empty() { Vec::new() } else { batches.swap_remove(0) };
        spans.reserve_exact(count.saturating_sub(spans.len()));
        for batch in batches {
            spans.extend(batch);
        }
        sorted(spans)
    }

    /// Returns how many spans were not kept because the timeline was full.
    pub fn dropped(&self) -> u64 {
        self.kept().dropped
    }

    /// Returns the path of a span's file, as in messages, or `None` for a number that no span
    /// has.
    pub fn path(&self, source: u32) -> Option<PathBuf> {
        self.sources().path(source)
    }

    /// Returns the start of its clock.
    pub fn began(&self) -> Instant {
        self.0.began
    }

    /// As [`recorder`](Self::recorder), for a file given by its number.
    pub(crate) fn recorder_of(&self, source: u32) -> Recorder {
        Recorder::new(self, source)
    }

    /// Returns the number of a file.
    fn source(&self, path: &Path) -> u32 {
        self.sources().number(path)
    }

    /// Numbers `count` files; returns the first number. `path` returns the path of each file.
    pub(crate) fn sources_of(
        &self,
        count: usize,
        path: impl Fn(usize) -> PathBuf + Send + Sync + 'static,
    ) -> u32 {
        self.sources().numbers(count, Box::new(path))
    }

    fn now(&self) -> u64 {
        let elapsed = self.0.began.elapsed();
        // 64 bits last for five centuries, and are fast: this is called for every span.
        elapsed.as_secs() * 1_000_000_000 + u64::from(elapsed.subsec_nanos())
    }

    /// Moves `spans` out of the vector, keeping as many as there is room for.
    fn keep(&self, spans: &mut Vec<Span>) {
        let mut kept = self.kept();
        let room = self.0.most.saturating_sub(kept.count);
        kept.dropped += spans.len().saturating_sub(room) as u64;
        spans.truncate(room);
        kept.count += spans.len();
        match kept.batches.last_mut() {
            Some(last) if last.capacity() - last.len() >= spans.len() => last.append(spans),
            _ if spans.len() >= BATCH => kept.batches.push(std::mem::take(spans)),
            _ if spans.is_empty() => {}
            _ => {
                let mut batch = Vec::with_capacity(BATCH);
                batch.append(spans);
                kept.batches.push(batch);
            }
        }
    }

    fn kept(&self) -> MutexGuard<'_, SpanStore> {
        // Not poisoned: changes under the lock are complete before anything can panic.
        self.0.kept.lock()
    }

    fn sources(&self) -> MutexGuard<'_, Sources> {
        self.0.sources.lock()
    }
}

/// Spans that are passed on at a time.
const BATCH: usize = 1024;

fn sorted(mut spans: Vec<Span>) -> Vec<Span> {
    // Among spans with the same start, the longest contains the others; among equally long ones, the
    // read contains the computation.
    spans.sort_unstable_by_key(|span| {
        let longest_first = std::cmp::Reverse(span.duration_ns);
        (span.lane, span.start_ns, longest_first, span.activity, span.offset)
    });
    spans
}

impl Default for Timeline {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.kept();
        f.debug_struct("Timeline")
            .field("spans", &kept.count)
            .field("dropped", &kept.dropped)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
