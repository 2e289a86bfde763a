//! The kernels in words of eight bytes: for machines without vectors, and as oracle for the others.

use crate::cells::Cells;
use crate::count::portable as count_portable;
use crate::sum::portable as sum_portable;

/// Returns the sum of all bytes, like [`sum`](crate::sum::sum).
#[must_use]
pub fn sum(bytes: &[u8]) -> u64 {
    sum_portable(Cells::from(bytes))
}

/// Returns the number of occurrences of `byte` in `bytes`, like [`count`](crate::count::count).
#[must_use]
pub fn count(bytes: &[u8], byte: u8) -> u64 {
    count_portable(Cells::from(bytes), byte)
}
