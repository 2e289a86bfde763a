//! The verb `read`: the bytes of one file in memory, by the fastest way for this file right now.
//!
//! ```text
//! open → inspect → decide → engine fills leases of the buffer → check that nothing changed
//! ```

mod into_memory;

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustix::buffer::spare_capacity;
use rustix::fs::FileType;
use swath_os::map::{Map, Permit};
use swath_os::memory::{Leases, Pages};
use swath_plan::extent::Extent;
use swath_plan::policy::{Engine, PageCache, READ_SIZE, Reuse, SMALL, small_reason};

use crate::buffer::{Buffer, aligned_vec};
use crate::engine::fill::{read_buffered, read_cached};
use crate::engine::patience::Patience;
use crate::engine::stream::{STREAM_SIZE, Stream, report};
use crate::error::{Error, Operation, Reason, Result};
use crate::observe::Observer;
use crate::options::{Advice, ReadOptions};
use crate::planned::{Clock, pages};
use crate::report::{ReadTally, Report};
use crate::source::{Identity, OpenSource, Source, SourceLength};
use crate::timeline::Activity;

use into_memory::fill_memory;

/// A buffer, and the report of the read.
#[derive(Debug)]
pub struct Loaded {
    /// The bytes.
    pub buffer: Buffer,
    /// The report of the read.
    pub report: Report,
}

/// Reads a whole file into memory by the fastest way for this file right now.
///
/// Source: study A (parallel loading); `docs/design/auto.md` describes the choice.
///
/// ```
/// let passwd = swath::read("/etc/passwd")?;
/// assert!(passwd.starts_with(b"root:"));
/// # Ok::<(), swath::Error>(())
/// ```
///
/// # Errors
///
/// If the file cannot be opened or read, is a folder, changes while it is read, or does not fit
/// into the available memory.
pub fn read(source: impl Into<Source>) -> Result<Buffer> {
    read_from(source.into())
}

fn read_from(source: Source) -> Result<Buffer> {
    let Some(path) = source.path() else { return Ok(ReadOptions::new().read(source)?.buffer) };
    let file = File::open(path).map_err(|error| Error::io(Operation::Open, path, error))?;
    match read_small_file(&file) {
        Some(buffer) => Ok(buffer),
        None => Ok(ReadOptions::new()
            .read_opened(OpenSource::open(Source::file(file, path))?)?
            .buffer),
    }
}

/// The fast path for a small regular file: only the five calls that it needs. `None` if anything is
/// unusual; the general path then handles it.
fn read_small_file(file: &File) -> Option<Buffer> {
    let before = rustix::fs::fstat(file).ok()?;
    let len = usize::try_from(before.st_size).ok()?;
    let regular = FileType::from_raw_mode(before.st_mode).is_file();
    if !regular || len == 0 || len as u64 > SMALL {
        return None;
    }
    let (mut bytes, start) = aligned_vec(len)?;
    let read = rustix::io::pread(file, spare_capacity(&mut bytes), 0).ok()?;
    let after = rustix::fs::fstat(file).ok()?;
    let same = Identity::of(&before) == Identity::of(&after);
    (read == len && same).then(|| Buffer::small(bytes, start))
}

impl ReadOptions {
    /// Reads the part of `source` that the options select.
    ///
    /// # Errors
    ///
    /// As [`read`]; and if the options contradict each other or the file is shorter than they
    /// say.
    pub fn read(&self, source: impl Into<Source>) -> Result<Loaded> {
        self.read_from(source.into())
    }

    fn read_from(&self, source: Source) -> Result<Loaded> {
        let clock = Clock::start(self);
        let loaded = self.read_opened(OpenSource::open(source)?)?;
        Ok(Loaded { report: clock.stop(loaded.report), ..loaded })
    }

    /// Fills all of `target`, the caller's memory, from the offset of the options.
    ///
    /// Whatever happens, nothing writes to `target` once this has returned. After an error its
    /// contents are unspecified.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn read_into(&self, source: impl Into<Source>, target: &mut [u8]) -> Result<Report> {
        self.read_into_from(source.into(), target)
    }

    fn read_into_from(&self, source: Source, target: &mut [u8]) -> Result<Report> {
        let clock = Clock::start(self);
        let source = OpenSource::open(source)?;
        let wanted = Some(target.len() as u64);
        let report = match source.kind() {
            SourceLength::Sized(len) => {
                let extent = self.extent_of_len(&source, len, wanted)?;
                self.refuse_map(&source)?;
                if self.is_small(extent) {
                    let reason = small_reason(extent.len(), &self.tuning());
                    let report =
                        self.in_one_read(&source, extent, &reason, |tally, observer| {
                            fill_small(&source, extent, target, tally, observer)
                        })?;
                    return Ok(clock.stop(report));
                }
                if let Some(report) = self.at_once(&source, extent, target)? {
                    return Ok(clock.stop(report));
                }
                let options = Self { len: wanted, ..self.clone() };
                let leases = Leases::of_slice(target);
                fill_memory(&options, &source, extent, &leases, 0, None)?
            }
            SourceLength::Stream | SourceLength::Made => {
                Self { len: wanted, ..self.clone() }.stream_into(&source, target)?
            }
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
        self.read_permitted(permit.into(), name.as_ref())
    }

    fn read_permitted(&self, permit: Permit<'_>, name: &Path) -> Result<Loaded> {
        let clock = Clock::start(self);
        let options = Self { wishes: self.wishes, ..self.clone() }.with_engine(Engine::Map);
        let loaded = match options.open_mapped(&permit, name)? {
            (source, Some(extent)) => {
                let map = options.map_extent(permit, &source, extent)?;
                options.read_sized(source, extent, Some(&map))?
            }
            (source, None) => options.with_engine(Engine::Auto).read_opened(source)?,
        };
        Ok(Loaded { report: clock.stop(loaded.report), ..loaded })
    }

    fn read_opened(&self, source: Arc<OpenSource>) -> Result<Loaded> {
        let len = match source.kind() {
            SourceLength::Sized(len) => len,
            SourceLength::Stream | SourceLength::Made => return self.read_stream(&source),
        };
        let extent = self.extent_of(&source, len)?;
        self.refuse_map(&source)?;
        self.read_sized(source, extent, None)
    }

    pub(crate) fn refuse_map(&self, source: &OpenSource) -> Result<()> {
        if self.wishes.engine != Engine::Map {
            return Ok(());
        }
        Err(source.unmapped("use `read_mapped`"))
    }

    /// Whether `extent` is small and a single read fulfils the options.
    fn is_small(&self, extent: Extent) -> bool {
        self.wants_one_read(extent, self.tuning().small_bytes())
    }

    /// Whether `extent` has at most `most` bytes and a single read fulfils the options.
    fn wants_one_read(&self, extent: Extent, most: u64) -> bool {
        self.wishes.take_one_read(extent.len(), most)
            && matches!(self.wishes.page_cache, PageCache::Auto | PageCache::Keep)
            && self.wishes.reuse == Reuse::Unknown
            && self.rate_bytes_per_s.is_none()
            && self.io_priority.is_none()
            && self.advice == Advice::None
    }

    /// Reads bytes that are in the page cache in one call, without checking first. `None` if they are not there, or too
    /// many for one read.
    fn at_once(
        &self,
        source: &OpenSource,
        extent: Extent,
        target: &mut [u8],
    ) -> Result<Option<Report>> {
        let wishes = &self.wishes;
        let is_open = wishes.workers <= 1 && wishes.chunk_size == 0 && wishes.queue_depth == 0;
        let Some(file) = source.file() else { return Ok(None) };
        // If some bytes are missing, a timeline would show bytes twice.
        if !is_open || self.timeline().is_some() || !self.wants_one_read(extent, READ_SIZE) {
            return Ok(None);
        }
        self.observer(extent).check(source.name(), extent)?;
        if read_cached(file, extent.offset(), target) < target.len() {
            return Ok(None);
        }
        let reason = "all of it in the page cache: one read, no thread";
        let done = self.in_one_read(source, extent, reason, |tally, _| {
            tally.calls += 1;
            Ok(())
        });
        done.map(Some)
    }

    /// Reads an extent that takes one call, with minimal overhead.
    fn in_one_read(
        &self,
        source: &OpenSource,
        extent: Extent,
        reason: &str,
        read: impl FnOnce(&mut ReadTally, &Observer) -> Result<()>,
    ) -> Result<Report> {
        let mut report = Report::serial(reason, READ_SIZE);
        report.profile = self.profile_name();
        let (observer, mut tally) = (self.observer(extent), ReadTally::default());
        observer.check(source.name(), extent)?;
        observer
            .hooks()
            .record(Activity::Read, source.name(), extent, || read(&mut tally, &observer))?;
        source.check_unchanged(extent, self.growth)?;
        observer.delivered(extent.len());
        tally.bytes = extent.len();
        report.fill_in(tally, Vec::new());
        source.tell(&mut report);
        Ok(report)
    }

    fn read_sized(
        &self,
        source: Arc<OpenSource>,
        extent: Extent,
        map: Option<&Map<'_>>,
    ) -> Result<Loaded> {
        if self.is_small(extent) {
            let mut buffer = Buffer::default();
            let reason = small_reason(extent.len(), &self.tuning());
            let report = self.in_one_read(&source, extent, &reason, |tally, observer| {
                buffer = read_small(&source, extent, tally, observer)?;
                Ok(())
            })?;
            return Ok(Loaded { buffer, report });
        }
        // Bytes have the same offset within a page as in the file: direct reads need no bounce
        // buffer.
        let phase = usize::try_from(extent.offset()).unwrap_or(0) % 4096;
        let leases = Leases::of_pages(pages(&source, extent, phase, self)?);
        let report = fill_memory(self, &source, extent, &leases, phase, map)?;
        let pages = leases.into_pages();
        let pages = pages.ok_or_else(|| source.no_memory(extent, too_large()))?;
        let len = usize::try_from(extent.len()).unwrap_or_default();
        let buffer = Buffer::paged(pages, phase, len, self.pool.clone());
        Ok(Loaded { buffer, report })
    }

    /// Reads a stream into memory that grows by doubling.
    fn read_stream(&self, source: &OpenSource) -> Result<Loaded> {
        let observer = Observer::new(self.hooks.clone(), self.len);
        let mut stream = Stream::starting(source, &observer, self)?;
        let limit = self.len.and_then(|len| usize::try_from(len).ok()).unwrap_or(usize::MAX);
        let pages = self.pool.take(limit.min(STREAM_SIZE));
        let mut pages =
            pages.map_err(|error| Error::io(Operation::Allocate, source.name(), error))?;
        let mut filled = 0;
        loop {
            let room = pages.len().min(limit) - filled;
            let came = stream.fill(&mut pages[filled..][..room])?;
            filled += came;
            if came < room || filled == limit {
                break;
            }
            self.grow(source, &mut pages)?;
        }
        if let Some(len) = self.len.filter(|&len| len > filled as u64) {
            let extent = Extent::between(self.offset, self.offset.saturating_add(len));
            return Err(source.too_short(extent, self.offset + filled as u64));
        }
        let report = report(source, stream.tally);
        Ok(Loaded { buffer: Buffer::paged(pages, 0, filled, self.pool.clone()), report })
    }

    /// Doubles the memory of a stream, by at most 1 GiB, in place if possible.
    fn grow(&self, source: &OpenSource, pages: &mut Pages) -> Result<()> {
        let more = pages.len().min(1 << 30);
        let extent = Extent::between(pages.len() as u64, (pages.len() + more) as u64);
        if more as u64 >= LARGE {
            source.check_memory(extent, more as u64)?;
        }
        let grown = pages.grow(pages.len() + more);
        grown.map_err(|error| source.no_memory(extent, error))
    }

    fn stream_into(&self, source: &OpenSource, target: &mut [u8]) -> Result<Report> {
        let observer = Observer::new(self.hooks.clone(), Some(target.len() as u64));
        let mut stream = Stream::starting(source, &observer, self)?;
        let filled = stream.fill(target)?;
        if filled < target.len() {
            let end = self.offset + filled as u64;
            let extent = Extent::between(self.offset, self.offset + target.len() as u64);
            return Err(source.too_short(extent, end));
        }
        Ok(report(source, stream.tally))
    }
}

/// Growth in bytes before which a stream checks whether enough memory is available.
const LARGE: u64 = 64 << 20;

/// At most 64 KiB: one read onto the heap, no thread, no map.
fn read_small(
    source: &OpenSource,
    extent: Extent,
    tally: &mut ReadTally,
    observer: &Observer,
) -> Result<Buffer> {
    let len = usize::try_from(extent.len()).unwrap_or_default();
    let memory = aligned_vec(len).ok_or_else(|| {
        Error::new(Operation::Allocate, Reason::OutOfMemory, source.name()).at(extent)
    })?;
    let (mut bytes, start) = memory;
    let end = start + len;
    if let Some(file) = source.file() {
        // Into uninitialised memory: at this size it makes a difference. The vector has room for
        // one more cache line; bytes that a growing file puts there are cut off.
        let read = rustix::io::pread(file, spare_capacity(&mut bytes), extent.offset());
        tally.calls += 1;
        if read.is_ok() && bytes.len() >= end {
            bytes.truncate(end);
            return Ok(Buffer::small(bytes, start));
        }
        // Short, interrupted or failed: the general path continues, or reports the error.
        bytes.truncate(start);
    }
    bytes.resize(end, 0);
    fill_small(source, extent, &mut bytes[start..], tally, observer)?;
    Ok(Buffer::small(bytes, start))
}

fn fill_small(
    source: &OpenSource,
    extent: Extent,
    target: &mut [u8],
    tally: &mut ReadTally,
    observer: &Observer,
) -> Result<()> {
    let done = Patience::new(observer).until_done(|| {
        read_buffered(source, extent.offset(), target, tally)
            .map_err(|failure| failure.into_trouble(source, extent.offset(), target.len()))
    });
    match done {
        Ok(again) => tally.retries += again,
        Err(trouble) => {
            observer.check(source.name(), extent)?;
            return Err(trouble.error);
        }
    }
    Ok(())
}

fn too_large() -> io::Error {
    io::ErrorKind::OutOfMemory.into()
}
