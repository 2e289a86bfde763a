//! The destination of one worker's bytes: the arena, or slabs.

use std::path::Path;

use crate::error::{Error, Result};

/// See the [module](self).
pub(super) trait Destination {
    /// Whether a large file gets one place that several workers fill.
    const SHARED: bool;

    /// Returns memory for at least `want` bytes of file `index`; `None` when the ingest is over.
    ///
    /// # Errors
    ///
    /// If there is no memory.
    fn room(&mut self, index: usize, want: usize, path: &Path) -> Result<Option<&mut [u8]>>;

    /// Keeps the first `len` bytes of the room: those of file `index` at `offset`, its last ones if
    /// `is_last`.
    fn keep(&mut self, index: usize, offset: u64, len: usize, is_last: bool);

    /// Records that file `index` cannot be read.
    fn failed(&mut self, index: usize, error: Error);

    /// Ends a claim: filled memory may be passed on.
    fn pause(&mut self) {}

    /// Whether there is room for file `index` without waiting.
    fn is_ready(&mut self, _index: usize) -> bool {
        true
    }

    /// Copies and keeps a whole file from other memory, without waiting.
    ///
    /// # Errors
    ///
    /// If there is no memory.
    fn put(&mut self, index: usize, bytes: &[u8], path: &Path) -> Result<()>;

    /// Sets memory aside for a file that several workers read.
    ///
    /// # Errors
    ///
    /// If there is no memory.
    fn set_aside(&mut self, len: u64, path: &Path) -> Result<usize>;

    /// Fills a part of a shared file with `fill`.
    ///
    /// # Errors
    ///
    /// The errors of `fill`.
    fn part(
        &mut self,
        at: usize,
        len: usize,
        path: &Path,
        fill: &mut dyn FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()>;

    /// Ends a shared file whose parts have all been read; returns its bytes, for a final check.
    fn complete(&mut self, index: usize, base: usize, len: u64) -> Option<&[u8]>;
}
