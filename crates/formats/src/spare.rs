//! Things that one worker is done with and the next can use: contexts and buffers.

use std::sync::{Mutex, PoisonError};

/// Holds what nobody uses right now. As many exist as were in use at one time.
#[derive(Debug)]
pub(crate) struct Spare<T>(Mutex<Vec<T>>);

impl<T> Spare<T> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// One of them, if there is one.
    pub(crate) fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    pub(crate) fn put(&self, thing: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(thing);
    }
}

impl Spare<Vec<u8>> {
    /// An empty buffer, with whatever room it had.
    pub(crate) fn buffer(&self) -> Vec<u8> {
        let mut buffer = self.take().unwrap_or_default();
        buffer.clear();
        buffer
    }
}
