//! Converts a table to another format for tables.
//!
//! ```text
//! text, Arrow ── stream of batches ──▶ CSV, JSON Lines, Arrow        in bounded memory
//! text        ── array of doubles ──▶ .npy
//! .npy        ── array of its type ──▶ CSV, JSON Lines, Arrow
//! ```

use std::time::Instant;

use anyhow::Result;
use swath_formats::table::{HeaderLine, npy};

use super::batches::{size_of, write};
use super::format::Format;
use super::listing::{EntryListing, keeps_metadata};
use super::notes::add_notes;
use super::numbers::{array, arrow_options, dense, dense_size, npy_options, with_dense};
use super::size::Size;
use super::{Conversion, Converted};
use crate::progress::Bar;

pub(super) fn to_table(job: &Conversion<'_>, from: Format, to: Format) -> Result<Converted> {
    match (from, to) {
        (Format::Npy, Format::Npy) => with_dense!(job, dense => {
            let read = Instant::now();
            let bytes = npy_options(job).write(&job.file, &dense.shape, &dense.values)?;
            Ok(Converted { bytes, ..Converted::new(dense_size(&dense.shape)?, read) })
        }),
        (Format::Npy, _) => with_dense!(job, dense => array(job, to, &dense)),
        (Format::Arrow | Format::Arrows, Format::Npy) => dense(job, from),
        (Format::Arrow | Format::Arrows, _) => of_arrow(job, to),
        // An array that is read at once cannot have types of single columns.
        (_, Format::Npy) if job.words.table.dtypes.is_empty() => to_array(job, from),
        (_, Format::Npy) => dense(job, from),
        _ => of_text(job, from, to),
    }
}

/// Reads text as an array of doubles.
fn to_array(job: &Conversion<'_>, from: Format) -> Result<Converted> {
    let (read, bar) = Bar::attach(job.words.output.read_options(), !job.words.output.json);
    let table = job.words.batch_options(from, read).read_array_of::<f64, _>(job.sources())?;
    drop(bar);
    let mut done = Converted::new(size_of(&table.report, table.columns), Instant::now());
    done.bytes =
        npy_options(job).write(&job.file, &[table.rows, table.columns], &table.values)?;
    add_notes(job, &table.report, &mut done.notes);
    Ok(done)
}

/// Converts a table that is text.
fn of_text(job: &Conversion<'_>, from: Format, to: Format) -> Result<Converted> {
    let (read, bar) = Bar::attach(job.words.output.read_options(), !job.words.output.json);
    let mut stream = job.words.batch_options(from, read).stream_batches_of(job.sources())?;
    drop(bar);
    let read = Instant::now();
    let schema = stream.schema().clone();
    let has_header = match stream.report().header_lines {
        0 if from != Format::Jsonl => HeaderLine::Absent,
        _ => HeaderLine::Present,
    };
    let written = write(job, to, has_header, &schema, &mut stream)?;
    let mut done = Converted::new(size_of(stream.report(), schema.fields().len()), read);
    done.add_written(&written);
    add_notes(job, stream.report(), &mut done.notes);
    Ok(done)
}

/// Converts an Arrow file or stream.
fn of_arrow(job: &Conversion<'_>, to: Format) -> Result<Converted> {
    let batches = arrow_options(job).batches(&job.input)?;
    let read = Instant::now();
    let (schema, columns) = (batches.schema().clone(), batches.schema().fields().len() as u64);
    let mut listing = EntryListing::new(&schema).filter(|_| !keeps_metadata(to));
    let mut rows = 0;
    let counted = batches.inspect(|batch| {
        let Ok(batch) = batch else { return };
        rows += batch.num_rows() as u64;
        if let Some(listing) = &mut listing {
            listing.add(batch);
        }
    });
    let written = write(job, to, HeaderLine::Present, &schema, counted)?;
    let size = Size { rows, columns, values: rows * columns };
    let mut done = Converted::new(size, read);
    done.add_written(&written);
    done.notes.extend(listing.and_then(|listing| listing.note(job)));
    Ok(done)
}
