//! Numeric tables: CSV and TSV ↔ arrays and Arrow's columns.

use std::path::PathBuf;

use arrow_array::RecordBatchIterator;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyIterator};
use swath::append::OrderedOptions;
use swath::{Array, CancelToken, ReadOptions};
use swath_formats::table::{
    Column, Columns, Decimals, Header, Missing, TableOptions, TableWriter, Value, Values,
};

use crate::bytes::Borrowed;
use crate::error::Failure;
use crate::how::Watch;
use crate::input::path;
use crate::memory::{Buffer, Item, Stable};
use crate::words::word;
use crate::work::{self, Takes};

const HEADERS: &[(&str, Header)] =
    &[("auto", Header::Auto), ("present", Header::Present), ("absent", Header::Absent)];

/// A table of columns, each of 64-bit integers or of doubles, with what is missing.
///
/// As a DataFrame of pandas it iterates over the names of its columns, its length is that of a
/// column, and ``table["name"]`` or ``table[0]`` is one, as a numpy array: without a copy, where
/// nothing is missing; else with NaN in a column of doubles, and as a masked array of integers.
/// ``dict(table)`` has all columns, ``numpy.asarray(table)`` is an array of two dimensions, with
/// NaN for what is missing.
///
/// pyarrow, polars, pandas and duckdb take it without a copy, by the Arrow PyCapsule interface:
/// ``pyarrow.table(table)``, ``polars.DataFrame(table)``.
#[pyclass(frozen, module = "swath", name = "Table")]
pub(crate) struct Table(Columns);

#[pymethods]
impl Table {
    /// The names of the columns: those of the header, or ``column_1`` and so on.
    #[getter]
    fn names(&self) -> Vec<String> {
        let numbered = || (1..=self.0.columns.len()).map(|number| format!("column_{number}"));
        self.0.names.clone().unwrap_or_else(|| numbered().collect())
    }

    /// Values of each column.
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.rows
    }

    /// How many columns there are.
    #[getter]
    fn num_columns(&self) -> usize {
        self.0.columns.len()
    }

    /// The values of a column, by number, as a read-only Buffer; what is missing is zero.
    fn values(&self, column: usize) -> PyResult<Buffer> {
        let column = self.column(column)?;
        match column.values() {
            Values::I64(_) => Buffer::of_bytes_as::<i64>(column.bytes().clone()),
            Values::F64(_) => Buffer::of_bytes_as::<f64>(column.bytes().clone()),
            _ => Err(PyTypeError::new_err("a column of another kind")),
        }
    }

    /// A bit for each row of a column, from the lowest of the first byte on: 1 if its value is
    /// there. ``None`` if all are.
    fn validity(&self, column: usize) -> PyResult<Option<Buffer>> {
        let bits = self.column(column)?.validity().cloned();
        bits.map(Buffer::of_bytes_as::<u8>).transpose()
    }

    fn __len__(&self) -> usize {
        self.0.rows
    }

    fn __repr__(&self) -> String {
        format!("<swath.Table: {} rows, {} columns>", self.0.rows, self.0.columns.len())
    }

    /// The names of the columns: so that ``dict(table)`` has them all.
    fn keys(&self) -> Vec<String> {
        self.names()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.names().into_pyobject(py)?.try_iter()
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> bool {
        name.extract::<&str>().is_ok_and(|name| self.names().iter().any(|it| it == name))
    }

    /// A column by its name or its number, as a numpy array.
    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (this, py) = (slf.get(), slf.py());
        let index = if let Ok(name) = key.extract::<&str>() {
            let found = this.names().iter().position(|it| it == name);
            found.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?
        } else {
            let (index, count): (isize, _) = (key.extract()?, this.num_columns());
            let index = if index < 0 { index.checked_add_unsigned(count) } else { Some(index) };
            let index = index.and_then(|it| usize::try_from(it).ok()).filter(|&it| it < count);
            index.ok_or_else(|| PyIndexError::new_err(format!("column {key} of {count}")))?
        };
        py.import("swath._tables")?.getattr("column")?.call1((slf, index))
    }

    /// An array of two dimensions: a copy.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("swath._tables")?.getattr("matrix")?.call1((slf, dtype, copy))
    }

    /// The schema, as the Arrow PyCapsule interface has it.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let (_, schema) = self.0.to_c_data().map_err(arrow_error)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Schema and columns as one struct array.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // Whoever asks for another one converts what it gets: that is allowed.
        drop(requested_schema);
        let (array, schema) = self.0.to_c_data().map_err(arrow_error)?;
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }

    /// A stream of one batch.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batch = self.0.to_record_batch().map_err(arrow_error)?;
        let schema = batch.schema();
        let batches = RecordBatchIterator::new([Ok(batch)], schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

impl Table {
    fn column(&self, column: usize) -> PyResult<&Column> {
        let count = self.0.columns.len();
        let missing = || PyValueError::new_err(format!("column {column} of {count}"));
        self.0.columns.get(column).ok_or_else(missing)
    }
}

fn arrow_error(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// Reads a table: as columns, or, with `dtype`, as an array and its names. `swath.read_csv` makes
/// arrays of it.
#[pyfunction]
#[pyo3(signature = (path, dtype=None, *, delimiter=None, header="auto", comment=Some(b'#'),
    quote=Some(b'"'), missing=None, missing_words=None, workers=0, page_cache="auto",
    progress=None))]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python says it")]
pub(crate) fn read_table<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = path)] path: PathBuf,
    dtype: Option<&str>,
    delimiter: Option<u8>,
    header: &str,
    comment: Option<u8>,
    quote: Option<u8>,
    missing: Option<f64>,
    missing_words: Option<Vec<String>>,
    workers: usize,
    page_cache: &str,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let watch = Watch::new(py, progress)?;
    let mut read = ReadOptions::new()
        .with_workers(workers)
        .with_page_cache(word("page_cache", page_cache, swath::PageCache::WORDS)?)
        .with_cancel(watch.token.clone());
    if let Some(tell) = watch.teller(py) {
        read = read.with_progress(tell);
    }
    let mut options = TableOptions::new()
        .with_header(word("header", header, HEADERS)?)
        .with_comment(comment)
        .with_quote(quote)
        .with_missing(missing.map_or(Missing::Natural, Missing::Value))
        .with_read_options(read);
    if let Some(delimiter) = delimiter {
        options = options.with_delimiter(delimiter);
    }
    if let Some(words) = missing_words {
        options = options.with_missing_words(words);
    }
    let Some(dtype) = dtype else {
        let columns = watch.run(py, Takes::Time, move || options.read_columns(path))?;
        return Ok(Bound::new(py, Table(columns))?.into_any());
    };
    macro_rules! read_as {
        ($($name:literal => $kind:ty),+ $(,)?) => {
            match dtype {
                $($name => array::<$kind>(py, &watch, options, path),)+
                _ => Err(PyTypeError::new_err(format!("a table of {dtype} cannot be read"))),
            }
        };
    }
    read_as! {
        "float64" => f64, "float32" => f32, "int64" => i64, "int32" => i32, "int16" => i16,
        "int8" => i8, "uint64" => u64, "uint32" => u32, "uint16" => u16, "uint8" => u8,
    }
}

fn array<'py, T: Value + Item>(
    py: Python<'py>,
    watch: &Watch,
    options: TableOptions,
    path: PathBuf,
) -> PyResult<Bound<'py, PyAny>>
where
    Array<T>: Stable<T>,
{
    let table = watch.run(py, Takes::Time, move || options.read::<T>(path))?;
    let values = Buffer::of_values(table.values, Some(&[table.rows, table.columns]))?;
    (Bound::new(py, values)?, table.names).into_bound_py_any(py)
}

/// Writes a table: `swath.write_csv` makes the arguments of arrays.
#[pyfunction]
#[pyo3(signature = (path, dtype, values, columns, *, names=None, delimiter=b',', digits=None,
    workers=0))]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python says it")]
pub(crate) fn write_table(
    py: Python<'_>,
    #[pyo3(from_py_with = path)] path: PathBuf,
    dtype: &str,
    values: Borrowed,
    columns: usize,
    names: Option<Vec<String>>,
    delimiter: u8,
    digits: Option<usize>,
    workers: usize,
) -> PyResult<u64> {
    let writer = writer(names, delimiter, digits, workers);
    macro_rules! write_as {
        ($($name:literal => $kind:ty),+ $(,)?) => {
            match dtype {
                $($name => written::<$kind>(py, writer, path, columns, &values),)+
                _ => Err(PyTypeError::new_err(format!("a table of {dtype} cannot be written"))),
            }
        };
    }
    write_as! {
        "float64" => f64, "float32" => f32, "int64" => i64, "int32" => i32, "int16" => i16,
        "int8" => i8, "uint64" => u64, "uint32" => u32, "uint16" => u16, "uint8" => u8,
    }
}

fn writer(
    names: Option<Vec<String>>,
    delimiter: u8,
    digits: Option<usize>,
    workers: usize,
) -> TableWriter {
    let writer = TableWriter::new()
        .with_delimiter(delimiter)
        .with_workers(workers)
        .with_decimals(digits.map_or(Decimals::Shortest, Decimals::Fixed));
    match names {
        Some(names) => writer.with_names(names),
        None => writer,
    }
}

/// The same, to be ended by Ctrl-C.
fn cancelled(writer: TableWriter) -> (TableWriter, CancelToken) {
    let token = CancelToken::new();
    (writer.with_ordered_options(OrderedOptions::new().with_cancel(token.clone())), token)
}

fn written<T: Value>(
    py: Python<'_>,
    writer: TableWriter,
    path: PathBuf,
    columns: usize,
    values: &Borrowed,
) -> PyResult<u64> {
    let (writer, token) = cancelled(writer);
    work::run(py, Takes::Time, &token, || -> Result<u64, Failure> {
        Ok(writer.write(path, columns, &values.numbers::<T>()?)?)
    })
}

/// Writes columns of integers and doubles: `swath.write_csv` makes the arguments of arrays.
#[pyfunction]
#[pyo3(signature = (path, columns, *, names=None, delimiter=b',', digits=None, workers=0))]
pub(crate) fn write_columns(
    py: Python<'_>,
    #[pyo3(from_py_with = path)] path: PathBuf,
    columns: Vec<(bool, Borrowed)>,
    names: Option<Vec<String>>,
    delimiter: u8,
    digits: Option<usize>,
    workers: usize,
) -> PyResult<u64> {
    let (writer, token) = cancelled(writer(names, delimiter, digits, workers));
    work::run(py, Takes::Time, &token, || -> Result<u64, Failure> {
        let column = |(is_integer, values): &(bool, Borrowed)| match is_integer {
            true => Ok(Column::of_i64(values.copied()?)),
            false => Ok(Column::of_f64(values.copied()?)),
        };
        let columns = columns.iter().map(column).collect::<Result<Vec<_>, Failure>>()?;
        let columns = Columns::new(None, columns).ok_or_else(|| {
            Failure::Python(PyValueError::new_err("columns of different lengths"))
        })?;
        Ok(writer.write_columns(path, &columns)?)
    })
}
