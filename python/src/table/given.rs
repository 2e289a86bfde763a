//! Imports tables of pandas, polars, pyarrow and duckdb through the Arrow PyCapsule interface.
//!
//! ```text
//! __arrow_c_stream__ │ arrays of one type: structs are tables, │ Given: a schema, and batches
//! __arrow_c_array__  │ anything else is one column             │ that are taken one by one
//! ```

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::exceptions::{PyMemoryError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};
use swath::machine::Mutex;
use swath_arrow::{ArrowFault, ArrowStream, import};

use super::Table;
use crate::callback::admitted;
use crate::park;

const TO_TRY: &str = "leave it out, or convert it";

/// Data of an Arrow library that has not been read yet.
#[pyclass(frozen, module = "swath._swath", name = "Given")]
pub(crate) struct Given {
    schema: SchemaRef,
    arrays: Mutex<Option<Arrays>>,
}

/// Arrays of one type.
type Arrays = Box<dyn Iterator<Item = Result<ArrayRef, ArrowError>> + Send>;

#[pymethods]
impl Given {
    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Reads all of it.
    fn table(&self, py: Python<'_>) -> PyResult<Table> {
        let mut batches = Vec::new();
        // With the lock: a stream may be made by Python as it is read.
        for batch in self.batches()? {
            batches.push(batch.map_err(refused)?);
            py.check_signals()?;
        }
        Ok(Table::new(Arc::clone(&self.schema), batches))
    }
}

impl Given {
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the batches, which can be taken once.
    pub(super) fn batches(
        &self,
    ) -> PyResult<impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + use<>> {
        let arrays = self.arrays.lock().take();
        let arrays = arrays.ok_or_else(|| PyValueError::new_err("the data was read before"))?;
        let schema = Arc::clone(&self.schema);
        Ok(arrays.map(move |array| batch(&schema, &array?)))
    }
}

/// Opens Arrow data: all columns of a table, or one column called `name`.
#[pyfunction]
#[pyo3(signature = (data, name=None))]
pub(crate) fn take_table(data: &Bound<'_, PyAny>, name: Option<&str>) -> PyResult<Given> {
    park::at_end();
    match data.getattr_opt("__arrow_c_stream__")? {
        Some(stream) => of_stream(&stream.call0()?, name),
        None => of_array(&data.call_method0("__arrow_c_array__")?, name),
    }
}

fn of_stream(capsule: &Bound<'_, PyAny>, name: Option<&str>) -> PyResult<Given> {
    let place = capsule.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_array_stream"))?;
    let place = place.cast::<FFI_ArrowArrayStream>().as_ptr();
    // SAFETY: by the interface, a capsule of this name holds such a stream. It is moved out, leaving an
    // empty one, which the capsule does not release again.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(place) };
    let mut stream = ArrowStream::open(stream).map_err(faulty)?;
    let schema = schema_of(stream.field(), name);
    let ending = || ArrowError::ComputeError("the interpreter ends".to_owned());
    // The stream may take the interpreter's lock.
    let next = move || {
        let next = admitted(|| stream.next());
        next.map_or_else(|| Some(Err(ending())), |next| next.map(|it| it.map_err(Into::into)))
    };
    Ok(Given { schema, arrays: Mutex::new(Some(Box::new(std::iter::from_fn(next)))) })
}

fn of_array(capsules: &Bound<'_, PyAny>, name: Option<&str>) -> PyResult<Given> {
    let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = capsules.extract()?;
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(c"arrow_array"))?.cast::<FFI_ArrowArray>();
    // SAFETY: by the interface, a capsule of this name holds an array.
    if unsafe { array.as_ref() }.is_released() || is_released(schema) {
        return Err(PyValueError::new_err(
            "the Arrow data was already released; try: request it again",
        ));
    }
    // SAFETY: by the interface, a capsule of this name holds a schema as long as it lives: until after
    // the last use below.
    let told = unsafe { schema.as_ref() };
    // SAFETY: as in `of_stream`.
    let array = unsafe { FFI_ArrowArray::from_raw(array.as_ptr()) };
    // SAFETY: by the interface, the two belong together.
    let (field, array) = unsafe { import(array, told) }.map_err(faulty)?;
    let schema = schema_of(&field, name);
    Ok(Given { schema, arrays: Mutex::new(Some(Box::new(std::iter::once(Ok(array))))) })
}

fn faulty(fault: ArrowFault) -> PyErr {
    refused(fault.into())
}

/// Whether a schema was released: its contents were moved out.
fn is_released(schema: NonNull<FFI_ArrowSchema>) -> bool {
    /// Words of the structure that come before the pointer to the function that releases it.
    const BEFORE: usize = 7;
    // SAFETY: by the interface, a schema is nine words, from any library.
    let release = unsafe { schema.cast::<*const c_void>().add(BEFORE) };
    // SAFETY: as above; it is a pointer, or null.
    unsafe { release.read() }.is_null()
}

/// Returns the columns: those of a table, otherwise one.
fn schema_of(field: &Field, name: Option<&str>) -> SchemaRef {
    Arc::new(match (field.data_type(), name) {
        (DataType::Struct(fields), None) => {
            Schema::new(fields.clone()).with_metadata(field.metadata().clone())
        }
        (_, Some(name)) => Schema::new(vec![field.clone().with_name(name).with_nullable(true)]),
        (_, None) => Schema::new(vec![field.clone().with_nullable(true)]),
    })
}

fn batch(schema: &SchemaRef, array: &ArrayRef) -> Result<RecordBatch, ArrowError> {
    let is_table = array.data_type() == &DataType::Struct(schema.fields().clone());
    if is_table && array.null_count() > 0 {
        let text = "a row of the table is missing as a whole: no column can say so";
        return Err(ArrowError::SchemaError(text.into()));
    }
    let columns = match array.as_struct_opt().filter(|_| is_table) {
        Some(table) => table.columns().to_vec(),
        None => vec![Arc::clone(array)],
    };
    let options = RecordBatchOptions::new().with_row_count(Some(array.len()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
}

/// Returns the exception for Arrow data that cannot be used.
pub(super) fn refused(error: ArrowError) -> PyErr {
    match error {
        ArrowError::SchemaError(text) => PyTypeError::new_err(format!("{text}; try: {TO_TRY}")),
        ArrowError::ComputeError(text) => PyOverflowError::new_err(text),
        ArrowError::MemoryError(text) => PyMemoryError::new_err(text),
        error => {
            let text =
                ArrowFault::of(&error).map_or_else(|| error.to_string(), ToString::to_string);
            PyValueError::new_err(format!("cannot import the Arrow data: {text}"))
        }
    }
}
