//! Finds the item that contains a byte, among many consecutive items: a flat index, built once and
//! then only read.
//!
//! ```text
//! items    |a    |b|c||e        |     lengths 5, 1, 2, 0, 9
//! starts   0     5 6 8          17    a sum before each, and the total
//! buckets  |·    ·    |·    ·    |    equal shares of the bytes, an item or two in each
//! ```
//!
//! A search looks up the bucket of the offset, which gives the two items between which to search.
//! So the expected cost for an offset drawn evenly from all bytes is O(1) whatever the lengths are,
//! because the more bytes are in short items, the more buckets these have; the worst case is O(log
//! n), in a bucket that many short items share.
//!
//! ```
//! use swath_plan::segment::index::Index;
//!
//! let index = Index::build([5, 1, 2, 0, 9]).expect("fits");
//! assert_eq!(index.find(7), Some((2, 1)));
//! assert_eq!(index.find(8), Some((4, 0)), "an empty item holds no byte");
//! assert_eq!(index.find(17), None);
//! ```

use alloc::vec::Vec;

/// Items for each bucket, up to twice as many. Measured: with fewer, the table of buckets no longer
/// fits into the nearer caches; with more, the walk inside a bucket gets longer.
const ITEMS_PER_BUCKET: usize = 1;

/// Up to this many items, a walk from the first is faster than halving.
const WALK_MAX: usize = 16;

/// The starts of adjacent items. Takes 10 to 12 bytes of memory for each.
#[derive(Clone, Debug)]
pub struct Index {
    /// The start of each item, then the total.
    starts: Vec<u64>,
    /// The item that contains the first byte of each bucket, then the last item.
    buckets: Vec<u32>,
    /// The size of a bucket in bytes, as a power of two.
    shift: u32,
}

impl Index {
    /// Builds the index of consecutive items of these lengths, in O(n).
    ///
    /// Returns `None` if they have more than `u64::MAX` bytes in total, or if there are more
    /// than `u32::MAX` of them.
    pub fn build(lens: impl IntoIterator<Item = u64>) -> Option<Self> {
        let lens = lens.into_iter();
        let mut starts = Vec::with_capacity(lens.size_hint().0.saturating_add(1));
        let mut end = 0_u64;
        for len in lens {
            starts.push(end);
            end = end.checked_add(len)?;
        }
        let count = u32::try_from(starts.len()).ok()?;
        starts.push(end);
        let shift = shift_for(end, starts.len() / ITEMS_PER_BUCKET);
        let buckets = fill_buckets(&starts, shift, count);
        Some(Self { starts, buckets, shift })
    }

    /// Returns the number of items, including empty ones.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the total length of all items.
    pub fn total(&self) -> u64 {
        self.starts[self.len()]
    }

    /// Returns the start of item `index`; for the number of items, the end of the last one.
    pub fn start(&self, index: usize) -> Option<u64> {
        self.starts.get(index).copied()
    }

    /// Returns the item that contains byte `offset`, and the offset inside that item; `None` for
    /// [`total`](Self::total) and above.
    ///
    /// Expected O(1), at worst O(log n).
    #[inline]
    pub fn find(&self, offset: u64) -> Option<(usize, u64)> {
        if offset >= self.total() {
            return None;
        }
        let bucket = usize::try_from(offset >> self.shift).ok()?;
        let first = self.buckets[bucket] as usize;
        let last = self.buckets[bucket + 1] as usize;
        // The last item that does not start after the byte: empty ones before it are skipped.
        let after = &self.starts[first + 1..=last];
        let passed = if after.len() <= WALK_MAX {
            after.iter().take_while(|&&start| start <= offset).count()
        } else {
            after.partition_point(|&start| start <= offset)
        };
        Some((first + passed, offset - self.starts[first + passed]))
    }
}

/// Returns the shift of offsets below `total` that leaves at most `most` buckets.
fn shift_for(total: u64, most: usize) -> u32 {
    let (last, most) = (total.saturating_sub(1), most.max(1) as u64);
    (0..u64::BITS).find(|&shift| (last >> shift) < most).unwrap_or(u64::BITS - 1)
}

fn fill_buckets(starts: &[u64], shift: u32, count: u32) -> Vec<u32> {
    let total = starts[starts.len() - 1];
    let Some(last_byte) = total.checked_sub(1) else { return Vec::new() };
    let mut buckets = Vec::new();
    let mut ends = starts[1..].iter().zip(0_u32..).peekable();
    for bucket in 0..=last_byte >> shift {
        let passed = |end: &(&u64, u32)| *end.0 <= bucket << shift;
        while ends.next_if(passed).is_some() {}
        buckets.extend(ends.peek().map(|end| end.1));
    }
    buckets.push(count - 1);
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn index(lens: &[u64]) -> Index {
        Index::build(lens.iter().copied()).expect("fits")
    }

    /// The result of a walk over all items.
    fn walk(lens: &[u64], offset: u64) -> Option<(usize, u64)> {
        let mut start = 0;
        for (index, &len) in lens.iter().enumerate() {
            if offset - start < len {
                return Some((index, offset - start));
            }
            start += len;
        }
        None
    }

    #[test]
    fn nothing_holds_no_byte() {
        for lens in [&[][..], &[0], &[0, 0, 0]] {
            let index = index(lens);
            assert_eq!((index.len(), index.total(), index.find(0)), (lens.len(), 0, None));
            assert_eq!(index.is_empty(), lens.is_empty());
            assert_eq!(index.start(lens.len()), Some(0));
        }
    }

    #[test]
    fn more_than_64_bits_of_bytes_are_refused() {
        assert!(Index::build([u64::MAX, 1]).is_none());
        let index = index(&[1, u64::MAX - 2, 1]);
        assert_eq!(index.find(0), Some((0, 0)));
        assert_eq!(index.find(u64::MAX - 2), Some((1, u64::MAX - 3)));
        assert_eq!(index.find(u64::MAX - 1), Some((2, 0)));
        assert_eq!(index.find(u64::MAX), None);
        assert_eq!(index.start(3), Some(u64::MAX));
        assert_eq!(index.start(4), None);
    }

    #[test]
    fn a_bucket_that_many_items_share_is_searched() {
        let mut lens = vec![1; 5000];
        lens.extend([1 << 40, 0, 0, 3]);
        let index = index(&lens);
        for offset in [0, 1, 16, 17, 4999, 5000, 5001, (1 << 40) + 4999, (1 << 40) + 5000] {
            assert_eq!(index.find(offset), walk(&lens, offset), "{offset}");
        }
    }

    #[test]
    fn equal_items_have_a_bucket_for_every_few() {
        let index = index(&vec![10_000; 4096]);
        assert!(index.buckets.len() > 4096 / (2 * ITEMS_PER_BUCKET));
        assert!(index.buckets.len() <= 4096 / ITEMS_PER_BUCKET + 1);
    }

    proptest! {
        #[test]
        fn every_byte_is_found_where_a_walk_finds_it(
            lens in proptest::collection::vec(prop_oneof![0_u64..3, 0_u64..200], 0..200),
        ) {
            let index = index(&lens);
            let total: u64 = lens.iter().sum();
            prop_assert_eq!((index.len(), index.total()), (lens.len(), total));
            for offset in 0..total + 3 {
                prop_assert_eq!(index.find(offset), walk(&lens, offset));
            }
        }

        #[test]
        fn items_of_very_different_lengths_are_found(
            bits in proptest::collection::vec(0_u32..50, 1..300),
        ) {
            let lens: Vec<u64> = bits.iter().map(|&bits| (1 << bits) - 1).collect();
            let index = index(&lens);
            for (item, &len) in lens.iter().enumerate() {
                let start = index.start(item).expect("one of the items");
                for within in [0, len / 2, len.saturating_sub(1)] {
                    if within < len {
                        prop_assert_eq!(index.find(start + within), Some((item, within)));
                    }
                }
            }
        }
    }
}
