//! Imports batches of another library through its stream.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Schema, SchemaRef};
use swath_arrow::{ArrowFault, ArrowStream};

use crate::failure::{Failure, Result};
use crate::pointer;

/// A stream of tables, with the schema of its batches.
#[derive(Debug)]
pub(super) struct Given {
    stream: ArrowStream,
    pub(super) schema: SchemaRef,
}

/// Moves the stream out, leaving a released one.
pub(super) fn taken(place: Option<&mut FFI_ArrowArrayStream>) -> Result<FFI_ArrowArrayStream> {
    let place = pointer::given(place, "batches")?;
    let stream = std::mem::replace(place, FFI_ArrowArrayStream::empty());
    match stream.release() {
        Some(_) => Ok(stream),
        None => Err(Failure::invalid("`batches` was released; try: pass another stream")),
    }
}

impl Given {
    /// Requests the schema.
    pub(super) fn open(stream: FFI_ArrowArrayStream) -> Result<Self> {
        let stream = ArrowStream::open(stream).map_err(failed)?;
        let field = stream.field();
        let DataType::Struct(fields) = field.data_type() else {
            let text = format!(
                "the stream has arrays of type {}, not tables; try: make a struct of its columns",
                field.data_type()
            );
            return Err(Failure::invalid(text));
        };
        let schema = Schema::new(fields.clone()).with_metadata(field.metadata().clone());
        Ok(Self { schema: Arc::new(schema), stream })
    }

    fn batch(&self, table: &ArrayRef) -> Result<RecordBatch> {
        if table.null_count() > 0 {
            let text = "a row is missing as a whole, which no column can hold";
            return Err(Failure::invalid(text));
        }
        let rows = RecordBatchOptions::new().with_row_count(Some(table.len()));
        let columns = table.as_struct().columns().to_vec();
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &rows)
            .map_err(|error| Failure::invalid(error.to_string()))
    }
}

impl Iterator for Given {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let table = self.stream.next()?;
        Some(table.map_err(failed).and_then(|table| self.batch(&table)))
    }
}

fn failed(fault: ArrowFault) -> Failure {
    match fault {
        ArrowFault::Refused { errno, .. } => Failure::of_errno(errno, fault.to_string()),
        _ => Failure::invalid(fault.to_string()),
    }
}
