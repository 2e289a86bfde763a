//! A table in memory.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::table::open::report::TableReport;

/// A table in memory: record batches of one schema, in the order of the file.
///
/// The boundaries between batches are not part of the result: they may depend on the block size.
#[derive(Clone, Debug)]
pub struct Batches {
    pub(in crate::table) schema: SchemaRef,
    pub(in crate::table) batches: Vec<RecordBatch>,
    pub(in crate::table) report: TableReport,
}

impl Batches {
    /// Returns the names and types of the columns.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the batches; a table without rows has none.
    #[must_use]
    pub fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }

    /// Returns the batches as a vector.
    #[must_use]
    pub fn into_batches(self) -> Vec<RecordBatch> {
        self.batches
    }

    /// Returns the report of the table.
    #[must_use]
    pub fn report(&self) -> &TableReport {
        &self.report
    }

    /// Returns the number of rows of all batches.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.report.rows
    }
}
