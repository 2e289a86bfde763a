//! Mutexes, condition variables and counters that several threads change: those of `std`, which in
//! this crate's own tests also count how often they are used.
//!
//! ```text
//! product   locks::Mutex = std::sync::Mutex                       nothing is added
//! tests     locks::Mutex → std::sync::Mutex + 1 lock              Counts::now()
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
pub(crate) use std::sync::{Condvar, Mutex};
