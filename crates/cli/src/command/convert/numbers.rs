//! Columns and arrays of numbers, read from and written in the formats that hold them.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use swath::Array;
use swath_formats::table::arrow::ArrowOptions;
use swath_formats::table::npy::{self, Dense, NpyOptions};
use swath_formats::table::{Column, Columns, Value, Values};

use super::batches;
use super::format::Format;
use super::size::Size;
use super::{Job, table_options};
use crate::failure::Refused;
use crate::report::ReportName;

/// Runs an expression on a dense array, whatever its type is.
macro_rules! with_dense {
    ($job:expr, $dense:ident => $done:expr) => {{
        let npy::NpyInfo { descr, shape, .. } = npy::info(&$job.input)?;
        dense_size(&shape)?;
        with_dense!($job, descr, $dense => $done,
            "f4" f32, "i8" i64, "i4" i32, "i2" i16, "i1" i8, "u8" u64, "u4" u32, "u2" u16, "u1" u8)
    }};
    ($job:expr, $descr:ident, $dense:ident => $done:expr, $($name:literal $type:ty),+) => {
        match $descr.trim_start_matches(['<', '|', '=']) {
            $($name => {
                let $dense = read::<$type>($job)?;
                $done
            })+
            // Any other type: reading it as doubles says what is wrong.
            _ => {
                let $dense = read::<f64>($job)?;
                $done
            }
        }
    };
}

pub(super) use with_dense;

/// The library's options for `.npy`, read or written.
pub(super) fn npy_options(job: &Job<'_>) -> NpyOptions {
    NpyOptions::new()
        .with_read(job.words.output.read_options().with_workers(job.words.workers))
        .with_output(job.words.output_options())
}

/// The library's options for `.arrow`, read or written.
pub(super) fn arrow_options(job: &Job<'_>) -> ArrowOptions {
    ArrowOptions::new()
        .with_read(job.words.output.read_options().with_workers(job.words.workers))
        .with_output(job.words.output_options())
}

/// Reads a table as columns, and its metadata.
pub(super) fn columns(
    job: &Job<'_>,
    from: Format,
) -> Result<(Columns, BTreeMap<String, String>)> {
    let columns = match from {
        Format::Arrow => {
            let batches = arrow_options(job).batches(&job.input)?;
            let schema = batches.schema().clone();
            if schema.fields().iter().any(|field| field.data_type().is_null()) {
                let batches = batches.collect::<Result<Vec<_>, _>>()?;
                let columns = Columns::from_record_batches(&schema, &batches)?;
                return Ok((columns, schema.metadata().clone().into_iter().collect()));
            }
            let read = arrow_options(job).read_with_metadata(&job.input)?;
            return Ok((read.columns, read.metadata));
        }
        Format::Npy => with_dense!(job, dense => of_dense(&dense))?,
        _ => {
            let (options, _bar) = table_options(job, from);
            options.read_columns(&job.input)?
        }
    };
    Ok((columns, BTreeMap::new()))
}

/// Writes columns in a format for tables, with metadata if it has any; returns the bytes written.
pub(super) fn leave(
    job: &Job<'_>,
    to: Format,
    columns: &Columns,
    metadata: BTreeMap<String, String>,
) -> Result<u64> {
    Ok(match to {
        _ if batches::are_needed(job, to) => {
            batches::write_columns(job, to, columns, metadata)?
        }
        Format::Arrow => {
            arrow_options(job).with_metadata(metadata).write(&job.file, columns)?
        }
        Format::Npy => {
            check_gaps(job, columns)?;
            let values = row_major(job, columns)?;
            let shape = [columns.rows, columns.columns.len()];
            npy_options(job).write(&job.file, &shape, &values)?
        }
        _ => job.words.table_write_options(to).write_columns(job.text()?, columns)?,
    })
}

pub(super) fn columns_size(columns: &Columns) -> Size {
    let (rows, columns) = (columns.rows as u64, columns.columns.len() as u64);
    Size { rows, columns, values: rows * columns }
}

/// Returns the size of a dense array. A vector is one column.
pub(super) fn dense_size(shape: &[usize]) -> Result<Size> {
    let (rows, columns) = match *shape {
        [rows] => (rows as u64, 1),
        [rows, columns] => (rows as u64, columns as u64),
        _ => {
            let what = format!("cannot convert an array of {} dimensions", shape.len());
            bail!(Refused::new(what, "reshape it to one or two"));
        }
    };
    Ok(Size { rows, columns, values: rows * columns })
}

/// Reads a dense array of one type.
pub(super) fn read<T: Value>(job: &Job<'_>) -> Result<Dense<T>> {
    Ok(npy_options(job).read(&job.input)?)
}

/// The type of a number's column.
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

cells!(of_f64 f64: f64);
cells!(of_singles f64: f32);
cells!(of_i64 i64: i64, i32, i16, i8, u32, u16, u8);
cells!(of_u64 u64: u64);

/// Returns an integer as a double, if that is exact.
pub(super) fn exact(job: &Job<'_>, value: i128) -> Result<f64> {
    #[expect(clippy::cast_possible_truncation, reason = "compared")]
    let (double, back) = (value as f64, value as f64 as i128);
    if back != value {
        let path = job.input.name().shown();
        let what = format!("cannot convert {value} in {path}: no double is that number");
        bail!(Refused::new(what, "choose .csv or .arrow, which keep integers as they are"));
    }
    Ok(double)
}

fn of_dense<T: Cell>(dense: &Dense<T>) -> Result<Columns> {
    let size = dense_size(&dense.shape)?;
    let (rows, width) = (usize::try_from(size.rows)?, usize::try_from(size.columns)?);
    if width == 0 && rows > 0 {
        let what = format!("cannot make columns of {rows} rows without any");
        bail!(Refused::new(what, "choose an array with columns"));
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

/// Refuses missing values: in an array they would become ordinary numbers.
fn check_gaps(job: &Job<'_>, columns: &Columns) -> Result<()> {
    let Some(at) = columns.columns.iter().position(|column| column.nulls() > 0) else {
        return Ok(());
    };
    let what = format!(
        "cannot convert {}: values of column `{}` are missing, and .npy has nothing for them",
        job.input.name().shown(),
        columns.labels()[at]
    );
    bail!(Refused::new(what, "choose .csv or .arrow, or fill them first"))
}

/// Returns doubles, row after row; missing values are NaN.
pub(super) fn row_major(job: &Job<'_>, columns: &Columns) -> Result<Array<f64>> {
    let width = columns.columns.len();
    let mut values = Array::<f64>::zeroed(columns.rows * width)?;
    for (at, column) in columns.columns.iter().enumerate() {
        for (index, row) in values.chunks_exact_mut(width).enumerate() {
            row[at] = match (column.is_valid(index), column.values()) {
                (false, _) => f64::NAN,
                (true, Values::F64(values)) => values[index],
                (true, Values::I64(values)) => exact(job, values[index].into())?,
                (true, Values::U64(values)) => exact(job, values[index].into())?,
                (true, _) => f64::NAN,
            };
        }
    }
    Ok(values)
}
