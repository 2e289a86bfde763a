//! Cuts a chunk at the device's unit, so that unaligned chunks can be written directly.
//!
//! Each chunk is written from the unit in which it begins to the last unit that it completes. The
//! bytes that its predecessor left in the first unit are carried over to it; the bytes that it
//! leaves in an incomplete unit are carried on.
//!
//! ```text
//! units    |       |       |       |
//! chunks   0---------1-------------2--
//! written  0------->       |       |      carried to 1: the last bytes of 0
//!          |       1-------------->       carried to 2: nothing, 1 ends with a unit
//! ```

use core::num::NonZeroU64;

use crate::extent::Extent;

/// The whole units in which one chunk is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitCut {
    /// The extent to write now; empty if the chunk completes no unit.
    pub whole: Extent,
    /// Bytes of `whole` before the chunk, fewer than a unit.
    pub carried: u64,
    /// Bytes after `whole`, fewer than a unit. If `whole` is empty, they include the bytes carried
    /// here.
    pub rest: u64,
}

impl UnitCut {
    /// Cuts the chunk at `extent`.
    ///
    /// ```
    /// use swath_plan::{extent::Extent, units::UnitCut};
    ///
    /// let cut = UnitCut::of(Extent::between(100, 9000), 4096.try_into().unwrap());
    /// assert_eq!(cut.whole, Extent::between(0, 8192));
    /// assert_eq!((cut.carried, cut.rest), (100, 808));
    /// ```
    pub fn of(extent: Extent, unit: NonZeroU64) -> Self {
        let first = extent.offset() - extent.offset() % unit;
        let last = extent.end() - extent.end() % unit;
        Self {
            whole: Extent::between(first, last),
            carried: extent.offset() - first,
            rest: extent.end() - last,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(offset: u64, end: u64) -> (u64, u64, u64, u64) {
        let unit = NonZeroU64::new(512).expect("not 0");
        let cut = UnitCut::of(Extent::between(offset, end), unit);
        (cut.whole.offset(), cut.whole.end(), cut.carried, cut.rest)
    }

    #[test]
    fn whole_units_are_written_and_the_rest_is_carried_on() {
        assert_eq!(cut(0, 511), (0, 0, 0, 511));
        assert_eq!(cut(0, 512), (0, 512, 0, 0));
        assert_eq!(cut(0, 513), (0, 512, 0, 1));
        assert_eq!(cut(511, 512), (0, 512, 511, 0));
        assert_eq!(cut(511, 513), (0, 512, 511, 1));
        assert_eq!(cut(100, 200), (0, 0, 100, 200), "what was carried here goes on");
        assert_eq!(cut(512, 512), (512, 512, 0, 0));
        assert_eq!(cut(700, 700), (512, 512, 188, 188));
        assert_eq!(cut(700, 2000), (512, 1536, 188, 464));
    }

    #[test]
    fn the_last_offset_does_not_overflow() {
        assert_eq!(cut(u64::MAX - 1, u64::MAX), (u64::MAX - 511, u64::MAX - 511, 510, 511));
    }
}
