//! Exports Swath's batches as a stream that any Arrow library accepts.
//!
//! ```text
//! get_next ── caught: the next batch, or a failure ── 0, or an errno; get_last_error has the message
//! release ─── frees it, at any position, and leaves NULL in `release`
//! ```
//!
//! A stream that has failed fails again, so that no program takes a failure for its end.

use std::ffi::{CString, c_char, c_int};
use std::ptr;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, StructArray};
use arrow_schema::{ArrowError, SchemaRef};

use crate::failure::{Failure, Result};
use crate::guard::{caught, quietly};
use crate::status::Status;

/// The batches of a stream, one after the other.
pub(super) type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// The state of an exported stream.
struct Exported {
    schema: SchemaRef,
    /// `None` once the stream has failed.
    batches: Option<Batches>,
    error: Option<(c_int, CString)>,
}

/// Makes a stream.
pub(super) fn exported(schema: &SchemaRef, batches: Batches) -> Result<FFI_ArrowArrayStream> {
    let schema = Arc::clone(schema);
    if let Some(index) = schema.fields().iter().position(|field| field.name().contains('\0')) {
        let text = format!(
            "the name of column {index} of the batches has a NUL byte, which ends a text in C; \
             try: set its `rename` with swath_options_set_at"
        );
        return Err(Failure::new(Status::Corrupt, text));
    }
    let exported = Exported { schema, batches: Some(batches), error: None };
    let data = Box::into_raw(Box::new(exported)).cast();
    // SAFETY: the functions do what Arrow's interface says, with an `Exported` of their own, which
    // lives until `release` frees it and marks the stream as released.
    Ok(unsafe {
        FFI_ArrowArrayStream::new_unchecked(
            Some(get_schema),
            Some(get_next),
            Some(get_last_error),
            Some(release),
            data,
        )
    })
}

/// Returns the state of the stream.
///
/// # Safety
///
/// `stream` is NULL, or a stream of [`exported`] that no other thread uses.
unsafe fn data<'s>(stream: *mut FFI_ArrowArrayStream) -> Option<&'s mut Exported> {
    // SAFETY: as above.
    let data = unsafe { stream.as_ref() }?.private_data().cast::<Exported>();
    // SAFETY: as above; it is NULL once the stream was released.
    unsafe { data.as_mut() }
}

/// Writes a result to the caller's place.
///
/// # Safety
///
/// As [`data`]; and `out` is NULL, or a place for a result.
unsafe fn answer<T>(
    stream: *mut FFI_ArrowArrayStream,
    out: *mut T,
    make: impl FnOnce(&mut Exported) -> Result<T>,
) -> c_int {
    // SAFETY: as above.
    let Some(exported) = (unsafe { data(stream) }) else {
        return Failure::invalid("").as_errno();
    };
    let made = caught(|| match out.is_null() {
        true => Err(Failure::invalid("`out` is NULL")),
        false => make(exported),
    });
    match made {
        Ok(made) => {
            // SAFETY: not NULL, so it is a place for it; what is there now has no value.
            unsafe { out.write(made) };
            0
        }
        Err(failure) => exported.fail(&failure),
    }
}

impl Exported {
    fn fail(&mut self, failure: &Failure) -> c_int {
        let errno = failure.as_errno();
        self.error = Some((errno, failure.text()));
        errno
    }

    fn schema(&self) -> Result<FFI_ArrowSchema> {
        FFI_ArrowSchema::try_from(self.schema.as_ref()).map_err(impossible)
    }

    /// Returns the next batch as an array of structs; at the end a released one.
    fn next(&mut self) -> Result<FFI_ArrowArray> {
        let Some(batches) = &mut self.batches else { return Ok(FFI_ArrowArray::empty()) };
        match caught(|| batches.next().transpose()) {
            Ok(Some(batch)) => Ok(FFI_ArrowArray::new(&StructArray::from(batch).to_data())),
            Ok(None) => Ok(FFI_ArrowArray::empty()),
            Err(failure) => {
                let batches = self.batches.take();
                quietly(|| drop(batches));
                Err(failure)
            }
        }
    }
}

/// Returns the error for a conversion that Arrow's own types always allow.
fn impossible(error: ArrowError) -> Failure {
    Failure::new(Status::Panic, format!("a bug in Swath: {error}; try: report it"))
}

unsafe extern "C" fn get_schema(
    stream: *mut FFI_ArrowArrayStream,
    out: *mut FFI_ArrowSchema,
) -> c_int {
    // SAFETY: the interface: a stream of ours, and a place.
    unsafe { answer(stream, out, |exported| exported.schema()) }
}

unsafe extern "C" fn get_next(
    stream: *mut FFI_ArrowArrayStream,
    out: *mut FFI_ArrowArray,
) -> c_int {
    // SAFETY: the interface: a stream of ours.
    let failed = match unsafe { data(stream) } {
        Some(Exported { batches: None, error, .. }) => error.as_ref().map(|(errno, _)| *errno),
        _ => None,
    };
    if let Some(errno) = failed {
        return errno;
    }
    // SAFETY: as above, and a place.
    unsafe { answer(stream, out, Exported::next) }
}

unsafe extern "C" fn get_last_error(stream: *mut FFI_ArrowArrayStream) -> *const c_char {
    // SAFETY: the interface: a stream of ours.
    let error = unsafe { data(stream) }.and_then(|exported| exported.error.as_ref());
    error.map_or(ptr::null(), |(_, text)| text.as_ptr())
}

unsafe extern "C" fn release(stream: *mut FFI_ArrowArrayStream) {
    // SAFETY: the interface: a stream of ours.
    let Some(exported) = (unsafe { data(stream) }) else { return };
    // SAFETY: it came from a box, and no pointer to it is used after this.
    let exported = unsafe { Box::from_raw(exported) };
    // SAFETY: as above. What was there is not dropped: it was released just now.
    unsafe { stream.write(FFI_ArrowArrayStream::empty()) };
    quietly(|| drop(exported));
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;
    use std::iter;
    use std::mem::MaybeUninit;

    use arrow_array::record_batch;
    use arrow_schema::{DataType, Field, Schema};

    use super::*;

    fn batch() -> RecordBatch {
        record_batch!(("n", Int32, [1, 2])).expect("a batch")
    }

    fn next(stream: &mut FFI_ArrowArrayStream) -> Result<usize, c_int> {
        let get_next = stream.get_next().expect("it has one");
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: a stream of ours, and a place.
        match unsafe { get_next(stream, &raw mut array) } {
            0 if array.is_released() => Ok(0),
            0 => Ok(array.len()),
            errno => Err(errno),
        }
    }

    fn error(stream: &mut FFI_ArrowArrayStream) -> String {
        let get_last_error = stream.get_last_error().expect("it has one");
        // SAFETY: a stream of ours that has failed.
        let text = unsafe { get_last_error(stream) };
        // SAFETY: a C string that lives until the next call.
        unsafe { CStr::from_ptr(text) }.to_str().expect("UTF-8").to_owned()
    }

    fn stream(
        rest: impl Iterator<Item = Result<RecordBatch>> + Send + 'static,
    ) -> FFI_ArrowArrayStream {
        exported(&batch().schema(), Box::new(rest)).expect("its names are texts")
    }

    #[test]
    fn a_stream_ends_and_stays_ended() {
        let mut it = stream(iter::once(Ok(batch())));
        assert_eq!([next(&mut it), next(&mut it), next(&mut it)], [Ok(2), Ok(0), Ok(0)]);
    }

    #[test]
    fn a_stream_that_failed_fails_again_with_the_whole_message() {
        let failures = [Ok(batch()), Err(Failure::of_errno(28, "no\0space")), Ok(batch())];
        let mut it = stream(failures.into_iter());
        assert_eq!([next(&mut it), next(&mut it), next(&mut it)], [Ok(2), Err(28), Err(28)]);
        assert_eq!(error(&mut it), r"no\u{0}space");
    }

    #[test]
    fn a_panic_is_an_error_of_the_stream() {
        struct Panics;
        impl Iterator for Panics {
            type Item = Result<RecordBatch>;
            fn next(&mut self) -> Option<Self::Item> {
                panic!("planted in a batch")
            }
        }
        impl Drop for Panics {
            fn drop(&mut self) {
                panic!("planted in a drop")
            }
        }
        let mut it = stream(Panics);
        assert_eq!([next(&mut it), next(&mut it)], [Err(5), Err(5)]);
        assert!(error(&mut it).contains("a bug in Swath: planted in a batch"));
        drop(stream(Panics));
    }

    #[test]
    fn a_place_that_is_null_is_an_error() {
        let mut it = stream(iter::once(Ok(batch())));
        let get_schema = it.get_schema().expect("it has one");
        // SAFETY: a stream of ours.
        assert_eq!(unsafe { get_schema(&raw mut it, ptr::null_mut()) }, 22);
        assert_eq!(error(&mut it), "`out` is NULL");
        let mut schema = MaybeUninit::<FFI_ArrowSchema>::uninit();
        // SAFETY: a stream of ours, and a place.
        assert_eq!(unsafe { get_schema(&raw mut it, schema.as_mut_ptr()) }, 0);
        // SAFETY: it was written just now.
        drop(unsafe { schema.assume_init() });
        assert_eq!(next(&mut it), Ok(2));
    }

    #[test]
    fn a_name_that_c_cannot_have_is_refused_before_anything_is_given() {
        let schema = Schema::new(vec![Field::new("a\0b", DataType::Int32, true)]);
        let refused = exported(&Arc::new(schema), Box::new(iter::empty()));
        let text = refused.map(drop).expect_err("a NUL").to_string();
        assert!(text.contains("column 0") && text.contains("options_set_at"), "{text}");
    }
}
