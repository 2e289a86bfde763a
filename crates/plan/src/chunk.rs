//! Splits an extent into chunks.
//!
//! A [`ChunkPlan`] answers one question: *which bytes are chunk `index`?*
//!
//! ```text
//! extent  |----------|   offset 0, len 10
//! chunks  |0  |1  |2  |3|   chunk_size 3: lengths 3, 3, 3, 1
//! ```
//!
//! ```
//! use core::num::NonZeroU64;
//! use swath_plan::{chunk::ChunkPlan, extent::Extent};
//!
//! let plan = ChunkPlan::new(Extent::between(5, 15), NonZeroU64::new(3).expect("three"));
//! assert_eq!(plan.count(), 4);
//! assert_eq!(plan.chunk(3), Some(Extent::between(14, 15)));
//! assert_eq!(plan.chunk(4), None);
//! ```

use core::num::NonZeroU64;

use crate::extent::Extent;

/// An extent, split every `chunk_size` bytes from its own start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkPlan {
    extent: Extent,
    chunk_size: NonZeroU64,
}

impl ChunkPlan {
    /// Splits `extent`.
    pub const fn new(extent: Extent, chunk_size: NonZeroU64) -> Self {
        Self { extent, chunk_size }
    }

    /// Returns the number of chunks; 0 for an empty extent.
    pub const fn count(&self) -> u64 {
        self.extent.len().div_ceil(self.chunk_size.get())
    }

    /// Returns chunk `index`, or `None` for [`count`](Self::count) and above. All have `chunk_size`
    /// bytes except the last, which may be shorter.
    pub fn chunk(&self, index: u64) -> Option<Extent> {
        if index < self.count() {
            // Cannot overflow: `index` is below `len / chunk_size` rounded up.
            let skipped = index * self.chunk_size.get();
            let len = self.chunk_size.get().min(self.extent.len() - skipped);
            Extent::new(self.extent.offset() + skipped, len)
        } else {
            None
        }
    }

    /// Splits the extent into `shares` runs of adjacent chunks whose counts differ by at most one:
    /// study A's equal division. If there are fewer chunks than shares, the last shares are empty.
    pub fn shares(&self, shares: u64) -> impl Iterator<Item = Extent> + '_ {
        let (each, more) = (self.count() / shares.max(1), self.count() % shares.max(1));
        let at = move |share: u64| {
            let chunks = share * each + share.min(more);
            self.extent.offset()
                + chunks.saturating_mul(self.chunk_size.get()).min(self.extent.len())
        };
        (0..shares.max(1)).map(move |share| Extent::between(at(share), at(share + 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn plan(offset: u64, len: u64, chunk_size: u64) -> ChunkPlan {
        let extent = Extent::new(offset, len).expect("fits");
        ChunkPlan::new(extent, NonZeroU64::new(chunk_size).expect("positive"))
    }

    #[test]
    fn one_below_on_and_above_a_boundary() {
        let counts = |len| plan(0, len, 4).count();
        assert_eq!([0, 1, 3, 4, 5, 7, 8, 9].map(counts), [0, 1, 1, 1, 2, 2, 2, 3]);
        assert_eq!(plan(0, u64::MAX, 1).chunk(u64::MAX - 1).map(Extent::len), Some(1));
        assert_eq!(plan(0, u64::MAX, u64::MAX).count(), 1);
    }

    proptest! {
        #[test]
        fn chunks_and_shares_tile_the_extent(
            offset in 0_u64..1000, len in 0_u64..1000, size in 1_u64..200, shares in 1_u64..70,
        ) {
            let plan = plan(offset, len, size);
            let chunks: Vec<_> = (0..plan.count()).filter_map(|i| plan.chunk(i)).collect();
            let shares: Vec<_> = plan.shares(shares).collect();
            for tiles in [&chunks, &shares] {
                let mut at = offset;
                for tile in tiles {
                    prop_assert_eq!(tile.offset(), at);
                    at = tile.end();
                }
                prop_assert_eq!(at, offset + len);
            }
            for share in shares {
                let whole = (share.offset() - offset) % size == 0;
                prop_assert!(whole || share.is_empty(), "shares start at chunks");
            }
        }
    }
}
