//! Buffers in pickles, and copies of them.
//!
//! ```text
//! protocol 5      PickleBuffer ── buffer_callback ──▶ any transport ──▶ buffers= ──▶ Buffer of that memory
//!                      └──────── in the pickle, as bytes or bytearray ──────────────▶ Buffer of that memory
//! protocol 0…4    bytes in the pickle ─────────────────────────────────────────────▶ Buffer of a copy
//! ```
//!
//! A pickle may come from outside: its lengths are checked.

use std::ffi::CStr;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyMemoryView, PyTuple};

use super::{Buffer, NumberKind};
use crate::bytes::Held;
use crate::park;
use crate::work::detached;

/// The first protocol that passes buffers without a copy.
const OUT_OF_BAND: i32 = 5;

/// Returns the function that restores a buffer, and its arguments.
pub(super) fn reduced<'py>(
    buffer: &Bound<'py, Buffer>,
    protocol: i32,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
    let (py, this) = (buffer.py(), buffer.get());
    let is_lent = protocol >= OUT_OF_BAND && this.is_c_contiguous();
    let bytes = match is_lent {
        true => park::module(py, "pickle")?.getattr("PickleBuffer")?.call1((buffer,))?,
        false => PyMemoryView::from(buffer.as_any())?.call_method0("tobytes")?,
    };
    let shape = PyTuple::new(py, this.shape.iter())?;
    let format = this.format.to_str().unwrap_or_default();
    let restore = park::module(py, "swath._swath")?.getattr("restore_buffer")?;
    let said = (bytes, format, shape, this.readonly, !is_lent).into_bound_py_any(py)?;
    Ok((restore, said.cast_into::<PyTuple>()?))
}

/// Returns a copy of a buffer.
pub(super) fn copied(buffer: &Bound<'_, Buffer>) -> PyResult<Buffer> {
    let (py, this) = (buffer.py(), buffer.get());
    let bytes = match this.is_c_contiguous() {
        true => buffer.as_any().clone(),
        false => PyMemoryView::from(buffer.as_any())?.call_method0("tobytes")?,
    };
    let shape = this.shape.iter().map(|len| len.unsigned_abs()).collect();
    let format = this.format.to_str().unwrap_or_default();
    restore_buffer(py, &bytes, format, shape, this.readonly, true)
}

/// Restores a pickled buffer: of the memory of ``data``, or of a copy of it.
#[pyfunction]
#[pyo3(signature = (data, format, shape, readonly, copy))]
pub(crate) fn restore_buffer(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    format: &str,
    shape: Vec<usize>,
    readonly: bool,
    copy: bool,
) -> PyResult<Buffer> {
    let held = Held::of(data, "the pickled buffer")?;
    let Some((item_size, format)) = item(format) else {
        let text = format!("the pickled buffer has items of the unknown format {format:?}");
        return Err(PyValueError::new_err(text));
    };
    let wanted = shape.iter().try_fold(item_size, |bytes, len| bytes.checked_mul(*len));
    if wanted != Some(held.len()) {
        let text = format!(
            "the pickled buffer has {} bytes, but should have {shape:?} items of {item_size}; try: \
             give loads() the buffers of this pickle, in their order",
            held.len()
        );
        return Err(PyValueError::new_err(text));
    }
    if !copy {
        let readonly = readonly || held.is_readonly();
        return Buffer::new(held.place(), &shape, item_size, format, readonly, Box::new(held));
    }
    let mut array = detached(py, || held.copied::<u8>())?;
    let place = std::ptr::NonNull::from(&mut *array).cast();
    Buffer::new(place, &shape, item_size, format, readonly, Box::new(array))
}

/// Returns the size and the format of the items, if a buffer may have them.
fn item(format: &str) -> Option<(usize, &'static CStr)> {
    fn of<T: NumberKind>() -> (usize, &'static CStr) {
        (size_of::<T>(), T::FORMAT)
    }
    let known = [
        of::<u8>(),
        of::<i8>(),
        of::<u16>(),
        of::<i16>(),
        of::<u32>(),
        of::<i32>(),
        of::<u64>(),
        of::<i64>(),
        of::<f32>(),
        of::<f64>(),
    ];
    known.into_iter().find(|(_, known)| known.to_str() == Ok(format))
}
