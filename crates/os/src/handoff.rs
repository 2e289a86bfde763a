//! A place on the stack through which a value passes from one thread to another.
//!
//! The owner of a [`Slot`] splits it into a [`Put`] and a [`Take`], gives each to one thread, and
//! has the slot back when both ends are gone. There is no lock and no atomic read-modify-write: a
//! value is written, then a flag is stored; the flag is loaded, then the value is read.
//!
//! ```
//! use swath_os::handoff::Slot;
//!
//! let mut slot = Slot::new();
//! let (put, take) = slot.ends();
//! std::thread::scope(|scope| {
//!     scope.spawn(move || put.put(String::from("a value")));
//! });
//! assert_eq!(take.take().as_deref(), Some("a value"));
//! ```

use std::cell::UnsafeCell;
use std::fmt;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};

/// Room for one value in transit. Dropping it drops a value that was not taken.
pub struct Slot<T> {
    /// Whether `value` holds a value. Only `put` sets it; `take` and the owner clear it.
    full: AtomicBool,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: a shared slot offers nothing but its two ends, and each of those exists once at a time;
// the value moves from one to the other and is never seen by both, so `T: Send` is enough.
unsafe impl<T: Send> Sync for Slot<T> {}

impl<T> Slot<T> {
    /// An empty slot.
    #[inline]
    pub const fn new() -> Self {
        Self { full: AtomicBool::new(false), value: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    /// Returns the two ends. A value left from earlier ends is dropped.
    #[inline]
    pub fn ends(&mut self) -> (Put<'_, T>, Take<'_, T>) {
        drop(self.remove());
        (Put { slot: self }, Take { slot: self })
    }

    /// Returns a value that was put and not taken.
    pub fn into_inner(mut self) -> Option<T> {
        self.remove()
    }

    /// Takes out a value that was put and not taken.
    #[inline]
    pub fn remove(&mut self) -> Option<T> {
        // No end is left, or this borrow could not exist: the end of their threads' use happened
        // before it.
        let full = self.full.get_mut();
        if !*full {
            return None;
        }
        *full = false;
        // SAFETY: the flag said that a value was written and not moved out; now it says that
        // the slot is empty, so this happens once.
        Some(unsafe { self.value.get_mut().assume_init_read() })
    }
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for Slot<T> {
    #[inline]
    fn drop(&mut self) {
        drop(self.remove());
    }
}

impl<T> fmt::Debug for Slot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Slot")
    }
}

/// The end through which a value goes in, once.
#[derive(Debug)]
pub struct Put<'s, T> {
    slot: &'s Slot<T>,
}

impl<T> Put<'_, T> {
    /// Puts the value.
    #[inline]
    pub fn put(self, value: T) {
        // SAFETY: this is the only `Put` of the slot, it is used up, and before the flag is set
        // neither the other end nor the owner touches the place.
        unsafe { self.slot.value.get().write(MaybeUninit::new(value)) };
        // Pairs with the load in `Take::take`: a thread that sees the flag sees the value.
        self.slot.full.store(true, Ordering::Release);
    }
}

/// The end through which a value comes out, once.
#[derive(Debug)]
pub struct Take<'s, T> {
    slot: &'s Slot<T>,
}

impl<T> Take<'_, T> {
    /// Returns the value, if one was put before; does not wait.
    #[inline]
    pub fn take(self) -> Option<T> {
        // Pairs with the store in `Put::put`.
        if !self.slot.full.load(Ordering::Acquire) {
            return None;
        }
        // Pairs with nothing: `Put` is used up, and the owner looks only after this end is gone.
        self.slot.full.store(false, Ordering::Relaxed);
        // SAFETY: the flag was set, so a value is there and its writer has left; this is the only
        // `Take`, and the cleared flag keeps the owner from it.
        let place = unsafe { &*self.slot.value.get() };
        // SAFETY: as above; the value moves out once.
        Some(unsafe { place.assume_init_read() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    /// Counts its drops.
    struct Counted<'c>(&'c AtomicUsize);

    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_value_goes_through_once() {
        let mut slot = Slot::new();
        let (put, take) = slot.ends();
        put.put(7);
        assert_eq!(take.take(), Some(7));
        assert_eq!(slot.into_inner(), None);
    }

    #[test]
    fn what_was_put_and_not_taken_is_the_owners() {
        let mut slot = Slot::new();
        let (put, take) = slot.ends();
        assert_eq!(take.take(), None);
        put.put(Box::new(7));
        assert_eq!(slot.into_inner(), Some(Box::new(7)));
        assert_eq!(Slot::<u8>::default().into_inner(), None);
    }

    #[test]
    fn every_value_is_dropped_once_whoever_has_it_last() {
        let drops = AtomicUsize::new(0);
        let mut expected = 0;
        for (is_put, is_taken) in [(true, true), (true, false), (false, true), (false, false)] {
            let mut slot = Slot::new();
            let (put, take) = slot.ends();
            if is_put {
                put.put(Counted(&drops));
                expected += 1;
            }
            if is_taken {
                drop(take.take());
            }
            drop(slot);
            assert_eq!(drops.load(Ordering::SeqCst), expected, "{is_put} {is_taken}");
        }
    }

    #[test]
    fn new_ends_drop_what_the_old_ones_left() {
        let drops = AtomicUsize::new(0);
        let mut slot = Slot::new();
        for round in 0..5 {
            let (put, _) = slot.ends();
            assert_eq!(drops.load(Ordering::SeqCst), round);
            put.put(Counted(&drops));
        }
        drop(slot);
        assert_eq!(drops.load(Ordering::SeqCst), 5);
    }

    #[test]
    fn values_cross_threads_while_the_other_end_looks() {
        // Few rounds under Miri, which explores the interleavings of each.
        let rounds = if cfg!(miri) { 50 } else { 5_000 };
        let drops = AtomicUsize::new(0);
        for _ in 0..rounds {
            let mut slot = Slot::new();
            let (put, take) = slot.ends();
            let drops = &drops;
            thread::scope(|scope| {
                scope.spawn(move || put.put((Counted(drops), vec![1_u8, 2, 3])));
                scope.spawn(move || {
                    if let Some((_counted, bytes)) = take.take() {
                        assert_eq!(bytes, [1, 2, 3]);
                    }
                });
            });
        }
        assert_eq!(drops.load(Ordering::SeqCst), rounds);
    }

    #[test]
    fn ends_may_go_to_other_threads() {
        fn is_send<T: Send>() {}
        is_send::<Put<'_, std::cell::Cell<u8>>>();
        is_send::<Take<'_, std::cell::Cell<u8>>>();
        is_send::<Slot<Vec<u8>>>();
    }
}
