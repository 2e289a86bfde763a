//! Converts a matrix to another format for matrices.

use std::time::Instant;

use anyhow::Result;
use swath_formats::matrix::npz::NpzOptions;
use swath_formats::matrix::{AnyCsr, Values};

use super::format::Format;
use super::size::Size;
use super::{Conversion, Converted, matrix_options};
use crate::report::ReportName;

pub(super) fn to_matrix(job: &Conversion<'_>, from: Format, to: Format) -> Result<Converted> {
    if from != Format::Npz && to != Format::Npz {
        let (options, bar) = matrix_options(job, from);
        let matrix = options.read(&job.input)?;
        drop(bar);
        let read = Instant::now();
        let written = job
            .words
            .matrix_write_options(to)
            .with_output(job.output())
            .write(job.text()?, &matrix)?;
        let (rows, columns) = matrix.size();
        let size = Size::of_matrix(rows, columns, matrix.entry_count());
        return Ok(Converted { bytes: written.bytes, ..Converted::new(size, read) });
    }
    let rows = rows(job, from)?;
    let read = Instant::now();
    let bytes = match to {
        Format::Npz => npz_options(job).write(&job.file, &rows)?,
        _ => {
            job.words
                .matrix_write_options(to)
                .with_output(job.output())
                .write(job.text()?, &rows)?
                .bytes
        }
    };
    let (row_count, column_count) = rows.size();
    let size = Size::of_matrix(row_count, column_count, rows.entry_count());
    let mut done = Converted { bytes, ..Converted::new(size, read) };
    if to == Format::Npz {
        done.notes.extend(made_ones(job, &rows));
    }
    Ok(done)
}

/// Returns a note if values of 1 were added, because SciPy has no matrix without values.
pub(super) fn made_ones(job: &Conversion<'_>, rows: &AnyCsr) -> Option<String> {
    let values = match rows {
        AnyCsr::U32(rows) => &rows.values,
        AnyCsr::U64(rows) => &rows.values,
    };
    let is_odd = *values == Values::None && rows.entry_count() > 0;
    is_odd.then(|| format!("{}: entries without values became ones", job.name().shown()))
}

/// Returns the library's options for reading or writing `.npz`.
pub(super) fn npz_options(job: &Conversion<'_>) -> NpzOptions {
    NpzOptions::new().with_read(job.words.output.read_options()).with_output(job.output())
}

fn rows(job: &Conversion<'_>, from: Format) -> Result<AnyCsr> {
    Ok(match from {
        Format::Npz => npz_options(job).read(&job.input)?,
        _ => {
            let (options, _bar) = matrix_options(job, from);
            options.read_rows(&job.input)?
        }
    })
}
