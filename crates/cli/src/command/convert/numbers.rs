//! Tables and arrays of numbers in memory.

use std::sync::Arc;

use anyhow::{Result, bail};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array as _, ArrayRef, Float32Array, Int64Array, RecordBatch, new_null_array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use swath::Array;
use swath_formats::table::Value;
use swath_formats::table::arrow::ArrowOptions;
use swath_formats::table::npy::{self, Dense, NpyOptions};

use super::format::Format;
use super::notes::add_notes;
use super::size::Size;
use super::{Conversion, Converted, batches};
use crate::failure::Refused;
use crate::progress::Bar;
use crate::report::ReportName;
use std::time::Instant;

/// Bytes of batches after which memory is checked again.
const STEP: usize = 1 << 20;

/// Runs an expression on a dense array of any type.
macro_rules! with_dense {
    ($job:expr, $dense:ident => $done:expr) => {{
        let npy::NpyInfo { descr, shape, .. } = npy::info(&$job.input)?;
        $crate::command::convert::numbers::dense_size(&shape)?;
        with_dense!($job, descr, $dense => $done,
            "f4" f32, "i8" i64, "i4" i32, "i2" i16, "i1" i8, "u8" u64, "u4" u32, "u2" u16, "u1" u8)
    }};
    ($job:expr, $descr:ident, $dense:ident => $done:expr, $($name:literal $type:ty),+) => {
        match $descr.trim_start_matches(['<', '|', '=']) {
            $($name => {
                let $dense = npy_options($job).read::<$type>(&$job.input)?;
                $done
            })+
            // Any other type: reading it as doubles gives the error.
            _ => {
                let $dense = npy_options($job).read::<f64>(&$job.input)?;
                $done
            }
        }
    };
}

pub(super) use with_dense;

/// Returns the library's options for reading or writing `.npy`.
pub(super) fn npy_options(job: &Conversion<'_>) -> NpyOptions {
    NpyOptions::new()
        .with_read(job.words.output.read_options().with_workers(job.words.workers))
        .with_output(job.output())
}

/// Returns the library's options for reading `.arrow`.
pub(super) fn arrow_options(job: &Conversion<'_>) -> ArrowOptions {
    ArrowOptions::new()
        .with_read(job.words.output.read_options().with_workers(job.words.workers))
}

/// A column of a table of numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cells<'c> {
    I64(&'c [i64]),
    U64(&'c [u64]),
    F32(&'c [f32]),
    F64(&'c [f64]),
}

/// Returns the values of a column of a table of [`numbers`].
pub(super) fn cells(column: &ArrayRef) -> Option<Cells<'_>> {
    Some(match column.data_type() {
        DataType::Int64 => Cells::I64(column.as_primitive::<Int64Type>().values()),
        DataType::UInt64 => Cells::U64(column.as_primitive::<UInt64Type>().values()),
        DataType::Float32 => Cells::F32(column.as_primitive::<Float32Type>().values()),
        DataType::Float64 => Cells::F64(column.as_primitive::<Float64Type>().values()),
        _ => return None,
    })
}

/// Reads a table of numbers into one batch: integers of 64 bits, singles and doubles. Also returns notes on
/// text that was left out.
pub(super) fn numbers(
    job: &Conversion<'_>,
    from: Format,
) -> Result<(RecordBatch, Vec<String>)> {
    let mut notes = Vec::new();
    let one = match from {
        Format::Arrow | Format::Arrows => {
            let batches = arrow_options(job).batches(&job.input)?;
            join(&batches.schema().clone(), batches)?
        }
        Format::Npy => with_dense!(job, dense => columns_of(&dense))?,
        _ => {
            let output = &job.words.output;
            let (read, _bar) = Bar::attach(output.read_options(), !output.json);
            let table = job.words.batch_options(from, read).read_batches_of(job.sources())?;
            add_notes(job, table.report(), &mut notes);
            join(&table.schema().clone(), table.into_batches().into_iter().map(anyhow::Ok))?
        }
    };
    let schema = one.schema();
    let columns = schema.fields().iter().zip(one.columns());
    let columns = columns.map(|(field, column)| {
        wide(column).ok_or_else(|| {
            let (path, name) = (job.input.name().shown(), field.name());
            let kind = swath_formats::table::ColumnType::word_of(column.data_type());
            let what = format!(
                "cannot convert {path}: column `{name}` is of type {kind}, and the output holds numbers"
            );
            Refused::new(what, "pass --columns with columns of numbers, or choose .arrow").into()
        })
    });
    let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
    let fields = schema.fields().iter().zip(&columns);
    let fields = fields
        .map(|(field, column)| Field::new(field.name(), column.data_type().clone(), true));
    let wide = Schema::new(fields.collect::<Vec<_>>()).with_metadata(schema.metadata().clone());
    Ok((RecordBatch::try_new(Arc::new(wide), columns)?, notes))
}

/// Joins batches. Fails once the batches and the joined copy do not fit in memory together.
fn join<E>(
    schema: &SchemaRef,
    batches: impl IntoIterator<Item = Result<RecordBatch, E>>,
) -> Result<RecordBatch>
where
    anyhow::Error: From<E>,
{
    let (mut all, mut bytes, mut checked) = (Vec::new(), 0, 0);
    for batch in batches {
        let batch = batch?;
        for column in batch.columns() {
            bytes += column.to_data().get_slice_memory_size()?;
        }
        all.push(batch);
        if bytes - checked > STEP {
            drop(Array::<u8>::zeroed(bytes)?);
            checked = bytes;
        }
    }
    Ok(concat_batches(schema, &all)?)
}

/// Returns whole numbers with 64 bits, and floats unchanged; `None` for other types.
fn wide(column: &ArrayRef) -> Option<ArrayRef> {
    macro_rules! whole {
        ($kind:ty) => {{
            let whole: Int64Array = column.as_primitive::<$kind>().unary(i64::from);
            Arc::new(whole)
        }};
    }
    Some(match column.data_type() {
        DataType::Int8 => whole!(Int8Type),
        DataType::Int16 => whole!(Int16Type),
        DataType::Int32 => whole!(Int32Type),
        DataType::UInt8 => whole!(UInt8Type),
        DataType::UInt16 => whole!(UInt16Type),
        DataType::UInt32 => whole!(UInt32Type),
        DataType::Float16 => {
            let wide: Float32Array = column.as_primitive::<Float16Type>().unary(f32::from);
            Arc::new(wide)
        }
        // A column without values has only missing ones.
        DataType::Null => new_null_array(&DataType::Float64, column.len()),
        DataType::Int64 | DataType::UInt64 | DataType::Float32 | DataType::Float64 => {
            Arc::clone(column)
        }
        _ => return None,
    })
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
    if columns == 0 && rows > 0 {
        let what = format!("cannot make columns of {rows} rows without any");
        bail!(Refused::new(what, "choose an array with columns"));
    }
    Ok(Size { rows, columns, values: rows * columns })
}

/// Writes a dense array as a table.
pub(super) fn array<T: Value>(
    job: &Conversion<'_>,
    to: Format,
    dense: &Dense<T>,
) -> Result<Converted> {
    let read = Instant::now();
    let size = dense_size(&dense.shape)?;
    let columns = usize::try_from(size.columns)?;
    let options = batches::options(job, to)?;
    let mut done = Converted::new(size, read);
    done.add_written(&options.write_array(job.text()?, columns, &dense.values)?);
    Ok(done)
}

/// Returns the columns of a dense array as one batch.
fn columns_of<T: Value>(dense: &Dense<T>) -> Result<RecordBatch> {
    let size = dense_size(&dense.shape)?;
    let (rows, width) = (usize::try_from(size.rows)?, usize::try_from(size.columns)?);
    let columns = (0..width).map(|at| {
        let values = dense.values.iter().skip(at).step_by(width).copied();
        (format!("column_{}", at + 1), T::to_column(values.collect()), true)
    });
    let batch = match width {
        0 => RecordBatch::new_empty(Arc::new(Schema::empty())),
        _ => RecordBatch::try_from_iter_with_nullable(columns)?,
    };
    debug_assert_eq!(batch.num_rows(), rows);
    Ok(batch)
}

/// Converts a table of numbers to an array of doubles, row after row.
pub(super) fn dense(job: &Conversion<'_>, from: Format) -> Result<Converted> {
    let (table, notes) = numbers(job, from)?;
    let (rows, width) = (table.num_rows(), table.num_columns());
    let size = Size { rows: rows as u64, columns: width as u64, values: (rows * width) as u64 };
    let mut done = Converted { notes, ..Converted::new(size, Instant::now()) };
    let mut values = Array::<f64>::zeroed(rows * width)?;
    for (at, column) in table.columns().iter().enumerate() {
        if column.null_count() > 0 {
            let what = format!(
                "cannot convert {}: values of column `{}` are missing, and .npy has nothing for them",
                job.input.name().shown(),
                table.schema().field(at).name()
            );
            bail!(Refused::new(what, "choose .csv or .arrow, or fill them first"));
        }
        let Some(cells) = cells(column) else { continue };
        for (index, row) in values.chunks_exact_mut(width).enumerate() {
            row[at] = cells.double(job, index)?;
        }
    }
    done.bytes = npy_options(job).write(&job.file, &[rows, width], &values)?;
    Ok(done)
}

impl Cells<'_> {
    /// Returns a value as a double, if that is exact.
    pub(super) fn double(&self, job: &Conversion<'_>, row: usize) -> Result<f64> {
        match self {
            Self::F64(values) => Ok(values[row]),
            Self::F32(values) => Ok(values[row].into()),
            Self::I64(values) => exact(job, values[row].into()),
            Self::U64(values) => exact(job, values[row].into()),
        }
    }
}

/// Returns an integer as a double, if that is exact.
fn exact(job: &Conversion<'_>, value: i128) -> Result<f64> {
    #[expect(clippy::cast_possible_truncation, reason = "compared")]
    let (double, back) = (value as f64, value as f64 as i128);
    if back != value {
        let path = job.input.name().shown();
        let what = format!("cannot convert {value} in {path}: no double is that number");
        bail!(Refused::new(what, "choose .csv or .arrow, which keep integers as they are"));
    }
    Ok(double)
}
