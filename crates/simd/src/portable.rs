//! The kernels in words of eight bytes: for machines without vectors, and the oracle for the rest.

use crate::cells::Cells;
use crate::count::portable as count_portable;
use crate::sum::portable as sum_portable;

/// Returns the sum of all bytes, as [`sum`](crate::sum::sum) does.
#[must_use]
pub fn sum(bytes: &[u8]) -> u64 {
    sum_portable(Cells::from(bytes))
}

/// Returns how often `byte` occurs in `bytes`, as [`count`](crate::count::count) does.
#[must_use]
pub fn count(bytes: &[u8], byte: u8) -> u64 {
    count_portable(Cells::from(bytes), byte)
}
