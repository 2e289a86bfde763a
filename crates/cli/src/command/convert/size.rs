//! The size of a matrix, and what a table of its entries says about it.

use arrow_array::RecordBatch;
use arrow_schema::Schema;

use super::Job;
use super::numbers::{Cells, cells};
use crate::report::ReportName;

/// The size of what was converted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    pub(super) rows: u64,
    pub(super) columns: u64,
    pub(super) values: u64,
}

impl Size {
    pub(super) fn of_matrix(rows: u64, columns: u64, entries: usize) -> Self {
        Self { rows, columns, values: entries as u64 }
    }
}

pub(super) const NAMES: [&str; 2] = ["row", "column"];

/// Rows and columns, in the metadata of an `.arrow` file.
pub(super) const SIZE: [&str; 2] = ["swath.rows", "swath.columns"];

/// A list of entries whose metadata say how large the matrix is, and what the entries alone say.
pub(super) struct Listing {
    size: (u64, u64),
    left: (u64, u64),
}

impl Listing {
    /// Returns the listing if a table with this schema is one.
    pub(super) fn new(schema: &Schema) -> Option<Self> {
        let size = size_in(|name| schema.metadata.get(name))?;
        is_listed(schema).then_some(Self { size, left: (0, 0) })
    }

    /// Looks at some entries.
    pub(super) fn add(&mut self, batch: &RecordBatch) {
        let above = |at: usize| match cells(batch.column(at)) {
            Some(Cells::I64(ids)) => {
                above(ids.iter().map(|&id| u64::try_from(id).unwrap_or(0)))
            }
            Some(Cells::U64(ids)) => above(ids.iter().copied()),
            _ => 0,
        };
        self.left = (self.left.0.max(above(0)), self.left.1.max(above(1)));
    }

    /// Returns a note if the entries do not show the size.
    pub(super) fn note(&self, job: &Job<'_>) -> Option<String> {
        lost_size(job, self.size, self.left)
    }
}

/// Returns a note if a size is not that which the entries show.
pub(super) fn lost_size(job: &Job<'_>, size: (u64, u64), left: (u64, u64)) -> Option<String> {
    let (rows, columns) = size;
    (left != size).then(|| {
        format!(
            "{} does not say that the matrix is {rows} × {columns}: it will be read as {} × {}; to keep \
             the size, pass --shape {rows}x{columns}",
            job.name().shown(),
            left.0,
            left.1
        )
    })
}

/// One more than the greatest.
pub(super) fn above(ids: impl Iterator<Item = u64>) -> u64 {
    ids.max().map_or(0, |most| most.saturating_add(1))
}

/// Whether a table is a list of entries.
pub(super) fn is_listed(schema: &Schema) -> bool {
    let names = schema.fields().iter().map(|field| field.name().as_str());
    names.take(NAMES.len()).eq(NAMES)
}

/// Rows and columns, if the metadata has them.
pub(in crate::command) fn size_in<'m>(
    get: impl Fn(&str) -> Option<&'m String>,
) -> Option<(u64, u64)> {
    let [rows, columns] = SIZE.map(|name| get(name).and_then(|it| it.parse().ok()));
    rows.zip(columns)
}
