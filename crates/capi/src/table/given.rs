//! Batches of another library, through its stream.

use std::ffi::CStr;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchOptions, StructArray};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};

use crate::failure::{Failure, Result};
use crate::pointer;
use crate::status::Status;
use crate::table::shape;

/// A stream that belongs to us, with the schema of its batches.
#[derive(Debug)]
pub(super) struct Given {
    stream: FFI_ArrowArrayStream,
    kind: FFI_ArrowSchema,
    fields: Fields,
    pub(super) schema: SchemaRef,
}

/// Takes a stream from the caller's place, who keeps a released one.
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
    pub(super) fn open(mut stream: FFI_ArrowArrayStream) -> Result<Self> {
        let get_schema = callback(stream.get_schema(), "get_schema")?;
        let mut kind = FFI_ArrowSchema::empty();
        // SAFETY: it is the stream's own function, with a place for a schema.
        match unsafe { get_schema(&raw mut stream, &raw mut kind) } {
            0 => shape::schema(&kind).map_err(|why| wrong("schema", &why))?,
            errno => return Err(refused(&mut stream, "get_schema", errno)),
        }
        let field = foreign("schema", || Field::try_from(&kind))?;
        let DataType::Struct(fields) = field.data_type() else {
            let text = format!(
                "the stream has arrays of type {}, not tables; try: make a struct of its columns",
                field.data_type()
            );
            return Err(Failure::invalid(text));
        };
        let fields = fields.clone();
        let schema = Schema::new(fields.clone()).with_metadata(field.metadata().clone());
        Ok(Self { stream, kind, fields, schema: Arc::new(schema) })
    }

    fn advance(&mut self) -> Result<Option<RecordBatch>> {
        let get_next = callback(self.stream.get_next(), "get_next")?;
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: it is the stream's own function, with a place for an array.
        match unsafe { get_next(&raw mut self.stream, &raw mut array) } {
            0 if array.is_released() => Ok(None),
            0 => {
                shape::array(&array, &self.kind).map_err(|why| wrong("array", &why))?;
                foreign("array", || self.batch(array)).map(Some)
            }
            errno => Err(refused(&mut self.stream, "get_next", errno)),
        }
    }

    /// The columns of an array of structs, checked.
    fn batch(&self, array: FFI_ArrowArray) -> std::result::Result<RecordBatch, ArrowError> {
        // SAFETY: by the interface the array is of the type that the schema says.
        let data =
            unsafe { from_ffi_and_data_type(array, DataType::Struct(self.fields.clone())) }?;
        data.validate_full()?;
        let table = StructArray::from(data);
        if table.null_count() > 0 {
            let text = "a row is missing as a whole, which no column can hold";
            return Err(ArrowError::CDataInterface(text.to_owned()));
        }
        let rows = RecordBatchOptions::new().with_row_count(Some(table.len()));
        let columns = table.columns().to_vec();
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &rows)
    }
}

impl Iterator for Given {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

/// A function that every stream has.
fn callback<F>(function: Option<F>, name: &str) -> Result<F> {
    function.ok_or_else(|| Failure::invalid(format!("`{name}` of the stream is NULL")))
}

/// Which of its functions failed, and why.
fn refused(stream: &mut FFI_ArrowArrayStream, function: &str, errno: i32) -> Failure {
    let mut text = format!("`{function}` of the stream returned errno {errno}");
    if let Some(get_last_error) = stream.get_last_error() {
        // SAFETY: it is the stream's own function, and the last call has failed.
        let said = unsafe { get_last_error(stream) };
        if !said.is_null() {
            // SAFETY: by the interface it is a string that lives until the next call.
            let said = unsafe { CStr::from_ptr(said) };
            text = format!("{text}: {}", said.to_string_lossy());
        }
    }
    Failure::of_errno(errno, text)
}

/// Makes something of what another library gave. A count that does not fit its type may be a panic of
/// Arrow's.
fn foreign<T>(
    what: &str,
    make: impl FnOnce() -> std::result::Result<T, ArrowError>,
) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(make)) {
        Ok(made) => made.map_err(|error| wrong(what, &error)),
        Err(_) => Err(wrong(what, &"its buffers do not fit its type")),
    }
}

fn wrong(what: &str, why: &dyn Display) -> Failure {
    let text = format!("the stream's {what} is not as Arrow's C interface says: {why}");
    Failure::new(Status::InvalidArgument, text)
}
