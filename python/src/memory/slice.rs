//! Slices of a buffer, which use the same memory, and the bytes that it holds.

use std::borrow::Cow;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PySlice, PySliceMethods};

use super::{Buffer, NumberKind, Owner};

impl Buffer {
    /// Returns some items of the first dimension, in the same memory.
    pub(super) fn slice(slf: &Bound<'_, Self>, slice: &Bound<'_, PySlice>) -> PyResult<Self> {
        let this = slf.get();
        let (Some(&len), Some(&stride)) = (this.shape.first(), this.strides.first()) else {
            return Err(PyTypeError::new_err("there is one item: it has no slices"));
        };
        let taken = slice.indices(len)?;
        let (mut shape, mut strides) = (this.shape.clone(), this.strides.clone());
        shape[0] = isize::try_from(taken.slicelength)?;
        if shape[0] > 1 {
            strides[0] = stride * taken.step;
        }
        let bytes = shape.iter().product::<isize>() * this.item_size;
        // The start of an empty slice may be past the last item.
        let first = if bytes == 0 { 0 } else { taken.start * stride };
        // SAFETY: the interpreter keeps indices below the length, so that this is an item.
        let place = unsafe { this.place.offset(first) };
        let owner = match &this.owner {
            Owner::Memory(_) => Owner::Whole(slf.clone().unbind()),
            Owner::Whole(whole) => Owner::Whole(whole.clone_ref(slf.py())),
        };
        let Self { item_size, format, readonly, .. } = *this;
        Ok(Self { place, shape, strides, item_size, bytes, format, readonly, owner })
    }

    pub(super) fn is_bytes(&self) -> bool {
        self.format == u8::FORMAT && self.shape.len() == 1
    }

    /// Returns the bytes, copied if there are gaps between them; an error for other numbers.
    pub(super) fn contents(&self) -> PyResult<Cow<'_, [u8]>> {
        if !self.is_bytes() {
            let text = "this Buffer holds numbers, not bytes; try: use numpy.asarray(buffer) or \
                        buffer.tobytes()";
            return Err(PyTypeError::new_err(text));
        }
        let (len, stride) = (self.shape[0], self.strides[0]);
        if self.is_c_contiguous() {
            // SAFETY: the owner keeps this many initialised bytes there. The interpreter's lock is held, so
            // no thread that runs Python writes. A thread that has released the lock may write through a
            // view: that is a data race of the caller's making, and the result may be of old and new
            // bytes. It is only ever an index within the length, or a copy.
            let bytes = unsafe {
                std::slice::from_raw_parts(self.place.as_ptr(), self.bytes.unsigned_abs())
            };
            return Ok(Cow::Borrowed(bytes));
        }
        let item = |at: isize| {
            // SAFETY: `slice` ensured that each of these is an item.
            let place = unsafe { self.place.offset(at * stride) };
            // SAFETY: as above, including the note about writers.
            unsafe { place.read() }
        };
        Ok(Cow::Owned((0..len).map(item).collect()))
    }
}
