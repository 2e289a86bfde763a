//! The verb `scan`: processes a file without keeping it, in bounded memory.
//!
//! ```text
//! chunks  |0  |1  |2  |3  |   folded by any worker, in any order
//! values   v0  v1  v2  v3     combined from left to right: ((v0 + v1) + v2) + v3
//! ```
//!
//! Chunks are cut from the start of the extent, regardless of worker and engine. So the result,
//! even of floating-point sums, is the same for every number of workers. Source: study D (byte sum
//! in dynamic blocks), whose combination depends on the thread count.

mod mapped;
mod trial;

use std::path::Path;

use swath_os::map::Permit;

use crate::error::Result;
use crate::options::ReadOptions;
use crate::planned::FOLD_SIZE;
use crate::records::{Block, Cut};
use crate::report::Scanned;
use crate::source::Source;

use mapped::Kernel;

/// Each byte is a record, so chunks have exactly their size.
const ANYWHERE: Cut = Cut::Fixed(1);

/// Adjacent bytes of the source, as they are read.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Chunk<'c> {
    /// Index of the chunk, counted from the start of the extent.
    pub index: u64,
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// `chunk_size` bytes; the last chunk may have fewer.
    pub bytes: &'c [u8],
}

/// Folds every chunk of a file with `fold` and combines the values in file order.
///
/// `None` for an empty file. Takes at most 2 MiB for each worker, whatever the file's size.
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
/// As [`read`](crate::read), except for lack of memory.
pub fn scan<T: Send>(
    source: impl Into<Source>,
    fold: impl Fn(Chunk<'_>) -> T + Sync,
    combine: impl Fn(T, T) -> T + Sync,
) -> Result<Option<T>> {
    Ok(ReadOptions::new().scan(source, fold, combine)?.value)
}

impl ReadOptions {
    /// As [`scan`], with these options. `fold` and `combine` run on the calling thread and on
    /// Swath's own; if one of them panics, the scan stops and panics.
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
        let mut records = self.records(source).with_cut(ANYWHERE);
        if self.wishes.chunk_size == 0 {
            records = records.with_block_size(FOLD_SIZE.get());
        }
        let fold = |block: Block<'_>| {
            Ok(fold(Chunk { index: block.index, offset: block.offset, bytes: block.bytes }))
        };
        records.for_a_scan().map_reduce(fold, combine)
    }

    /// Returns the sum of all bytes: study D's measure of how fast a file can be processed.
    ///
    /// ```
    /// let sum = swath::ReadOptions::new().sum("/etc/passwd")?.value;
    /// let bytes = std::fs::read("/etc/passwd").unwrap();
    /// assert_eq!(sum, bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>());
    /// # Ok::<(), swath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`scan`].
    pub fn sum(&self, source: impl Into<Source>) -> Result<Scanned<u64>> {
        self.run_kernel(source.into(), Kernel::Sum)
    }

    /// Returns how often `byte` occurs: newlines, for example.
    ///
    /// ```
    /// let lines = swath::ReadOptions::new().with_workers(2).count("/etc/passwd", b'\n')?;
    /// println!("{} lines, {:.1} GB/s", lines.value, lines.report.gb_per_s());
    /// # Ok::<(), swath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`scan`].
    pub fn count(&self, source: impl Into<Source>, byte: u8) -> Result<Scanned<u64>> {
        self.run_kernel(source.into(), Kernel::Count(byte))
    }

    /// As [`sum`](Self::sum), through a map where that is faster: with the engine
    /// [`Engine::Map`](crate::Engine::Map), or for a file in the page cache whose first windows were faster that way.
    /// `name` is for messages.
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

    /// As [`count`](Self::count), through a map where that is faster, like
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
}
