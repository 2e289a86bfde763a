//! Tables of pandas, polars, pyarrow and duckdb, through the Arrow PyCapsule interface.
//!
//! ```text
//! __arrow_c_stream__ │ arrays of one type: structs are tables, │ RecordBatch → Columns: see
//! __arrow_c_array__  │ anything else is one column             │ swath_formats::table
//! ```

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, ArrayReader, ArrayRef, RecordBatch, RecordBatchOptions, make_array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::exceptions::{PyMemoryError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};
use swath_formats::table::Columns;

use crate::table::Table;

const TO_TRY: &str = "leave it out, or convert it to integers or doubles";

/// Copies Arrow data into a table: all columns of a table, or one column called `name`.
#[pyfunction]
#[pyo3(signature = (data, name=None))]
pub(crate) fn import_table(data: &Bound<'_, PyAny>, name: Option<&str>) -> PyResult<Table> {
    let (schema, arrays) = match data.getattr_opt("__arrow_c_stream__")? {
        Some(stream) => of_stream(&stream.call0()?, name)?,
        None => of_array(&data.call_method0("__arrow_c_array__")?, name)?,
    };
    let batches = arrays.iter().map(|array| batch(&schema, array));
    let batches = batches.collect::<Result<Vec<_>, _>>().map_err(refused)?;
    let gathered = data.py().detach(|| Columns::from_record_batches(&schema, &batches));
    gathered.map(Table::new).map_err(refused)
}

/// What the columns are, and arrays of them.
type Taken = (Arc<Schema>, Vec<ArrayRef>);

/// All arrays of a stream; it is read only if their types can be kept.
fn of_stream(capsule: &Bound<'_, PyAny>, name: Option<&str>) -> PyResult<Taken> {
    let place = capsule.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_array_stream"))?;
    let place = place.cast::<FFI_ArrowArrayStream>().as_ptr();
    // SAFETY: by the interface a capsule of this name holds such a stream. It is moved out, and an
    // empty one stays, which the capsule's end does not release again.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(place) };
    let mut reader = ArrayStreamReader::try_new(stream).map_err(refused)?;
    let schema = schema_of(reader.field(), name)?;
    let mut arrays = Vec::new();
    // With the lock: a stream may be made by Python as it is read.
    while let Some(array) = reader.next().transpose().map_err(refused)? {
        arrays.push(array);
        capsule.py().check_signals()?;
    }
    Ok((schema, arrays))
}

fn of_array(capsules: &Bound<'_, PyAny>, name: Option<&str>) -> PyResult<Taken> {
    let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = capsules.extract()?;
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(c"arrow_array"))?.cast::<FFI_ArrowArray>();
    // SAFETY: by the interface a capsule of this name holds an array.
    if unsafe { array.as_ref() }.is_released() || is_released(schema) {
        return Err(PyValueError::new_err(
            "the Arrow data was already released; try: request it again",
        ));
    }
    // SAFETY: by the interface a capsule of this name holds a schema, which it keeps as long as it
    // lives: until after the last use below.
    let told = unsafe { schema.as_ref() };
    let schema = schema_of(&Field::try_from(told).map_err(refused)?, name)?;
    // SAFETY: as in `of_stream`.
    let array = unsafe { FFI_ArrowArray::from_raw(array.as_ptr()) };
    // SAFETY: by the interface the two belong together, and what is exported is not written to any
    // more.
    let data = unsafe { from_ffi(array, told) }.map_err(refused)?;
    Ok((schema, vec![make_array(data)]))
}

/// Whether a schema may no longer be read: its contents were moved out.
fn is_released(schema: NonNull<FFI_ArrowSchema>) -> bool {
    /// Words of the structure that come before the pointer to the function that releases it.
    const BEFORE: usize = 7;
    // SAFETY: by the interface a schema is nine words, whatever library made it.
    let release = unsafe { schema.cast::<*const c_void>().add(BEFORE) };
    // SAFETY: as above; it is a pointer, or null.
    unsafe { release.read() }.is_null()
}

/// The columns, of a table its own, else one; an error unless their types can be kept.
fn schema_of(field: &Field, name: Option<&str>) -> PyResult<Arc<Schema>> {
    let schema = match (field.data_type(), name) {
        (DataType::Struct(fields), None) => Schema::new(fields.clone()),
        (_, Some(name)) => Schema::new(vec![field.clone().with_name(name)]),
        (_, None) => Schema::new(vec![field.clone()]),
    };
    Columns::from_record_batches(&schema, &[]).map_err(refused)?;
    Ok(Arc::new(schema))
}

fn batch(schema: &Arc<Schema>, array: &ArrayRef) -> Result<RecordBatch, ArrowError> {
    let is_table = matches!(array.data_type(), DataType::Struct(_));
    if is_table && array.null_count() > 0 {
        let text = "a row of the table is missing as a whole: no column can say so";
        return Err(ArrowError::SchemaError(text.into()));
    }
    let columns = match array.as_struct_opt() {
        Some(table) => table.columns().to_vec(),
        None => vec![Arc::clone(array)],
    };
    let options = RecordBatchOptions::new().with_row_count(Some(array.len()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
}

fn refused(error: ArrowError) -> PyErr {
    match error {
        ArrowError::SchemaError(text) => PyTypeError::new_err(format!("{text}; try: {TO_TRY}")),
        ArrowError::ComputeError(text) => PyOverflowError::new_err(text),
        ArrowError::MemoryError(text) => PyMemoryError::new_err(text),
        error => PyValueError::new_err(format!("cannot import the Arrow data: {error}")),
    }
}
