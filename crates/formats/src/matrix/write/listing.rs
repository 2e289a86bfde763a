//! What is written: entries that can be listed.

use std::ops::Range;

use crate::matrix::kinds::Symmetry;
use crate::matrix::value::Values;

/// Something whose entries can be listed from any of them on.
pub(crate) trait Listing: Sync {
    /// Rows and columns.
    fn size(&self) -> (u64, u64);
    fn symmetry(&self) -> Symmetry;
    fn entry_count(&self) -> u64;
    fn values(&self) -> &Values;
    /// Whether an entry is in this row or in this column.
    fn uses(&self, id: u64, threads: usize) -> bool;
    /// Calls `each` with the row and column of every entry in `range`.
    fn list(&self, range: Range<u64>, each: impl FnMut(u64, u64));
}
