//! A fixed number of values in page-aligned memory, for the results of a parallel parser.
//!
//! Filling memory for the first time costs more than reading the input: at the first touch of a
//! page the kernel clears it. So the memory is advised to use huge pages, and each page is first
//! touched by the worker that writes to it.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::path::Path;

use bytemuck::Pod;
use swath_os::memory::Pages;

use crate::error::{Error, Operation, Reason, Result};

/// A fixed number of values, initially all zero bits; dereferences to a slice.
///
/// ```
/// let mut squares = swath::Array::<u32>::zeroed(1000)?;
/// for (n, square) in (0..).zip(squares.iter_mut()) {
///     *square = n * n;
/// }
/// assert_eq!(squares[30], 900);
/// # Ok::<(), swath::Error>(())
/// ```
pub struct Array<T> {
    /// `None` for no values.
    pages: Option<Pages>,
    len: usize,
    values: PhantomData<T>,
}

/// Size below which most of a huge page would be wasted.
const HUGE: usize = 2 << 20;
/// Size from which the available memory is checked first.
const LARGE: usize = 4 << 20;

impl<T: Pod> Array<T> {
    /// Allocates `len` values, at no cost until they are written.
    ///
    /// # Errors
    ///
    /// [`Reason::OutOfMemory`] if there is not enough address space or, for 4 MiB and more, not enough
    /// available memory: a control group at its limit would kill the process without a message.
    pub fn zeroed(len: usize) -> Result<Self> {
        let bytes =
            len.checked_mul(size_of::<T>()).filter(|&bytes| isize::try_from(bytes).is_ok());
        let refused = || {
            Error::new(Operation::Allocate, Reason::OutOfMemory, Path::new("an array"))
                .detail(format!("{len} values of {} bytes", size_of::<T>()))
                .hint("use fewer values, or a smaller type")
        };
        let bytes = bytes.ok_or_else(refused)?;
        if bytes == 0 {
            return Ok(Self::default());
        }
        if bytes >= LARGE {
            let left = swath_os::machine::memory_at_hand().unwrap_or(u64::MAX);
            if bytes as u64 > left {
                let more = format!(
                    "{len} values of {} bytes: {left} bytes are available",
                    size_of::<T>()
                );
                return Err(refused().detail(more));
            }
        }
        let pages = Pages::map(bytes).map_err(|error| refused().caused_by(error))?;
        if bytes >= HUGE {
            // Kernels without huge pages refuse it: slower, not wrong.
            let _ = pages.advise_huge();
        }
        Ok(Self { pages: Some(pages), len, values: PhantomData })
    }

    /// Splits the values into adjacent parts of these lengths, for example one for each worker. Values
    /// after the last part are not returned.
    ///
    /// # Panics
    ///
    /// If the lengths exceed the number of values.
    pub fn parts_mut(&mut self, lens: impl IntoIterator<Item = usize>) -> Vec<&mut [T]> {
        let mut rest = &mut **self;
        let cut = |len| {
            let (part, after) = std::mem::take(&mut rest).split_at_mut(len);
            rest = after;
            part
        };
        lens.into_iter().map(cut).collect()
    }
}

impl<T: Pod> Default for Array<T> {
    fn default() -> Self {
        Self { pages: None, len: 0, values: PhantomData }
    }
}

impl<T: Pod> Deref for Array<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // An empty slice of bytes may not be aligned for the values.
        let Some(bytes) = self.pages.as_deref() else { return &[] };
        &bytemuck::cast_slice(&bytes[..self.len * size_of::<T>()])[..self.len]
    }
}

impl<T: Pod> DerefMut for Array<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        let Some(bytes) = self.pages.as_deref_mut() else { return &mut [] };
        &mut bytemuck::cast_slice_mut(&mut bytes[..self.len * size_of::<T>()])[..self.len]
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Pod + PartialEq> PartialEq for Array<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_disjoint_and_in_order() {
        let mut array = Array::<u16>::zeroed(10).expect("memory");
        for (value, part) in (1..).zip(array.parts_mut([3, 0, 5])) {
            part.fill(value);
        }
        assert_eq!(*array, [1, 1, 1, 3, 3, 3, 3, 3, 0, 0]);
    }

    #[test]
    fn no_values_take_no_memory_and_too_many_are_refused() {
        assert!(Array::<u64>::zeroed(0).expect("nothing").is_empty());
        for len in [usize::MAX, usize::MAX / 8, 1 << 60] {
            let error = Array::<u64>::zeroed(len).expect_err("more than there is");
            assert_eq!(error.reason(), Reason::OutOfMemory);
        }
    }
}
