//! A table into another format for tables.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Result, bail};
use swath::Array;
use swath_formats::table::arrow::ArrowOptions;
use swath_formats::table::npy::{self, Dense, NpyOptions};
use swath_formats::table::{Column, Columns, Value, Values};

use super::args::Convert;
use super::format::Format;
use super::size::{Size, lost_with};
use super::{Converted, table_options};
use crate::failure::Refused;

/// What is done with an array of whatever type it is.
macro_rules! with_dense {
    ($args:expr, $dense:ident => $done:expr) => {{
        let npy::NpyInfo { descr, shape, .. } = npy::info(&$args.input)?;
        size_of_dense(&shape)?;
        with_dense!($args, descr, $dense => $done,
            "f4" f32, "i8" i64, "i4" i32, "i2" i16, "i1" i8, "u8" u64, "u4" u32, "u2" u16, "u1" u8)
    }};
    ($args:expr, $descr:ident, $dense:ident => $done:expr, $($name:literal $type:ty),+) => {
        match $descr.trim_start_matches(['<', '|', '=']) {
            $($name => {
                let $dense = read::<$type>($args)?;
                $done
            })+
            // Or what it says is none of them.
            _ => {
                let $dense = read::<f64>($args)?;
                $done
            }
        }
    };
}

pub(super) fn to_table(args: &Convert, from: Format, to: Format) -> Result<Converted> {
    match (from, to) {
        // Text and arrays keep the type, whatever it is.
        (Format::Npy, Format::Csv | Format::Tsv) => {
            with_dense!(args, dense => text(args, to, &dense))
        }
        (Format::Npy, Format::Npy) => with_dense!(args, dense => {
            let read = Instant::now();
            npy_options(args).write(&args.to, &dense.shape, &dense.values)?;
            Ok(Converted::new(size_of_dense(&dense.shape)?, read))
        }),
        (Format::Csv | Format::Tsv, Format::Npy) => {
            let (options, bar) = table_options(args, from);
            let table = options.read::<f64>(&args.input)?;
            drop(bar);
            if table.may_be_rounded {
                // An integer that no double is would be another number.
                row_major(args, &columns(args, from)?.0)?;
            }
            let read = Instant::now();
            let shape = [table.rows, table.columns];
            npy_options(args).write(&args.to, &shape, &table.values)?;
            Ok(Converted::new(size_of_dense(&shape)?, read))
        }
        _ => {
            let (columns, metadata) = columns(args, from)?;
            let mut done = Converted::new(size_of(&columns), Instant::now());
            if to == Format::Arrow {
                let options = arrow_options(args).with_metadata(metadata);
                options.write(&args.to, &columns)?;
            } else {
                leave(args, to, &columns)?;
                done.notes.extend(lost_with(args, &columns, &metadata)?);
            }
            Ok(done)
        }
    }
}

/// The library's options for `.npy`, read or written.
fn npy_options(args: &Convert) -> NpyOptions {
    NpyOptions::new()
        .with_read(args.output.read_options().with_workers(args.workers))
        .with_output(args.output_options())
}

/// The library's options for `.arrow`, read or written.
pub(super) fn arrow_options(args: &Convert) -> ArrowOptions {
    ArrowOptions::new()
        .with_read(args.output.read_options().with_workers(args.workers))
        .with_output(args.output_options())
}

/// Reads a table as columns, and what it says of itself, by names.
pub(super) fn columns(
    args: &Convert,
    from: Format,
) -> Result<(Columns, BTreeMap<String, String>)> {
    let columns = match from {
        Format::Arrow => {
            let read = arrow_options(args).read_with_metadata(&args.input)?;
            return Ok((read.columns, read.metadata));
        }
        Format::Npy => with_dense!(args, dense => of_dense(&dense))?,
        _ => {
            let (options, _bar) = table_options(args, from);
            options.read_columns(&args.input)?
        }
    };
    Ok((columns, BTreeMap::new()))
}

/// Leaves columns in a format for tables.
pub(super) fn leave(args: &Convert, to: Format, columns: &Columns) -> Result<()> {
    match to {
        Format::Arrow => {
            arrow_options(args).write(&args.to, columns)?;
        }
        Format::Npy => {
            check_gaps(args, columns)?;
            let values = row_major(args, columns)?;
            let shape = [columns.rows, columns.columns.len()];
            npy_options(args).write(&args.to, &shape, &values)?;
        }
        _ => {
            args.table_write_options(to).write_columns(&args.to, columns)?;
        }
    }
    Ok(())
}

pub(super) fn size_of(columns: &Columns) -> Size {
    let (rows, columns) = (columns.rows as u64, columns.columns.len() as u64);
    Size { rows, columns, values: rows * columns }
}

/// A vector is one column.
fn size_of_dense(shape: &[usize]) -> Result<Size> {
    let (rows, columns) = match *shape {
        [rows] => (rows as u64, 1),
        [rows, columns] => (rows as u64, columns as u64),
        _ => {
            let what = format!("cannot convert an array of {} dimensions", shape.len());
            bail!(Refused::new(what, "an array of one or two"));
        }
    };
    Ok(Size { rows, columns, values: rows * columns })
}

/// A dense array of one type.
fn read<T: Value>(args: &Convert) -> Result<Dense<T>> {
    Ok(npy_options(args).read(&args.input)?)
}

/// What a number becomes in a column.
trait Cell: Value {
    type Wide: bytemuck::Pod;

    fn wide(self) -> Self::Wide;

    fn column(values: Array<Self::Wide>) -> Column;
}

macro_rules! cells {
    ($column:ident $wide:ty: $($cell:ty),+) => {$(
        impl Cell for $cell {
            type Wide = $wide;

            fn wide(self) -> $wide {
                self.into()
            }

            fn column(values: Array<$wide>) -> Column {
                Column::$column(values)
            }
        }
    )+};
}

cells!(of_f64 f64: f64, f32);
cells!(of_i64 i64: i64, i32, i16, i8, u32, u16, u8);
cells!(of_u64 u64: u64);

/// An integer as the double that is that number.
pub(super) fn exact(args: &Convert, value: i128) -> Result<f64> {
    #[expect(clippy::cast_possible_truncation, reason = "compared")]
    let (double, back) = (value as f64, value as f64 as i128);
    if back != value {
        let path = args.input.display();
        let what = format!("cannot convert {value} in {path}: no double is that number");
        bail!(Refused::new(what, "choose .csv or .arrow, which take integers as they are"));
    }
    Ok(double)
}

fn text<T: Value>(args: &Convert, to: Format, dense: &Dense<T>) -> Result<Converted> {
    let read = Instant::now();
    let size = size_of_dense(&dense.shape)?;
    let columns = usize::try_from(size.columns)?;
    args.table_write_options(to).write(&args.to, columns, &dense.values)?;
    Ok(Converted::new(size, read))
}

fn of_dense<T: Cell>(dense: &Dense<T>) -> Result<Columns> {
    let size = size_of_dense(&dense.shape)?;
    let (rows, width) = (usize::try_from(size.rows)?, usize::try_from(size.columns)?);
    if width == 0 && rows > 0 {
        let what = format!("cannot make columns of {rows} rows without any");
        bail!(Refused::new(what, "an array with columns"));
    }
    let column = |at: usize| -> Result<Column> {
        let mut values = Array::<T::Wide>::zeroed(rows)?;
        for (value, row) in values.iter_mut().zip(dense.values.chunks_exact(width)) {
            *value = row[at].wide();
        }
        Ok(T::column(values))
    };
    let columns = (0..width).map(column).collect::<Result<Vec<_>>>()?;
    Columns::new(None, columns).ok_or_else(|| unreachable!("columns of one length"))
}

/// An array has no gaps: one that had a type of its own would become a number among others.
fn check_gaps(args: &Convert, columns: &Columns) -> Result<()> {
    let Some(at) = columns.columns.iter().position(|column| column.nulls() > 0) else {
        return Ok(());
    };
    let what = format!(
        "cannot convert {}: values of column `{}` are missing, and .npy has nothing for them",
        args.input.display(),
        columns.labels()[at]
    );
    bail!(Refused::new(what, "choose .csv or .arrow, or fill them first"))
}

/// Row after row, as doubles; what is missing is NaN.
fn row_major(args: &Convert, columns: &Columns) -> Result<Array<f64>> {
    let width = columns.columns.len();
    let mut values = Array::<f64>::zeroed(columns.rows * width)?;
    for (at, column) in columns.columns.iter().enumerate() {
        for (index, row) in values.chunks_exact_mut(width).enumerate() {
            row[at] = match (column.is_valid(index), column.values()) {
                (false, _) => f64::NAN,
                (true, Values::F64(values)) => values[index],
                (true, Values::I64(values)) => exact(args, values[index].into())?,
                (true, Values::U64(values)) => exact(args, values[index].into())?,
                (true, _) => f64::NAN,
            };
        }
    }
    Ok(values)
}
