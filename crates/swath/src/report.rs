//! The report of a read: numbers, choices, and the reason.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use swath_plan::fallback::Fallback;
use swath_plan::policy::{Engine, PageCache};

pub use swath_os::usage::Usage;

/// The report of a read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Bytes delivered.
    pub bytes: u64,
    /// From the call to the last byte, including opening and checking.
    pub elapsed: Duration,
    /// The engine that ran; never `Auto`.
    pub engine: Engine,
    /// How the page cache was used; never `Auto`.
    pub page_cache: PageCache,
    /// Why this engine and page cache mode were chosen, in one sentence.
    pub reason: String,
    /// The name of the profile that was used; `None` without a profile, and where there was
    /// nothing to decide.
    pub profile: Option<String>,
    /// Threads that read, including the caller's.
    pub workers: usize,
    /// Slots for reads in flight: workers and ring entries.
    pub queue_depth: u64,
    /// Bytes of one chunk.
    pub chunk_size: u64,
    /// Chunks delivered.
    pub chunks: u64,
    /// Read calls made, or ring entries submitted.
    pub calls: u64,
    /// Reads that were repeated: after a transient failure, an interrupt, or a short read.
    pub retries: u64,
    /// Bytes read with `O_DIRECT`, bypassing the page cache.
    pub direct_bytes: u64,
    /// Bytes of fresh memory populated for the result.
    pub populated_bytes: u64,
    /// Options that could not be honoured, and what was done instead.
    pub fallbacks: Vec<Fallback>,
    /// The cost to the process, if requested with [`with_costs`](crate::ReadOptions::with_costs).
    pub usage: Option<Usage>,
    /// The share of each copy, for a source with several; otherwise empty.
    pub mirrors: Vec<MirrorReport>,
}

/// The result of a scan, and its report.
#[derive(Clone, Debug)]
pub struct Scanned<T> {
    /// The combined value.
    pub value: T,
    /// The report of the scan.
    pub report: Report,
}

/// The share of one copy of a file in a read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MirrorReport {
    /// The path.
    pub path: PathBuf,
    /// The fate of the copy.
    pub state: MirrorState,
    /// The last problem with the copy.
    pub trouble: Option<String>,
    /// Bytes that were taken from the copy.
    pub bytes: u64,
    /// Chunks that were taken from the copy.
    pub chunks: u64,
    /// Chunks that could not be read from the copy.
    pub errors: u64,
    /// Those of `errors` that another copy provided.
    pub fail_overs: u64,
    /// Hedged reads of the copy that finished first and were used.
    pub hedges_won: u64,
    /// Hedged reads of the copy that were not needed.
    pub hedges_lost: u64,
}

/// The fate of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MirrorState {
    /// It was read.
    Read,
    /// Another copy on the same device was read instead.
    Spare,
    /// It failed several times in a row, and was then used only for chunks that no other copy had.
    GivenUp,
    /// It could not be read, or is no longer the file that was opened.
    Unusable,
}

impl fmt::Display for MirrorState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Read => "read",
            Self::Spare => "spare",
            Self::GivenUp => "given up",
            Self::Unusable => "unusable",
        })
    }
}

impl Report {
    /// Returns the report of one thread that reads in order.
    pub(crate) fn serial(reason: &str, chunk_size: u64) -> Self {
        Self {
            bytes: 0,
            elapsed: Duration::ZERO,
            engine: Engine::Serial,
            page_cache: PageCache::Keep,
            reason: String::from(reason),
            profile: None,
            workers: 1,
            queue_depth: 1,
            chunk_size,
            chunks: 0,
            calls: 0,
            retries: 0,
            direct_bytes: 0,
            populated_bytes: 0,
            fallbacks: Vec::new(),
            usage: None,
            mirrors: Vec::new(),
        }
    }

    /// Adds the counts of the workers.
    pub(crate) fn fill_in(&mut self, tally: ReadTally, fallbacks: Vec<Fallback>) {
        self.bytes = tally.bytes;
        self.chunks = tally.bytes.div_ceil(self.chunk_size.max(1));
        self.calls = tally.calls;
        self.retries = tally.retries;
        self.direct_bytes = tally.direct_bytes;
        self.populated_bytes = tally.populated_bytes;
        self.fallbacks.extend(fallbacks);
    }

    /// Throughput in 10⁹ bytes per second.
    pub fn gb_per_s(&self) -> f64 {
        self.bytes as f64 / self.elapsed.as_secs_f64().max(1e-9) / 1e9
    }
}

/// Counters of one worker, added up when it ends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadTally {
    pub(crate) bytes: u64,
    pub(crate) calls: u64,
    pub(crate) retries: u64,
    pub(crate) direct_bytes: u64,
    pub(crate) populated_bytes: u64,
}

impl ReadTally {
    pub(crate) fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.calls += other.calls;
        self.retries += other.retries;
        self.direct_bytes += other.direct_bytes;
        self.populated_bytes += other.populated_bytes;
    }
}
