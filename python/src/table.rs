//! Numeric tables: CSV and TSV ↔ arrays and Arrow's columns.

mod pickle;
mod read;
mod write;

use swath_formats::table::arrow::ArrowOptions;

use arrow_array::RecordBatchIterator;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyIterator, PyList, PySlice, PySliceMethods, PyTuple};
use swath_formats::table::{Column, Columns, Values};

use crate::how::How;
use crate::input::Input;
use crate::memory::Buffer;
use crate::work::Takes;
pub(crate) use pickle::restore_table;
pub(crate) use read::{read_dtypes, read_table};
pub(crate) use write::{make_column, write_columns, write_table};

/// Names that a message lists.
const MOST_NAMES: usize = 20;

/// A table of columns, each of 64-bit integers or doubles, with missing values.
///
/// It iterates over the names of its columns, its length is the number of rows, and ``table["name"]`` or
/// ``table[0]`` is a column as a numpy array: not copied if nothing is missing; else with NaN in a column of
/// doubles, and masked for integers. ``table[["a", "b"]]`` is a table of these columns and ``table[10:20]`` one
/// of these rows; both use the same values. ``dict(table)`` has all columns. ``numpy.asarray(table)`` is an
/// array of two dimensions, with NaN for missing values.
///
/// pyarrow, polars and duckdb use it without a copy, through the Arrow PyCapsule interface:
/// ``pyarrow.table(table)``, ``polars.DataFrame(table)``. ``table.to_pandas()`` is a DataFrame. It pickles, with
/// protocol 5 by way of its columns' Buffers.
///
/// >>> table = swath.read_csv("points.csv")
/// >>> list(table), len(table)
/// (['x', 'y'], 3)
/// >>> table["y"].sum()
/// np.float64(4.5)
#[pyclass(frozen, module = "swath", name = "Table")]
pub(crate) struct Table(Columns);

#[pymethods]
impl Table {
    /// The names of the columns: from the header, or ``column_1`` and so on.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.labels()
    }

    /// The same as ``names``.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.names()
    }

    /// The number of rows and of columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.0.rows, self.0.columns.len())
    }

    /// The numpy dtype of each column.
    #[getter]
    fn dtypes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("swath._tables")?.getattr("dtypes")?.call1((slf,))
    }

    /// Returns a table of the first rows.
    ///
    /// >>> swath.read_csv("points.csv").head(2).shape
    /// (2, 2)
    #[pyo3(signature = (n=5))]
    fn head(&self, n: usize) -> Self {
        Self(self.0.rows(0..n))
    }

    /// Returns a pandas DataFrame: a copy. Integers with missing values become pandas' ``Int64``.
    ///
    /// >>> swath.read_csv("points.csv").to_pandas().shape                # doctest: +SKIP
    /// (3, 2)
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("swath._tables")?.getattr("to_pandas")?.call1((slf,))
    }

    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.rows
    }

    /// The number of columns.
    #[getter]
    fn num_columns(&self) -> usize {
        self.0.columns.len()
    }

    /// Returns the values of a column, by number, as a read-only Buffer; missing ones are zero.
    ///
    /// >>> swath.read_csv("points.csv").values(1).nbytes
    /// 24
    fn values(&self, column: usize) -> PyResult<Buffer> {
        let column = self.column(column)?;
        match column.values() {
            Values::I64(_) => Buffer::of_bytes_as::<i64>(column.bytes().clone()),
            Values::U64(_) => Buffer::of_bytes_as::<u64>(column.bytes().clone()),
            Values::F64(_) => Buffer::of_bytes_as::<f64>(column.bytes().clone()),
            _ => Err(PyTypeError::new_err("the column is not of numbers")),
        }
    }

    /// Returns a bit for each row of a column, from the lowest bit of the first byte: 1 if its value is
    /// present. ``None`` if all are.
    ///
    /// >>> swath.read_csv("points.csv").validity(0) is None
    /// True
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

    /// Returns the names of the columns, so that ``dict(table)`` has all columns.
    ///
    /// >>> swath.read_csv("points.csv").keys()
    /// ['x', 'y']
    fn keys(&self) -> Vec<String> {
        self.names()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.names().into_pyobject(py)?.try_iter()
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> bool {
        name.extract::<&str>().is_ok_and(|name| self.names().iter().any(|it| it == name))
    }

    /// A column by name or number, as a numpy array; a table of columns by a list, of rows by a slice.
    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (this, py) = (slf.get(), slf.py());
        if let Ok(slice) = key.cast::<PySlice>() {
            return Ok(Bound::new(py, this.some_rows(slice)?)?.into_any());
        }
        if let Ok(keys) = key.cast::<PyList>() {
            let numbers = keys.iter().map(|key| this.number_of(&key));
            let picked = this.0.select(&numbers.collect::<PyResult<Vec<_>>>()?);
            return Ok(Bound::new(py, Self(picked.expect("all are there")))?.into_any());
        }
        let index = this.number_of(key)?;
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

    /// For pickle: the columns as Buffers, which protocol 5 passes on without a copy.
    fn __reduce_ex__<'py>(
        slf: &Bound<'py, Self>,
        _protocol: i32,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        pickle::reduced(slf)
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
        // A caller that requests another schema converts the result itself: that is allowed.
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
    pub(crate) fn new(columns: Columns) -> Self {
        Self(columns)
    }

    /// The number of a column, by name or number.
    fn number_of(&self, key: &Bound<'_, PyAny>) -> PyResult<usize> {
        let count = self.num_columns();
        let Ok(name) = key.extract::<&str>() else {
            let index: isize = key.extract()?;
            let index = if index < 0 { index.checked_add_unsigned(count) } else { Some(index) };
            let index = index.and_then(|it| usize::try_from(it).ok()).filter(|&it| it < count);
            return index
                .ok_or_else(|| PyIndexError::new_err(format!("column {key} of {count}")));
        };
        let names = self.names();
        let mut found = names.iter().enumerate().filter(|(_, known)| *known == name);
        match (found.next(), found.next()) {
            (Some((index, _)), None) => Ok(index),
            (Some((one, _)), Some((other, _))) => {
                let text = format!(
                    "columns {one} and {other} are both called `{name}`; try: use the number"
                );
                Err(PyKeyError::new_err(text))
            }
            (None, _) => {
                let known = names.iter().take(MOST_NAMES).map(|name| format!("`{name}`"));
                let known = known.collect::<Vec<_>>().join(", ");
                let more = if count > MOST_NAMES { ", …" } else { "" };
                let text =
                    format!("no column is called `{name}`; the columns are: {known}{more}");
                Err(PyKeyError::new_err(text))
            }
        }
    }

    fn some_rows(&self, slice: &Bound<'_, PySlice>) -> PyResult<Self> {
        let rows = slice.indices(isize::try_from(self.0.rows)?)?;
        if rows.step != 1 {
            let text = format!("a slice of rows has step 1, not {}", rows.step);
            return Err(PyValueError::new_err(text));
        }
        Ok(Self(self.0.rows(rows.start.unsigned_abs()..rows.stop.unsigned_abs())))
    }

    fn column(&self, column: usize) -> PyResult<&Column> {
        let count = self.0.columns.len();
        let missing = || PyValueError::new_err(format!("column {column} of {count}"));
        self.0.columns.get(column).ok_or_else(missing)
    }
}

fn arrow_error(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// Reads an Arrow file as a table.
///
/// Parameters
/// ----------
/// source : path, descriptor, open file, bytes in memory, or list of copies
///     As for `read`. The file is in the Arrow file format (Feather version 2), as ``pyarrow.ipc.new_file`` and
///     ``swath convert`` write it; neither a stream nor compressed.
/// workers, chunk_size, engine, page_cache, progress, verify, profile
///     As for `read`.
///
/// Returns
/// -------
/// Table
///     Numbers are widened to 64 bits. Other columns are refused by name.
///
/// Examples
/// --------
/// >>> swath.read_arrow("table.arrow").columns
/// ['x', 'y']
#[pyfunction]
#[pyo3(signature = (source, *, workers=0, chunk_size=0, engine="auto", page_cache="auto",
    progress=None, verify=None, profile=true))]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python says it")]
pub(crate) fn read_arrow(
    py: Python<'_>,
    source: Input,
    workers: usize,
    chunk_size: u64,
    engine: &str,
    page_cache: &str,
    progress: Option<Bound<'_, PyAny>>,
    verify: Option<Bound<'_, PyAny>>,
    profile: bool,
) -> PyResult<Table> {
    let how = How { workers, chunk_size, engine, page_cache, progress, verify, profile };
    let (read, watch) = how.options(py, source.path())?;
    let (source, options) =
        (source.source(how.verify.as_ref())?, ArrowOptions::new().with_read(read));
    watch.run(py, Takes::Time, move || options.read(source)).map(Table)
}
