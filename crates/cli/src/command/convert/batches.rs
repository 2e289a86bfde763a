//! Writes record batches in any format for tables.

use anyhow::{Result, bail};
use arrow_schema::Schema;
use swath_formats::table::{
    BatchItem, BatchWriteOptions, BatchesWritten, HeaderLine, TableReport,
};

use super::Conversion;
use super::format::Format;
use super::size::Size;

/// Returns the library's options for writing a table.
pub(super) fn options(job: &Conversion<'_>, to: Format) -> Result<BatchWriteOptions> {
    let Some(form) = to.form() else { bail!("record batches do not become {to}") };
    Ok(job.words.batch_write_options().with_output(job.output()).with_form(form))
}

/// Writes record batches.
pub(super) fn write<I>(
    job: &Conversion<'_>,
    to: Format,
    header: HeaderLine,
    schema: &Schema,
    batches: I,
) -> Result<BatchesWritten>
where
    I: IntoIterator<Item: BatchItem, IntoIter: Send>,
{
    let mut options = options(job, to)?;
    if to.is_separated() {
        options = options.with_header(header);
    }
    Ok(options.write_batches(job.text()?, schema, batches)?)
}

/// Returns the size of a table with this number of columns, including the one of file names.
pub(super) fn size_of(report: &TableReport, columns: usize) -> Size {
    let columns = columns as u64;
    Size { rows: report.rows, columns, values: report.rows * columns }
}
