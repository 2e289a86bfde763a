//! Mutexes, condition variables and shared counters: those of `swath_os::locks`, which in this crate's own tests
//! also count their uses.
//!
//! ```text
//! product   locks::Mutex = swath_os::locks::Mutex                  nothing is added
//! tests     locks::Mutex → swath_os::locks::Mutex + 1 lock              Counts::now()
//! ```
//!
//! So a test can assert that a verb locks no more often, and wakes no more threads, with 64 workers
//! than with 2, for the same work. The cost of each lock on a machine with more cores is another question
//! (`swath study`, experiment `s-verbs`).

#[cfg(test)]
mod counted;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use counted::{AtomicU64, AtomicUsize, Condvar, Mutex};
#[cfg(not(test))]
pub(crate) use std::sync::atomic::{AtomicU64, AtomicUsize};
#[cfg(not(test))]
pub(crate) use swath_os::locks::{Condvar, Mutex};

pub(crate) use swath_os::locks::MutexGuard;

/// Locks a dispensable value, such as cached memory. In a child of fork(2), the thread that holds the lock may not
/// exist; then this returns `None` after a moment, as it does if that thread was interrupted.
pub(crate) fn lock_cache<T>(cache: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    /// The lock is held for less than a microsecond.
    const SPINS: usize = 1000;
    const YIELDS: usize = 100;
    for attempt in 0..SPINS + YIELDS {
        match cache.try_lock() {
            Some(locked) => return Some(locked),
            None if attempt < SPINS => std::hint::spin_loop(),
            None => std::thread::yield_now(),
        }
    }
    None
}
