//! The verb `read`: the bytes of one file in memory, by the best way for it right now.
//!
//! ```text
//! open → survey → decide → engine fills leases of the buffer → check that nothing changed
//! ```

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rustix::buffer::spare_capacity;
use swath_os::map::{Map, MapFlags, Permit};
use swath_os::memory::{Leases, WriteLease};
use swath_os::{numa, usage};
use swath_plan::extent::Extent;
use swath_plan::policy::{Decision, Engine, PageCache, SMALL, decide};
use swath_plan::schedule::Lease;

use crate::buffer::{Buffer, aligned_vec};
use crate::engine::fill::Hands;
use crate::engine::stream::Stream;
use crate::engine::{Job, Trouble, Visit, ring, worker};
use crate::error::{Error, Operation, Reason, Result};
use crate::observe::Observer;
use crate::options::{Numa, ReadOptions};
use crate::report::{Report, Tally, Usage};
use crate::source::{Growth, Kind, Opened, Source};
use crate::survey;

/// A buffer, and how it was filled.
#[derive(Debug)]
pub struct Loaded {
    /// The bytes.
    pub buffer: Buffer,
    /// How they came.
    pub report: Report,
}

/// Reads a whole file into memory by the best way for this file right now.
///
/// Source: study A (parallel loading), with what `docs/design/auto.md` adds to it.
///
/// ```
/// let passwd = swath::read("/etc/passwd")?;
/// assert!(passwd.starts_with(b"root:"));
/// # Ok::<(), swath::Error>(())
/// ```
///
/// # Errors
///
/// If it cannot be opened or read, is a folder, changes while it is read, or does not fit into
/// the memory at hand.
pub fn read(path: impl AsRef<Path>) -> Result<Buffer> {
    let source = Opened::open(Source::from(path.as_ref()))?;
    match source.kind() {
        Kind::Sized(len) if len <= SMALL => {
            let extent = Extent::between(0, len);
            let buffer = read_small(&source, extent, &mut Tally::default())?;
            source.check_unchanged(extent, Growth::Refused)?;
            Ok(buffer)
        }
        _ => Ok(ReadOptions::new().read_opened(source)?.buffer),
    }
}

impl ReadOptions {
    /// Reads what the options say of `source`.
    ///
    /// # Errors
    ///
    /// As [`read`]; and if the options contradict each other or the file is shorter than they
    /// say.
    pub fn read(&self, source: impl Into<Source>) -> Result<Loaded> {
        let clock = Clock::start(self);
        let loaded = self.read_opened(Opened::open(source.into())?)?;
        Ok(Loaded { report: clock.stop(loaded.report), ..loaded })
    }

    /// Reads into memory of the caller, all of `target`, from the offset of the options on.
    ///
    /// Whatever happens, nothing writes to `target` any more when this returns. After an error
    /// its contents are unspecified.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn read_into(&self, source: impl Into<Source>, target: &mut [u8]) -> Result<Report> {
        let clock = Clock::start(self);
        let source = Arc::new(Opened::open(source.into())?);
        let options = Self { len: Some(target.len() as u64), ..self.clone() };
        let report = match source.kind() {
            Kind::Sized(len) => {
                let extent = options.extent_of(&source, len)?;
                let leases = Leases::of_slice(target);
                fill_memory(&options, &source, extent, (&leases, 0), None)?
            }
            Kind::Stream | Kind::Made => options.stream_into(&source, target)?,
        };
        Ok(clock.stop(report))
    }

    /// Reads by copying from a map of the file that `permit` allows: study A's memory-mapped
    /// loading. `name` is for messages.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and if the file cannot be mapped.
    pub fn read_mapped<'f>(
        &self,
        permit: impl Into<Permit<'f>>,
        name: impl AsRef<Path>,
    ) -> Result<Loaded> {
        let clock = Clock::start(self);
        let (permit, name) = (permit.into(), name.as_ref());
        let options = Self { wishes: self.wishes, ..self.clone() }.with_engine(Engine::Map);
        let (source, extent) = options.open_mapped(&permit, name)?;
        if extent.is_empty() {
            // Nothing can be mapped; everybody reads nothing alike.
            return options.with_engine(Engine::Auto).read_opened(source);
        }
        let map = options.map_extent(permit, name, extent)?;
        let loaded = options.read_sized(Arc::new(source), extent, Some(&map))?;
        Ok(Loaded { report: clock.stop(loaded.report), ..loaded })
    }

    pub(crate) fn open_mapped(
        &self,
        permit: &Permit<'_>,
        name: &Path,
    ) -> Result<(Opened, Extent)> {
        let file = permit.file().try_clone();
        let file = file.map_err(|error| Error::io(Operation::Open, name, error))?;
        let source = Opened::open(Source::file(file, name))?;
        let extent = match source.kind() {
            Kind::Sized(len) => self.extent_of(&source, len)?,
            Kind::Made => self.extent_of(&source, 0)?,
            Kind::Stream => {
                let error = Error::new(Operation::Map, Reason::Invalid, name);
                return Err(error.detail("only regular files can be mapped"));
            }
        };
        Ok((source, extent))
    }

    pub(crate) fn map_extent<'f>(
        &self,
        permit: Permit<'f>,
        name: &Path,
        extent: Extent,
    ) -> Result<Map<'f>> {
        let fail = |error| Error::io(Operation::Map, name, error).at(extent);
        let flags = MapFlags { populate: self.populate_map, huge_page: self.huge_map };
        let len = usize::try_from(extent.len()).map_err(|_| fail(too_large()))?;
        let map = Map::new(permit, extent.offset(), len, flags).map_err(fail)?;
        if let Some(advice) = self.advice.for_map() {
            map.advise(0, len, advice).map_err(fail)?;
        }
        Ok(map)
    }

    fn read_opened(&self, source: Opened) -> Result<Loaded> {
        let len = match source.kind() {
            Kind::Sized(len) => len,
            Kind::Stream | Kind::Made => return self.read_stream(&source),
        };
        let extent = self.extent_of(&source, len)?;
        if self.wishes.engine == Engine::Map {
            let error = Error::new(Operation::Map, Reason::Invalid, source.name());
            return Err(error
                .detail("a map needs the promise that nobody changes the file")
                .hint("use `read_mapped`"));
        }
        self.read_sized(Arc::new(source), extent, None)
    }

    fn read_sized(
        &self,
        source: Arc<Opened>,
        extent: Extent,
        map: Option<&Map<'_>>,
    ) -> Result<Loaded> {
        let plain = self.wishes.engine == Engine::Auto
            && matches!(self.wishes.page_cache, PageCache::Auto | PageCache::Keep)
            && self.rate_bytes_per_s.is_none();
        if plain && extent.len() <= SMALL {
            let facts = survey::facts(&source, extent, self);
            let mut report = survey::report(&decide(&facts, &self.wishes));
            let (observer, mut tally) = (self.observer(extent), Tally::default());
            cancelled_before(&observer, &source, extent)?;
            let buffer = read_small(&source, extent, &mut tally)?;
            source.check_unchanged(extent, self.growth)?;
            observer.delivered(extent.len());
            tally.bytes = extent.len();
            report.fill_in(tally, Vec::new());
            return Ok(Loaded { buffer, report });
        }
        // Data starts in its page where it does in the file's: direct reads need no bounce.
        let phase = usize::try_from(extent.offset()).unwrap_or(0) % 4096;
        let len = usize::try_from(extent.len()).ok();
        let wanted = len.and_then(|len| len.checked_add(phase));
        let pages = wanted.ok_or_else(too_large).and_then(|wanted| self.pool.take(wanted));
        let allocate = |error| Error::io(Operation::Allocate, source.name(), error).at(extent);
        let pages = pages.map_err(allocate)?;
        if self.numa == Numa::Caller && numa::node_count() > 1 {
            let node = numa::current_node().and_then(|node| pages.prefer_node(node));
            node.map_err(allocate)?;
        }
        let fresh = pages.unpopulated() as u64;
        let leases = Leases::of_pages(pages);
        let report = fill_memory(self, &source, extent, (&leases, phase), Some((fresh, map)))?;
        let pages = leases.into_pages().ok_or_else(|| allocate(too_large()))?;
        let len = len.unwrap_or_default();
        let buffer = Buffer::paged(pages, phase, len, self.pool.clone());
        Ok(Loaded { buffer, report })
    }

    pub(crate) fn observer(&self, extent: Extent) -> Observer {
        Observer::new(self.hooks.clone(), Some(extent.len()))
    }

    /// Reads what comes in order, into memory that doubles.
    fn read_stream(&self, source: &Opened) -> Result<Loaded> {
        let observer = Observer::new(self.hooks.clone(), self.len);
        let mut stream = Stream::new(source, &observer);
        self.skip_in(&mut stream, source)?;
        let limit = self.len.and_then(|len| usize::try_from(len).ok()).unwrap_or(usize::MAX);
        let mut pages = self.stream_pages(source, limit.min(SMALL_STREAM))?;
        let mut filled = 0;
        loop {
            let room = pages.len().min(limit) - filled;
            let came = stream.fill(&mut pages[filled..][..room])?;
            filled += came;
            if came < room || filled == limit {
                break;
            }
            let mut larger = self.stream_pages(source, pages.len().saturating_mul(2))?;
            larger[..filled].copy_from_slice(&pages[..filled]);
            self.pool.put(std::mem::replace(&mut pages, larger));
        }
        if let Some(len) = self.len.filter(|&len| len > filled as u64) {
            let extent = Extent::between(self.offset, self.offset.saturating_add(len));
            return Err(source
                .truncated(extent, self.offset + filled as u64)
                .hint("ask for less"));
        }
        let report = stream_report(source, stream.tally);
        Ok(Loaded { buffer: Buffer::paged(pages, 0, filled, self.pool.clone()), report })
    }

    fn stream_pages(&self, source: &Opened, len: usize) -> Result<swath_os::memory::Pages> {
        let fail = |error| Error::io(Operation::Allocate, source.name(), error);
        if len as u64 >= 64 << 20 {
            check_memory(source, Extent::between(0, len as u64), len as u64)?;
        }
        self.pool.take(len).map_err(fail)
    }

    fn stream_into(&self, source: &Opened, target: &mut [u8]) -> Result<Report> {
        let observer = Observer::new(self.hooks.clone(), Some(target.len() as u64));
        let mut stream = Stream::new(source, &observer);
        self.skip_in(&mut stream, source)?;
        let filled = stream.fill(target)?;
        if filled < target.len() {
            let end = self.offset + filled as u64;
            let extent = Extent::between(self.offset, self.offset + target.len() as u64);
            return Err(source.truncated(extent, end).hint("ask for less"));
        }
        Ok(stream_report(source, stream.tally))
    }

    pub(crate) fn skip_in(&self, stream: &mut Stream<'_>, source: &Opened) -> Result<()> {
        let reached = stream.skip(self.offset)?;
        if reached < self.offset {
            let extent = Extent::between(self.offset, self.offset);
            return Err(source.truncated(extent, reached).hint("ask for less"));
        }
        stream.tally.bytes = 0;
        Ok(())
    }
}

/// What a stream's buffer starts with.
const SMALL_STREAM: usize = 1 << 20;

pub(crate) fn stream_report(source: &Opened, tally: Tally) -> Report {
    let reason = match source.kind() {
        Kind::Stream => "not seekable: read in order by one thread",
        Kind::Made | Kind::Sized(_) => "made by the kernel when read: in order until it ends",
    };
    let mut report = Report::serial(reason, SMALL_STREAM as u64);
    report.fill_in(tally, Vec::new());
    report
}

/// At most 64 KiB: one read into the heap, no thread, no map.
fn read_small(source: &Opened, extent: Extent, tally: &mut Tally) -> Result<Buffer> {
    let len = usize::try_from(extent.len()).unwrap_or_default();
    let memory = aligned_vec(len).ok_or_else(|| {
        Error::new(Operation::Allocate, Reason::OutOfMemory, source.name()).at(extent)
    })?;
    let (mut bytes, start) = memory;
    let end = start + len;
    if let Some(file) = source.file() {
        // Straight into memory that nobody has written: at this size it shows. The vector has
        // room for a cache line more; what comes into it of a growing file is cut off.
        let read = rustix::io::pread(file, spare_capacity(&mut bytes), extent.offset());
        tally.calls += 1;
        if read.is_ok() && bytes.len() >= end {
            bytes.truncate(end);
            return Ok(Buffer::small(bytes, start));
        }
        // Short, interrupted or failed: the usual way goes on, or says why not.
        bytes.truncate(start);
    }
    bytes.resize(end, 0);
    crate::engine::fill::fill_buffered(source, extent.offset(), &mut bytes[start..], tally)
        .map_err(|failure| failure.into_trouble(source, extent.offset(), len).error)?;
    Ok(Buffer::small(bytes, start))
}

/// Fills leases with `extent`; `fresh` says how many bytes of them are not populated.
fn fill_memory(
    options: &ReadOptions,
    source: &Arc<Opened>,
    extent: Extent,
    (leases, phase): (&Leases<'_>, usize),
    owned: Option<(u64, Option<&Map<'_>>)>,
) -> Result<Report> {
    let (fresh, map) = owned.unwrap_or((0, None));
    let mut facts = survey::facts(source, extent, options);
    if fresh.min(extent.len()) > facts.memory {
        return Err(no_room(source, extent, facts.memory));
    }
    let aligned = source_aligned(source, &facts, leases, phase);
    facts.ring &= aligned;
    let decision = decide(&facts, &options.wishes);
    let mut report = survey::report(&decision);
    if !aligned && decision.page_cache == PageCache::Bypass {
        report.fallbacks.push(String::from("destination not aligned: through bounce buffers"));
    }
    report
        .fallbacks
        .extend(survey::advise(source, extent, options.advice).filter(|_| map.is_none()));
    let mut manner = survey::manner(&decision, &facts, options);
    manner.map = map;
    manner.map_offset = extent.offset();
    let scheduler = survey::scheduler(&decision, options, None);
    let observer = options.observer(extent);
    cancelled_before(&observer, source, extent)?;
    let job = Job::new(Arc::clone(source), extent, scheduler, manner, observer);
    let visit = IntoMemory { leases, base: extent.offset(), phase, source };
    if run(&job, &visit, &decision) == Ring::Refused {
        report.engine = Engine::Pool;
    }
    if let Some(error) = job.failure() {
        return Err(error);
    }
    let len = usize::try_from(extent.len()).unwrap_or(usize::MAX);
    if leases.read(phase, len).is_none() {
        // A fault of ours; never hand over a buffer that is half filled.
        let error = Error::new(Operation::Read, Reason::Io, source.name()).at(extent);
        return Err(error.detail("not every byte was delivered"));
    }
    source.check_unchanged(extent, options.growth)?;
    let (tally, fallbacks) = job.summary();
    report.fill_in(tally, fallbacks);
    Ok(report)
}

/// What became of the ring.
#[derive(PartialEq, Eq)]
pub(crate) enum Ring {
    Unused,
    Used,
    Refused,
}

/// Runs the workers of a decision, and the ring beside them on this thread.
fn run(job: &Job<'_>, visit: &IntoMemory<'_>, decision: &Decision) -> Ring {
    let (slot, depth) = (decision.workers.len(), decision.ring_depth);
    if depth == 0 {
        worker::run(job, visit, slot, None);
        return Ring::Unused;
    }
    let depth = u32::try_from(depth).unwrap_or(u32::MAX).min(1024);
    let refused = AtomicBool::new(false);
    let mut beside = || {
        if let Err(error) = ring::run(job, visit, slot, depth) {
            job.fell_back(format!("ring refused ({error}), a thread for each read in flight"));
            // Relaxed: read on this thread.
            refused.store(true, Ordering::Relaxed);
            worker::run_slot(job, visit, slot, depth);
        }
    };
    worker::run(job, visit, slot, Some(&mut beside));
    if refused.into_inner() { Ring::Refused } else { Ring::Used }
}

/// Puts the bytes of a lease where they belong in memory.
struct IntoMemory<'l> {
    leases: &'l Leases<'l>,
    base: u64,
    phase: usize,
    source: &'l Opened,
}

impl<'l> IntoMemory<'l> {
    fn lend(&self, lease: &Lease) -> std::result::Result<WriteLease<'l>, Trouble> {
        let offset = usize::try_from(lease.extent.offset() - self.base).unwrap_or(usize::MAX);
        let len = usize::try_from(lease.extent.len()).unwrap_or(usize::MAX);
        self.leases.write(offset.saturating_add(self.phase), len).ok_or_else(|| {
            let error = Error::new(Operation::Read, Reason::Io, self.source.name());
            Trouble::fatal(error.at(lease.extent).detail("these bytes are being read already"))
        })
    }
}

impl Visit for IntoMemory<'_> {
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
        let mut memory = self.lend(lease)?;
        match memory.prepare() {
            Ok(bytes) => hands.tally.populated_bytes += bytes as u64,
            Err(error) if error.kind() == std::io::ErrorKind::OutOfMemory => {
                let error = Error::io(Operation::Allocate, self.source.name(), error);
                return Err(Trouble::fatal(error.at(lease.extent)));
            }
            // Kernels before 5.14: the read itself populates.
            Err(_) => {}
        }
        hands.fill(lease.way, lease.extent.offset(), &mut memory)?;
        memory.freeze();
        Ok(())
    }
}

impl<'l> ring::Place<'l> for IntoMemory<'l> {
    fn place(&self, lease: &Lease) -> std::result::Result<WriteLease<'l>, Trouble> {
        self.lend(lease)
    }
}

/// Whether direct reads can go straight into the destination.
fn source_aligned(
    source: &Opened,
    facts: &swath_plan::policy::Facts,
    leases: &Leases<'_>,
    phase: usize,
) -> bool {
    let Some(direct) = facts.direct.and_then(|_| source.direct()) else { return true };
    let first = facts.extent.offset();
    let to_unit = first.next_multiple_of(direct.unit.get()) - first;
    let address = leases.address().wrapping_add(phase);
    address.wrapping_add(usize::try_from(to_unit).unwrap_or(0)).is_multiple_of(direct.memory)
}

pub(crate) fn cancelled_before(
    observer: &Observer,
    source: &Opened,
    extent: Extent,
) -> Result<()> {
    if !observer.is_cancelled() {
        return Ok(());
    }
    let error = Error::new(Operation::Read, Reason::Cancelled, source.name());
    Err(error.at(extent).detail("cancelled"))
}

fn check_memory(source: &Opened, extent: Extent, wanted: u64) -> Result<()> {
    let memory = swath_os::machine::memory_at_hand().unwrap_or(u64::MAX);
    if wanted > memory { Err(no_room(source, extent, memory)) } else { Ok(()) }
}

fn no_room(source: &Opened, extent: Extent, memory: u64) -> Error {
    Error::new(Operation::Allocate, Reason::OutOfMemory, source.name())
        .at(extent)
        .detail(format!("{} bytes are wanted, {memory} are at hand", extent.len()))
        .hint("read less at once, or `scan` without keeping")
}

fn too_large() -> std::io::Error {
    std::io::ErrorKind::OutOfMemory.into()
}

/// Time and cost of one call.
pub(crate) struct Clock {
    started: Instant,
    usage: Option<Usage>,
}

impl Clock {
    pub(crate) fn start(options: &ReadOptions) -> Self {
        let usage = options.usage.then(|| usage::usage().ok()).flatten();
        Self { started: Instant::now(), usage }
    }

    pub(crate) fn stop(self, mut report: Report) -> Report {
        report.elapsed = self.started.elapsed();
        let now = self.usage.as_ref().and_then(|_| usage::usage().ok());
        report.usage = now.zip(self.usage).map(|(now, before)| now.since(&before));
        report
    }
}
