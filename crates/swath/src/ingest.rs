//! The verb `records`: files taken apart by many workers, records whole, results in file order.

mod consume;
mod failures;
mod file;
mod runs;

use std::path::Path;

use crate::error::Error;
use crate::options::ReadOptions;
use crate::records::{Block, Cut};
use crate::scan::Scanned;
use crate::source::Source;

use consume::Collect;

/// A source, and how it is cut; see [`records`].
#[derive(Debug)]
pub struct Records {
    sources: Vec<Source>,
    options: ReadOptions,
    cut: Cut,
    block_size: u64,
    record_limit: u64,
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
            sources: vec![source.into()],
            options: self.clone(),
            cut: Cut::Byte(b'\n'),
            block_size: 0,
            record_limit: u64::MAX,
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

    /// Bytes between cuts; results do not depend on it. Default 0: 512 KiB, which stay in the
    /// second-level cache from the read to the parser.
    #[must_use]
    pub fn with_block_size(mut self, bytes: u64) -> Self {
        self.block_size = bytes;
        self
    }

    /// Bytes of the longest record that is accepted; a longer one, which may as well be a missing
    /// delimiter, is an error. Less than a block counts as a block. Default 0: as much as fits into
    /// the memory at hand.
    #[must_use]
    pub fn with_record_limit(mut self, bytes: u64) -> Self {
        self.record_limit = if bytes == 0 { u64::MAX } else { bytes };
        self
    }

    /// Calls `map` for every block, from any worker, and returns what it made in file order.
    ///
    /// # Errors
    ///
    /// The first one in file order, of reading or of `map`.
    ///
    /// # Panics
    ///
    /// If `map` does, with its panic, once all workers have ended.
    pub fn map_blocks<R: Send, E: From<Error> + Send>(
        self,
        map: impl Fn(Block<'_>) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E> {
        Ok(self.collect_blocks(map)?.value)
    }

    /// As [`map_blocks`](Self::map_blocks), and says how it went.
    ///
    /// # Errors
    ///
    /// As [`map_blocks`](Self::map_blocks).
    ///
    /// # Panics
    ///
    /// As [`map_blocks`](Self::map_blocks).
    pub fn collect_blocks<R: Send, E: From<Error> + Send>(
        self,
        map: impl Fn(Block<'_>) -> Result<R, E> + Sync,
    ) -> Result<Scanned<Vec<R>>, E> {
        let collect = Collect::new(map);
        let report = runs::run(self, &collect)?;
        Ok(Scanned { value: collect.into_values(), report })
    }
}
