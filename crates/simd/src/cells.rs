//! Readable memory that others may store to while it is read.
//!
//! [`Cells`] is made from a slice and never becomes one again: the kernels see its bytes only as
//! values that [`Loads`] has already taken out. Each load is volatile, so the compiler neither
//! repeats nor invents one, and a byte that changes in between is seen old or new, once.

use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::AtomicU8;

/// Types of which every bit pattern is a value.
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

/// `len` bytes that can be read from `start` on for `'a`.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'a> {
    start: *const u8,
    len: usize,
    life: PhantomData<&'a [AtomicU8]>,
}

impl<'a> From<&'a [u8]> for Cells<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Cells { start: bytes.as_ptr(), len: bytes.len(), life: PhantomData }
    }
}

impl<'a> From<&'a [AtomicU8]> for Cells<'a> {
    fn from(cells: &'a [AtomicU8]) -> Self {
        Cells { start: cells.as_ptr().cast(), len: cells.len(), life: PhantomData }
    }
}

impl<'a> Cells<'a> {
    /// Cuts at the first and the last address aligned for `T`.
    ///
    /// Where no `T` fits in between, all bytes are in the outer two.
    #[inline(always)]
    pub(crate) fn aligned<T: Load>(self) -> (Cells<'a>, Loads<'a, T>, Cells<'a>) {
        let skipped = self.start.align_offset(align_of::<T>()).min(self.len);
        let (head, rest) = self.split_at(skipped);
        let count = rest.len / size_of::<T>();
        let (body, tail) = rest.split_at(count * size_of::<T>());
        let loads = Loads { next: body.start.cast(), count, life: PhantomData };
        (head, loads, tail)
    }

    /// The bytes one by one.
    #[inline(always)]
    pub(crate) fn bytes(self) -> Loads<'a, u8> {
        Loads { next: self.start, count: self.len, life: PhantomData }
    }

    #[inline(always)]
    fn split_at(self, mid: usize) -> (Cells<'a>, Cells<'a>) {
        assert!(mid <= self.len, "cut at {mid} of {}", self.len);
        let left = Cells { len: mid, ..self };
        let right = Cells { start: self.start.wrapping_add(mid), len: self.len - mid, ..self };
        (left, right)
    }
}

/// `count` values that can be read, aligned, from `next` on for `'a`.
pub(crate) struct Loads<'a, T> {
    next: *const T,
    count: usize,
    life: PhantomData<&'a [AtomicU8]>,
}

impl<'a, T: Load> Loads<'a, T> {
    /// Takes the next `count` values off, or all where there are fewer; `None` after the last.
    #[inline(always)]
    pub(crate) fn first(&mut self, count: usize) -> Option<Loads<'a, T>> {
        let count = self.count.min(count);
        let first = Loads { next: self.next, count, life: PhantomData };
        self.next = self.next.wrapping_add(count);
        self.count -= count;
        (count > 0).then_some(first)
    }

    /// Loads the next four values, or `None` and nothing where there are fewer.
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
        // SAFETY: `count` values, thus at least one, are readable and aligned at `next`, and
        // any bytes are a `T`.
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
