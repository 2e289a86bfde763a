//! Arrays and columns as text, and columns from Python.

use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use swath::OutputOptions;
use swath_formats::table::{Column, Columns, Decimals, TableWriteOptions, Value};

use super::Table;
use crate::bytes::Borrowed;
use crate::error::Failure;
use crate::how::Watch;
use crate::input::path;
use crate::output::Leave;
use crate::work::{Takes, detached};

/// Writes a table: `swath.write_csv` makes the arguments of arrays.
#[pyfunction]
#[pyo3(signature = (path, dtype, values, columns, leave, *, names=None, delimiter=b',', digits=None))]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python says it")]
pub(crate) fn write_table(
    py: Python<'_>,
    #[pyo3(from_py_with = path)] path: PathBuf,
    dtype: &str,
    values: Borrowed,
    columns: usize,
    leave: &Bound<'_, PyTuple>,
    names: Option<Vec<String>>,
    delimiter: u8,
    digits: Option<usize>,
) -> PyResult<u64> {
    let (output, watch) = Leave::watched(leave)?;
    let writer = writer(names, delimiter, digits, output);
    macro_rules! write_as {
        ($($name:literal => $kind:ty),+ $(,)?) => {
            match dtype {
                $($name => written::<$kind>(py, &writer, &watch, path, columns, &values),)+
                _ => Err(PyTypeError::new_err(format!("a table of {dtype} cannot be written"))),
            }
        };
    }
    write_as! {
        "float64" => f64, "float32" => f32, "int64" => i64, "int32" => i32, "int16" => i16,
        "int8" => i8, "uint64" => u64, "uint32" => u32, "uint16" => u16, "uint8" => u8,
    }
}

/// The library's options.
fn writer(
    names: Option<Vec<String>>,
    delimiter: u8,
    digits: Option<usize>,
    output: OutputOptions,
) -> TableWriteOptions {
    let writer = TableWriteOptions::new()
        .with_delimiter(delimiter)
        .with_output(output)
        .with_decimals(digits.map_or(Decimals::Shortest, Decimals::Fixed));
    match names {
        Some(names) => writer.with_names(names),
        None => writer,
    }
}

fn written<T: Value>(
    py: Python<'_>,
    writer: &TableWriteOptions,
    watch: &Watch,
    path: PathBuf,
    columns: usize,
    values: &Borrowed,
) -> PyResult<u64> {
    watch.run(py, Takes::Time, || -> Result<u64, Failure> {
        Ok(writer.write(path, columns, &values.numbers::<T>()?)?)
    })
}

/// A table of one column of integers or doubles; values are missing where `missing` has a byte other
/// than 0. `swath.write_csv` makes the arguments of arrays.
#[pyfunction]
#[pyo3(signature = (name, is_integer, values, missing=None))]
pub(crate) fn make_column(
    py: Python<'_>,
    name: String,
    is_integer: bool,
    values: Borrowed,
    missing: Option<Borrowed>,
) -> PyResult<Table> {
    detached(py, || -> Result<Table, Failure> {
        let mut column = match is_integer {
            true => Column::of_i64(values.copied()?),
            false => Column::of_f64(values.copied()?),
        };
        let rows = column.bytes().len() / 8;
        if let Some(missing) = &missing {
            let missing = missing.copied::<u8>()?;
            if missing.len() != rows {
                let text = format!("{rows} values and a mask of {}", missing.len());
                return Err(Failure::Python(PyValueError::new_err(text)));
            }
            column = column.without(|row| missing[row] != 0)?;
        }
        let columns = Columns::new(Some(vec![name]), vec![column]);
        Ok(Table(columns.expect("one column has one length")))
    })
}

/// Writes the columns of tables, side by side: `swath.write_csv` makes the arguments.
#[pyfunction]
#[pyo3(signature = (path, tables, leave, *, names=None, delimiter=b',', digits=None))]
pub(crate) fn write_columns(
    py: Python<'_>,
    #[pyo3(from_py_with = path)] path: PathBuf,
    tables: Vec<Bound<'_, Table>>,
    leave: &Bound<'_, PyTuple>,
    names: Option<Vec<String>>,
    delimiter: u8,
    digits: Option<usize>,
) -> PyResult<u64> {
    let tables = tables.iter().map(|table| &table.get().0);
    let rows = tables.clone().map(|table| table.rows).collect::<Vec<_>>();
    let columns = tables.flat_map(|table| table.columns.iter().cloned()).collect();
    let Some(columns) = Columns::new(None, columns) else {
        let text = format!("columns of different lengths: {rows:?} rows");
        return Err(PyValueError::new_err(text));
    };
    let (output, watch) = Leave::watched(leave)?;
    let writer = writer(names, delimiter, digits, output);
    watch.run(py, Takes::Time, || writer.write_columns(path, &columns))
}
