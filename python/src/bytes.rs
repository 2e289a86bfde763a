//! Bytes of the caller's, looked at while the lock is given up.

use bytemuck::Pod;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use swath::Array;

use crate::error::Failure;

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

    /// The numbers that they are, in memory of ours.
    pub(crate) fn copied<T: Pod>(&self) -> Result<Array<T>, Failure> {
        let bytes = self.bytes();
        if !bytes.len().is_multiple_of(size_of::<T>()) {
            let text = format!("{} bytes are no items of {}", bytes.len(), size_of::<T>());
            return Err(Failure::Python(PyTypeError::new_err(text)));
        }
        let mut array = Array::zeroed(bytes.len() / size_of::<T>())?;
        bytemuck::cast_slice_mut(&mut array).copy_from_slice(bytes);
        Ok(array)
    }
}
