//! The report of an ingest.

use std::time::Duration;

use swath_plan::fallback::Fallback;

use super::options::FileOrder;

/// System calls, by kind: the main cost of many small files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SystemCalls {
    /// `openat2`, `openat`: of files, and of folders in which names are looked up.
    pub open: u64,
    /// `preadv2`, `pread`.
    pub read: u64,
    /// `fstat`, `statx`, `fstatfs`.
    pub stat: u64,
    /// `close_range`, `close`.
    pub close: u64,
    /// Listing folders: `getdents64` and related calls.
    pub walk: u64,
    /// `io_uring_enter` and `io_uring_register`.
    pub ring: u64,
    /// Finding out where files are (`FIEMAP`), to order them.
    pub order: u64,
}

impl SystemCalls {
    /// Returns the sum of all kinds.
    pub fn total(&self) -> u64 {
        self.open + self.read + self.stat + self.close + self.walk + self.ring + self.order
    }

    pub(super) fn add(&mut self, other: Self) {
        self.open += other.open;
        self.read += other.read;
        self.stat += other.stat;
        self.close += other.close;
        self.walk += other.walk;
        self.ring += other.ring;
        self.order += other.order;
    }
}

/// The gain of reading in another order: some files are read in the given order first, and timed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct OrderGain {
    /// The order.
    pub order: FileOrder,
    /// The time it took to find the order.
    pub sorting: Duration,
    /// Files that were read in the order given, for comparison.
    pub given: TimedFiles,
    /// Files that were read in this order.
    pub ordered: TimedFiles,
}

/// Files, and how long reading them took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TimedFiles {
    /// Number of files.
    pub files: u64,
    /// Time for reading all of them.
    pub elapsed: Duration,
}

impl TimedFiles {
    /// Files per second.
    fn rate(self) -> f64 {
        self.files as f64 / self.elapsed.as_secs_f64()
    }
}

impl OrderGain {
    /// The ratio of files per second in this order, including the sorting, to the given order;
    /// below 1 it was a loss. `None` if there were too few files to tell.
    pub fn ratio(&self) -> Option<f64> {
        let TimedFiles { files, elapsed } = self.ordered;
        let ordered = TimedFiles { files, elapsed: elapsed + self.sorting };
        let known = self.given.files > 0 && files > 0 && !self.given.elapsed.is_zero();
        known.then(|| ordered.rate() / self.given.rate())
    }
}

/// The report of an ingest.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct IngestReport {
    /// Files that were read completely.
    pub files: u64,
    /// The bytes of the files.
    pub bytes: u64,
    /// Files that could not be read and kept their place, with an error.
    pub failed: u64,
    /// Files that could not be read and were left out.
    pub skipped: u64,
    /// Entries that a walk left out: neither files nor folders, or links that are not followed.
    pub left_out: u64,
    /// From the call to the last byte, including the search for files.
    pub elapsed: Duration,
    /// The part of `elapsed` for finding the files.
    pub listing: Duration,
    /// The most threads that read at one time.
    pub workers: usize,
    /// Files that could be in flight on the device at one time.
    pub queue_depth: u64,
    /// Files that were found not to be in the page cache.
    pub misses: u64,
    /// Files that were read through a ring.
    pub ring_files: u64,
    /// Files that were read in parts, by several workers.
    pub large_files: u64,
    /// Files that were inspected twice: they had changed shortly before, or their file system's times
    /// cannot be trusted.
    pub checked_twice: u64,
    /// How the files were read, and why, in one sentence.
    pub reason: String,
    /// The name of the profile that was used.
    pub profile: Option<String>,
    /// Calls made.
    pub calls: SystemCalls,
    /// Bytes of fresh memory populated for the result.
    pub populated_bytes: u64,
    /// The gain of the order, if one was requested.
    pub order: Option<OrderGain>,
    /// Options that could not be honoured, and what was done instead.
    pub fallbacks: Vec<Fallback>,
}

impl IngestReport {
    /// Throughput in 10⁹ bytes per second.
    pub fn gb_per_s(&self) -> f64 {
        self.bytes as f64 / self.elapsed.as_secs_f64().max(1e-9) / 1e9
    }

    /// Files per second.
    pub fn files_per_s(&self) -> f64 {
        self.files as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// System calls for each file that was read or tried.
    pub fn calls_per_file(&self) -> f64 {
        let (calls, files) =
            (self.calls.total() as f64, (self.files + self.failed + self.skipped) as f64);
        if files > 0.0 { calls / files } else { 0.0 }
    }
}

/// Counters of one worker, added up when it ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IngestTally {
    pub(super) calls: SystemCalls,
    pub(super) files: u64,
    pub(super) bytes: u64,
    pub(super) misses: u64,
    pub(super) ring_files: u64,
    pub(super) large_files: u64,
    pub(super) checked_twice: u64,
    pub(super) populated_bytes: u64,
}

impl IngestTally {
    pub(super) fn add(&mut self, other: Self) {
        self.calls.add(other.calls);
        self.files += other.files;
        self.bytes += other.bytes;
        self.misses += other.misses;
        self.ring_files += other.ring_files;
        self.large_files += other.large_files;
        self.checked_twice += other.checked_twice;
        self.populated_bytes += other.populated_bytes;
    }

    pub(super) fn fill_in(self, report: &mut IngestReport) {
        report.calls.add(self.calls);
        report.files += self.files;
        report.bytes += self.bytes;
        report.misses += self.misses;
        report.ring_files += self.ring_files;
        report.large_files += self.large_files;
        report.checked_twice += self.checked_twice;
        report.populated_bytes += self.populated_bytes;
    }
}
