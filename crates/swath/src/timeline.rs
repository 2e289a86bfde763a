//! What each worker did, and when: a record of one run or of several, chunk by chunk.
//!
//! A [`Timeline`] is handed to the options of whatever moves bytes. It answers *where the time
//! went*: what waited for what, how many reads were in flight, which chunk was late. It decides
//! nothing, and costs one reading of the clock for each span; without it nothing is recorded.
//!
//! ```text
//! worker 0     |wait|---read 0---|compute 0|---read 2---|compute 2|
//! worker 1     |---read 1---|compute 1|wait|---read 3---|...
//! in flight 0  |-------read 4-------|--read 6--|
//! in flight 1      |-------read 5---------|
//! ```
//!
//! A *lane* is one thing at a time: a worker, or a place for a read that the kernel makes while
//! its worker goes on. Spans of one lane never overlap in part: one lies in another (what is
//! written while records are parsed) or behind it.

mod lanes;
mod recorder;
mod sources;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use lanes::Lanes;
use sources::Sources;
use swath_plan::words;

pub(crate) use lanes::{Flight, Flights};
pub use recorder::Recorder;

/// What was done meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Activity {
    /// Nothing: there was nothing to do yet, no room, or somebody else held what was needed.
    /// Waits below a microsecond are left out.
    Wait,
    /// Files were opened for reads that are in flight later, and looked at.
    Open,
    /// Bytes came from a file, out of the page cache, from the device, or out of a map.
    Read,
    /// Fresh memory was entered into the page table, ahead of the read into it.
    Populate,
    /// Records were taken apart, by whoever was given them.
    Parse,
    /// Something was made of bytes: sums, folds, what a closure does.
    Compute,
    /// Bytes went to a file or a stream.
    Write,
    /// The kernel moved or shared bytes between files; this process did not see them.
    Copy,
    /// A file was made durable and got its name.
    Commit,
}

words!(Activity {
    Wait = "wait", Open = "open", Read = "read", Populate = "populate", Parse = "parse",
    Compute = "compute", Write = "write", Copy = "copy", Commit = "commit",
});

/// Who did it: a thread, or a place for a read that is in flight without one.
///
/// Numbers are given out again, lowest first, when whoever had one has ended; so there are never
/// more lanes than worked at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane(u16);

impl Lane {
    const IN_FLIGHT: u16 = 1 << 15;

    /// Its number among the workers, or among the places for reads in flight, from 0.
    pub fn index(self) -> u16 {
        self.0 & !Self::IN_FLIGHT
    }

    /// Whether it stands for reads in flight, which no thread waits for.
    pub fn is_in_flight(self) -> bool {
        self.0 & Self::IN_FLIGHT != 0
    }
}

/// As in `worker 3` and `in flight 15`.
impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_in_flight() { "in flight" } else { "worker" };
        write!(f, "{kind} {}", self.index())
    }
}

/// One thing that was done: when, by whom, to which bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span {
    /// Nanoseconds from when the timeline was made.
    pub start_ns: u64,
    /// Nanoseconds that it took.
    pub duration_ns: u64,
    /// Where in the file, in bytes; 0 where bytes have no place.
    pub offset: u64,
    /// How many bytes. 0 if it failed, or if bytes were passed over to get to those asked for.
    pub bytes: u64,
    /// Which file, for [`Timeline::path`].
    pub source: u32,
    /// Who.
    pub lane: Lane,
    /// What.
    pub activity: Activity,
}

const _: () = assert!(size_of::<Span>() <= 40, "there may be millions of them");

impl Span {
    /// When it ended, in nanoseconds from when the timeline was made.
    pub fn end_ns(&self) -> u64 {
        self.start_ns + self.duration_ns
    }
}

/// A record of what was done, chunk by chunk, by whom and when. Clones share it.
///
/// It costs the run one reading of the clock for each span: two to four for a chunk, one for a
/// small file. What stands on a lane is one thing at a time, and one thing in another: what is written while records are parsed.
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
/// It may be handed to several calls, one after the other or at one time; their spans come
/// together, on one clock. At most [`MOST`](Self::MOST) spans are kept unless told otherwise, 40
/// bytes each; what comes later is only [counted](Self::dropped).
#[derive(Clone)]
pub struct Timeline(Arc<Shared>);

struct Shared {
    began: Instant,
    most: usize,
    kept: Mutex<Kept>,
    sources: Mutex<Sources>,
    workers: Lanes,
    in_flight: Lanes,
}

/// Spans, in the batches that they came in.
#[derive(Default)]
struct Kept {
    batches: Vec<Vec<Span>>,
    count: usize,
    dropped: u64,
}

impl Timeline {
    /// Spans that are kept unless told otherwise: 160 MB of them.
    pub const MOST: usize = 4 << 20;

    /// An empty one. Its clock starts now.
    pub fn new() -> Self {
        Self::with_most(Self::MOST)
    }

    /// One that keeps at most so many spans, the first ones.
    pub fn with_most(spans: usize) -> Self {
        Self(Arc::new(Shared {
            began: Instant::now(),
            most: spans,
            kept: Mutex::default(),
            sources: Mutex::default(),
            workers: Lanes::new(0),
            in_flight: Lanes::new(Lane::IN_FLIGHT),
        }))
    }

    /// Records what this thread does with `path`, for work that Swath does not see: see
    /// [`Recorder`].
    ///
    /// A thread has one lane, whoever records on it.
    pub fn recorder(&self, path: impl AsRef<Path>) -> Recorder {
        Recorder::new(self, self.source(path.as_ref()))
    }

    /// Returns all spans so far: lane by lane, in the order in which they began, those around
    /// others before those.
    ///
    /// Whoever records hands spans over in batches and when it ends, so they are complete once the
    /// call has returned, or the [`Reader`](crate::Reader) or the
    /// [`Prioritised`](crate::classes::Prioritised) is gone.
    pub fn spans(&self) -> Vec<Span> {
        sorted(self.kept().batches.concat())
    }

    /// As [`spans`](Self::spans), and forgets them, so that as many can be kept again. How many
    /// were dropped is forgotten too; the clock goes on.
    pub fn take(&self) -> Vec<Span> {
        let Kept { mut batches, count, .. } = std::mem::take(&mut *self.kept());
        // The first one grows and the others go while they are copied: never twice as much.
        let mut spans = if batches.is_empty() { Vec::new() } else { batches.swap_remove(0) };
        spans.reserve_exact(count.saturating_sub(spans.len()));
        for batch in batches {
            spans.extend(batch);
        }
        sorted(spans)
    }

    /// Returns how many spans were not kept, because there were too many.
    pub fn dropped(&self) -> u64 {
        self.kept().dropped
    }

    /// Returns the path of a span's file, as messages have it, or `None` for a number that no span
    /// has.
    pub fn path(&self, source: u32) -> Option<PathBuf> {
        self.sources().path(source)
    }

    /// Returns when its clock started.
    pub fn began(&self) -> Instant {
        self.0.began
    }

    /// As [`recorder`](Self::recorder), of a file by its number.
    pub(crate) fn recorder_of(&self, source: u32) -> Recorder {
        Recorder::new(self, source)
    }

    /// The number of a file.
    fn source(&self, path: &Path) -> u32 {
        self.sources().number(path)
    }

    /// The numbers of `count` files, the first of them; `path` names each.
    pub(crate) fn sources_of(
        &self,
        count: usize,
        path: impl Fn(usize) -> PathBuf + Send + Sync + 'static,
    ) -> u32 {
        self.sources().numbers(count, Box::new(path))
    }

    fn now(&self) -> u64 {
        let elapsed = self.0.began.elapsed();
        // Room for five centuries, without numbers of 128 bits: this is called for every span.
        elapsed.as_secs() * 1_000_000_000 + u64::from(elapsed.subsec_nanos())
    }

    /// Keeps `spans`, as far as there is room, and leaves them empty.
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

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Changes under the lock are complete before anything can panic.
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sources(&self) -> MutexGuard<'_, Sources> {
        self.0.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Spans that are handed over at one time.
const BATCH: usize = 1024;

fn sorted(mut spans: Vec<Span>) -> Vec<Span> {
    // Of those that began together, the longest is around the others; of equally long ones, the
    // read is around what was computed from it.
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
