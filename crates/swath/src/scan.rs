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

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use swath_os::map::{Map, MapAdvice, Permit};
use swath_plan::chunk::ChunkPlan;
use swath_plan::extent::Extent;
use swath_plan::policy::{Decision, Engine, Facts, Wishes, decide, in_order};
use swath_plan::schedule::{Lease, Way};

use crate::buffer::Buffer;
use crate::engine::fill::Hands;
use crate::engine::stream::Stream;
use crate::engine::{Job, Trouble, Visit, worker};
use crate::error::{Error, Operation, Result};
use crate::observe::Observer;
use crate::options::{Advice, ReadOptions};
use crate::read::{Clock, cancelled_before, stream_report};
use crate::report::Report;
use crate::source::{Kind, Opened, Source};
use crate::survey;

/// Bytes of one fold unless told otherwise: they stay in the second-level cache.
const FOLD_SIZE: u64 = 256 << 10;
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
    path: impl AsRef<Path>,
    fold: impl Fn(Chunk<'_>) -> T + Sync,
    combine: impl Fn(T, T) -> T + Sync,
) -> Result<Option<T>> {
    Ok(ReadOptions::new().scan(path.as_ref(), fold, combine)?.value)
}

/// A kernel that consumes bytes in a single pass, also from a map.
#[derive(Clone, Copy, Debug)]
enum Kernel {
    Sum,
    Count(u8),
}

impl Kernel {
    fn of_bytes(self, bytes: &[u8]) -> u64 {
        match self {
            Self::Sum => swath_simd::sum(bytes),
            Self::Count(byte) => swath_simd::count(bytes, byte),
        }
    }

    fn of_map(self, map: &Map<'_>, from: usize, len: usize) -> u64 {
        let cells = &map.cells()[from..from + len];
        match self {
            Self::Sum => swath_simd::sum_cells(cells),
            Self::Count(byte) => swath_simd::count_cells(cells, byte),
        }
    }
}

impl ReadOptions {
    /// As [`scan`], with these options. `fold` and `combine` run on Swath's own workers; if one
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
                self.scan_sized(Arc::new(source), extent, (fold, combine))?
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

    fn map_kernel(
        &self,
        permit: Permit<'_>,
        name: &Path,
        kernel: Kernel,
    ) -> Result<Scanned<u64>> {
        let clock = Clock::start(self);
        let (source, extent) = self.open_mapped(&permit, name)?;
        let mut facts = survey::facts(&source, extent, self);
        facts.map = true;
        let wanted = self.wishes.engine == Engine::Map;
        let resident = self.wishes.engine == Engine::Auto
            && facts.direct.is_none()
            && survey::all_resident(&facts);
        if extent.is_empty() || !(wanted || resident) {
            let options = match wanted {
                true => self.clone().with_engine(Engine::Auto),
                false => self.clone(),
            };
            return options.run_kernel(Source::file(permit_file(&permit, name)?, name), kernel);
        }
        let mut decision = in_order(self.scan_decision(&facts).0, extent);
        decision.engine = Engine::Map;
        if resident {
            decision.reason += "; single pass over a file in the page cache: mapped";
        }
        let source = Arc::new(source);
        let map = self.map_extent(permit, name, extent)?;
        let mut manner = survey::manner(&decision, &facts, self);
        manner.map = Some(&map);
        manner.map_offset = extent.offset();
        let report = survey::report(&decision);
        let scheduler = survey::scheduler(&decision, self, None);
        let observer = self.observer(extent);
        cancelled_before(&observer, &source, extent)?;
        let job = Job::new(Arc::clone(&source), extent, scheduler, manner, observer);
        let visit =
            SumMap { map: &map, extent, kernel, advice: self.advice, total: Mutex::new(0) };
        worker::run(&job, &visit, decision.workers.len(), None);
        let report = finish(&job, &source, extent, self, report)?;
        let value = visit.total.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Scanned { value, report: clock.stop(report) })
    }

    /// The policy's decision for a scan, and whether it reads whole leases at once.
    fn scan_decision(&self, facts: &Facts) -> (Decision, bool) {
        let mut wishes = Wishes { ..self.wishes };
        let mut fallbacks = Vec::new();
        if wishes.chunk_size == 0 {
            wishes.chunk_size = FOLD_SIZE;
        }
        if wishes.engine == Engine::Ring {
            wishes.engine = Engine::Pool;
            fallbacks
                .push(String::from("engine `ring`: a scan folds on its workers, used `pool`"));
        }
        let facts = Facts { ring: false, direct: facts.direct, ..facts.clone() };
        let mut decision = decide(&facts, &wishes);
        decision.fallbacks.extend(fallbacks);
        // A fold's chunks are the caller's, whatever unit a device reads in.
        decision.chunk_size = NonZeroU64::new(wishes.chunk_size).unwrap_or(NonZeroU64::MIN);
        let chunks = (decision.cut.size.get() / decision.chunk_size).max(1);
        let size = decision.chunk_size.get().saturating_mul(chunks);
        decision.cut.size = NonZeroU64::new(size).unwrap_or(decision.chunk_size);
        let by_lease = wishes.engine == Engine::Auto && !survey::all_resident(&facts);
        (decision, by_lease)
    }

    fn scan_sized<T: Send>(
        &self,
        source: Arc<Opened>,
        extent: Extent,
        (fold, combine): (impl Fn(Chunk<'_>) -> T + Sync, impl Fn(T, T) -> T + Sync),
    ) -> Result<Scanned<Option<T>>> {
        if self.wishes.engine == Engine::Map {
            let error =
                Error::new(Operation::Map, crate::error::Reason::Invalid, source.name());
            return Err(error
                .detail("a map needs the promise that nobody changes the file")
                .hint("use `sum_mapped` or `count_mapped`"));
        }
        let facts = survey::facts(&source, extent, self);
        let (decision, by_lease) = self.scan_decision(&facts);
        let decision = in_order(decision, extent);
        let mut report = survey::report(&decision);
        report.fallbacks.extend(survey::advise(&source, extent, self.advice));
        let slots = decision.workers.len() as u64;
        let ahead = NonZeroU64::new(decision.cut.size.get().saturating_mul(slots * AHEAD));
        let scheduler = survey::scheduler(&decision, self, ahead);
        let manner = survey::manner(&decision, &facts, self);
        let observer = self.observer(extent);
        cancelled_before(&observer, &source, extent)?;
        let job = Job::new(Arc::clone(&source), extent, scheduler, manner, observer);
        let visit = Fold {
            job: &job,
            options: self,
            plan: ChunkPlan::new(extent, decision.chunk_size),
            extent,
            room: self.scratch_size(&decision, extent, by_lease),
            by_lease,
            fold,
            combined: Mutex::new(InOrder {
                next: extent.offset(),
                value: None,
                early: BTreeMap::new(),
            }),
            combine,
        };
        worker::run(&job, &visit, decision.workers.len(), None);
        let combined = visit.combined.into_inner().unwrap_or_else(PoisonError::into_inner);
        let report = finish(&job, &source, extent, self, report)?;
        Ok(Scanned { value: combined.value, report })
    }

    /// Bytes a worker needs: a chunk, or a lease and a unit at either end.
    fn scratch_size(&self, decision: &Decision, extent: Extent, by_lease: bool) -> usize {
        let direct = decision.queues.iter().flatten().any(|run| run.way == Way::Direct);
        let bytes = match by_lease || direct {
            true => decision.cut.size.get(),
            false => decision.chunk_size.get(),
        };
        let edges = if direct { 128 << 10 } else { 0 };
        usize::try_from(bytes.min(extent.len()).saturating_add(edges)).unwrap_or(usize::MAX)
    }

    fn scan_stream<T>(
        &self,
        source: &Opened,
        fold: impl Fn(Chunk<'_>) -> T,
        combine: impl Fn(T, T) -> T,
    ) -> Result<Scanned<Option<T>>> {
        let observer = Observer::new(self.hooks.clone(), self.len);
        let mut stream = Stream::new(source, &observer);
        self.skip_in(&mut stream, source)?;
        let chunk_size = match self.wishes.chunk_size {
            0 => FOLD_SIZE,
            size => size,
        };
        let len = usize::try_from(chunk_size.min(self.len.unwrap_or(u64::MAX)));
        let mut scratch = self.scratch(source, len.unwrap_or(usize::MAX))?;
        let (mut value, mut index, mut offset) = (None, 0, self.offset);
        let end = self.len.map(|len| self.offset.saturating_add(len));
        loop {
            let left = end.map_or(u64::MAX, |end| end - offset);
            let want = scratch.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let came = stream.fill(&mut scratch[..want])?;
            if came > 0 {
                let more = fold(Chunk { index, offset, bytes: &scratch[..came] });
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
            return Err(source.truncated(extent, offset).hint("ask for less"));
        }
        let mut report = stream_report(source, stream.tally);
        report.chunk_size = chunk_size;
        report.chunks = report.bytes.div_ceil(chunk_size);
        Ok(Scanned { value, report })
    }

    fn scratch(&self, source: &Opened, len: usize) -> Result<Buffer> {
        let pages = self.pool.take(len);
        let pages =
            pages.map_err(|error| Error::io(Operation::Allocate, source.name(), error))?;
        Ok(Buffer::paged(pages, 0, len, self.pool.clone()))
    }
}

fn permit_file(permit: &Permit<'_>, name: &Path) -> Result<std::fs::File> {
    permit.file().try_clone().map_err(|error| Error::io(Operation::Open, name, error))
}

fn finish(
    job: &Job<'_>,
    source: &Opened,
    extent: Extent,
    options: &ReadOptions,
    mut report: Report,
) -> Result<Report> {
    if let Some(error) = job.failure() {
        return Err(error);
    }
    source.check_unchanged(extent, options.growth)?;
    let (tally, fallbacks) = job.summary();
    report.fill_in(tally, fallbacks);
    Ok(report)
}

/// Folds leases chunk by chunk.
struct Fold<'f, T, F, C> {
    job: &'f Job<'f>,
    options: &'f ReadOptions,
    plan: ChunkPlan,
    extent: Extent,
    room: usize,
    /// Read a lease at once: fewer, larger reads for a device.
    by_lease: bool,
    fold: F,
    combine: C,
    combined: Mutex<InOrder<T>>,
}

/// Values that came early wait here for those before them.
struct InOrder<T> {
    /// The offset up to which values are combined.
    next: u64,
    value: Option<T>,
    early: BTreeMap<u64, (u64, Vec<T>)>,
}

impl<T> InOrder<T> {
    fn put(&mut self, lease: Extent, values: Vec<T>, combine: &impl Fn(T, T) -> T) -> u64 {
        self.early.insert(lease.offset(), (lease.end(), values));
        while let Some((end, values)) = self.early.remove(&self.next) {
            self.next = end;
            for value in values {
                self.value = Some(match self.value.take() {
                    None => value,
                    Some(before) => combine(before, value),
                });
            }
        }
        self.next
    }
}

impl<T, F, C> Visit for Fold<'_, T, F, C>
where
    T: Send,
    F: Fn(Chunk<'_>) -> T + Sync,
    C: Fn(T, T) -> T + Sync,
{
    type Scratch = Buffer;

    fn scratch(&self) -> Result<Buffer> {
        self.options.scratch(&self.job.source, self.room)
    }

    fn visit(
        &self,
        hands: &mut Hands<'_>,
        scratch: &mut Buffer,
        lease: &Lease,
    ) -> std::result::Result<(), Trouble> {
        let mut values = Vec::new();
        let mut whole = None;
        if lease.way == Way::Direct {
            whole = Some(hands.fill_widened(lease.extent, scratch)?);
        } else if self.by_lease {
            let len = usize::try_from(lease.extent.len()).unwrap_or(usize::MAX);
            hands.fill_at_once(lease.extent.offset(), &mut scratch[..len])?;
            whole = Some(0);
        }
        let size = self.plan_chunk_size();
        let mut index = (lease.extent.offset() - self.extent.offset()) / size;
        while let Some(chunk) =
            self.plan.chunk(index).filter(|at| at.offset() < lease.extent.end())
        {
            let from = chunk.offset() - lease.extent.offset();
            let len = usize::try_from(chunk.len()).unwrap_or(usize::MAX);
            let start = match whole {
                Some(skip) => skip + usize::try_from(from).unwrap_or(usize::MAX),
                None => {
                    hands.fill_at_once(chunk.offset(), &mut scratch[..len])?;
                    0
                }
            };
            let bytes = &scratch[start..start + len];
            values.push((self.fold)(Chunk { index, offset: chunk.offset(), bytes }));
            index += 1;
        }
        let mut combined = self.combined.lock().unwrap_or_else(PoisonError::into_inner);
        let next = combined.put(lease.extent, values, &self.combine);
        drop(combined);
        self.job.release(next);
        Ok(())
    }
}

impl<T, F, C> Fold<'_, T, F, C> {
    fn plan_chunk_size(&self) -> u64 {
        self.job.manner.chunk_size.map_or(1, NonZeroU64::get)
    }
}

/// Runs a kernel over leases of a map.
struct SumMap<'m> {
    map: &'m Map<'m>,
    extent: Extent,
    kernel: Kernel,
    advice: Advice,
    total: Mutex<u64>,
}

impl Visit for SumMap<'_> {
    type Scratch = ();

    fn scratch(&self) -> Result<()> {
        Ok(())
    }

    fn visit(
        &self,
        hands: &mut Hands<'_>,
        (): &mut (),
        lease: &Lease,
    ) -> std::result::Result<(), Trouble> {
        let from = usize::try_from(lease.extent.offset() - self.extent.offset());
        let (from, len) = (from.unwrap_or(usize::MAX), usize::try_from(lease.extent.len()));
        let len = len.unwrap_or(usize::MAX);
        if self.advice == Advice::MapAhead {
            let ahead = from.saturating_add(MAP_AHEAD).min(self.map.len());
            let more = len.min(self.map.len() - ahead);
            // Only advice: without it the pages come when they are touched.
            let _ = self.map.advise(ahead, more, MapAdvice::WillNeed);
        }
        hands.tally.calls += 1;
        let value = self.kernel.of_map(self.map, from, len);
        *self.total.lock().unwrap_or_else(PoisonError::into_inner) += value;
        Ok(())
    }
}

/// How far ahead of a worker the rolling will-need goes.
const MAP_AHEAD: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_combined_from_left_to_right_whatever_order_they_come_in() {
        let mut order = InOrder { next: 0, value: None, early: BTreeMap::new() };
        let combine = |left: String, right: String| format!("({left}{right})");
        let mut put = |offset: u64, end: u64, values: &[&str]| {
            let values = values.iter().map(|&value| String::from(value)).collect();
            order.put(Extent::between(offset, end), values, &combine)
        };
        assert_eq!(put(4, 6, &["c"]), 0);
        assert_eq!(put(6, 7, &["d"]), 0);
        assert_eq!(put(0, 4, &["a", "b"]), 7);
        assert_eq!(order.value.as_deref(), Some("(((ab)c)d)"));
    }
}
