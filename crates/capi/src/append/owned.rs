//! The resource of a handle, owned until the handle ends; an empty shell remains for C to free.

use std::sync::Arc;

use swath::machine::{Mutex, MutexGuard};

use crate::failure::{Failure, Result};
use crate::status::Status;

fn is_over(name: &str) -> Failure {
    Failure::invalid(format!("the {name} of this handle has ended; try: free the handle"))
}

fn in_use(name: &str) -> Failure {
    let text = format!(
        "another thread is using the {name} of this handle; try: wait until it is done"
    );
    Failure::new(Status::Busy, text)
}

/// A resource that many threads use through a reference, and one thread ends.
#[derive(Debug)]
pub(crate) struct Shared<T> {
    inner: Mutex<Option<Arc<T>>>,
    name: &'static str,
}

impl<T> Shared<T> {
    pub(crate) fn new(inner: T, name: &'static str) -> Self {
        Self { inner: Mutex::new(Some(Arc::new(inner))), name }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<T>>> {
        // Not poisoned: no code that may panic runs under the lock.
        self.inner.lock()
    }

    /// Returns the resource. No lock is held during its use, so a waiting call does not block others.
    pub(crate) fn get(&self) -> Result<Arc<T>> {
        self.lock().clone().ok_or_else(|| is_over(self.name))
    }

    /// Takes the resource out, unless another thread is using it.
    pub(crate) fn take(&self) -> Result<T> {
        let mut inner = self.lock();
        let shared = inner.take().ok_or_else(|| is_over(self.name))?;
        Arc::try_unwrap(shared).map_err(|shared| {
            *inner = Some(shared);
            in_use(self.name)
        })
    }
}

/// A resource that one thread uses at a time.
#[derive(Debug)]
pub(crate) struct Exclusive<T> {
    inner: Mutex<Option<T>>,
    name: &'static str,
}

impl<T> Exclusive<T> {
    pub(crate) fn new(inner: T, name: &'static str) -> Self {
        Self { inner: Mutex::new(Some(inner)), name }
    }

    fn lock(&self) -> Result<MutexGuard<'_, Option<T>>> {
        self.inner.try_lock().ok_or_else(|| in_use(self.name))
    }

    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> Result<R>) -> Result<R> {
        let mut inner = self.lock()?;
        work(inner.as_mut().ok_or_else(|| is_over(self.name))?)
    }

    pub(crate) fn take(&self) -> Result<T> {
        self.take_if(|_| Ok(()))
    }

    /// Takes the resource out if `may` allows it; otherwise it stays unchanged.
    pub(crate) fn take_if(&self, may: impl FnOnce(&T) -> Result<()>) -> Result<T> {
        let mut inner = self.lock()?;
        may(inner.as_ref().ok_or_else(|| is_over(self.name))?)?;
        inner.take().ok_or_else(|| is_over(self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status<T>(result: Result<T>) -> Status {
        result.err().map_or(Status::Ok, crate::failure::keep)
    }

    #[test]
    fn what_is_in_use_is_not_ended_and_what_has_ended_is_not_used() {
        let shared = Shared::new(1, "number");
        let used = shared.get().expect("it is there");
        assert_eq!(status(shared.take()), Status::Busy);
        drop(used);
        assert_eq!(shared.take().expect("nobody uses it"), 1);
        assert_eq!(status(shared.get()), Status::InvalidArgument);
        assert_eq!(status(shared.take()), Status::InvalidArgument);
    }

    #[test]
    fn only_one_uses_what_is_exclusive() {
        let exclusive = Exclusive::new(1, "number");
        let nested = exclusive.with(|_| Ok(status(exclusive.with(|_| Ok(())))));
        assert_eq!(nested.expect("it is there"), Status::Busy);
        assert_eq!(exclusive.take().expect("it is there"), 1);
        assert_eq!(status(exclusive.with(|_| Ok(()))), Status::InvalidArgument);
    }
}
