//! Mutexes, condition variables and counters that several threads change: those of `swath_os::locks`, which in
//! this crate's own tests also count how often they are used.
//!
//! ```text
//! product   locks::Mutex = swath_os::locks::Mutex                  nothing is added
//! tests     locks::Mutex → swath_os::locks::Mutex + 1 lock              Counts::now()
//! ```
//!
//! So a test can assert that a verb locks no more often, and wakes no more threads, with 64 workers
//! than with 2. The same work at both numbers is compared; what a machine with more cores would make
//! of each lock is another question (`swath study`, experiment `s-verbs`).

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

/// Locks what can be done without, such as memory that is kept. A child of fork(2) may lack the thread that has
/// locked it, for ever: then it is `None` after a moment, as where that thread was interrupted.
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
