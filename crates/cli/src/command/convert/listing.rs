//! Lists of entries, which may not show the size of their matrix.

use arrow_array::RecordBatch;
use arrow_schema::Schema;

use super::Conversion;
use super::format::Format;
use super::numbers::{Cells, cells};
use super::size::{NAMES, above, entry_columns, size_in};
use crate::report::ReportName;

/// Whether a format has metadata of the whole table.
pub(super) fn keeps_metadata(to: Format) -> bool {
    matches!(to, Format::Arrow | Format::Arrows)
}

/// Rows and columns of a matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MatrixSize {
    pub(super) rows: u64,
    pub(super) columns: u64,
}

/// A list of entries: the size of the matrix, and the part of it that the entries do not show.
pub(super) struct EntryListing {
    pub(super) size: MatrixSize,
    pub(super) left: MatrixSize,
}

impl EntryListing {
    /// Returns the listing if a table with this schema is one, and its metadata has the size.
    pub(super) fn new(schema: &Schema) -> Option<Self> {
        let (rows, columns) = size_in(|name| schema.metadata.get(name))?;
        let size = MatrixSize { rows, columns };
        entry_columns(schema).map(|_| Self { size, left: MatrixSize::default() })
    }

    /// Adds some entries.
    pub(super) fn add(&mut self, batch: &RecordBatch) {
        let above = |name: &str| match batch.column_by_name(name).and_then(cells) {
            Some(Cells::I64(ids)) => {
                above(ids.iter().map(|&id| u64::try_from(id).unwrap_or(0)))
            }
            Some(Cells::U64(ids)) => above(ids.iter().copied()),
            _ => 0,
        };
        let MatrixSize { rows, columns } = &mut self.left;
        let [row, column] = NAMES;
        (*rows, *columns) = ((*rows).max(above(row)), (*columns).max(above(column)));
    }

    /// Returns a note if the entries do not show the size.
    pub(super) fn note(&self, job: &Conversion<'_>) -> Option<String> {
        let Self { size: MatrixSize { rows, columns }, left } = self;
        (self.size != *left).then(|| {
            format!(
                "{} does not say that the matrix is {rows} × {columns}: it will be read as {} × {}; to keep \
                 the size, pass --shape {rows}x{columns}",
                job.name().shown(),
                left.rows,
                left.columns
            )
        })
    }
}
