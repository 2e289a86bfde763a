//! A matrix into another format for matrices.

use std::time::Instant;

use anyhow::Result;
use swath_formats::matrix::npz::NpzOptions;
use swath_formats::matrix::{AnyCsr, Values};

use super::args::Convert;
use super::format::Format;
use super::size::Size;
use super::{Converted, matrix_options};

pub(super) fn to_matrix(args: &Convert, from: Format, to: Format) -> Result<Converted> {
    if from != Format::Npz && to != Format::Npz {
        let (options, bar) = matrix_options(args, from);
        let matrix = options.read(&args.input)?;
        drop(bar);
        let read = Instant::now();
        args.matrix_write_options(to).write(&args.to, &matrix)?;
        let (rows, columns) = matrix.size();
        let size = Size::of_matrix(rows, columns, matrix.entry_count());
        return Ok(Converted::new(size, read));
    }
    let rows = rows(args, from)?;
    let read = Instant::now();
    match to {
        Format::Npz => drop(npz_options(args).write(&args.to, &rows)?),
        _ => drop(args.matrix_write_options(to).write(&args.to, &rows)?),
    }
    let (row_count, column_count) = rows.size();
    let size = Size::of_matrix(row_count, column_count, rows.entry_count());
    let mut done = Converted::new(size, read);
    if to == Format::Npz {
        done.notes.extend(made_ones(args, &rows));
    }
    Ok(done)
}

/// What is said where values are made up, as SciPy has no matrix without any.
pub(super) fn made_ones(args: &Convert, rows: &AnyCsr) -> Option<String> {
    let values = match rows {
        AnyCsr::U32(rows) => &rows.values,
        AnyCsr::U64(rows) => &rows.values,
    };
    let is_odd = *values == Values::None && rows.entry_count() > 0;
    is_odd.then(|| format!("{}: entries that have no values are ones there", args.to.display()))
}

/// The library's options for `.npz`, read or written.
pub(super) fn npz_options(args: &Convert) -> NpzOptions {
    NpzOptions::new().with_read(args.output.read_options()).with_output(args.output_options())
}

fn rows(args: &Convert, from: Format) -> Result<AnyCsr> {
    Ok(match from {
        Format::Npz => npz_options(args).read(&args.input)?,
        _ => {
            let (options, _bar) = matrix_options(args, from);
            options.read_rows(&args.input)?
        }
    })
}
