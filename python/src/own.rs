//! Values that belong to the process that created them, not to its forked children.

use std::mem;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// A value with threads and files that a forked child does not have: there it cannot be used, and is
/// not dropped.
pub(crate) struct Own<T> {
    value: Option<T>,
    process: u32,
}

impl<T> Own<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Some(value), process: std::process::id() }
    }

    /// Whether this is another process than the creator.
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
            // A drop would wait for threads that this process lacks, or remove files that the parent needs.
            mem::forget(self.value.take());
        }
    }
}
