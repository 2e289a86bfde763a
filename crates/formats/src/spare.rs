//! Contexts and buffers to reuse once a worker has finished with them.

use swath::machine::Mutex;

/// The items not in use. There are as many as were ever in use at the same time.
#[derive(Debug)]
pub(crate) struct Spare<T>(Mutex<Vec<T>>);

impl<T> Spare<T> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Takes an item, if there is one.
    pub(crate) fn take(&self) -> Option<T> {
        self.0.lock().pop()
    }

    pub(crate) fn put(&self, thing: T) {
        self.0.lock().push(thing);
    }
}

impl Spare<Vec<u8>> {
    /// Returns an empty buffer that keeps its capacity.
    pub(crate) fn buffer(&self) -> Vec<u8> {
        let mut buffer = self.take().unwrap_or_default();
        buffer.clear();
        buffer
    }
}
