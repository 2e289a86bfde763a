//! Tables of any types: text, dates, booleans and numbers, as record batches, in bounded memory.
//!
//! ```text
//! stream of batches ──▶ CSV, JSON Lines, Arrow
//! all batches ──▶ columns of numbers ──▶ .npy
//! ```

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Result, bail};
use arrow_array::RecordBatch;
use arrow_schema::DataType;
use swath_formats::table::{BatchOptions, ColumnReport, Columns, HeaderLine, TableReport};

use super::batches::write;
use super::format::Format;
use super::numbers::{arrow_options, columns_size, leave};
use super::size::Size;
use super::{Converted, Job};
use crate::command::tabular::{is_numeric, is_text, set_aside_text};
use crate::failure::Refused;
use crate::progress::Bar;
use crate::report::ReportName;

/// Converts a table that is text.
pub(super) fn of_text(job: &Job<'_>, from: Format, to: Format) -> Result<Converted> {
    let (read, bar) = Bar::attach(job.words.output.read_options(), !job.words.output.json);
    let options = job.words.batch_options(from, read);
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
    add_notes(job, stream.report(), &mut done.notes);
    Ok(done)
}

/// Whether an Arrow file has columns that are not numbers, or one, whose missing values have a word as text.
pub(super) fn arrow_needs_batches(job: &Job<'_>) -> Result<bool> {
    let batches = arrow_options(job).batches(&job.input)?;
    let is_number = |kind: &DataType| {
        kind.is_integer() || matches!(kind, DataType::Float32 | DataType::Float64)
    };
    let fields = batches.schema().fields();
    Ok(fields.len() == 1 || fields.iter().any(|field| !is_number(field.data_type())))
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

/// Says what was left out, and which columns became text after the first records.
fn add_notes(job: &Job<'_>, report: &TableReport, notes: &mut Vec<String>) {
    /// More would not be read.
    const MOST: usize = 5;
    /// Lines that show what a table is.
    const FIRST: u64 = 1000;
    notes.extend(aside_note(job, report));
    if report.comments > 0 && job.words.table.comment.is_none() {
        let (name, count) = (job.input.name().shown(), report.comments);
        let lines = if count == 1 { "line is a comment" } else { "lines are comments" };
        notes.push(format!(
            "{name}: {count} {lines}, since the others are numbers; --comment none reads them"
        ));
    }
    let late = report.columns.iter().filter(|it| !it.is_told && is_text(it.kind));
    let late = late.filter_map(|it| Some((it, it.deciding?.line)).filter(|it| it.1 > FIRST));
    notes.extend(late.take(MOST).map(|(column, line)| {
        let (name, kind) = (column.name.escape_debug(), column.kind);
        format!(
            "{}: column `{name}` is of type {kind} because of line {line}; --dtypes says another",
            job.input.name().shown()
        )
    }));
}
