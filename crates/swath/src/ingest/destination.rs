//! Where one worker's bytes go: to the arena, or to slabs.

use std::path::Path;

use crate::error::{Error, Result};

/// See the [module](self).
pub(super) trait Destination {
    /// Whether a large file gets one place that several workers fill.
    const SHARED: bool;

    /// Memory for at least `want` bytes of file `index`; `None` when it is over.
    ///
    /// # Errors
    ///
    /// If there is no memory.
    fn room(&mut self, index: usize, want: usize, path: &Path) -> Result<Option<&mut [u8]>>;

    /// Keeps the first `len` bytes of the room: those of file `index` from `offset` on, its last
    /// if `is_last`.
    fn keep(&mut self, index: usize, offset: u64, len: usize, is_last: bool);

    /// Records that file `index` cannot be read.
    fn failed(&mut self, index: usize, error: Error);

    /// A claim is done: what has been filled may be passed on.
    fn pause(&mut self) {}

    /// Whether there is room for file `index` without waiting.
    fn is_ready(&mut self, _index: usize) -> bool {
        true
    }

    /// Keeps a whole file that is in other memory, without waiting.
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

    /// Fills a part of such a file with `fill`.
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

    /// All parts of such a file have been read: returns its bytes, for a final check.
    fn complete(&mut self, index: usize, base: usize, len: u64) -> Option<&[u8]>;
}
