//! The verb `reader`: a drop-in `Read + BufRead + Seek` that reads ahead in parallel.
//!
//! ```text
//! workers    |block 3|block 4|block 5|      bounded distance ahead of the consumer
//! consumer       ↑ block 2
//! ```
//!
//! The caller's thread reads the first block after opening or seeking, so reading a few bytes here and
//! there starts no thread. It also reads bytes that are in the page cache. At the first byte that is not,
//! workers start to read ahead.

mod ahead;
mod cached;
mod moved;

use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use swath_plan::extent::Extent;
use swath_plan::policy::{PageCache, Reuse};

use crate::buffer::Buffer;
use crate::engine::fill::read_buffered;
use crate::engine::patience::Patience;
use crate::engine::stream::Stream;
use crate::error::{Error, Operation, Reason, Result};
use crate::observe::Observer;
use crate::options::ReadOptions;
use crate::report::ReadTally;
use crate::source::{OpenSource, Source, SourceLength};
use crate::timeline::Activity;

use ahead::Ahead;

/// Bytes of one block by default.
const BLOCK_SIZE: u64 = 1 << 20;
/// Bytes that the caller's thread reads before workers are started.
const FIRST: u64 = 128 << 10;
/// Bytes read from a stream at one time.
const STREAM_BLOCK: usize = 64 << 10;

/// Opens a file for reading in order, with several threads reading ahead.
///
/// ```
/// use std::io::BufRead;
///
/// let mut users = 0;
/// for line in swath::reader("/etc/passwd")?.lines() {
///     users += usize::from(line?.contains(':'));
/// }
/// assert!(users > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the file cannot be opened. Later failures are returned by `read`, as an [`io::Error`] that
/// holds an [`Error`]. A panic of the caller's own code in a worker (a progress callback, a
/// source) is not an error: it resumes in the next `read` that needs that worker's bytes.
pub fn reader(source: impl Into<Source>) -> Result<Reader> {
    ReadOptions::new().reader(source)
}

impl ReadOptions {
    /// As [`reader`], with these options; positions count from their offset.
    ///
    /// # Errors
    ///
    /// As [`reader`]; and if the file is shorter than the options say.
    pub fn reader(&self, source: impl Into<Source>) -> Result<Reader> {
        self.reader_of(source.into())
    }

    fn reader_of(&self, source: Source) -> Result<Reader> {
        let source = OpenSource::open(source)?;
        let extent = match source.kind() {
            SourceLength::Sized(len) => Some(self.extent_of(&source, len)?),
            SourceLength::Stream | SourceLength::Made => None,
        };
        let total = extent.map(Extent::len).or(self.len);
        Ok(Reader {
            observer: Observer::new(self.hooks.clone(), total),
            base: extent.map_or(self.offset, Extent::offset),
            end: extent
                .map(Extent::end)
                .or_else(|| Some(self.offset.saturating_add(self.len?))),
            seekable: extent.is_some(),
            source,
            options: self.clone(),
            block: Buffer::default(),
            at: 0,
            next: extent.map_or(0, Extent::offset),
            ahead: None,
            sequential: false,
            is_cached: true,
            checked: false,
            is_moved: false,
            keeps_ahead: false,
        })
    }
}

/// Reads a source in order, ahead of its consumer; see [`reader`].
pub struct Reader {
    source: Arc<OpenSource>,
    options: ReadOptions,
    /// Counts the bytes read ahead, across seeks.
    observer: Observer,
    /// The offset in the source from which positions count.
    base: u64,
    /// The end of the bytes; `None` if not yet known.
    end: Option<u64>,
    seekable: bool,
    block: Buffer,
    /// Bytes of the block that have been consumed.
    at: usize,
    /// The offset in the source after the block. For a stream: bytes after the start of the
    /// extent.
    next: u64,
    ahead: Option<Ahead>,
    /// Whether a block has been read since the last seek, so that the next one follows it.
    sequential: bool,
    /// Whether all blocks since the last seek were in the page cache.
    is_cached: bool,
    checked: bool,
    /// Pages of the file may be in a pipe, where they change with the file.
    is_moved: bool,
    /// Other threads read bytes that are in the page cache too.
    keeps_ahead: bool,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("path", &self.source.name())
            .field("position", &self.position())
            .finish_non_exhaustive()
    }
}

impl Reader {
    /// Bytes from the start of the extent to the next byte that `read` returns.
    pub fn position(&self) -> u64 {
        self.next - (self.block.len() - self.at) as u64 - self.first()
    }

    /// The position of the end, from which [`SeekFrom::End`] counts; `None` for a stream.
    pub fn end_position(&self) -> Option<u64> {
        self.end.filter(|_| self.seekable).map(|end| end - self.base)
    }

    /// The name of the source in messages: the path, for standard input `<stdin>`.
    pub fn path(&self) -> &Path {
        self.source.name()
    }

    fn first(&self) -> u64 {
        if self.seekable { self.base } else { 0 }
    }

    /// Replaces the consumed block by the next one, at the end by an empty one. After an error the
    /// block is empty, and the next call retries from here.
    fn advance(&mut self) -> Result<()> {
        let used = std::mem::take(&mut self.block);
        self.at = 0;
        if !self.seekable {
            return self.advance_stream(used);
        }
        let end = self.end.unwrap_or(self.next);
        if self.next >= end {
            // The caller's last writes followed all moved pages, so check again.
            self.checked &= !std::mem::take(&mut self.is_moved);
            return self.check_end();
        }
        let rest = Extent::between(self.next, end);
        let block = match self.sequential || !self.plain() {
            false => self.read_here(Extent::between(self.next, end.min(self.next + FIRST)))?,
            true => self.read_on(rest, used)?,
        };
        if self.next + block.len() as u64 >= end {
            // Before the last bytes are returned: a caller that knows the length may not read again.
            self.check_end()?;
        }
        self.sequential = true;
        self.next += block.len() as u64;
        self.block = block;
        Ok(())
    }

    /// Whether a first buffered read on this thread fulfils the options.
    fn plain(&self) -> bool {
        let options = &self.options;
        matches!(options.wishes.page_cache, PageCache::Auto | PageCache::Keep)
            && options.wishes.reuse == Reuse::Unknown
            && options.rate_bytes_per_s.is_none()
            && options.io_priority.is_none()
    }

    /// Returns the block after one that was read.
    fn read_on(&mut self, rest: Extent, used: Buffer) -> Result<Buffer> {
        if !self.is_cached || !self.may_read_cached() {
            return self.read_ahead(rest, used);
        }
        if let Some(block) = self.read_cached(rest, used)? {
            return Ok(block);
        }
        self.is_cached = false;
        self.read_ahead(rest, Buffer::default())
    }

    /// Returns the next block from the workers; reads it here if no worker can be started.
    fn read_ahead(&mut self, rest: Extent, used: Buffer) -> Result<Buffer> {
        if self.ahead.is_none() {
            let is_after_seek = rest.offset() > self.base + FIRST;
            let (options, observer) = (&self.options, &self.observer);
            self.ahead = Ahead::start(&self.source, rest, options, observer, is_after_seek);
        }
        let Some(ahead) = &self.ahead else {
            let len = rest.len().min(BLOCK_SIZE);
            return self.read_here(Extent::between(rest.offset(), rest.offset() + len));
        };
        ahead.give_back(used);
        let taken = ahead.take(self.next);
        if let Ok(Some(block)) = taken {
            return Ok(block);
        }
        let ended = self.ahead.take();
        if let Some(ahead) = &ended {
            // If there was a panic, it is the cause.
            ahead.resume_panic();
        }
        let name = self.source.name();
        let nothing = || io::Error::other("the workers have ended");
        taken?.ok_or_else(|| Error::io(Operation::Read, name, nothing()))
    }

    fn read_here(&mut self, extent: Extent) -> Result<Buffer> {
        self.observer.check(self.source.name(), extent)?;
        let len = usize::try_from(extent.len()).unwrap_or(usize::MAX);
        let mut block = self.source.block(&self.options.pool, len)?;
        let name = self.source.name();
        let done = self.observer.hooks().record(Activity::Read, name, extent, || {
            Patience::new(&self.observer).until_done(|| {
                let tally = &mut ReadTally::default();
                read_buffered(&self.source, extent.offset(), &mut block, tally)
                    .map_err(|failure| failure.into_trouble(&self.source, extent.offset(), len))
            })
        });
        if let Err(trouble) = done {
            self.observer.check(name, extent)?;
            return Err(trouble.error);
        }
        self.observer.delivered(extent.len());
        Ok(block)
    }

    fn advance_stream(&mut self, used: Buffer) -> Result<()> {
        let mut stream = match self.sequential {
            true => {
                let rate = self.options.rate_bytes_per_s;
                Stream::new(&self.source, &self.observer, rate)
            }
            false => Stream::starting(&self.source, &self.observer, &self.options)?,
        };
        self.sequential = true;
        let pool = &self.options.pool;
        let mut block = match used {
            used if used.capacity() == 0 => self.source.block(pool, STREAM_BLOCK)?,
            used => used,
        };
        let here = self.base + self.next;
        let left = self.end.map_or(u64::MAX, |end| end.saturating_sub(here));
        block.narrow(0, usize::try_from(left).unwrap_or(STREAM_BLOCK).min(STREAM_BLOCK));
        let came = if block.is_empty() { 0 } else { stream.once(&mut block, here)? };
        if let (0, Some(end)) = (came, self.end.filter(|&end| here < end)) {
            let extent = Extent::between(self.base, end);
            return Err(self.source.too_short(extent, here));
        }
        block.narrow(0, came);
        self.next += came as u64;
        self.block = block;
        Ok(())
    }

    /// Checks, after all bytes were returned, that the file has not changed.
    fn check_end(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.checked, true) {
            return Ok(());
        }
        let extent = Extent::between(self.base, self.end.unwrap_or(self.base));
        self.source.check_unchanged(extent, self.options.growth)
    }

    fn move_to(&mut self, position: u64) -> Result<()> {
        let target = self.base.saturating_add(position);
        let block_start = self.next - self.block.len() as u64;
        if (block_start..=self.next).contains(&target) {
            self.at = usize::try_from(target - block_start).unwrap_or(usize::MAX);
            return Ok(());
        }
        self.ahead = None;
        self.block = Buffer::default();
        (self.at, self.next, self.sequential, self.checked) = (0, target, false, false);
        self.is_cached = true;
        Ok(())
    }
}

impl Read for Reader {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?;
        let len = bytes.len().min(target.len());
        target[..len].copy_from_slice(&bytes[..len]);
        self.consume(len);
        Ok(len)
    }
}

impl BufRead for Reader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.block.len() {
            self.advance()?;
        }
        Ok(&self.block[self.at..])
    }

    fn consume(&mut self, amount: usize) {
        self.at = (self.at + amount).min(self.block.len());
    }
}

/// Seeking past the end is allowed, as with files; reading there returns nothing.
impl Seek for Reader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let name = self.source.name().to_owned();
        let invalid = |detail: &str| {
            io::Error::from(Error::new(Operation::Seek, Reason::Invalid, &name).detail(detail))
        };
        let no_end = || invalid("a stream has no end to count from");
        let end = self.end_position().ok_or_else(no_end);
        let target = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(by) => self.position().checked_add_signed(by),
            SeekFrom::End(by) => end?.checked_add_signed(by),
        };
        let target = target.ok_or_else(|| invalid("a position before the start"))?;
        if target != self.position() {
            if !self.seekable {
                return Err(invalid("a stream cannot seek"));
            }
            self.move_to(target)?;
        }
        Ok(target)
    }
}
