//! Converts a column to one array, and to values and texts for Python.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch, new_empty_array};
use arrow_schema::{DataType, TimeUnit};
use arrow_select::concat::{concat, concat_batches};
use bytes::Bytes;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::types::word_of;
use super::{Table, arrow_error, no_column, not_numbers};
use crate::memory::{Buffer, NumberKind};

impl Table {
    /// Returns a column as one array: a copy if there are several batches.
    pub(super) fn whole(&self, py: Python<'_>, column: usize) -> PyResult<ArrayRef> {
        let count = self.schema.fields().len();
        let field = self.schema.fields().get(column).ok_or_else(|| no_column(column, count))?;
        match &self.batches[..] {
            [] => Ok(new_empty_array(field.data_type())),
            [one] => Ok(one.column(column).clone()),
            many => {
                let arrays: Vec<&dyn Array> =
                    many.iter().map(|it| it.column(column).as_ref()).collect();
                py.detach(|| concat(&arrays)).map_err(too_large)
            }
        }
    }

    /// Returns all rows as one batch: a copy if there are several.
    pub(super) fn one_batch(&self, py: Python<'_>) -> PyResult<RecordBatch> {
        match &self.batches[..] {
            [one] => Ok(one.clone()),
            many => py.detach(|| concat_batches(&self.schema, many)).map_err(too_large),
        }
    }
}

fn too_large(error: arrow_schema::ArrowError) -> PyErr {
    PyMemoryError::new_err(format!("the batches do not fit into one array: {error}"))
}

/// Returns the values of a column of numbers, booleans, dates or timestamps.
pub(super) fn values(array: &ArrayRef) -> PyResult<Buffer> {
    match array.data_type() {
        DataType::Int8 => numbers::<Int8Type>(array),
        DataType::Int16 => numbers::<Int16Type>(array),
        DataType::Int32 => numbers::<Int32Type>(array),
        DataType::Int64 => numbers::<Int64Type>(array),
        DataType::UInt8 => numbers::<UInt8Type>(array),
        DataType::UInt16 => numbers::<UInt16Type>(array),
        DataType::UInt32 => numbers::<UInt32Type>(array),
        DataType::UInt64 => numbers::<UInt64Type>(array),
        DataType::Float32 => numbers::<Float32Type>(array),
        DataType::Float64 => numbers::<Float64Type>(array),
        DataType::Date32 => numbers::<Date32Type>(array),
        DataType::Timestamp(TimeUnit::Second, _) => numbers::<TimestampSecondType>(array),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            numbers::<TimestampMillisecondType>(array)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            numbers::<TimestampMicrosecondType>(array)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            numbers::<TimestampNanosecondType>(array)
        }
        DataType::Boolean => {
            let flags = array.as_boolean();
            let byte = |flag: Option<bool>| u8::from(flag.unwrap_or_default());
            Buffer::of_bytes_as::<u8>(flags.iter().map(byte).collect::<Vec<u8>>().into())
        }
        DataType::Null => {
            Buffer::of_bytes_as::<f64>(Bytes::from(vec![0; array.len() * size_of::<f64>()]))
        }
        other => Err(not_numbers(&word_of(other))),
    }
}

fn numbers<T: ArrowPrimitiveType<Native: NumberKind>>(array: &ArrayRef) -> PyResult<Buffer> {
    Buffer::of_arrow::<T::Native>(array.as_primitive::<T>().values().inner().clone())
}

/// Returns a bit for each row, if any value is missing.
pub(super) fn validity(array: &ArrayRef) -> PyResult<Option<Buffer>> {
    let Some(nulls) = array.logical_nulls().filter(|nulls| nulls.null_count() > 0) else {
        return Ok(None);
    };
    Buffer::of_arrow::<u8>(nulls.inner().sliced()).map(Some)
}

/// The texts of a column, ``None`` for missing ones; those of a dictionary share their objects.
#[pyfunction]
pub(crate) fn table_texts<'py>(
    table: &Bound<'py, Table>,
    column: usize,
) -> PyResult<Bound<'py, PyList>> {
    let (py, table) = (table.py(), table.get());
    texts(py, &table.whole(py, column)?)
}

fn texts<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyList>> {
    let made = |text: Option<&str>| text.map(|text| PyString::new(py, text));
    match array.data_type() {
        DataType::Utf8 => PyList::new(py, array.as_string::<i32>().iter().map(made)),
        DataType::LargeUtf8 => PyList::new(py, array.as_string::<i64>().iter().map(made)),
        DataType::Utf8View => PyList::new(py, array.as_string_view().iter().map(made)),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let words = texts(py, dictionary.values())?;
            if words.is_empty() {
                return PyList::new(py, vec![None::<bool>; array.len()]);
            }
            let nulls = array.logical_nulls();
            let rows = dictionary.normalized_keys().into_iter().enumerate();
            let word = |(row, key)| match nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
            {
                true => Ok(py.None().into_bound(py)),
                false => words.get_item(key),
            };
            PyList::new(py, rows.map(word).collect::<PyResult<Vec<_>>>()?)
        }
        other => Err(arrow_error(format!("a column of type {} has no texts", word_of(other)))),
    }
}
