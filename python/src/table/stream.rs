//! Tables in bounded memory: batch by batch, for Python and for Arrow libraries.
//!
//! ```text
//! stream_csv ── Shared: the remaining batches ─────┬─ __next__ ────────────── Table
//!                                                  └─ __arrow_c_stream__ ──── batches, errors as text
//! ```

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};
use swath::machine::Mutex;
use swath_formats::table::BatchStream;

use super::typed::TableReading;
use super::{Table, export, report, types};
use crate::callback::{admitted, attached};
use crate::error::Failure;
use crate::how::Watch;
use crate::input::Input;
use crate::own::Own;
use crate::queue::closed_stream;
use crate::work::{Takes, is_main_thread, unlocked};

/// A table in bounded memory: an iterator of ``Table``, in the order of the file.
///
/// Arrow libraries take it too, through the Arrow PyCapsule interface and without a copy:
/// ``pyarrow.RecordBatchReader.from_stream(stream)``, ``polars.DataFrame(stream)``. It can be passed on once, and
/// gives what is left of it. ``close()``, or the end of a ``with`` block, ends it early.
///
/// >>> with swath.stream_csv("people.csv") as stream:
/// ...     [len(table) for table in stream]
/// [3]
#[pyclass(frozen, module = "swath", name = "TableStream")]
pub(crate) struct TableStream(Arc<Shared>);

/// A stream shared by Python and Arrow libraries.
struct Shared {
    schema: SchemaRef,
    open: Own<Mutex<OpenStream>>,
    is_closed: AtomicBool,
    watch: Watch,
}

struct OpenStream {
    /// `None` when all were read, after an error, and when it is closed.
    batches: Option<BatchStream>,
    report: Arc<str>,
    /// Whether it was passed to an Arrow library.
    is_taken: bool,
}

impl Drop for Shared {
    /// Ends the work ahead, without the lock if there is a callback, which may wait for it. Without one, no thread
    /// needs the lock, and an Arrow library may drop this where waiting for it is forbidden.
    fn drop(&mut self) {
        let Ok(open) = self.open.get() else { return };
        let rest = open.lock().batches.take();
        if self.watch.has_callback() { unlocked(|| drop(rest)) } else { drop(rest) }
    }
}

impl Shared {
    /// Returns the next batch, for the library to which the stream was passed, or for Python if it was not passed.
    /// Works without the interpreter's lock. A closed stream has an error instead of an end.
    fn advance(&self, is_library: bool) -> Result<Option<RecordBatch>, Failure> {
        self.watch.refuse_in_callback()?;
        let mut open = self.open.get()?.lock();
        if self.is_closed.load(Ordering::SeqCst) {
            return Err(closed_stream().into());
        }
        if open.is_taken && !is_library {
            let text = "the stream was passed on; try: read it there, or call stream_csv again";
            return Err(PyValueError::new_err(text).into());
        }
        let Some(batches) = &mut open.batches else { return Ok(None) };
        match batches.next() {
            Some(Ok(batch)) => Ok(Some(batch)),
            ended => {
                let report = report::text(batches.report());
                open.report = report;
                open.batches = None;
                Ok(ended.transpose()?)
            }
        }
    }

    fn with_open<T: Send>(
        &self,
        py: Python<'_>,
        look: impl FnOnce(&mut OpenStream) -> T + Send,
    ) -> PyResult<T> {
        self.watch.refuse_in_callback()?;
        let open = self.open.get()?;
        // The holder may be waiting for the interpreter's lock.
        Ok(py.detach(|| look(&mut open.lock())))
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.open.is_foreign() {
            // A forked child has no work to end.
            return Ok(());
        }
        self.watch.token.cancel();
        self.is_closed.store(true, Ordering::SeqCst);
        if self.watch.is_calling() {
            // The call that waits for the callback ends the rest.
            return Ok(());
        }
        let rest = self.with_open(py, |open| open.batches.take())?;
        unlocked(|| drop(rest));
        self.watch.close(py)
    }
}

#[pymethods]
impl TableStream {
    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The type of each column in one word, as ``dtypes=`` of `read_csv` takes it.
    #[getter]
    fn types(&self) -> Vec<String> {
        self.0.schema.fields().iter().map(|field| types::word_of(field.data_type())).collect()
    }

    /// How the text is read, as that of a ``Table``. Rows, missing values and lines that were set aside are those
    /// of the batches so far.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = self.0.with_open(py, |open| match &open.batches {
            Some(batches) => report::text(batches.report()),
            None => Arc::clone(&open.report),
        })?;
        report::parsed(py, &text)
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        let shared = &*self.0;
        match shared.watch.step(py, Takes::Time, || shared.advance(false)) {
            Ok(Some(batch)) => Ok(Some(Table::new(Arc::clone(&shared.schema), vec![batch]))),
            Ok(None) => shared.watch.close(py).map(|()| None),
            Err(error) => {
                // A stream that was passed to a library continues.
                shared.with_open(py, |open| open.batches.take_if(|_| !open.is_taken))?;
                shared.watch.close(py)?;
                Err(error)
            }
        }
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, py: Python<'_>, _args: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    /// Ends the stream. To iterate over it after that is an error, as with a file.
    ///
    /// >>> stream = swath.stream_csv("people.csv")
    /// >>> stream.close()
    /// >>> list(stream)
    /// Traceback (most recent call last):
    /// ValueError: the stream is closed; try: read it before close(), and within its `with` block
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.0.close(py)
    }

    fn __repr__(&self) -> String {
        let columns = self.names().into_iter().zip(self.types());
        let columns: Vec<String> =
            columns.map(|(name, kind)| format!("{name}: {kind}")).collect();
        format!("<swath.TableStream: {}>", columns.join(", "))
    }

    /// The schema, as the Arrow PyCapsule interface has it.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export::schema(py, &self.0.schema)
    }

    /// Exports the rest of the stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // As of a table.
        drop(requested_schema);
        let is_left = self.0.with_open(py, |open| {
            let is_left = open.batches.is_some() && !open.is_taken;
            open.is_taken = true;
            is_left
        })?;
        if !is_left {
            let text =
                "the stream was read, closed or passed on before; try: call stream_csv again";
            return Err(PyValueError::new_err(text));
        }
        export::stream(py, Box::new(PassedOn(Arc::clone(&self.0))))
    }
}

/// A stream that was passed to an Arrow library.
struct PassedOn(Arc<Shared>);

impl PassedOn {
    /// Returns the next batch; checks for signals, since a library's call may take long.
    fn came(&self) -> Result<Option<RecordBatch>, ArrowError> {
        let shared = &*self.0;
        let next = || shared.advance(true).map_err(told);
        if !is_main_thread() && !shared.watch.has_callback() {
            // A thread that waits for this one may hold the interpreter's lock.
            return admitted(next).unwrap_or_else(|| Err(told(Failure::Ended)));
        }
        let stepped = attached(|py| {
            let stepped = shared.watch.step(py, Takes::Time, || Ok::<_, Failure>(next()));
            stepped.unwrap_or_else(|error| {
                if error.is_instance_of::<PyKeyboardInterrupt>(py) {
                    // The library has an error of its own for this; the signal is raised after it.
                    let _ =
                        py.import("_thread").and_then(|it| it.call_method0("interrupt_main"));
                }
                Err(told(Failure::Python(error)))
            })
        });
        stepped.unwrap_or_else(|| Err(told(Failure::Ended)))
    }
}

impl Iterator for PassedOn {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.came().transpose()
    }
}

impl RecordBatchReader for PassedOn {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.0.schema)
    }
}

/// Returns an error for libraries, which see kind and text: in pyarrow, the kinds become `OSError`, `MemoryError`
/// and `ValueError`.
fn told(failure: Failure) -> ArrowError {
    let text = failure.text();
    match failure.is_of_memory() {
        true => ArrowError::MemoryError(text),
        false if failure.is_of_text() => ArrowError::CsvError(text),
        false => ArrowError::IoError(text, io::Error::other("see the text")),
    }
}

/// Opens a table of any types as a stream. `swath.stream_csv` makes the arguments.
#[pyfunction]
pub(crate) fn stream_table(
    py: Python<'_>,
    sources: Vec<Input>,
    how: &Bound<'_, PyTuple>,
    said: &Bound<'_, PyDict>,
) -> PyResult<TableStream> {
    let TableReading { sources, options, watch, .. } =
        TableReading::new(py, sources, how, said)?;
    let batches = watch.step(py, Takes::Time, move || options.stream_batches_of(sources))?;
    let schema = Arc::clone(batches.schema());
    let report = report::text(batches.report());
    let open = OpenStream { batches: Some(batches), report, is_taken: false };
    let (open, is_closed) = (Own::new(Mutex::new(open)), AtomicBool::new(false));
    Ok(TableStream(Arc::new(Shared { schema, open, is_closed, watch })))
}
