//! Counting versions of the types of `swath_os::locks`. Uncounted methods are reached through `Deref`.

use std::ops::{Deref, DerefMut};
use std::sync::WaitTimeoutResult;
use std::sync::atomic::{self, Ordering};
use std::time::Duration;

use swath_os::locks::{self as sync, MutexGuard};

static LOCKS: atomic::AtomicU64 = atomic::AtomicU64::new(0);
static CHANGES: atomic::AtomicU64 = atomic::AtomicU64::new(0);
static WAKE_UPS: atomic::AtomicU64 = atomic::AtomicU64::new(0);
static NOTICES: atomic::AtomicU64 = atomic::AtomicU64::new(0);

/// The counts of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Mutexes that were locked. A thread that waits for a condition locks again uncounted.
    pub(super) locks: u64,
    /// Read-modify-writes of shared counters.
    pub(super) changes: u64,
    /// Threads that a condition variable woke, even in vain.
    pub(super) wake_ups: u64,
    /// Calls of `notify_one` and `notify_all`: each is a system call, even if no thread waits.
    pub(super) notices: u64,
}

impl Counts {
    pub(super) fn now() -> Self {
        // Relaxed: compared after all threads of a call have ended.
        let of = |count: &atomic::AtomicU64| count.load(Ordering::Relaxed);
        Self {
            locks: of(&LOCKS),
            changes: of(&CHANGES),
            wake_ups: of(&WAKE_UPS),
            notices: of(&NOTICES),
        }
    }

    pub(super) fn since(self, before: Self) -> Self {
        Self {
            locks: self.locks - before.locks,
            changes: self.changes - before.changes,
            wake_ups: self.wake_ups - before.wake_ups,
            notices: self.notices - before.notices,
        }
    }
}

fn count(what: &atomic::AtomicU64) {
    what.fetch_add(1, Ordering::Relaxed);
}

/// A mutex that counts its locks.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T: ?Sized>(sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        count(&LOCKS);
        self.0.lock()
    }
}

impl<T: ?Sized> Deref for Mutex<T> {
    type Target = sync::Mutex<T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T: ?Sized> DerefMut for Mutex<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// A condition variable that counts the threads it wakes.
#[derive(Debug, Default)]
pub(crate) struct Condvar(sync::Condvar);

impl Condvar {
    pub(crate) const fn new() -> Self {
        Self(sync::Condvar::new())
    }

    pub(crate) fn wait<'m, T>(&self, guard: MutexGuard<'m, T>) -> MutexGuard<'m, T> {
        let woken = self.0.wait(guard);
        count(&WAKE_UPS);
        woken
    }

    /// Does not count time-outs: their number depends on the machine, not on the code.
    pub(crate) fn wait_timeout<'m, T>(
        &self,
        guard: MutexGuard<'m, T>,
        most: Duration,
    ) -> (MutexGuard<'m, T>, WaitTimeoutResult) {
        let woken = self.0.wait_timeout(guard, most);
        if !woken.1.timed_out() {
            count(&WAKE_UPS);
        }
        woken
    }

    pub(crate) fn notify_one(&self) {
        count(&NOTICES);
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        count(&NOTICES);
        self.0.notify_all();
    }
}

/// A counter that counts its changes.
macro_rules! counter {
    ($name:ident, $number:ty) => {
        #[derive(Debug, Default)]
        pub(crate) struct $name(atomic::$name);

        #[allow(dead_code)]
        impl $name {
            pub(crate) const fn new(value: $number) -> Self {
                Self(atomic::$name::new(value))
            }

            pub(crate) fn into_inner(self) -> $number {
                self.0.into_inner()
            }

            pub(crate) fn fetch_add(&self, more: $number, order: Ordering) -> $number {
                count(&CHANGES);
                self.0.fetch_add(more, order)
            }

            pub(crate) fn fetch_sub(&self, less: $number, order: Ordering) -> $number {
                count(&CHANGES);
                self.0.fetch_sub(less, order)
            }

            pub(crate) fn fetch_min(&self, value: $number, order: Ordering) -> $number {
                count(&CHANGES);
                self.0.fetch_min(value, order)
            }

            pub(crate) fn swap(&self, value: $number, order: Ordering) -> $number {
                count(&CHANGES);
                self.0.swap(value, order)
            }
        }

        impl Deref for $name {
            type Target = atomic::$name;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }
    };
}

counter!(AtomicU64, u64);
counter!(AtomicUsize, usize);
