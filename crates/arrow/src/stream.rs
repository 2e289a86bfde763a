//! Streams and arrays of another library.

use std::error::Error as StdError;
use std::ffi::CStr;
use std::fmt::Display;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, make_array};
use arrow_schema::{ArrowError, Field};
use swath_os::panics::caught;

use crate::shape;

/// The reason why the data of another library cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArrowFault {
    /// The stream lacks a function.
    #[error("`{0}` of the stream is NULL")]
    NoFunction(&'static str),
    /// A function of the stream has failed.
    #[error("`{function}` of the stream returned errno {errno}{}", after_colon(.text))]
    Refused {
        /// The name of the function.
        function: &'static str,
        /// The error number that the stream returned.
        errno: i32,
        /// The message of the stream, if it has one.
        text: Option<String>,
    },
    /// The data contradict the interface or their own type.
    #[error("the {what} is not as Arrow's C interface says: {why}")]
    Wrong {
        /// The checked structure: the schema, or the array.
        what: &'static str,
        /// The fault.
        why: String,
    },
}

fn after_colon(text: &Option<String>) -> String {
    text.as_ref().map_or_else(String::new, |text| format!(": {text}"))
}

impl From<ArrowFault> for ArrowError {
    fn from(fault: ArrowFault) -> Self {
        match fault {
            ArrowFault::Refused { .. } => Self::CDataInterface(fault.to_string()),
            _ => Self::ExternalError(Box::new(fault)),
        }
    }
}

impl ArrowFault {
    /// Returns the fault that became this error, or that caused it.
    pub fn of<'e>(mut error: &'e (dyn StdError + 'static)) -> Option<&'e Self> {
        loop {
            if let Some(ArrowError::ExternalError(inner)) = error.downcast_ref() {
                return inner.downcast_ref();
            }
            error = error.source()?;
        }
    }
}

/// A stream that we own, with the type of its arrays. Each array is checked, whatever the other
/// library has checked.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::ffi_stream::FFI_ArrowArrayStream;
/// use arrow_array::{Int32Array, RecordBatch, RecordBatchIterator};
/// use swath_arrow::ArrowStream;
///
/// let column = Arc::new(Int32Array::from(vec![1, 2]));
/// let batch = RecordBatch::try_from_iter([("n", column as _)])?;
/// let batches = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
/// let stream = ArrowStream::open(FFI_ArrowArrayStream::new(Box::new(batches)))?;
/// assert!(stream.field().data_type().is_nested());
/// assert_eq!(stream.map(|array| array.map_or(0, |it| it.len())).sum::<usize>(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ArrowStream {
    stream: FFI_ArrowArrayStream,
    kind: FFI_ArrowSchema,
    field: Field,
}

impl ArrowStream {
    /// Requests the schema of a stream.
    ///
    /// # Errors
    ///
    /// [`ArrowFault`].
    pub fn open(mut stream: FFI_ArrowArrayStream) -> Result<Self, ArrowFault> {
        let get_schema = stream.get_schema().ok_or(ArrowFault::NoFunction("get_schema"))?;
        let mut kind = FFI_ArrowSchema::empty();
        // SAFETY: it is the stream's own function, with a place for a schema.
        match unsafe { get_schema(&raw mut stream, &raw mut kind) } {
            0 => {
                let field = field_of(&kind)?;
                Ok(Self { stream, kind, field })
            }
            errno => Err(refused(&mut stream, "get_schema", errno)),
        }
    }

    /// Returns the type of its arrays: a struct for tables.
    #[must_use]
    pub fn field(&self) -> &Field {
        &self.field
    }

    fn advance(&mut self) -> Result<Option<ArrayRef>, ArrowFault> {
        let get_next = self.stream.get_next().ok_or(ArrowFault::NoFunction("get_next"))?;
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: it is the stream's own function, with a place for an array.
        match unsafe { get_next(&raw mut self.stream, &raw mut array) } {
            0 if array.is_released() => Ok(None),
            0 => array_of(array, &self.kind, &self.field).map(Some),
            errno => Err(refused(&mut self.stream, "get_next", errno)),
        }
    }
}

impl Iterator for ArrowStream {
    type Item = Result<ArrayRef, ArrowFault>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

/// Imports one array with its type.
///
/// # Safety
///
/// By the interface the array is of this type, and its buffers have the lengths that this implies.
///
/// # Errors
///
/// [`ArrowFault::Wrong`].
pub unsafe fn import(
    array: FFI_ArrowArray,
    kind: &FFI_ArrowSchema,
) -> Result<(Field, ArrayRef), ArrowFault> {
    let field = field_of(kind)?;
    let array = array_of(array, kind, &field)?;
    Ok((field, array))
}

fn field_of(kind: &FFI_ArrowSchema) -> Result<Field, ArrowFault> {
    let wrong = |why: &dyn Display| ArrowFault::Wrong { what: "schema", why: why.to_string() };
    shape::schema(kind).map_err(|why| wrong(&why))?;
    match caught(|| Field::try_from(kind)) {
        Some(field) => field.map_err(|why| wrong(&why)),
        None => Err(wrong(&"a number in it does not fit its type")),
    }
}

fn array_of(
    array: FFI_ArrowArray,
    kind: &FFI_ArrowSchema,
    field: &Field,
) -> Result<ArrayRef, ArrowFault> {
    let wrong = |why: &dyn Display| ArrowFault::Wrong { what: "array", why: why.to_string() };
    shape::array(&array, kind).map_err(|why| wrong(&why))?;
    let make = || {
        // SAFETY: by the interface the array is of the schema's type.
        let data = unsafe { from_ffi_and_data_type(array, field.data_type().clone()) }?;
        data.validate_full()?;
        Ok::<_, ArrowError>(make_array(data))
    };
    match caught(make) {
        Some(array) => array.map_err(|why| wrong(&why)),
        None => Err(wrong(&"its buffers do not fit its type")),
    }
}

/// Returns the failed function, and the reason.
fn refused(
    stream: &mut FFI_ArrowArrayStream,
    function: &'static str,
    errno: i32,
) -> ArrowFault {
    let mut text = None;
    if let Some(get_last_error) = stream.get_last_error() {
        // SAFETY: it is the stream's own function, and the last call has failed.
        let said = unsafe { get_last_error(stream) };
        if !said.is_null() {
            // SAFETY: by the interface it is a string that lives until the next call.
            let said = unsafe { CStr::from_ptr(said) };
            text = Some(said.to_string_lossy().into_owned());
        }
    }
    ArrowFault::Refused { function, errno, text }
}
