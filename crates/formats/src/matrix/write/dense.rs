//! A matrix with a value at every place.

use std::ops::Range;

use swath::Output;
use swath::append::OrderedReport;

use super::listing::Listing;
use super::{Matrix, MatrixWriteOptions};
use crate::error::Result;
use crate::matrix::kinds::{Layout, Symmetry};
use crate::matrix::value::Values;

/// A matrix with a value at every place. Only written: reading gives entries.
///
/// ```
/// use swath_formats::matrix::{self, Dense, Values};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("dense.mtx");
/// let mut values = swath::Array::zeroed(4)?;
/// values.copy_from_slice(&[1, 2, 3, 4]);
/// let values = Values::I64(values);
/// matrix::write(&path, &Dense { row_count: 2, column_count: 2, values })?;
/// assert!(std::fs::read_to_string(&path)?.ends_with("array integer general\n2 2\n1\n2\n3\n4\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, PartialEq)]
pub struct Dense {
    /// Number of rows.
    pub row_count: u64,
    /// Number of columns.
    pub column_count: u64,
    /// All values, column by column.
    pub values: Values,
}

impl Listing for Dense {
    fn size(&self) -> (u64, u64) {
        (self.row_count, self.column_count)
    }

    fn layout(&self) -> Layout {
        Layout::Array
    }

    fn symmetry(&self) -> Symmetry {
        Symmetry::General
    }

    fn entry_count(&self) -> u64 {
        self.values.count() as u64
    }

    fn values(&self) -> &Values {
        &self.values
    }

    fn uses(&self, id: u64, _: usize) -> bool {
        id < self.row_count.max(self.column_count)
    }

    #[inline(always)]
    fn list(&self, range: Range<u64>, mut each: impl FnMut(u64, u64)) {
        // Without rows there are no values either.
        let rows = self.row_count.max(1);
        range.for_each(|at| each(at % rows, at / rows));
    }
}

impl Matrix for Dense {}
impl super::sealed::Write for Dense {
    fn write_to(&self, output: Output, options: &MatrixWriteOptions) -> Result<OrderedReport> {
        super::write(self, output, options)
    }
}
