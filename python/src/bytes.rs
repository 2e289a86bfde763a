//! Bytes of the caller, read while the lock is released.

use std::borrow::Cow;
use std::ptr::NonNull;

use bytemuck::Pod;
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;
use swath::Array;

use crate::error::Failure;
use crate::park;

/// Contiguous memory of an object, which exports it until this is dropped.
///
/// Asked for as plain bytes, as `readinto` does: so whatever has no shape, as arrays of `ctypes`
/// and numpy's of no dimension, is taken by its bytes.
///
/// The export promises that the memory stays where it is, and as long as it is; not that nobody
/// writes to it. Keeping others from it is the caller's part, as for `os.write` and `readinto`, whose
/// `write(2)` and `read(2)` look at the memory without the lock, too. Should a thread write
/// during the call, Rust calls that a data race. The result is then a mixture of old and new
/// ones; no more can go wrong, because whatever looks at them is safe code that takes any bytes: it
/// believes no length, place or tag in them without a check of the copy that it uses.
pub(crate) struct Held(Box<ffi::Py_buffer>);

// SAFETY: the export holds for every thread until it is released; the view itself is only touched
// when it is dropped, with the lock.
unsafe impl Send for Held {}
// SAFETY: as above; the view does not change after it was made.
unsafe impl Sync for Held {}

/// Whether an object has bytes to be held.
pub(crate) fn exports_bytes(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the object is alive.
    unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) != 0 }
}

impl Held {
    /// `what` is how the caller named it.
    pub(crate) fn of(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        park::at_end();
        let mut view = Box::new(ffi::Py_buffer::new());
        // SAFETY: the object is alive, and there is a view to be filled in.
        let status = unsafe {
            ffi::PyObject_GetBuffer(object.as_ptr(), &raw mut *view, ffi::PyBUF_SIMPLE)
        };
        if status == 0 {
            return Ok(Self(view));
        }
        let error = PyErr::fetch(object.py());
        // The error of a released view says so.
        let is_released = object.is_instance_of::<PyMemoryView>()
            && error.is_instance_of::<PyValueError>(object.py());
        if is_released || !exports_bytes(object) {
            return Err(error);
        }
        let text = format!("{what} has gaps, or is not bytes; try: pass a contiguous copy");
        let told = PyBufferError::new_err(text);
        told.set_cause(object.py(), Some(error));
        Err(told)
    }

    /// The bytes. Changing them during the call gives a mixture, as with `os.write`.
    pub(crate) fn bytes(&self) -> &[u8] {
        let (place, len) = (self.place().as_ptr().cast_const(), self.len());
        // SAFETY: the object exports this many contiguous, initialised bytes until it is released, which
        // holding it prevents. That no thread writes to them is the caller's promise, which cannot
        // be checked; the consequences of breaking it are described above.
        unsafe { std::slice::from_raw_parts(place, len) }
    }

    /// Whether both have a byte in common.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let ends = |held: &Self| {
            let begin = held.place().as_ptr().addr();
            (begin, begin + held.len())
        };
        let ((begin, end), (other_begin, other_end)) = (ends(self), ends(other));
        begin.max(other_begin) < end.min(other_end)
    }

    /// The numbers that its bytes are, in memory of ours.
    pub(crate) fn copied<T: Pod>(&self) -> Result<Array<T>, Failure> {
        let bytes = self.bytes();
        if !bytes.len().is_multiple_of(size_of::<T>()) {
            let text =
                format!("{} bytes are not whole items of {}", bytes.len(), size_of::<T>());
            return Err(Failure::Python(PyTypeError::new_err(text)));
        }
        let mut array = Array::zeroed(bytes.len() / size_of::<T>())?;
        bytemuck::cast_slice_mut(&mut array).copy_from_slice(bytes);
        Ok(array)
    }

    pub(crate) fn is_readonly(&self) -> bool {
        self.0.readonly != 0
    }

    pub(crate) fn len(&self) -> usize {
        usize::try_from(self.0.len).unwrap_or(0)
    }

    /// Where it begins; anywhere if there is nothing.
    pub(crate) fn place(&self) -> NonNull<u8> {
        NonNull::new(self.0.buf.cast()).unwrap_or(NonNull::dangling())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // At the interpreter's end there is no owner left to return it to.
        let _ = Python::try_attach(|_| {
            // SAFETY: it was filled in by the interpreter, and is given back once.
            unsafe { ffi::PyBuffer_Release(&raw mut *self.0) }
        });
    }
}

/// A contiguous bytes-like object that is held.
pub(crate) struct Borrowed(Held);

impl<'py> FromPyObject<'_, 'py> for Borrowed {
    type Error = PyErr;

    fn extract(object: pyo3::Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(Held::of(&object, "what is to be written")?))
    }
}

impl Borrowed {
    /// The bytes. Changing them during the call gives a mixture, as with `os.write`.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    /// The numbers that they are; copied where such numbers may not begin.
    pub(crate) fn numbers<T: Pod>(&self) -> Result<Cow<'_, [T]>, Failure> {
        match bytemuck::try_cast_slice(self.bytes()) {
            Ok(numbers) => Ok(Cow::Borrowed(numbers)),
            Err(_) => Ok(Cow::Owned(self.copied::<T>()?.to_vec())),
        }
    }

    /// The numbers that they are, in memory of ours.
    pub(crate) fn copied<T: Pod>(&self) -> Result<Array<T>, Failure> {
        self.0.copied()
    }
}
