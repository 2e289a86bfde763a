//! Converts a table to another format for tables.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::Result;
use swath_formats::table::npy::{self, Dense};
use swath_formats::table::{Columns, Value};

use super::format::Format;
use super::numbers::{columns, columns_size, dense_size, leave, npy_options, read, with_dense};
use super::size::lost_with;
use super::typed;
use super::{Converted, Job, batches, table_options};

pub(super) fn to_table(job: &Job<'_>, from: Format, to: Format) -> Result<Converted> {
    let is_typed = job.words.table.typed_flag().is_some() || !job.files.is_empty();
    match (from, to) {
        // Text and arrays keep the type, whatever it is.
        (Format::Npy, Format::Csv | Format::Tsv) if !batches::are_needed(job, to) => {
            with_dense!(job, dense => text(job, to, &dense))
        }
        (Format::Npy, Format::Npy) => with_dense!(job, dense => {
            let read = Instant::now();
            let bytes = npy_options(job).write(&job.file, &dense.shape, &dense.values)?;
            Ok(Converted { bytes, ..Converted::new(dense_size(&dense.shape)?, read) })
        }),
        (Format::Csv | Format::Tsv, Format::Npy) if !is_typed => {
            let (options, bar) = table_options(job, from);
            let table = options.read::<f64>(&job.input)?;
            drop(bar);
            let read = Instant::now();
            let shape = [table.rows, table.columns];
            let bytes = npy_options(job).write(&job.file, &shape, &table.values)?;
            Ok(Converted { bytes, ..Converted::new(dense_size(&shape)?, read) })
        }
        (Format::Csv | Format::Tsv | Format::Jsonl | Format::Fixed, _) => {
            typed::of_text(job, from, to)
        }
        (Format::Arrows, _) => typed::of_arrow(job, to),
        (Format::Arrow, _) if batches::are_needed(job, to) => typed::of_arrow(job, to),
        (Format::Arrow, _) if to != Format::Npy && typed::arrow_needs_batches(job)? => {
            typed::of_arrow(job, to)
        }
        _ => {
            let (columns, metadata) = columns(job, from)?;
            of_columns(job, to, &columns, metadata)
        }
    }
}

/// Writes columns of numbers, and says what is lost of the metadata.
fn of_columns(
    job: &Job<'_>,
    to: Format,
    columns: &Columns,
    metadata: BTreeMap<String, String>,
) -> Result<Converted> {
    let mut done = Converted::new(columns_size(columns), Instant::now());
    if !keeps_metadata(to) {
        done.notes.extend(lost_with(job, columns, &metadata)?);
    }
    done.bytes = leave(job, to, columns, metadata)?;
    Ok(done)
}

/// Whether a format has metadata of the whole table.
pub(super) fn keeps_metadata(to: Format) -> bool {
    matches!(to, Format::Arrow | Format::Arrows)
}

/// Writes a dense array as text.
fn text<T: Value>(job: &Job<'_>, to: Format, dense: &Dense<T>) -> Result<Converted> {
    let read = Instant::now();
    let size = dense_size(&dense.shape)?;
    let columns = usize::try_from(size.columns)?;
    let options = job.words.table_write_options(to);
    let bytes = options.write(job.text()?, columns, &dense.values)?;
    Ok(Converted { bytes, ..Converted::new(size, read) })
}
