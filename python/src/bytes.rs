//! Bytes of the caller, which are read while the lock is released.

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
/// It is requested as plain bytes, as by `readinto`: so objects without a shape, such as arrays of
/// `ctypes` and numpy's of no dimension, are accepted by their bytes.
///
/// The export promises that the memory keeps its place and length, not that no thread writes to it.
/// That is the caller's part, as for `os.write` and `readinto`, whose `write(2)` and `read(2)` access
/// the memory without the lock too. If a thread writes during the call, that is a data race in Rust.
/// The result is then a mixture of old and new bytes, and no worse, because all code that reads them
/// is safe code that accepts any bytes: it uses no length, place or tag in them without checking the
/// copy that it uses.
pub(crate) struct Held(Box<ffi::Py_buffer>);

// SAFETY: the export is valid for every thread until it is released; the view itself is only used
// when it is dropped, with the lock.
unsafe impl Send for Held {}
// SAFETY: as above; the view does not change after its creation.
unsafe impl Sync for Held {}

/// Whether an object exports bytes.
pub(crate) fn exports_bytes(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the object is alive.
    unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) != 0 }
}

impl Held {
    /// Holds the bytes of an object; `what` is its name in messages.
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
        // A released view has an error of its own.
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

    /// Returns a copy of the bytes as numbers.
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

    /// Returns the address of the bytes; dangling if there are none.
    pub(crate) fn place(&self) -> NonNull<u8> {
        NonNull::new(self.0.buf.cast()).unwrap_or(NonNull::dangling())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // At the interpreter's end there is no owner to return it to.
        let _ = Python::try_attach(|_| {
            // SAFETY: the interpreter filled it in, and it is released once.
            unsafe { ffi::PyBuffer_Release(&raw mut *self.0) }
        });
    }
}

/// An argument whose contiguous bytes are held.
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

    /// Returns the bytes as numbers; copied if they are not aligned for them.
    pub(crate) fn numbers<T: Pod>(&self) -> Result<Cow<'_, [T]>, Failure> {
        match bytemuck::try_cast_slice(self.bytes()) {
            Ok(numbers) => Ok(Cow::Borrowed(numbers)),
            Err(_) => Ok(Cow::Owned(self.copied::<T>()?.to_vec())),
        }
    }

    /// Returns a copy of the bytes as numbers.
    pub(crate) fn copied<T: Pod>(&self) -> Result<Array<T>, Failure> {
        self.0.copied()
    }
}
