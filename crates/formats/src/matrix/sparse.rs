//! Matrices in memory.

use swath::Array;

use crate::matrix::header::Symmetry;
use crate::matrix::id::Id;
use crate::matrix::value::Values;

/// Entries by their coordinates, in the order of the file.
#[derive(Debug, PartialEq)]
pub struct Coo<I: Id> {
    /// How many rows the matrix has.
    pub row_count: u64,
    /// How many columns.
    pub column_count: u64,
    /// What is left out of the entries: [`Symmetry::General`] for nothing.
    pub symmetry: Symmetry,
    /// The row of each entry, from 0.
    pub rows: Array<I>,
    /// The column of each entry, from 0.
    pub columns: Array<I>,
    /// The value of each entry, if it has one.
    pub values: Values,
}

impl<I: Id> Coo<I> {
    /// How many entries there are.
    pub fn entry_count(&self) -> usize {
        self.rows.len()
    }
}

/// [`Coo`] of either type of ids.
#[derive(Debug, PartialEq)]
pub enum AnyCoo {
    /// Ids fit in 32 bits.
    U32(Coo<u32>),
    /// They do not, or were asked for.
    U64(Coo<u64>),
}
