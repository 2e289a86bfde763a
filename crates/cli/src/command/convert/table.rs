//! A table into another format for tables.

use std::time::Instant;

use anyhow::{Result, bail};
use swath::Array;
use swath_formats::table::npy::{self, Dense};
use swath_formats::table::{Column, Columns, Value, Values, read_arrow_with};

use super::{Converted, Size, table_options};
use crate::args::convert::{Convert, Format};
use crate::failure::Refused;

pub(super) fn to_table(args: &Convert, from: Format, to: Format) -> Result<Converted> {
    match (from, to) {
        (Format::Npy, Format::Csv | Format::Tsv) => npy_to_text(args, to),
        (Format::Npy, Format::Npy) => {
            let dense = dense(args)?;
            let read = Instant::now();
            let options = args.output.write_options();
            npy::write_with(&args.to, &dense.shape, &dense.values, &options)?;
            Ok(Converted { size: size_of_dense(&dense.shape)?, read })
        }
        (Format::Csv | Format::Tsv, Format::Npy) => {
            let (options, bar) = table_options(args, from);
            let table = options.read::<f64>(&args.input)?;
            drop(bar);
            let read = Instant::now();
            let shape = [table.rows, table.columns];
            npy::write_with(&args.to, &shape, &table.values, &args.output.write_options())?;
            Ok(Converted { size: size_of_dense(&shape)?, read })
        }
        _ => {
            let columns = columns(args, from)?;
            let read = Instant::now();
            leave(args, to, &columns)?;
            Ok(Converted { size: size_of(&columns), read })
        }
    }
}

/// Reads a table as columns.
pub(super) fn columns(args: &Convert, from: Format) -> Result<Columns> {
    match from {
        Format::Arrow => {
            let options = args.output.read_options().with_workers(args.workers);
            Ok(read_arrow_with(&args.input, &options)?)
        }
        Format::Npy => of_dense(&dense(args)?),
        _ => {
            let (options, _bar) = table_options(args, from);
            Ok(options.read_columns(&args.input)?)
        }
    }
}

/// Leaves columns in a format for tables.
pub(super) fn leave(args: &Convert, to: Format, columns: &Columns) -> Result<()> {
    match to {
        Format::Arrow => {
            columns.write_arrow_with(&args.to, args.output.append_options())?;
        }
        Format::Npy => {
            let values = row_major(args, columns)?;
            let shape = [columns.rows, columns.columns.len()];
            npy::write_with(&args.to, &shape, &values, &args.output.write_options())?;
        }
        _ => {
            args.table_writer(to).write_columns(&args.to, columns)?;
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
    let options = args.output.read_options().with_workers(args.workers);
    Ok(npy::read_with(&args.input, &options)?)
}

/// Any numbers as doubles.
fn dense(args: &Convert) -> Result<Dense<f64>> {
    let (descr, _) = npy::info(&args.input)?;
    let dense = match descr.trim_start_matches(['<', '|', '=']) {
        "f4" => doubles(read::<f32>(args)?)?,
        "i8" => doubles_of_longs(args, read::<i64>(args)?)?,
        "i4" => doubles(read::<i32>(args)?)?,
        "i2" => doubles(read::<i16>(args)?)?,
        "i1" => doubles(read::<i8>(args)?)?,
        "u4" => doubles(read::<u32>(args)?)?,
        "u2" => doubles(read::<u16>(args)?)?,
        "u1" => doubles(read::<u8>(args)?)?,
        // Or what it says is none of them.
        _ => read::<f64>(args)?,
    };
    size_of_dense(&dense.shape)?;
    Ok(dense)
}

fn doubles<T: Value + Into<f64>>(dense: Dense<T>) -> Result<Dense<f64>> {
    let mut values = Array::<f64>::zeroed(dense.values.len())?;
    for (double, &value) in values.iter_mut().zip(dense.values.iter()) {
        *double = value.into();
    }
    Ok(Dense::new(dense.shape, values))
}

/// As text an integer of 64 bits stays what it is; as a double it may not.
fn doubles_of_longs(args: &Convert, dense: Dense<i64>) -> Result<Dense<f64>> {
    let mut values = Array::<f64>::zeroed(dense.values.len())?;
    for (double, &value) in values.iter_mut().zip(dense.values.iter()) {
        *double = exact(args, value)?;
    }
    Ok(Dense::new(dense.shape, values))
}

/// An integer as the double that is that number.
pub(super) fn exact(args: &Convert, value: i64) -> Result<f64> {
    const EXACT: u64 = 1 << 53;
    if value.unsigned_abs() > EXACT {
        let path = args.input.display();
        let what =
            format!("cannot convert {value} in {path}: it needs more digits than a double");
        bail!(Refused::new(what, ".csv or .arrow, which take integers as they are"));
    }
    #[expect(clippy::cast_precision_loss, reason = "looked at before")]
    let exact = value as f64;
    Ok(exact)
}

/// Text keeps the type: integers stay integers.
fn npy_to_text(args: &Convert, to: Format) -> Result<Converted> {
    let (descr, shape) = npy::info(&args.input)?;
    let size = size_of_dense(&shape)?;
    match descr.trim_start_matches(['<', '|', '=']) {
        "f4" => text::<f32>(args, to, size),
        "i8" => text::<i64>(args, to, size),
        "i4" => text::<i32>(args, to, size),
        "i2" => text::<i16>(args, to, size),
        "i1" => text::<i8>(args, to, size),
        "u4" => text::<u32>(args, to, size),
        "u2" => text::<u16>(args, to, size),
        "u1" => text::<u8>(args, to, size),
        _ => text::<f64>(args, to, size),
    }
}

fn text<T: Value>(args: &Convert, to: Format, size: Size) -> Result<Converted> {
    let dense = read::<T>(args)?;
    let read = Instant::now();
    let columns = usize::try_from(size.columns)?;
    args.table_writer(to).write(&args.to, columns, &dense.values)?;
    Ok(Converted { size, read })
}

fn of_dense(dense: &Dense<f64>) -> Result<Columns> {
    let size = size_of_dense(&dense.shape)?;
    let (rows, width) = (usize::try_from(size.rows)?, usize::try_from(size.columns)?);
    let column = |at: usize| -> Result<Column> {
        let mut values = Array::<f64>::zeroed(rows)?;
        for (value, row) in values.iter_mut().zip(dense.values.chunks_exact(width)) {
            *value = row[at];
        }
        Ok(Column::of_f64(values))
    };
    let columns = (0..width).map(column).collect::<Result<Vec<_>>>()?;
    Columns::new(None, columns).ok_or_else(|| unreachable!("columns of one length"))
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
                (true, Values::I64(values)) => exact(args, values[index])?,
                (true, _) => f64::NAN,
            };
        }
    }
    Ok(values)
}
