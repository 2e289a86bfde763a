//! Entries that can be listed for writing.

use std::ops::Range;

use crate::matrix::kinds::{Layout, Symmetry};
use crate::matrix::value::Values;

/// A matrix whose entries can be listed from any position.
pub(crate) trait Listing: Sync {
    /// Returns the number of rows and columns.
    fn size(&self) -> (u64, u64);
    /// Whether each entry is written with its place, or all values in order.
    fn layout(&self) -> Layout {
        Layout::Coordinate
    }
    fn symmetry(&self) -> Symmetry;
    fn entry_count(&self) -> u64;
    fn values(&self) -> &Values;
    /// Whether any entry is in this row or this column.
    fn uses(&self, id: u64, threads: usize) -> bool;
    /// Calls `each` with the row and column of every entry in `range`.
    fn list(&self, range: Range<u64>, each: impl FnMut(u64, u64));
}
