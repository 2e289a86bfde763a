//! Tables in pickles: all batches as one Buffer, in Arrow's stream format.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_buffer::Buffer as ArrowBuffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use swath::machine::caught;

use super::{Table, arrow_error};
use crate::bytes::Borrowed;
use crate::error::Failure;
use crate::memory::Buffer;
use crate::park;
use crate::work::detached;

/// Returns the function that restores a table, and its arguments.
pub(super) fn reduced<'py>(
    table: &Bound<'py, Table>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
    let (py, this) = (table.py(), table.get());
    let bytes = py.detach(|| encoded(this)).map_err(arrow_error)?;
    let restore = park::module(py, "swath._swath")?.getattr("restore_table")?;
    let said =
        (Buffer::of_values(bytes, None)?, this.report.as_deref()).into_bound_py_any(py)?;
    Ok((restore, said.cast_into::<PyTuple>()?))
}

fn encoded(table: &Table) -> Result<Vec<u8>, ArrowError> {
    let mut writer = StreamWriter::try_new(Vec::new(), &table.schema)?;
    for batch in &table.batches {
        let columns = batch.columns().iter().map(compact).collect();
        let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let schema = Arc::clone(&table.schema);
        writer.write(&RecordBatch::try_new_with_options(schema, columns, &rows)?)?;
    }
    writer.into_inner()
}

/// Returns a column without the texts of omitted rows, which would all be sent.
fn compact(column: &ArrayRef) -> ArrayRef {
    let Some(texts) = column.as_string_view_opt() else { return Arc::clone(column) };
    let all: usize = texts.data_buffers().iter().map(|buffer| buffer.len()).sum();
    match texts.total_buffer_bytes_used() < all / 2 {
        true => Arc::new(texts.gc()),
        false => Arc::clone(column),
    }
}

/// Restores a pickled table; its columns are copies.
#[pyfunction]
#[pyo3(signature = (data, report=None))]
pub(crate) fn restore_table(
    py: Python<'_>,
    data: Borrowed,
    report: Option<&str>,
) -> PyResult<Table> {
    detached(py, || {
        // A pickle may come from outside: lengths and values are checked, and panics of the decoder are
        // caught.
        let bytes = data.copied::<u8>()?.to_vec();
        let table = caught(|| decoded(bytes));
        let wrong = |detail: String| {
            let text = format!("the pickled table is damaged: {detail}");
            Failure::Python(PyValueError::new_err(text))
        };
        match table {
            Some(Ok(table)) => Ok(Table { report: report.map(Into::into), ..table }),
            Some(Err(error)) => Err(wrong(error.to_string())),
            None => Err(wrong("it is not a stream of batches".to_owned())),
        }
    })
}

fn decoded(bytes: Vec<u8>) -> Result<Table, ArrowError> {
    let mut rest = ArrowBuffer::from_vec(bytes);
    let mut decoder = StreamDecoder::new();
    let mut batches: Vec<RecordBatch> = Vec::new();
    while !rest.is_empty() {
        batches.extend(decoder.decode(&mut rest)?);
    }
    decoder.finish()?;
    let none = || ArrowError::IpcError("there is no schema".to_owned());
    Ok(Table::new(decoder.schema().ok_or_else(none)?, batches))
}
