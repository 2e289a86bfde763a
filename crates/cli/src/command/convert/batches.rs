//! Record batches, written in any format that has one for them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use anyhow::{Result, bail};
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float32Array, RecordBatch};
use arrow_schema::Schema;
use swath_formats::table::{BatchItem, Columns, HeaderLine};

use super::Job;
use super::format::Format;

/// Whether the target, or a flag, needs record batches.
pub(super) fn are_needed(job: &Job<'_>, to: Format) -> bool {
    matches!(to, Format::Jsonl | Format::Arrows)
        || job.is_packed()
        || job.words.table_out.typed_flag().is_some()
}

/// Writes columns of numbers as record batches; returns the bytes written.
pub(super) fn write_columns(
    job: &Job<'_>,
    to: Format,
    columns: &Columns,
    metadata: BTreeMap<String, String>,
) -> Result<u64> {
    let batch = narrowed(columns, &columns.to_record_batch()?)?;
    let metadata: HashMap<String, String> = metadata.into_iter().collect();
    let schema = Arc::new(batch.schema().as_ref().clone().with_metadata(metadata));
    let batch = batch.with_schema(Arc::clone(&schema))?;
    let has_names =
        if columns.names.is_some() { HeaderLine::Present } else { HeaderLine::Absent };
    write(job, to, has_names, &schema, [batch])
}

/// The batch with singles where doubles were singles, so that their text is the shortest.
fn narrowed(columns: &Columns, batch: &RecordBatch) -> Result<RecordBatch> {
    #[expect(clippy::cast_possible_truncation, reason = "each was a single")]
    let narrow = |value: f64| value as f32;
    let each = columns.labels().into_iter().zip(&columns.columns).zip(batch.columns());
    let each = each.map(|((name, column), array)| match column.are_singles() {
        true => {
            let array: Float32Array = array.as_primitive::<Float64Type>().unary(narrow);
            (name, Arc::new(array) as ArrayRef, true)
        }
        false => (name, Arc::clone(array), true),
    });
    Ok(RecordBatch::try_from_iter_with_nullable(each)?)
}

/// Writes record batches; returns the bytes written.
pub(super) fn write<I>(
    job: &Job<'_>,
    to: Format,
    header: HeaderLine,
    schema: &Schema,
    batches: I,
) -> Result<u64>
where
    I: IntoIterator<Item: BatchItem, IntoIter: Send>,
{
    let Some(form) = to.form() else { bail!("record batches do not become {to}") };
    let mut options = job.words.batch_write_options().with_form(form);
    if to.is_separated() {
        options = options.with_header(header);
    }
    Ok(options.write_batches(job.text()?, schema, batches)?.bytes_out)
}
