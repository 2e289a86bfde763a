//! Rows and columns as numbers.

use bytemuck::Pod;

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// The type of rows and columns: `u32` or `u64`.
pub trait Id: Pod + Send + Sync + Ord + std::fmt::Debug + sealed::Sealed {
    /// The id, if it fits.
    fn from_u64(id: u64) -> Option<Self>;

    /// The id as a number.
    fn to_u64(self) -> u64;

    /// The id as an index: whoever has that many of something in memory can count them.
    fn index(self) -> usize;

    /// The same memory, where these are `u32`.
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
