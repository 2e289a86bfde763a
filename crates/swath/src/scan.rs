//! The verb `scan`: consume a file without keeping it, in bounded memory.
//!
//! ```text
//! chunks  |0  |1  |2  |3  |   folded by any worker, in any order
//! values   v0  v1  v2  v3     combined from left to right: ((v0 + v1) + v2) + v3
//! ```
//!
//! Chunks are cut from the start of the extent, whoever reads them and however: so the result,
//! also of floating-point sums, is the same at every worker count. Source: study D (byte sum in
//! dynamic blocks), whose combination depends on the thread count.

mod fold;
mod mapped;

use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;

use swath_os::map::Permit;
use swath_plan::extent::Extent;
use swath_plan::policy::{Decision, Engine, Facts, by_workers, decide, in_order};

use crate::engine::stream::{Stream, report};
use crate::engine::worker;
use crate::error::Result;
use crate::observe::Observer;
use crate::options::ReadOptions;
use crate::planned::{Clock, Planned};
use crate::report::Report;
use crate::source::{Kind, Opened, Source};
use crate::timeline::Activity;

use fold::Fold;
use mapped::Kernel;

/// Bytes of one fold unless told otherwise: they stay in the second-level cache.
const FOLD_SIZE: u64 = 512 << 10;
/// Leases that may be given out beyond the first unfinished one, for each worker.
const AHEAD: u64 = 4;

/// Some neighbouring bytes of the source, as they pass.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Chunk<'c> {
    /// Counted from the start of the extent.
    pub index: u64,
    /// In the file.
    pub offset: u64,
    /// `chunk_size` bytes; the last chunk may have fewer.
    pub bytes: &'c [u8],
}

/// What came out of a scan, and how it went.
#[derive(Clone, Debug)]
pub struct Scanned<T> {
    /// The combined value.
    pub value: T,
    /// How it went.
    pub report: Report,
}

/// Folds every chunk of a file with `fold` and combines the values in file order.
///
/// `None` for an empty file. Takes at most 2 MiB a worker, whatever the file's size.
///
/// ```
/// let longest = swath::scan(
///     "/etc/passwd",
///     |chunk| chunk.bytes.split(|&byte| byte == b':').map(<[u8]>::len).max(),
///     |left, right| left.max(right),
/// )?;
/// assert!(longest > Some(Some(0)));
/// # Ok::<(), swath::Error>(())
/// ```
///
/// # Errors
///
/// As [`read`](crate::read), but for memory.
pub fn scan<T: Send>(
    source: impl Into<Source>,
    fold: impl Fn(Chunk<'_>) -> T + Sync,
    combine: impl Fn(T, T) -> T + Sync,
) -> Result<Option<T>> {
    Ok(ReadOptions::new().scan(source, fold, combine)?.value)
}

impl ReadOptions {
    /// As [`scan`], with these options. `fold` and `combine` run on the calling thread and on Swath's own; if one
    /// of them panics, the scan stops and panics.
    ///
    /// # Errors
    ///
    /// As [`scan`].
    pub fn scan<T: Send>(
        &self,
        source: impl Into<Source>,
        fold: impl Fn(Chunk<'_>) -> T + Sync,
        combine: impl Fn(T, T) -> T + Sync,
    ) -> Result<Scanned<Option<T>>> {
        let clock = Clock::start(self);
        let source = Opened::open(source.into())?;
        let scanned = match source.kind() {
            Kind::Sized(len) => {
                let extent = self.extent_of(&source, len)?;
                self.scan_sized(source, extent, fold, combine)?
            }
            Kind::Stream | Kind::Made => self.scan_stream(&source, fold, combine)?,
        };
        Ok(Scanned { report: clock.stop(scanned.report), ..scanned })
    }

    /// The sum of all bytes: study D's measure of how fast a file can be looked at.
    ///
    /// # Errors
    ///
    /// As [`scan`].
    pub fn sum(&self, source: impl Into<Source>) -> Result<Scanned<u64>> {
        self.run_kernel(source.into(), Kernel::Sum)
    }

    /// How often `byte` occurs; newlines, for example.
    ///
    /// # Errors
    ///
    /// As [`scan`].
    pub fn count(&self, source: impl Into<Source>, byte: u8) -> Result<Scanned<u64>> {
        self.run_kernel(source.into(), Kernel::Count(byte))
    }

    /// As [`sum`](Self::sum), and through a map where that is faster: when the file is in the
    /// page cache, or the engine is [`Engine::Map`]. `name` is for messages.
    ///
    /// # Errors
    ///
    /// As [`sum`](Self::sum), and if the file cannot be mapped.
    pub fn sum_mapped<'f>(
        &self,
        permit: impl Into<Permit<'f>>,
        name: impl AsRef<Path>,
    ) -> Result<Scanned<u64>> {
        self.map_kernel(permit.into(), name.as_ref(), Kernel::Sum)
    }

    /// As [`count`](Self::count), and through a map where that is faster, like
    /// [`sum_mapped`](Self::sum_mapped).
    ///
    /// # Errors
    ///
    /// As [`count`](Self::count), and if the file cannot be mapped.
    pub fn count_mapped<'f>(
        &self,
        permit: impl Into<Permit<'f>>,
        name: impl AsRef<Path>,
        byte: u8,
    ) -> Result<Scanned<u64>> {
        self.map_kernel(permit.into(), name.as_ref(), Kernel::Count(byte))
    }

    fn run_kernel(&self, source: Source, kernel: Kernel) -> Result<Scanned<u64>> {
        let fold = |chunk: Chunk<'_>| kernel.of_bytes(chunk.bytes);
        let scanned = self.scan(source, fold, |left, right| left + right)?;
        Ok(Scanned { value: scanned.value.unwrap_or(0), report: scanned.report })
    }

    /// The policy's decision for a scan, and whether it reads whole leases at once.
    pub(crate) fn scan_decision(&self, facts: &Facts) -> (Decision, bool) {
        let (no_ring, no_shares) =
            ("a scan folds on its workers", "a scan goes in order, used `dynamic`");
        let (mut wishes, fallbacks) = by_workers(&self.wishes, no_ring, no_shares);
        if wishes.chunk_size == 0 {
            wishes.chunk_size = FOLD_SIZE;
        }
        let tuning = facts.tuning.beside_work(facts.cores);
        let facts = Facts { ring: false, direct: facts.direct, tuning, ..facts.clone() };
        let mut decision = decide(&facts, &wishes);
        decision.fallbacks.extend(fallbacks);
        // A fold's chunks are the caller's, whatever unit a device reads in.
        decision.chunk_size = NonZeroU64::new(wishes.chunk_size).unwrap_or(NonZeroU64::MIN);
        let chunks = (decision.cut.size.get() / decision.chunk_size).max(1);
        let size = decision.chunk_size.get().saturating_mul(chunks);
        decision.cut.size = NonZeroU64::new(size).unwrap_or(decision.chunk_size);
        let by_lease =
            facts.copies > 0 || (wishes.engine == Engine::Auto && !facts.is_resident());
        (decision, by_lease)
    }

    fn scan_sized<T: Send>(
        &self,
        source: Arc<Opened>,
        extent: Extent,
        fold: impl Fn(Chunk<'_>) -> T + Sync,
        combine: impl Fn(T, T) -> T + Sync,
    ) -> Result<Scanned<Option<T>>> {
        if self.wishes.engine == Engine::Map {
            return Err(source.unmapped("use `sum_mapped` or `count_mapped`"));
        }
        let mut by_lease = false;
        let planned = Planned::of(&source, extent, self, |facts| {
            let (decision, leases) = self.scan_decision(facts);
            by_lease = leases;
            in_order(decision, extent)
        });
        let slots = planned.decision.workers.len();
        let ahead = planned.leases(slots as u64 * AHEAD);
        let job = planned.job(self.observer(extent), ahead)?;
        let chunk_size = planned.decision.chunk_size;
        let visit = Fold::new(&job, self, extent, chunk_size, fold, combine)
            .with_room(planned.scratch_size(by_lease), by_lease);
        worker::run(&job, &visit, slots, None);
        let value = visit.into_value();
        Ok(Scanned { value, report: job.finish(planned.report)? })
    }

    fn scan_stream<T>(
        &self,
        source: &Opened,
        fold: impl Fn(Chunk<'_>) -> T,
        combine: impl Fn(T, T) -> T,
    ) -> Result<Scanned<Option<T>>> {
        let observer = Observer::new(self.hooks.clone(), self.len);
        let mut stream = Stream::starting(source, &observer, self)?;
        let chunk_size = match self.wishes.chunk_size {
            0 => FOLD_SIZE,
            size => size,
        };
        let len = usize::try_from(chunk_size.min(self.len.unwrap_or(u64::MAX)));
        let mut scratch = source.block(&self.pool, len.unwrap_or(usize::MAX))?;
        let (mut value, mut index, mut offset) = (None, 0, self.offset);
        let end = self.len.map(|len| self.offset.saturating_add(len));
        loop {
            let left = end.map_or(u64::MAX, |end| end - offset);
            let want = scratch.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let came = stream.fill(&mut scratch[..want])?;
            if came > 0 {
                let more = fold(Chunk { index, offset, bytes: &scratch[..came] });
                stream.recorder.lap(Activity::Compute, offset, came as u64);
                value = Some(match value {
                    None => more,
                    Some(before) => combine(before, more),
                });
            }
            offset += came as u64;
            index += 1;
            if came < want || want == 0 {
                break;
            }
        }
        if let Some(end) = end.filter(|&end| offset < end) {
            let extent = Extent::between(self.offset, end);
            return Err(source.too_short(extent, offset));
        }
        let mut report = report(source, stream.tally);
        report.chunk_size = chunk_size;
        report.chunks = report.bytes.div_ceil(chunk_size);
        Ok(Scanned { value, report })
    }
}
