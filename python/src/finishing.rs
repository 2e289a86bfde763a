//! A writer that ends once, with a receipt.

use swath::machine::Mutex;

use pyo3::exceptions::PyRuntimeError;

use crate::error::Failure;
use crate::own::Own;

/// A writer until it is finished, then its receipt.
pub(crate) struct Finishing<W, R> {
    state: Own<Mutex<FinishState<W, R>>>,
    /// The message of a late call.
    over: &'static str,
}

enum FinishState<W, R> {
    Open(W),
    Finished(R),
    /// It failed, or was abandoned.
    Over,
}

impl<W, R: Clone> Finishing<W, R> {
    pub(crate) fn new(writer: W, over: &'static str) -> Self {
        Self { state: Own::new(Mutex::new(FinishState::Open(writer))), over }
    }

    fn over(&self) -> Failure {
        Failure::Python(PyRuntimeError::new_err(self.over))
    }

    /// Calls `call` with the writer, while it is open. Other threads wait.
    pub(crate) fn with<T>(
        &self,
        call: impl FnOnce(&mut W) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        match &mut *self.state.get()?.lock() {
            FinishState::Open(writer) => call(writer),
            _ => Err(self.over()),
        }
    }

    /// Returns the receipt; `None` until the writer is finished.
    pub(crate) fn receipt(&self) -> Result<Option<R>, Failure> {
        match &*self.state.get()?.lock() {
            FinishState::Finished(receipt) => Ok(Some(receipt.clone())),
            _ => Ok(None),
        }
    }

    /// Ends the writer with `finish`, and returns the receipt; again if it has ended before. A writer that
    /// `finish` returns with its failure stays open.
    pub(crate) fn end(
        &self,
        finish: impl FnOnce(W) -> Result<R, (Option<W>, Failure)>,
    ) -> Result<R, Failure> {
        let mut state = self.state.get()?.lock();
        let receipt = match std::mem::replace(&mut *state, FinishState::Over) {
            FinishState::Over => return Err(self.over()),
            FinishState::Finished(receipt) => receipt,
            FinishState::Open(writer) => finish(writer).map_err(|(writer, failure)| {
                *state = writer.map_or(FinishState::Over, FinishState::Open);
                failure
            })?,
        };
        *state = FinishState::Finished(receipt.clone());
        Ok(receipt)
    }

    /// Ends a `with` block: finishes the writer, or abandons it after an exception.
    pub(crate) fn leave(
        &self,
        has_failed: bool,
        finish: impl FnOnce(W) -> Result<R, (Option<W>, Failure)>,
    ) -> Result<(), Failure> {
        if !has_failed {
            return self.end(finish).map(drop);
        }
        if self.state.is_foreign() {
            // The writer belongs to the parent.
            return Ok(());
        }
        let mut state = self.state.get()?.lock();
        if matches!(*state, FinishState::Open(_)) {
            *state = FinishState::Over;
        }
        Ok(())
    }
}
