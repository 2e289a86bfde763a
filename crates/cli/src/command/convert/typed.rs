//! Tables of any types: text, dates, booleans and numbers, as record batches, in bounded memory.
//!
//! ```text
//! numbers alone     the way of arrays and columns (table.rs), unless a flag or the target needs this
//! anything else     stream of batches ──▶ CSV, JSON Lines, Arrow
//!                   all batches ──▶ columns of numbers ──▶ .npy
//! ```

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Result, bail};
use arrow_array::RecordBatch;
use arrow_schema::DataType;
use swath::{Extent, ReadOptions};
use swath_formats::FormatReason;
use swath_formats::table::{BatchOptions, ColumnReport, Columns, HeaderLine, TableReport};

use super::batches::write;
use super::format::Format;
use super::numbers::{arrow_options, columns_size, leave};
use super::size::Size;
use super::{Converted, Job};
use crate::command::tabular::{HEAD, has_number_comments, is_numeric, set_aside_text};
use crate::failure::Refused;
use crate::progress::Bar;
use crate::report::ReportName;

/// First bytes of a table that show whether it is one of numbers.
const PROBE: u64 = 1 << 20;

/// How far a table is known to be one of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    /// Its first bytes are, so that something else further on may be a mistake.
    First,
    /// Its first bytes are not.
    None,
    /// It was not looked at, or that does not matter.
    Unknown,
}

/// Looks at the first bytes of a table. A fault in them is left to the reader.
pub(super) fn numbers(job: &Job<'_>, from: Format) -> Numbers {
    let is_packed = swath_formats::compressed::Format::of_name(job.input.name()).is_some();
    if is_packed || job.words.starting_in.is_some() {
        return Numbers::Unknown;
    }
    let options = job.words.table_options(from, job.words.output.read_options());
    let first = options.with_starting_in(Extent::between(0, PROBE)).schema(&job.input);
    match first.is_err_and(|error| is_of_other_types(&error)) {
        true => Numbers::None,
        false => Numbers::First,
    }
}

/// Whether a reader of numbers failed because there may be something else in the table.
fn is_of_other_types(error: &swath_formats::Error) -> bool {
    use FormatReason::{Malformed, TooLarge, UnknownFormat};
    matches!(error.reason(), Malformed | TooLarge | UnknownFormat)
}

/// The same, for any error.
pub(super) fn may_have_other_types(error: &anyhow::Error) -> bool {
    error.downcast_ref().is_some_and(is_of_other_types)
}

/// Converts a table that is text.
pub(super) fn of_text(
    job: &Job<'_>,
    from: Format,
    to: Format,
    numbers: Numbers,
) -> Result<Converted> {
    let (options, bar) = options(job, from)?;
    if to == Format::Npy {
        return dense(job, &options, bar);
    }
    let mut stream = options.stream_batches_of(job.sources())?;
    drop(bar);
    let read = Instant::now();
    let schema = stream.schema().clone();
    let has_header = match stream.report().header_lines {
        0 if from != Format::Jsonl => HeaderLine::Absent,
        _ => HeaderLine::Present,
    };
    let bytes = write(job, to, has_header, &schema, &mut stream)?;
    let mut done = Converted { bytes, ..Converted::new(size_of(stream.report()), read) };
    add_notes(job, stream.report(), numbers, &mut done.notes);
    Ok(done)
}

/// Whether an Arrow file has columns that are not numbers.
pub(super) fn arrow_has_other_types(job: &Job<'_>) -> Result<bool> {
    let batches = arrow_options(job).batches(&job.input)?;
    let is_number = |kind: &DataType| {
        kind.is_integer() || matches!(kind, DataType::Float32 | DataType::Float64)
    };
    Ok(batches.schema().fields().iter().any(|field| !is_number(field.data_type())))
}

/// Converts an Arrow file or stream.
pub(super) fn of_arrow(job: &Job<'_>, to: Format) -> Result<Converted> {
    let batches = arrow_options(job).batches(&job.input)?;
    let read = Instant::now();
    let (schema, columns) = (batches.schema().clone(), batches.schema().fields().len() as u64);
    if to == Format::Npy {
        let batches = batches.collect::<Result<Vec<_>, _>>()?;
        let table = Columns::from_record_batches(&schema, &batches)?;
        return left(job, to, &table);
    }
    let mut rows = 0;
    let counted = batches.inspect(|batch| {
        rows += batch.as_ref().map_or(0, RecordBatch::num_rows) as u64;
    });
    let bytes = write(job, to, HeaderLine::Present, &schema, counted)?;
    let size = Size { rows, columns, values: rows * columns };
    Ok(Converted { bytes, ..Converted::new(size, read) })
}

/// The library's options for a table that is read, and its progress bar.
fn options(job: &Job<'_>, from: Format) -> Result<(BatchOptions, Bar)> {
    let output = &job.words.output;
    let (read, bar) = Bar::attach(output.read_options(), !output.json);
    let options = job.words.batch_options(from, read);
    if !from.is_separated() {
        return Ok((options, bar));
    }
    let len = job.input.len().unwrap_or(0);
    let first = ReadOptions::new().with_len(len.min(HEAD as u64)).read(&job.input)?.buffer;
    let options = match has_number_comments(&first, len <= HEAD as u64, &job.words.table) {
        true => options.with_comment(Some(b'#')),
        false => options,
    };
    Ok((options, bar))
}

/// Makes an array of a table of numbers.
fn dense(job: &Job<'_>, options: &BatchOptions, bar: Bar) -> Result<Converted> {
    let table = options.read_batches_of(job.sources())?;
    drop(bar);
    let is_other = |it: &&ColumnReport| !is_numeric(it.kind);
    if let Some(ColumnReport { name, kind, .. }) = table.report().columns.iter().find(is_other)
    {
        let path = job.input.name().shown();
        let what = format!(
            "cannot convert {path}: column `{name}` is of type {kind}, and .npy holds numbers"
        );
        bail!(Refused::new(what, "pass --columns with columns of numbers, or choose .arrow"));
    }
    let columns = Columns::from_record_batches(table.schema(), table.batches())?;
    let mut done = left(job, Format::Npy, &columns)?;
    done.notes.extend(aside_note(job, table.report()));
    Ok(done)
}

fn left(job: &Job<'_>, to: Format, columns: &Columns) -> Result<Converted> {
    let mut done = Converted::new(columns_size(columns), Instant::now());
    done.bytes = leave(job, to, columns, BTreeMap::new())?;
    Ok(done)
}

fn size_of(report: &TableReport) -> Size {
    let columns = report.columns.len() as u64;
    Size { rows: report.rows, columns, values: report.rows * columns }
}

fn aside_note(job: &Job<'_>, report: &TableReport) -> Option<String> {
    let text = set_aside_text(report)?;
    Some(format!("{}: {text}", job.input.name().shown()))
}

/// Says what was left out, and which columns of numbers became text further on.
fn add_notes(job: &Job<'_>, report: &TableReport, numbers: Numbers, notes: &mut Vec<String>) {
    /// More would not be read.
    const MOST: usize = 5;
    notes.extend(aside_note(job, report));
    if numbers != Numbers::First {
        return;
    }
    let late = report.columns.iter().filter(|it| !it.is_told && !is_numeric(it.kind));
    let late = late.filter_map(|it| Some((it, it.deciding?.line)));
    notes.extend(late.take(MOST).map(|(column, line)| {
        let (name, kind) = (column.name.escape_debug(), column.kind);
        format!(
            "{}: column `{name}` is of type {kind} because of line {line}; --dtypes says another",
            job.input.name().shown()
        )
    }));
}
