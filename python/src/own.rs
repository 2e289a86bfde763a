//! Values that belong to the process that made them, not to its forked children.

use std::mem;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// A value whose threads and files a child of `fork` does not have: there it cannot be used, and is
/// not taken down.
pub(crate) struct Own<T> {
    value: Option<T>,
    process: u32,
}

impl<T> Own<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Some(value), process: std::process::id() }
    }

    /// Whether this is another process.
    pub(crate) fn is_foreign(&self) -> bool {
        self.process != std::process::id()
    }

    pub(crate) fn get(&self) -> PyResult<&T> {
        match &self.value {
            Some(value) if !self.is_foreign() => Ok(value),
            _ => Err(PyRuntimeError::new_err(
                "it belongs to the process that this one was forked from; try: open it in this process",
            )),
        }
    }
}

impl<T> Drop for Own<T> {
    fn drop(&mut self) {
        if self.is_foreign() {
            // Its end would wait for threads that are not here, or remove files that are needed there.
            mem::forget(self.value.take());
        }
    }
}
