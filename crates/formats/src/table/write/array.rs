//! Arrays of numbers, row by row, as batches of columns.

use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeListArray, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use swath::Output;

use super::options::{BatchForm, BatchWriteOptions, BatchesWritten};
use crate::error::{Error, FormatReason, Result};
use crate::table::options::choices::HeaderLine;
use crate::table::value::Value;

/// Approximate number of values in a batch.
const VALUES: usize = 256 << 10;
/// Values in a batch of rows that is copied: it stays in the cache.
const FEW: usize = 8 << 10;

/// Writes `values`, row by row with `columns` values in each, with default options: CSV without
/// names, unless the output's name has another form.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("points.csv");
/// swath_formats::table::write_array(&path, 2, &[1.0, 2.5, 3.0, -0.1])?;
/// assert_eq!(std::fs::read_to_string(&path)?, "1.0,2.5\n3.0,-0.1\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The errors of [`BatchWriteOptions::write_array`].
pub fn write_array<T: Value>(
    output: impl Into<Output>,
    columns: usize,
    values: &[T],
) -> Result<BatchesWritten> {
    BatchWriteOptions::new().write_array(output, columns, values)
}

impl BatchWriteOptions {
    /// Writes `values`, row by row with `columns` values in each. Without
    /// [names](Self::with_names), CSV has a header only if there are no rows, since otherwise
    /// nothing would show the columns. Takes a few megabytes besides the output's buffers.
    ///
    /// # Errors
    ///
    /// The errors of [`write_batches`](Self::write_batches); [`FormatReason::Invalid`] for values
    /// that do not divide into rows.
    pub fn write_array<T: Value>(
        &self,
        output: impl Into<Output>,
        columns: usize,
        values: &[T],
    ) -> Result<BatchesWritten> {
        let output = output.into();
        if columns == 0 || !values.len().is_multiple_of(columns) {
            let detail =
                format!("{} values do not divide into rows of {columns}", values.len());
            return Err(Error::writing(output.name(), FormatReason::Invalid, detail));
        }
        let form = self.form.or_else(|| BatchForm::of_name(output.name()));
        let mut options = self.clone().with_form(form.unwrap_or(BatchForm::Csv));
        let has_names = self.names.is_some() || values.is_empty() || self.header.is_some();
        if !has_names && options.form.is_some_and(BatchForm::is_separated) {
            options.header = Some(HeaderLine::Absent);
        }
        let name = |at: usize| match &self.names {
            Some(names) => names.get(at).cloned().unwrap_or_default(),
            None => format!("column_{}", at + 1),
        };
        let field = |at| Field::new(name(at), T::column(Vec::new()).data_type().clone(), false);
        let schema: SchemaRef =
            Arc::new(Schema::new((0..columns).map(field).collect::<Vec<_>>()));
        let rows = |values: usize| columns * (values / columns).max(1);
        if columns == 1 || !options.form.is_some_and(BatchForm::is_separated) {
            let batches = values.chunks(rows(VALUES)).map(|rows| batch(&schema, rows));
            return options.write_batches(output, &schema, batches);
        }
        // A row is one list, not a value in each column.
        let value = Arc::new(field(0));
        let size = i32::try_from(columns).map_err(|_| {
            Error::writing(output.name(), FormatReason::Invalid, "too many columns for a table")
        })?;
        let list = DataType::FixedSizeList(Arc::clone(&value), size);
        let given: SchemaRef = Arc::new(Schema::new(vec![Field::new("rows", list, false)]));
        let mut items = values.chunks(rows(FEW)).map(|rows| {
            let values = T::column(rows.to_vec());
            let list = FixedSizeListArray::try_new(Arc::clone(&value), size, values, None)?;
            Ok(RecordBatch::try_new(Arc::clone(&given), vec![Arc::new(list)])?)
        });
        options.write_items(output, &schema, &given, &mut items)
    }
}

/// Returns some rows as columns.
fn batch<T: Value>(
    schema: &SchemaRef,
    rows: &[T],
) -> std::result::Result<RecordBatch, ArrowError> {
    let columns = schema.fields().len();
    let column = |at: usize| -> ArrayRef {
        T::column(rows.iter().skip(at).step_by(columns).copied().collect())
    };
    RecordBatch::try_new(Arc::clone(schema), (0..columns).map(column).collect())
}
