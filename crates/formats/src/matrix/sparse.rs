//! Matrices in memory.

use swath::Array;

use crate::matrix::id::Id;
use crate::matrix::kinds::Symmetry;
use crate::matrix::value::Values;

/// Entries as coordinates, in the order of the file.
#[derive(Debug, PartialEq)]
pub struct Coo<I: Id> {
    /// Number of rows of the matrix.
    pub row_count: u64,
    /// Number of columns.
    pub column_count: u64,
    /// The entries that are left out: [`Symmetry::General`] for none.
    pub symmetry: Symmetry,
    /// The row of each entry, from 0.
    pub rows: Array<I>,
    /// The column of each entry, from 0.
    pub columns: Array<I>,
    /// The value of each entry, if it has one.
    pub values: Values,
}

impl<I: Id> Coo<I> {
    /// Returns the number of entries.
    pub fn entry_count(&self) -> usize {
        self.rows.len()
    }
}

/// Entries row by row.
///
/// The entries of row `r` have the indices `offsets[r] .. offsets[r + 1]`.
#[derive(Debug, PartialEq)]
pub struct Csr<I: Id> {
    /// Number of rows of the matrix.
    pub row_count: u64,
    /// Number of columns.
    pub column_count: u64,
    /// The entries that are left out: [`Symmetry::General`] for none.
    pub symmetry: Symmetry,
    /// The start of each row, followed by the end of the last one.
    pub offsets: Array<u64>,
    /// The column of each entry, from 0.
    pub columns: Array<I>,
    /// The value of each entry, if it has one.
    pub values: Values,
}

/// Entries column by column.
///
/// The entries of column `c` have the indices `offsets[c] .. offsets[c + 1]`.
#[derive(Debug, PartialEq)]
pub struct Csc<I: Id> {
    /// Number of rows of the matrix.
    pub row_count: u64,
    /// Number of columns.
    pub column_count: u64,
    /// The entries that are left out: [`Symmetry::General`] for none.
    pub symmetry: Symmetry,
    /// The start of each column, followed by the end of the last one.
    pub offsets: Array<u64>,
    /// The row of each entry, from 0.
    pub rows: Array<I>,
    /// The value of each entry, if it has one.
    pub values: Values,
}

impl<I: Id> Csr<I> {
    /// Returns the number of entries.
    pub fn entry_count(&self) -> usize {
        self.columns.len()
    }

    /// Returns the columns of one row.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn row(&self, row: usize) -> &[I] {
        &self.columns[self.offsets[row].index()..self.offsets[row + 1].index()]
    }
}

impl<I: Id> Csc<I> {
    /// Returns the number of entries.
    pub fn entry_count(&self) -> usize {
        self.rows.len()
    }

    /// Returns the rows of one column.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    pub fn column(&self, column: usize) -> &[I] {
        &self.rows[self.offsets[column].index()..self.offsets[column + 1].index()]
    }
}

macro_rules! either {
    ($($any:ident of $matrix:ident),+) => {$(
        #[doc = concat!("[`", stringify!($matrix), "`] with either type of ids.")]
        #[derive(Debug, PartialEq)]
        pub enum $any {
            /// Ids fit in 32 bits.
            U32($matrix<u32>),
            /// Ids need 64 bits, or the options request them.
            U64($matrix<u64>),
        }

        impl $any {
            /// Returns the number of rows and columns of the matrix.
            pub fn size(&self) -> (u64, u64) {
                match self {
                    Self::U32(matrix) => (matrix.row_count, matrix.column_count),
                    Self::U64(matrix) => (matrix.row_count, matrix.column_count),
                }
            }

            /// Returns the number of entries.
            pub fn entry_count(&self) -> usize {
                match self {
                    Self::U32(matrix) => matrix.entry_count(),
                    Self::U64(matrix) => matrix.entry_count(),
                }
            }
        }
    )+};
}

either!(AnyCoo of Coo, AnyCsr of Csr, AnyCsc of Csc);
