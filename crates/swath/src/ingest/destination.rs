//! Where one worker's bytes go: to the arena, or to slabs.

use std::path::Path;

use crate::error::{Error, Result};

/// See the [module](self).
pub(super) trait Destination {
    /// Whether a large file has one place, that several workers fill.
    const SHARED: bool;

    /// Room for at least `want` bytes of file `index`; `None` when it is over.
    ///
    /// # Errors
    ///
    /// If there is no memory.
    fn room(&mut self, index: usize, want: usize, path: &Path) -> Result<Option<&mut [u8]>>;

    /// The first `len` bytes of the room are those of file `index` from `offset` on, the last of
    /// them if `is_last`.
    fn keep(&mut self, index: usize, offset: u64, len: usize, is_last: bool);

    /// File `index` cannot be read.
    fn failed(&mut self, index: usize, error: Error);

    /// A claim is done: what is there may go.
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
    /// If there is none.
    fn set_aside(&mut self, len: u64, path: &Path) -> Result<usize>;

    /// Fills a part of such a file with `fill`.
    ///
    /// # Errors
    ///
    /// What `fill` says.
    fn part(
        &mut self,
        at: usize,
        len: usize,
        path: &Path,
        fill: &mut dyn FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()>;

    /// All parts of such a file are there: its bytes, for a last look.
    fn complete(&mut self, index: usize, base: usize, len: u64) -> Option<&[u8]>;
}
