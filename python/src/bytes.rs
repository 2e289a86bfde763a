//! Bytes of the caller's, looked at while the lock is given up.

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;

/// A contiguous bytes-like object that is held.
pub(crate) struct Borrowed(PyUntypedBuffer);

impl<'py> FromPyObject<'_, 'py> for Borrowed {
    type Error = PyErr;

    fn extract(object: pyo3::Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let held = PyUntypedBuffer::get(&object)?;
        if !held.is_c_contiguous() {
            return Err(PyBufferError::new_err("bytes with gaps: they are to be C-contiguous"));
        }
        Ok(Self(held))
    }
}

impl Borrowed {
    /// They. Whoever changes them meanwhile gets a mixture, as with `os.write`.
    pub(crate) fn bytes(&self) -> &[u8] {
        let (place, len) = (self.0.buf_ptr().cast_const().cast::<u8>(), self.0.len_bytes());
        if len == 0 {
            return &[];
        }
        // SAFETY: the object exports so many contiguous bytes until it is released, which holding it
        // prevents.
        unsafe { std::slice::from_raw_parts(place, len) }
    }
}
