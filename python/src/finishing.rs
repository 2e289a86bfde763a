//! A writer that ends once, with a receipt.

use swath::machine::Mutex;

use pyo3::exceptions::PyRuntimeError;

use crate::error::Failure;
use crate::own::Own;

/// A writer until it is finished, then its receipt.
pub(crate) struct Finishing<W, R> {
    state: Own<Mutex<State<W, R>>>,
    /// What a call gets that comes too late.
    over: &'static str,
}

enum State<W, R> {
    Open(W),
    Finished(R),
    /// It failed, or was given up.
    Over,
}

impl<W, R: Clone> Finishing<W, R> {
    pub(crate) fn new(writer: W, over: &'static str) -> Self {
        Self { state: Own::new(Mutex::new(State::Open(writer))), over }
    }

    fn over(&self) -> Failure {
        Failure::Python(PyRuntimeError::new_err(self.over))
    }

    /// Calls `call` with the writer as long as it is open. Other threads wait.
    pub(crate) fn with<T>(
        &self,
        call: impl FnOnce(&mut W) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        match &mut *self.state.get()?.lock() {
            State::Open(writer) => call(writer),
            _ => Err(self.over()),
        }
    }

    /// The receipt; `None` until it is finished.
    pub(crate) fn receipt(&self) -> Result<Option<R>, Failure> {
        match &*self.state.get()?.lock() {
            State::Finished(receipt) => Ok(Some(receipt.clone())),
            _ => Ok(None),
        }
    }

    /// Ends it with `finish`, and returns the receipt: the same if it has ended before. A writer that `finish`
    /// returns with its failure stays open.
    pub(crate) fn end(
        &self,
        finish: impl FnOnce(W) -> Result<R, (Option<W>, Failure)>,
    ) -> Result<R, Failure> {
        let mut state = self.state.get()?.lock();
        let receipt = match std::mem::replace(&mut *state, State::Over) {
            State::Over => return Err(self.over()),
            State::Finished(receipt) => receipt,
            State::Open(writer) => finish(writer).map_err(|(writer, failure)| {
                *state = writer.map_or(State::Over, State::Open);
                failure
            })?,
        };
        *state = State::Finished(receipt.clone());
        Ok(receipt)
    }

    /// The end of a block: finishes it, or gives it up after an exception.
    pub(crate) fn leave(
        &self,
        has_failed: bool,
        finish: impl FnOnce(W) -> Result<R, (Option<W>, Failure)>,
    ) -> Result<(), Failure> {
        if !has_failed {
            return self.end(finish).map(drop);
        }
        if self.state.is_foreign() {
            // It goes on in the parent.
            return Ok(());
        }
        let mut state = self.state.get()?.lock();
        if matches!(*state, State::Open(_)) {
            *state = State::Over;
        }
        Ok(())
    }
}
