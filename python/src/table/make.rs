//! Builds tables of one column from values of Python and numpy.

use std::sync::Arc;

use arrow_array::builder::StringViewBuilder;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, BooleanArray, NullArray, PrimitiveArray, RecordBatch};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{Field, Schema, TimeUnit};
use bytemuck::{Pod, Zeroable};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use swath_formats::table::ColumnType;

use super::types::WORDS;
use super::{Table, arrow_error};
use crate::bytes::Borrowed;
use crate::error::Failure;
use crate::words::word;
use crate::work::detached;

/// A table of one column of this type; values are missing where `missing` has a byte other than 0.
/// `swath._given` makes the arguments of arrays.
#[pyfunction]
#[pyo3(signature = (name, kind, values, missing=None))]
pub(crate) fn make_column(
    py: Python<'_>,
    name: String,
    kind: &str,
    values: Borrowed,
    missing: Option<Borrowed>,
) -> PyResult<Table> {
    let kind = word("kind", kind, WORDS)?;
    let array = detached(py, || array(kind, &values, missing.as_ref()))?;
    of_one(name, array)
}

fn of_one(name: String, array: ArrayRef) -> PyResult<Table> {
    let field = Field::new(name, array.data_type().clone(), true);
    let schema = Arc::new(Schema::new(vec![field]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![array]).map_err(arrow_error)?;
    Ok(Table::new(schema, vec![batch]))
}

fn array(
    kind: ColumnType,
    values: &Borrowed,
    missing: Option<&Borrowed>,
) -> Result<ArrayRef, Failure> {
    Ok(match kind {
        ColumnType::Null => Arc::new(NullArray::new(values.bytes().len())),
        ColumnType::Bool => {
            let flags: Vec<bool> = values.bytes().iter().map(|byte| *byte != 0).collect();
            let nulls = nulls(missing, flags.len())?;
            Arc::new(BooleanArray::new(flags.into(), nulls))
        }
        ColumnType::I8 => numbers::<Int8Type>(kind, values, missing)?,
        ColumnType::I16 => numbers::<Int16Type>(kind, values, missing)?,
        ColumnType::I32 => numbers::<Int32Type>(kind, values, missing)?,
        ColumnType::I64 => numbers::<Int64Type>(kind, values, missing)?,
        ColumnType::U8 => numbers::<UInt8Type>(kind, values, missing)?,
        ColumnType::U16 => numbers::<UInt16Type>(kind, values, missing)?,
        ColumnType::U32 => numbers::<UInt32Type>(kind, values, missing)?,
        ColumnType::U64 => numbers::<UInt64Type>(kind, values, missing)?,
        ColumnType::F32 => numbers::<Float32Type>(kind, values, missing)?,
        ColumnType::F64 => numbers::<Float64Type>(kind, values, missing)?,
        ColumnType::Date => numbers::<Date32Type>(kind, values, missing)?,
        ColumnType::Timestamp(unit) | ColumnType::Zoned(unit) => match unit {
            TimeUnit::Second => numbers::<TimestampSecondType>(kind, values, missing)?,
            TimeUnit::Millisecond => {
                numbers::<TimestampMillisecondType>(kind, values, missing)?
            }
            TimeUnit::Microsecond => {
                numbers::<TimestampMicrosecondType>(kind, values, missing)?
            }
            TimeUnit::Nanosecond => numbers::<TimestampNanosecondType>(kind, values, missing)?,
        },
        _ => return Err(wrong("texts are not values in memory".to_owned())),
    })
}

fn numbers<T: ArrowPrimitiveType<Native: Pod>>(
    kind: ColumnType,
    values: &Borrowed,
    missing: Option<&Borrowed>,
) -> Result<ArrayRef, Failure> {
    let mut numbers = values.numbers::<T::Native>()?.into_owned();
    let nulls = nulls(missing, numbers.len())?;
    for (row, number) in numbers.iter_mut().enumerate() {
        if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            *number = T::Native::zeroed();
        }
    }
    let array = PrimitiveArray::<T>::new(ScalarBuffer::from(numbers), nulls);
    Ok(Arc::new(array.with_data_type(kind.data_type())))
}

fn nulls(missing: Option<&Borrowed>, rows: usize) -> Result<Option<NullBuffer>, Failure> {
    let Some(missing) = missing.map(Borrowed::bytes) else { return Ok(None) };
    if missing.len() != rows {
        return Err(wrong(format!("{rows} values and a mask of {}", missing.len())));
    }
    let there = missing.iter().map(|byte| *byte == 0);
    Ok(Some(there.collect::<NullBuffer>()).filter(|nulls| nulls.null_count() > 0))
}

fn wrong(detail: String) -> Failure {
    Failure::Python(PyValueError::new_err(detail))
}

/// A table of one column of texts; `None` is a missing one. `swath._given` makes the arguments.
#[pyfunction]
pub(crate) fn make_texts(name: String, texts: &Bound<'_, PyList>) -> PyResult<Table> {
    let mut made = StringViewBuilder::with_capacity(texts.len());
    for (row, text) in texts.iter().enumerate() {
        if text.is_none() {
            made.append_null();
            continue;
        }
        let Ok(text) = text.cast::<PyString>() else {
            let kind = text.get_type().name()?.to_string();
            return Err(PyTypeError::new_err(format!(
                "column '{name}' has texts, and a value of type {kind} at index {row}; try: convert it to str"
            )));
        };
        let utf8 = text.to_cow().map_err(|_| PyValueError::new_err(format!(
            "column '{name}' has half of a surrogate pair at index {row}, which UTF-8 cannot hold; \
             try: replace it with text.encode('utf-8', 'replace').decode()"
        )))?;
        // NumPy converts numbers past U+10FFFF to text, and Python encodes them unchecked.
        let Ok(utf8) = std::str::from_utf8(utf8.as_bytes()) else {
            return Err(PyValueError::new_err(format!(
                "column '{name}' has a number past U+10FFFF at index {row}, where characters end; \
                 try: check where the array comes from"
            )));
        };
        let added = made.try_append_value(utf8);
        added.map_err(|error| PyValueError::new_err(format!("column '{name}': {error}")))?;
    }
    of_one(name, Arc::new(made.finish()))
}
