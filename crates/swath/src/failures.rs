//! The first failure of a call's workers in file order, regardless of worker and time.
//!
//! A panic of the caller's code counts as a failure: it is kept, and resumed on the calling thread.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;
use crate::locks::Mutex;

/// The payload of a panic.
pub(crate) type Payload = Box<dyn Any + Send>;

/// Returns the result of `f`, or the payload of its panic. After a panic, discard all data that `f`
/// changed, and resume the panic at the end.
pub(crate) fn caught<R>(f: impl FnOnce() -> R) -> Result<R, Payload> {
    catch_unwind(AssertUnwindSafe(f))
}

/// The failures of a call: the error and the panic of the earliest pieces.
pub(crate) struct FailureLog<E> {
    first: Mutex<First<E>>,
    any: AtomicBool,
}

struct First<E> {
    error: Option<(u64, E)>,
    panic: Option<(u64, Payload)>,
}

impl<E> Default for FailureLog<E> {
    fn default() -> Self {
        let first = First { error: None, panic: None };
        Self { first: Mutex::new(first), any: AtomicBool::new(false) }
    }
}

impl<E> fmt::Debug for FailureLog<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failures").field("any", &self.any()).finish_non_exhaustive()
    }
}

impl<E> FailureLog<E> {
    /// Calls `f` for piece `number` and keeps its error or panic.
    pub(crate) fn attempt<R>(
        &self,
        number: u64,
        f: impl FnOnce() -> Result<R, E>,
    ) -> Option<R> {
        match caught(f) {
            Ok(Ok(value)) => return Some(value),
            Ok(Err(error)) => self.failed(number, error),
            Err(panic) => self.panicked(number, panic),
        }
        None
    }

    /// Records that piece `number` failed.
    pub(crate) fn failed(&self, number: u64, error: E) {
        keep(&mut self.first.lock().error, number, error);
        // Relaxed: a flag that publishes nothing else.
        self.any.store(true, Ordering::Relaxed);
    }

    /// Records that the caller's code panicked with piece `number`.
    pub(crate) fn panicked(&self, number: u64, panic: Payload) {
        keep(&mut self.first.lock().panic, number, panic);
        self.any.store(true, Ordering::Relaxed);
    }

    /// Whether any piece has failed, so that no further piece should begin.
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Returns the first failure, if there is one.
    ///
    /// # Panics
    ///
    /// If the first failure was a panic.
    pub(crate) fn end(&self) -> Result<(), E> {
        let mut first = self.first.lock();
        let (error, panic) = (first.error.take(), first.panic.take());
        drop(first);
        match (error, panic) {
            (None, None) => Ok(()),
            (Some((error_at, error)), Some((panic_at, _))) if error_at < panic_at => Err(error),
            (_, Some((_, panic))) => resume_unwind(panic),
            (Some((_, error)), None) => Err(error),
        }
    }

    /// Takes the panic of the first piece that panicked, and its number.
    pub(crate) fn panic(&self) -> Option<(u64, Payload)> {
        // Without a lock if nothing failed: this is checked after each read.
        if self.any() { self.first.lock().panic.take() } else { None }
    }

    /// Resumes the first panic, if there is one, even if there are errors: they may follow from it.
    ///
    /// # Panics
    ///
    /// If there was a panic.
    pub(crate) fn resume(&self) {
        if let Some((_, panic)) = self.panic() {
            resume_unwind(panic);
        }
    }
}

/// Keeps the failure of the earlier piece.
fn keep<T>(first: &mut Option<(u64, T)>, number: u64, other: T) {
    if first.as_ref().is_none_or(|(before, _)| number < *before) {
        *first = Some((number, other));
    }
}

/// The part of [`FailureLog`] that the reading side of a consumer uses, independent of the
/// consumer's error type.
pub(crate) trait Failing {
    /// Records that piece `number` could not be read.
    fn not_read(&self, number: u64, error: Error);

    /// As [`FailureLog::panicked`].
    fn panicked(&self, number: u64, panic: Payload);

    /// As [`FailureLog::any`].
    fn any(&self) -> bool;
}

impl<E: From<Error>> Failing for FailureLog<E> {
    fn not_read(&self, number: u64, error: Error) {
        self.failed(number, error.into());
    }

    fn panicked(&self, number: u64, panic: Payload) {
        self.panicked(number, panic);
    }

    fn any(&self) -> bool {
        self.any()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the end of a call whose pieces fail and panic with these numbers, in this order.
    fn ended(pieces: &[(u64, bool)]) -> Result<Result<(), u64>, u64> {
        let failures = FailureLog::default();
        for &(number, panics) in pieces {
            let attempt = || {
                if panics { std::panic::resume_unwind(Box::new(number)) } else { Err(number) }
            };
            assert_eq!(failures.attempt::<()>(number, attempt), None);
        }
        assert_eq!(failures.any(), !pieces.is_empty());
        catch_unwind(AssertUnwindSafe(|| failures.end()))
            .map_err(|panic| *panic.downcast().expect("the number"))
    }

    #[test]
    fn the_first_in_order_ends_it_whenever_it_came() {
        assert_eq!(ended(&[]), Ok(Ok(())));
        assert_eq!(ended(&[(7, false), (3, false), (5, false)]), Ok(Err(3)));
        assert_eq!(ended(&[(7, true), (3, true), (5, true)]), Err(3));
        assert_eq!(ended(&[(3, true), (2, false), (1, true)]), Err(1));
        assert_eq!(ended(&[(3, true), (2, false), (4, true)]), Ok(Err(2)));
    }

    #[test]
    fn a_panic_goes_on_before_errors_that_may_follow_from_it() {
        let failures = FailureLog::default();
        failures.failed(1, ());
        failures.resume();
        failures.panicked(2, Box::new("mine"));
        let panic = catch_unwind(AssertUnwindSafe(|| failures.resume())).expect_err("panics");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"mine"));
        assert_eq!(failures.end(), Err(()));
    }
}
