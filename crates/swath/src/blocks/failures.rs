//! The first failure in file order, wherever and whenever it came.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why a piece came to nothing.
enum Failure<E> {
    Failed(E),
    Panicked(Box<dyn Any + Send>),
}

/// What went wrong so far: the failure of the first piece.
pub(crate) struct Failures<E> {
    first: Mutex<Option<(u64, Failure<E>)>>,
    any: AtomicBool,
}

impl<E> Default for Failures<E> {
    fn default() -> Self {
        Self { first: Mutex::new(None), any: AtomicBool::new(false) }
    }
}

impl<E> Failures<E> {
    /// Calls `f` for piece `number`; an error or a panic is kept.
    pub(crate) fn attempt<R>(
        &self,
        number: u64,
        f: impl FnOnce() -> Result<R, E>,
    ) -> Option<R> {
        // Whatever `f` changes is given up after a panic, and the panic goes on in the end.
        match catch_unwind(AssertUnwindSafe(f)) {
            Ok(Ok(value)) => return Some(value),
            Ok(Err(error)) => self.note(number, Failure::Failed(error)),
            Err(panic) => self.note(number, Failure::Panicked(panic)),
        }
        None
    }

    /// Piece `number` failed.
    pub(crate) fn failed(&self, number: u64, error: E) {
        self.note(number, Failure::Failed(error));
    }

    fn note(&self, number: u64, failure: Failure<E>) {
        let mut first = self.first();
        if first.as_ref().is_none_or(|(other, _)| number < *other) {
            *first = Some((number, failure));
        }
        // Relaxed: a flag that publishes nothing else.
        self.any.store(true, Ordering::Relaxed);
    }

    /// Whether anything failed: nobody is to begin anything more.
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// The first failure, if there is one.
    ///
    /// # Panics
    ///
    /// If that was a panic.
    pub(crate) fn end(&self) -> Result<(), E> {
        match self.first().take() {
            None => Ok(()),
            Some((_, Failure::Failed(error))) => Err(error),
            Some((_, Failure::Panicked(panic))) => resume_unwind(panic),
        }
    }

    fn first(&self) -> MutexGuard<'_, Option<(u64, Failure<E>)>> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
