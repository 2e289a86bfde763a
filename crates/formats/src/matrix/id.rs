//! Rows and columns as numbers.

use bytemuck::Pod;

mod sealed {
    pub trait SealedId {}
    impl SealedId for u32 {}
    impl SealedId for u64 {}
}

/// The type of row and column ids: `u32` or `u64`.
pub trait Id: Pod + Send + Sync + Ord + std::fmt::Debug + sealed::SealedId {
    /// Converts a number to an id, if it fits.
    fn from_u64(id: u64) -> Option<Self>;

    /// Returns the id as a number.
    fn to_u64(self) -> u64;

    /// Returns the id as an index into an array that is in memory.
    fn index(self) -> usize;

    /// Returns the same memory as `u32`, if that is the type.
    #[doc(hidden)]
    fn narrow(ids: &mut [Self]) -> Option<&mut [u32]>;
}

impl Id for u32 {
    #[inline(always)]
    fn from_u64(id: u64) -> Option<Self> {
        u32::try_from(id).ok()
    }

    #[inline(always)]
    fn to_u64(self) -> u64 {
        u64::from(self)
    }

    #[inline(always)]
    fn index(self) -> usize {
        self as usize
    }

    fn narrow(ids: &mut [Self]) -> Option<&mut [u32]> {
        Some(ids)
    }
}

impl Id for u64 {
    #[inline(always)]
    fn from_u64(id: u64) -> Option<Self> {
        Some(id)
    }

    #[inline(always)]
    fn to_u64(self) -> u64 {
        self
    }

    #[inline(always)]
    fn index(self) -> usize {
        usize::try_from(self).unwrap_or(usize::MAX)
    }

    fn narrow(_: &mut [Self]) -> Option<&mut [u32]> {
        None
    }
}
