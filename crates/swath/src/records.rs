//! Records: a file cut into blocks of whole records, consumed in parallel.
//!
//! ```text
//! cuts     |        |        |        |     every `block_size` bytes
//! records  aaaa|bb|cccccccc|ddd|e|fffff     delimiters
//! blocks   |aaaa|bb|cccccccc|ddd|e|fffff|   a record belongs to the block in which it begins
//! ```

use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Operation, Reason, Result};
use crate::options::ReadOptions;
use crate::source::{Kind, Opened, Source};
use swath_plan::extent::Extent;

/// Where one record ends and the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cut {
    /// Behind each byte of this value.
    Byte(u8),
}

/// Some neighbouring records.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Block<'b> {
    /// Counted from the start of the extent; the same in every run over the same file with the
    /// same block size. Numbers in which no record begins are left out.
    pub index: u64,
    /// Of its first byte, in the file.
    pub offset: u64,
    /// Whole records, each with its delimiter, if it has one.
    pub bytes: &'b [u8],
}

/// A source, and how it is cut; see [`records`].
#[derive(Debug)]
pub struct Records {
    source: Source,
    options: ReadOptions,
    cut: Cut,
    block_size: u64,
}

/// Consumes the records of a file: lines, unless told otherwise.
///
/// ```
/// let blocks = swath::records("/etc/passwd").map_blocks(|block| -> swath::Result<usize> {
///     Ok(block.bytes.split_inclusive(|&byte| byte == b'\n').count())
/// })?;
/// assert!(blocks.iter().sum::<usize>() > 0);
/// # Ok::<(), swath::Error>(())
/// ```
pub fn records(path: impl AsRef<Path>) -> Records {
    ReadOptions::new().records(path.as_ref())
}

impl ReadOptions {
    /// As [`records`], with these options; the first record begins where their extent does.
    pub fn records(&self, source: impl Into<Source>) -> Records {
        Records {
            source: source.into(),
            options: self.clone(),
            cut: Cut::Byte(b'\n'),
            block_size: 512 << 10,
        }
    }
}

impl Records {
    /// Where records end. Default: behind newlines.
    #[must_use]
    pub fn with_cut(mut self, cut: Cut) -> Self {
        self.cut = cut;
        self
    }

    /// Bytes between cuts; results do not depend on it.
    #[must_use]
    pub fn with_block_size(mut self, bytes: u64) -> Self {
        self.block_size = bytes.max(1);
        self
    }

    /// Calls `map` for every block, from any worker, and returns what it made in file order.
    ///
    /// # Errors
    ///
    /// The first one in file order, of reading or of `map`.
    pub fn map_blocks<R: Send, E: From<Error> + Send>(
        self,
        map: impl Fn(Block<'_>) -> std::result::Result<R, E> + Sync,
    ) -> std::result::Result<Vec<R>, E> {
        let source = Opened::open(self.source)?;
        let Kind::Sized(len) = source.kind() else {
            return Err(Error::new(Operation::Read, Reason::Invalid, source.name()).into());
        };
        let extent = self.options.extent_of(&source, len)?;
        let Cut::Byte(delimiter) = self.cut;
        let blocks = extent.len().div_ceil(self.block_size);
        let (next, failed) = (AtomicU64::new(0), AtomicBool::new(false));
        let results = Mutex::new(Vec::new());
        let work = || {
            let mut buffer = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= blocks || failed.load(Ordering::Relaxed) {
                    return;
                }
                let read = read_block(
                    &source,
                    extent,
                    (index, self.block_size),
                    delimiter,
                    &mut buffer,
                );
                let result = match read {
                    Ok(None) => continue,
                    Ok(Some((offset, range))) => {
                        map(Block { index, offset, bytes: &buffer[range] })
                    }
                    Err(error) => Err(error.into()),
                };
                if result.is_err() {
                    failed.store(true, Ordering::Relaxed);
                }
                results.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
            }
        };
        let workers = match self.options.wishes.workers {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            workers => usize::try_from(workers).unwrap_or(1),
        };
        std::thread::scope(|scope| {
            for _ in 1..workers {
                scope.spawn(work);
            }
            work();
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|&(index, _)| index);
        source.check_unchanged(extent, self.options.growth)?;
        results.into_iter().map(|(_, result)| result).collect()
    }
}

type Found = Option<(u64, std::ops::Range<usize>)>;

/// Reads the records that begin in one block; `None` if none does.
fn read_block(
    source: &Opened,
    extent: Extent,
    (index, size): (u64, u64),
    delimiter: u8,
    buffer: &mut Vec<u8>,
) -> Result<Found> {
    let (cut, next) = (extent.offset() + index * size, extent.offset() + (index + 1) * size);
    let start = if index == 0 { cut } else { cut - 1 };
    buffer.clear();
    let mut end = next.min(extent.end());
    let (mut from, mut searched) = (None, None);
    loop {
        let done = buffer.len();
        let want = usize::try_from(end - start).unwrap_or(usize::MAX);
        buffer.resize(want, 0);
        let mut filled = done;
        while filled < want {
            let read = source.read_at(&mut buffer[filled..], start + filled as u64);
            match read.map_err(|error| Error::io(Operation::Read, source.name(), error))? {
                0 => return Err(source.shrunk(extent)),
                read => filled += read,
            }
        }
        if from.is_none() {
            if index == 0 {
                from = Some(0);
            } else {
                let behind = buffer.iter().position(|&byte| byte == delimiter).map(|at| at + 1);
                let Some(at) =
                    behind.filter(|&at| start + (at as u64) < next.min(extent.end()))
                else {
                    return Ok(None);
                };
                from = Some(at);
            }
            searched = Some(buffer.len() - 1);
        }
        let first = from.unwrap_or(0);
        let skip = searched.unwrap_or(0);
        if let Some(at) = buffer[skip..].iter().position(|&byte| byte == delimiter) {
            return Ok(Some((start + first as u64, first..skip + at + 1)));
        }
        if end == extent.end() {
            return Ok(Some((start + first as u64, first..buffer.len())));
        }
        searched = Some(buffer.len());
        end = (end + 64 * 1024).min(extent.end());
    }
}
