//! Mutexes and condition variables that a panic leaves usable.
//!
//! Those of `std` are *poisoned* by a panic of their holder, and every later user has to take the
//! value out of an error. Here a panic is reported where it is caught, and a lock's value is
//! consistent at every call that may panic. They remain those of `std` underneath: in a child of
//! fork(2), a locked one is one word, not in a table of other threads.
//!
//! ```
//! use swath_os::locks::Mutex;
//!
//! let count = Mutex::new(1);
//! *count.lock() += 1;
//! assert_eq!(count.into_inner(), 2);
//! ```

use std::sync::{self, PoisonError, TryLockError, WaitTimeoutResult};
use std::time::Duration;

pub use std::sync::MutexGuard;

/// A mutex that a panic of its holder leaves usable.
#[derive(Debug, Default)]
pub struct Mutex<T: ?Sized>(sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Makes an unlocked mutex.
    pub const fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the lock and takes it.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock if that needs no waiting.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(locked) => Some(locked),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Returns the value, which has no other user.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A condition variable for a [`Mutex`].
#[derive(Debug, Default)]
pub struct Condvar(sync::Condvar);

impl Condvar {
    /// Makes a condition variable without waiting threads.
    pub const fn new() -> Self {
        Self(sync::Condvar::new())
    }

    /// Unlocks `guard`, waits for a notification, and locks it again.
    pub fn wait<'m, T>(&self, guard: MutexGuard<'m, T>) -> MutexGuard<'m, T> {
        self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while `condition` holds.
    pub fn wait_while<'m, T>(
        &self,
        guard: MutexGuard<'m, T>,
        condition: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'m, T> {
        self.0.wait_while(guard, condition).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a notification, at most for `most`.
    pub fn wait_timeout<'m, T>(
        &self,
        guard: MutexGuard<'m, T>,
        most: Duration,
    ) -> (MutexGuard<'m, T>, WaitTimeoutResult) {
        self.0.wait_timeout(guard, most).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while `condition` holds, at most for `most`.
    pub fn wait_timeout_while<'m, T>(
        &self,
        guard: MutexGuard<'m, T>,
        most: Duration,
        condition: impl FnMut(&mut T) -> bool,
    ) -> (MutexGuard<'m, T>, WaitTimeoutResult) {
        let waited = self.0.wait_timeout_while(guard, most, condition);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes one waiting thread.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all waiting threads.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_holder_leaves_it_usable() {
        let number = Mutex::new(1);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            *number.lock() = 2;
            let _locked = number.lock();
            panic!("on purpose");
        }));
        assert!(ended.is_err());
        assert_eq!((number.try_lock().map(|it| *it), *number.lock()), (Some(2), 2));
        assert_eq!(number.into_inner(), 2);
    }
}
