//! Readable memory that other programs may store to while it is read.
//!
//! [`Cells`] never becomes a slice: the kernels see its bytes only as values that [`Loads`] has
//! already loaded. Each load is volatile, so the compiler neither repeats nor invents one, and a
//! byte that changes during the call is seen once, old or new.
//!
//! Volatile is not atomic: such a load would be a data race with a store of this program. So memory
//! that this program can store to cannot be used as cells. Relaxed atomic loads would not help:
//! they need references to writable memory, and the pages of a map are read-only; and no atomic is
//! as wide as a vector.

use std::marker::PhantomData;
use std::ptr;

/// Types for which every bit pattern is a valid value.
///
/// # Safety
///
/// Any `size_of::<Self>()` initialised bytes must be a valid `Self`.
pub(crate) unsafe trait Load: Copy {}

// SAFETY: an integer has no invalid bit pattern.
unsafe impl Load for u8 {}
// SAFETY: an integer has no invalid bit pattern.
unsafe impl Load for u64 {}
#[cfg(target_arch = "x86_64")]
// SAFETY: a vector of integers has no invalid bit pattern.
unsafe impl Load for std::arch::x86_64::__m256i {}
#[cfg(target_arch = "x86_64")]
// SAFETY: a vector of integers has no invalid bit pattern.
unsafe impl Load for std::arch::x86_64::__m512i {}

/// Bytes that can be loaded, and that other programs may store to during a call: those of a mapped
/// file.
///
/// Memory that this program may store to cannot be made into cells without an unsafe promise:
///
/// ```compile_fail
/// use std::sync::atomic::AtomicU8;
///
/// let shared: Vec<AtomicU8> = (0..100).map(AtomicU8::new).collect();
/// swath_simd::sum_cells(swath_simd::Cells::from(&shared[..]));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Cells<'a> {
    start: *const u8,
    len: usize,
    life: PhantomData<&'a [u8]>,
}

impl<'a> From<&'a [u8]> for Cells<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Cells { start: bytes.as_ptr(), len: bytes.len(), life: PhantomData }
    }
}

impl<'a> Cells<'a> {
    /// Returns the `len` bytes starting at `start`.
    ///
    /// # Safety
    ///
    /// During `'a` the bytes can be read, and no thread of this program stores to them in any way.
    /// If others do (another process, or the kernel when the mapped file is written to), then the
    /// bytes are outside of every Rust allocation, like the pages of a map: then stores to them are
    /// not accesses of this program, and a volatile load of them is not a race.
    #[must_use]
    pub unsafe fn of_foreign(start: *const u8, len: usize) -> Self {
        Cells { start, len, life: PhantomData }
    }

    /// Returns the number of bytes.
    #[must_use]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Loads one byte, with its current value.
    ///
    /// # Panics
    ///
    /// If `index` is out of bounds.
    #[must_use]
    pub fn load(self, index: usize) -> u8 {
        let mut byte = self.part(index, 1).bytes();
        byte.next().expect("there is one")
    }

    /// Returns the `len` bytes starting at `offset`.
    ///
    /// # Panics
    ///
    /// If they are not all inside.
    #[must_use]
    pub fn part(self, offset: usize, len: usize) -> Self {
        self.split_at(offset).1.split_at(len).0
    }

    /// Splits at the first and the last address aligned for `T`.
    ///
    /// If no `T` fits in between, all bytes are in the outer two parts.
    #[inline(always)]
    pub(crate) fn aligned<T: Load>(self) -> (Cells<'a>, Loads<'a, T>, Cells<'a>) {
        let skipped = self.start.align_offset(align_of::<T>()).min(self.len);
        let (head, rest) = self.split_at(skipped);
        let count = rest.len / size_of::<T>();
        let (body, tail) = rest.split_at(count * size_of::<T>());
        let loads = Loads { next: body.start.cast(), count, life: PhantomData };
        (head, loads, tail)
    }

    /// Returns the bytes one by one.
    #[inline(always)]
    pub(crate) fn bytes(self) -> Loads<'a, u8> {
        Loads { next: self.start, count: self.len, life: PhantomData }
    }

    #[inline(always)]
    fn split_at(self, mid: usize) -> (Self, Self) {
        assert!(mid <= self.len, "cut at {mid} of {}", self.len);
        let left = Cells { len: mid, ..self };
        let right = Cells { start: self.start.wrapping_add(mid), len: self.len - mid, ..self };
        (left, right)
    }
}

/// `count` readable, aligned values starting at `next`, for `'a`.
pub(crate) struct Loads<'a, T> {
    next: *const T,
    count: usize,
    life: PhantomData<&'a [u8]>,
}

impl<'a, T: Load> Loads<'a, T> {
    /// Splits off the next `count` values, or all if there are fewer; `None` after the last.
    #[inline(always)]
    pub(crate) fn first(&mut self, count: usize) -> Option<Loads<'a, T>> {
        let count = self.count.min(count);
        let first = Loads { next: self.next, count, life: PhantomData };
        self.next = self.next.wrapping_add(count);
        self.count -= count;
        (count > 0).then_some(first)
    }

    /// Loads the next four values; `None`, without loading, if there are fewer.
    #[cfg(any(target_arch = "x86_64", test))]
    #[inline(always)]
    pub(crate) fn four(&mut self) -> Option<[T; 4]> {
        if self.count < 4 {
            return None;
        }
        let mut load = || self.next();
        Some([load()?, load()?, load()?, load()?])
    }
}

impl<T: Load> Iterator for Loads<'_, T> {
    type Item = T;

    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        if self.count == 0 {
            return None;
        }
        // SAFETY: `count` values, thus at least one, are readable and aligned at `next`, and any
        // bytes are a `T`. They belong to a slice, which is not stored to while it is lent, or
        // to foreign memory: the caller that made the cells vouches that no store of this
        // program can race with the load.
        let value = unsafe { ptr::read_volatile(self.next) };
        self.next = self.next.wrapping_add(1);
        self.count -= 1;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_body_and_tail_are_all_bytes_in_order() {
        let bytes: Vec<u8> = (0..100).collect();
        for start in 0..16 {
            for end in start..=bytes.len() {
                let (head, words, tail) = Cells::from(&bytes[start..end]).aligned::<u64>();
                let mut seen: Vec<u8> = head.bytes().collect();
                seen.extend(words.flat_map(u64::to_ne_bytes));
                seen.extend(tail.bytes());
                assert_eq!(seen, bytes[start..end], "{start}..{end}");
            }
        }
    }

    #[test]
    fn foreign_bytes_are_loaded_one_by_one_and_in_parts() {
        let bytes: Vec<u8> = (0..100).collect();
        // SAFETY: nothing stores to the vector, which outlives the cells.
        let cells = unsafe { Cells::of_foreign(bytes.as_ptr(), bytes.len()) };
        assert_eq!((cells.len(), cells.is_empty(), cells.load(99)), (100, false, 99));
        assert_eq!(cells.part(10, 3).bytes().collect::<Vec<_>>(), [10, 11, 12]);
        assert!(cells.part(100, 0).is_empty());
        for (offset, len) in [(101, 0), (100, 1), (1, usize::MAX)] {
            let part = std::panic::catch_unwind(|| cells.part(offset, len).len());
            assert!(part.is_err(), "{offset} {len}");
        }
    }

    /// Run by the attack `miri` of `cargo xtask torture`.
    #[test]
    #[ignore = "breaks the promise of foreign cells, so that Miri has something to find"]
    fn a_planted_race_is_found_by_miri() {
        use std::sync::atomic::{AtomicU8, Ordering};
        let shared: Vec<AtomicU8> = (0..100).map(AtomicU8::new).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| shared.iter().for_each(|byte| byte.store(1, Ordering::Relaxed)));
            scope.spawn(|| {
                // SAFETY: none: this program stores to them in the meantime.
                let cells = unsafe { Cells::of_foreign(shared.as_ptr().cast(), shared.len()) };
                std::hint::black_box(crate::sum_cells(cells));
            });
        });
    }

    #[test]
    fn four_leaves_a_shorter_rest_untouched() {
        let bytes = [1, 2, 3, 4, 5, 6, 7];
        let mut loads = Cells::from(&bytes[..]).bytes();
        assert_eq!(loads.four(), Some([1, 2, 3, 4]));
        assert_eq!(loads.four(), None);
        assert_eq!(loads.collect::<Vec<_>>(), [5, 6, 7]);
    }

    #[test]
    fn first_takes_what_is_there() {
        let bytes = [1, 2, 3];
        let mut loads = Cells::from(&bytes[..]).bytes();
        assert_eq!(loads.first(2).map(Iterator::collect::<Vec<_>>), Some(vec![1, 2]));
        assert_eq!(loads.first(2).map(Iterator::collect::<Vec<_>>), Some(vec![3]));
        assert!(loads.first(2).is_none());
    }
}
