//! Exports tables and streams through Arrow's C interface.

use arrow_array::ffi::{FFI_ArrowSchema, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::arrow_error;

/// Exports a schema.
pub(super) fn schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(arrow_error)?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// Exports a schema, and a batch as a struct array.
pub(super) fn array<'py>(
    py: Python<'py>,
    batch: &RecordBatch,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let data = StructArray::from(batch.clone()).into_data();
    let (array, _) = to_ffi(&data).map_err(arrow_error)?;
    Ok((schema(py, batch.schema_ref())?, PyCapsule::new_with_value(py, array, c"arrow_array")?))
}

/// Exports a stream of batches in memory.
pub(super) fn batches<'py>(
    py: Python<'py>,
    schema: &SchemaRef,
    batches: Vec<RecordBatch>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let batches = batches.into_iter().map(Ok::<_, ArrowError>);
    stream(py, Box::new(RecordBatchIterator::new(batches, SchemaRef::clone(schema))))
}

/// Exports a stream of batches.
pub(super) fn stream(
    py: Python<'_>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
}
