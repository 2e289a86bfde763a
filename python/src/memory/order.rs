//! The order of the items of a buffer, and the views that it grants: those of numpy's arrays.

use std::ffi::{c_int, c_void};
use std::ptr;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

use super::Buffer;

impl Buffer {
    /// Whether the items are adjacent, with the first of `dimensions` changing fastest.
    fn is_dense<'s>(
        &'s self,
        dimensions: impl Iterator<Item = (&'s isize, &'s isize)>,
    ) -> bool {
        let mut next = self.item_size;
        let dense = dimensions.filter(|(len, _)| **len != 1).all(|(len, stride)| {
            let is_next = *stride == next;
            next *= len;
            is_next
        });
        dense || self.bytes == 0
    }

    /// Whether the items have the order of arrays in C.
    pub(super) fn is_c_contiguous(&self) -> bool {
        self.is_dense(self.shape.iter().zip(&self.strides).rev())
    }

    /// Whether the items have the order of arrays in Fortran.
    fn is_f_contiguous(&self) -> bool {
        self.is_dense(self.shape.iter().zip(&self.strides))
    }

    /// Fills in a view, except for its object; fails if the memory does not meet the request.
    pub(super) fn fill_in(&self, view: &mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if self.readonly && flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("this buffer was asked for with readonly=True"));
        }
        let asked = |flag| flags & flag == flag;
        self.check_order(flags)?;
        view.buf = self.place.as_ptr().cast::<c_void>();
        view.len = self.bytes;
        view.itemsize = self.item_size;
        view.readonly = c_int::from(self.readonly);
        // Without a shape, one dimension, as in numpy: several would promise a shape.
        view.ndim = match self.shape.len() {
            0 | 1 => 1,
            _ if !asked(ffi::PyBUF_ND) => 0,
            dimensions => c_int::try_from(dimensions).unwrap_or(0),
        };
        view.format = match asked(ffi::PyBUF_FORMAT) {
            true => self.format.as_ptr().cast_mut(),
            false => ptr::null_mut(),
        };
        view.shape = match asked(ffi::PyBUF_ND) {
            true => self.shape.as_ptr().cast_mut(),
            false => ptr::null_mut(),
        };
        view.strides = match asked(ffi::PyBUF_STRIDES) {
            true => self.strides.as_ptr().cast_mut(),
            false => ptr::null_mut(),
        };
        view.suboffsets = ptr::null_mut();
        view.internal = ptr::null_mut();
        Ok(())
    }

    /// Fails if a view requests an order that the items do not have.
    fn check_order(&self, flags: c_int) -> PyResult<()> {
        let asked = |flag| flags & flag == flag;
        let (c, f) = (self.is_c_contiguous(), self.is_f_contiguous());
        let refused = if asked(ffi::PyBUF_C_CONTIGUOUS) && !c {
            "the items are not in C order"
        } else if asked(ffi::PyBUF_F_CONTIGUOUS) && !f {
            "the items are not in Fortran order"
        } else if asked(ffi::PyBUF_ANY_CONTIGUOUS) && !c && !f {
            "there are gaps between the items"
        } else if !asked(ffi::PyBUF_STRIDES) && !c {
            "there are gaps between the items, and strides were not requested"
        } else {
            return Ok(());
        };
        Err(PyBufferError::new_err(format!("{refused}; try: copy it with numpy.array(buffer)")))
    }
}
