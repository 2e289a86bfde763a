//! Tables of any types: Arrow record batches, and their operations in Python.
//!
//! ```text
//! typed, stream   text → batches          read     text → arrays of numbers
//! columns         a column as one array   shown    the first rows as text
//! export          batches → Arrow's C interface    pickle   batches ↔ bytes
//! write, given    tables of Swath and of others → text, Arrow files
//! ```

mod columns;
mod export;
mod given;
mod make;
mod pickle;
mod report;
mod shown;
mod stream;
mod typed;
mod types;
mod write;

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyIterator, PyList, PySlice, PySliceMethods, PyTuple};
use swath_formats::table::Batches;
use swath_formats::table::arrow::ArrowOptions;

use crate::how::How;
use crate::input::Input;
use crate::memory::Buffer;
use crate::park;
pub(crate) use columns::table_texts;
pub(crate) use given::{Given, take_table};
pub(crate) use make::{make_column, make_texts};
pub(crate) use pickle::restore_table;
pub(crate) use stream::{TableStream, stream_table};
pub(crate) use typed::{encoding_word, read_array, read_batches, read_types, table_settings};
pub(crate) use write::{write_array, write_tables};

/// Maximum number of names in a message.
const MOST_NAMES: usize = 20;

/// A table: columns of numbers, text, booleans, dates and timestamps, with missing values.
///
/// It iterates over the names of its columns, its length is the number of rows, and ``table["name"]`` or
/// ``table[0]`` is a column as a numpy array: numbers are not copied if nothing is missing and the table is one
/// batch. Missing values are NaN, NaT, ``None`` in text, and masked for integers and booleans. Text is an array
/// of objects, a date ``datetime64[D]``, a timestamp ``datetime64``, in UTC if it had a zone.
/// ``table[["a", "b"]]`` is a table of these columns and ``table[10:20]`` one of these rows; both use the same
/// values. ``dict(table)`` has all columns. ``numpy.asarray(table)`` is an array of two dimensions.
///
/// pyarrow, polars, pandas and duckdb use it without a copy, through the Arrow PyCapsule interface:
/// ``pyarrow.table(table)``, ``polars.DataFrame(table)``. ``table.to_pandas()`` is a DataFrame. It pickles, with
/// protocol 5 as a Buffer. ``table.report`` says how the text was read.
///
/// >>> table = swath.read_csv("people.csv")
/// >>> table
/// <swath.Table: 3 rows, 3 columns>
/// name      born        height
/// text      date        float64
/// Ann       1980-02-29  1.62
/// Bob, Jr.  –           1.8
/// Cid       2001-11-05  –
/// >>> list(table), len(table)
/// (['name', 'born', 'height'], 3)
/// >>> table["height"].tolist()
/// [1.62, 1.8, nan]
#[pyclass(frozen, module = "swath", name = "Table")]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    rows: usize,
    /// The report as JSON, if the table was read from text.
    report: Option<Arc<str>>,
}

#[pymethods]
impl Table {
    /// The names of the columns: from the header, or ``column_1`` and so on.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The names of the columns, as ``names``.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.names()
    }

    /// The number of rows and of columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.rows, self.num_columns())
    }

    /// The type of each column in one word, as ``dtypes=`` of `read_csv` takes it: "int64", "text" and so on.
    #[getter]
    fn types(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| types::word_of(field.data_type())).collect()
    }

    /// The numpy dtype of each column, as ``table[…]`` has it.
    #[getter]
    fn dtypes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        park::module(slf.py(), "swath._columns")?.getattr("dtypes")?.call1((slf,))
    }

    /// How the text was read, as a dict: "delimiter", "header" (its lines), "encoding", "rows", "columns" (for
    /// each its "name", "index", "type", whether it was "told", "nulls", and the "line" and "file" that decided
    /// the type), "renamed" and "set_aside". ``None`` for a table that was not read from text.
    ///
    /// Of a part of a table it is that of the whole.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.report.as_deref().map(|text| report::parsed(py, text)).transpose()
    }

    /// Returns a table of the first rows.
    ///
    /// >>> swath.read_csv("points.csv").head(2).shape
    /// (2, 2)
    #[pyo3(signature = (n=5))]
    fn head(&self, n: usize) -> Self {
        self.between(0, n.min(self.rows))
    }

    /// Returns a pandas DataFrame: a copy. Integers with missing values become pandas' ``Int64``, booleans its
    /// ``boolean``; dates and timestamps its ``datetime64``, dictionaries its ``category``.
    ///
    /// >>> swath.read_csv("points.csv").to_pandas().shape                # doctest: +SKIP
    /// (3, 2)
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        park::module(slf.py(), "swath._columns")?.getattr("to_pandas")?.call1((slf,))
    }

    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    #[getter]
    fn num_columns(&self) -> usize {
        self.schema.fields().len()
    }

    /// Returns the values of a column, by number, as a read-only Buffer; missing ones are zero.
    ///
    /// Dates are days since 1970, timestamps count their unit since then, booleans are bytes. A column of text
    /// has no such values: use ``table[…]``.
    ///
    /// >>> swath.read_csv("points.csv").values(1).nbytes
    /// 24
    fn values(&self, py: Python<'_>, column: usize) -> PyResult<Buffer> {
        columns::values(&self.whole(py, column)?)
    }

    /// Returns a bit for each row of a column, from the lowest bit of the first byte: 1 if its value is
    /// present. ``None`` if all are.
    ///
    /// >>> swath.read_csv("points.csv").validity(0) is None
    /// True
    fn validity(&self, py: Python<'_>, column: usize) -> PyResult<Option<Buffer>> {
        columns::validity(&self.whole(py, column)?)
    }

    fn __len__(&self) -> usize {
        self.rows
    }

    fn __repr__(&self) -> String {
        shown::shown(self)
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
        let fields = self.schema.fields();
        name.extract::<&str>().is_ok_and(|name| fields.iter().any(|it| it.name() == name))
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
            let picked = this.picked(&numbers.collect::<PyResult<Vec<_>>>()?)?;
            return Ok(Bound::new(py, picked)?.into_any());
        }
        let index = this.number_of(key)?;
        park::module(py, "swath._columns")?.getattr("column")?.call1((slf, index))
    }

    /// An array of two dimensions: a copy.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        park::module(slf.py(), "swath._columns")?.getattr("matrix")?.call1((slf, dtype, copy))
    }

    /// For pickle: the batches as one Buffer, which protocol 5 passes on without a copy.
    fn __reduce_ex__<'py>(
        slf: &Bound<'py, Self>,
        _protocol: i32,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        pickle::reduced(slf)
    }

    /// The schema, as the Arrow PyCapsule interface has it.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export::schema(py, &self.schema)
    }

    /// Schema and columns as one struct array: a copy if there are several batches.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The protocol allows ignoring it: the caller then converts the result.
        drop(requested_schema);
        export::array(py, &self.one_batch(py)?)
    }

    /// A stream of the batches.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        export::batches(py, &self.schema, self.batches.clone())
    }
}

impl Table {
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        let rows = batches.iter().map(RecordBatch::num_rows).sum();
        Self { schema, batches, rows, report: None }
    }

    fn of_text(read: Batches) -> Self {
        let report = report::text(read.report());
        let schema = Arc::clone(read.schema());
        Self { report: Some(report), ..Self::new(schema, read.into_batches()) }
    }

    /// Returns the number of a column, given by name or number.
    fn number_of(&self, key: &Bound<'_, PyAny>) -> PyResult<usize> {
        let count = self.num_columns();
        let Ok(name) = key.extract::<&str>() else {
            let index: isize = key.extract()?;
            let index = if index < 0 { index.checked_add_unsigned(count) } else { Some(index) };
            let index = index.and_then(|it| usize::try_from(it).ok()).filter(|&it| it < count);
            return index
                .ok_or_else(|| PyIndexError::new_err(format!("column {key} of {count}")));
        };
        let fields = self.schema.fields();
        let mut found = fields.iter().enumerate().filter(|(_, known)| known.name() == name);
        match (found.next(), found.next()) {
            (Some((index, _)), None) => Ok(index),
            (Some((one, _)), Some((other, _))) => {
                let text = format!(
                    "columns {one} and {other} are both called `{name}`; try: use the number"
                );
                Err(PyKeyError::new_err(text))
            }
            (None, _) => {
                let known = fields.iter().take(MOST_NAMES);
                let known = known.map(|known| format!("`{}`", known.name()));
                let known = known.collect::<Vec<_>>().join(", ");
                let more = if count > MOST_NAMES { ", …" } else { "" };
                let text =
                    format!("no column is called `{name}`; the columns are: {known}{more}");
                Err(PyKeyError::new_err(text))
            }
        }
    }

    fn some_rows(&self, slice: &Bound<'_, PySlice>) -> PyResult<Self> {
        let rows = slice.indices(isize::try_from(self.rows)?)?;
        if rows.step != 1 {
            let text = format!("a slice of rows has step 1, not {}", rows.step);
            return Err(PyValueError::new_err(text));
        }
        let (start, stop) = (rows.start.unsigned_abs(), rows.stop.unsigned_abs());
        Ok(self.between(start, stop.max(start)))
    }

    /// Returns a table of some rows.
    fn between(&self, start: usize, stop: usize) -> Self {
        let mut batches = Vec::new();
        let mut begin = 0;
        for batch in &self.batches {
            let end = begin + batch.num_rows();
            let (from, to) = (start.clamp(begin, end), stop.clamp(begin, end));
            if from < to {
                batches.push(batch.slice(from - begin, to - from));
            }
            begin = end;
        }
        let report = self.report.clone();
        Self { report, ..Self::new(Arc::clone(&self.schema), batches) }
    }

    /// Returns a table of some columns.
    fn picked(&self, columns: &[usize]) -> PyResult<Self> {
        let schema = Arc::new(self.schema.project(columns).map_err(arrow_error)?);
        let batches = self.batches.iter().map(|batch| batch.project(columns));
        let batches = batches.collect::<Result<_, _>>().map_err(arrow_error)?;
        Ok(Self { schema, batches, rows: self.rows, report: self.report.clone() })
    }
}

fn arrow_error(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

fn no_column(column: usize, count: usize) -> PyErr {
    PyValueError::new_err(format!("column {column} of {count}"))
}

fn not_numbers(what: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "the column is of type {what}, not of numbers; try: use table[…] for texts, or pass the table to pyarrow"
    ))
}

/// Reads an Arrow file or stream as a table.
///
/// Parameters
/// ----------
/// source : path, descriptor, open file, bytes in memory, or list of copies
///     As for `read`. The file is in the Arrow file format (Feather version 2), as ``pyarrow.ipc.new_file`` and
///     ``swath convert`` write it, or a stream of Arrow's, compressed or not.
/// workers, chunk_size, engine, page_cache, progress, verify, profile
///     As for `read`.
///
/// Returns
/// -------
/// Table
///     Columns keep their types.
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
    let takes = source.takes(None);
    let (source, options) =
        (source.source(how.verify.as_ref())?, ArrowOptions::new().with_read(read));
    watch
        .run(py, takes, move || {
            let batches = options.batches(source)?;
            let schema = Arc::clone(batches.schema());
            Ok::<_, swath_formats::Error>((schema, batches.collect::<Result<Vec<_>, _>>()?))
        })
        .map(|(schema, batches)| Table::new(schema, batches))
}
