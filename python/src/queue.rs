//! A queue between a reading thread and Python: items in order, bounded by their bytes.

use std::collections::VecDeque;
use std::time::Duration;

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;
use swath::machine::{Condvar, Mutex};

/// A bounded queue; see the [module](self).
pub(crate) struct Queue<T> {
    state: Mutex<QueueState<T>>,
    changed: Condvar,
    /// Bytes that may wait; a single item may exceed them.
    most: u64,
}

struct QueueState<T> {
    items: VecDeque<(T, u64)>,
    bytes: u64,
    /// Whether one side has ended.
    is_over: bool,
}

/// An item of the queue.
pub(crate) enum QueueItem<T> {
    Item(T),
    /// No item came in time.
    Nothing,
    /// All items were taken.
    Over,
}

/// Returns the exception for a stream that is read after it was closed.
pub(crate) fn closed_stream() -> PyErr {
    PyValueError::new_err(
        "the stream is closed; try: read it before close(), and within its `with` block",
    )
}

/// The receiver has ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Closed;

impl<T> Queue<T> {
    pub(crate) fn new(most: u64) -> Self {
        let state = QueueState { items: VecDeque::new(), bytes: 0, is_over: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), most }
    }

    /// Adds an item, after waiting for room for its `bytes`.
    pub(crate) fn give(&self, item: T, bytes: u64) -> Result<(), Closed> {
        let mut state = self.state.lock();
        while !state.is_over && state.bytes > 0 && state.bytes + bytes > self.most {
            state = self.changed.wait(state);
        }
        if state.is_over {
            return Err(Closed);
        }
        state.bytes += bytes;
        state.items.push_back((item, bytes));
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// Takes the next item, waiting at most `most`.
    pub(crate) fn take(&self, most: Duration) -> QueueItem<T> {
        let is_empty = |state: &mut QueueState<T>| state.items.is_empty() && !state.is_over;
        let waited = self.changed.wait_timeout_while(self.state.lock(), most, is_empty);
        let mut state = waited.0;
        match state.items.pop_front() {
            Some((item, bytes)) => {
                state.bytes -= bytes;
                drop(state);
                self.changed.notify_all();
                QueueItem::Item(item)
            }
            None if state.is_over => QueueItem::Over,
            None => QueueItem::Nothing,
        }
    }

    /// Ends the giving side; remaining items can still be taken.
    pub(crate) fn end(&self) {
        self.state.lock().is_over = true;
        self.changed.notify_all();
    }

    /// Ends the taking side.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.is_over = true;
        state.bytes = 0;
        let items = std::mem::take(&mut state.items);
        drop(state);
        self.changed.notify_all();
        drop(items);
    }
}
