//! Checks the extents of a committed output that many threads read in pieces.
//!
//! ```text
//! extent   |--- read ---|          |--- read ---|
//! a read                |-- now --|                  all of it: its checksum is that of the manifest, or an error
//! ```

use std::collections::{BTreeMap, HashMap};

use crc32c::crc32c;
use swath_simd::crc32c_combine;

use crate::locks::Mutex;

/// The pieces of one extent that were read.
#[derive(Debug, Default)]
struct ExtentPieces {
    /// Length and checksum of each piece, by its start. Pieces do not overlap.
    all: BTreeMap<u64, (u64, u32)>,
    len: u64,
}

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct ExtentSums {
    /// The pieces of the extents that are being read.
    extents: Mutex<HashMap<usize, ExtentPieces>>,
}

impl ExtentSums {
    /// Records that `bytes` were read at `start` of an extent of `len` bytes. Returns the checksum of the extent
    /// once all of it has been read. Bytes that are read again replace the earlier ones.
    pub(super) fn note(
        &self,
        extent: usize,
        start: u64,
        bytes: &[u8],
        len: u64,
    ) -> Option<u32> {
        let (new, crc) = (bytes.len() as u64, crc32c(bytes));
        let mut extents = self.extents.lock();
        let ExtentPieces { all, len: read } = extents.entry(extent).or_default();
        let last = |all: &BTreeMap<u64, (u64, u32)>| {
            all.range(..start + new).next_back().map(|(&at, &(len, _))| (at, len))
        };
        while let Some((at, len)) = last(all).filter(|(at, len)| at + len > start) {
            all.remove(&at);
            *read -= len;
        }
        all.insert(start, (new, crc));
        *read += new;
        if *read < len {
            return None;
        }
        let whole = all.values().fold(0, |sum, &(len, crc)| crc32c_combine(sum, crc, len));
        extents.remove(&extent);
        Some(whole)
    }
}

#[cfg(test)]
mod tests {
    use swath_reference::splitmix;

    use super::*;

    #[test]
    fn pieces_in_any_order_and_read_again_give_the_checksum_of_all() {
        let bytes: Vec<u8> =
            (0..1000_u32).map(|number| (number * number % 251) as u8).collect();
        let whole = crc32c(&bytes);
        for seed in 0..300 {
            let mut next = splitmix(seed);
            let mut below = |most: usize| usize::try_from(next() % most as u64).expect("small");
            let mut cuts: Vec<usize> =
                (0..below(9)).map(|_| below(1000)).chain([0, 1000]).collect();
            cuts.sort_unstable();
            cuts.dedup();
            let mut pieces: Vec<_> = cuts.windows(2).map(|cut| cut[0]..cut[1]).collect();
            for at in (1..pieces.len()).rev() {
                pieces.swap(at, below(at + 1));
            }
            // Some are read twice, the first time with other bytes.
            let sums = ExtentSums::default();
            let last = pieces.pop().expect("one");
            for piece in pieces {
                if below(3) == 0 {
                    let other = vec![0; piece.len()];
                    assert_eq!(sums.note(7, piece.start as u64, &other, 1000), None);
                }
                assert_eq!(sums.note(7, piece.start as u64, &bytes[piece], 1000), None);
            }
            let all = sums.note(7, last.start as u64, &bytes[last], 1000);
            assert_eq!(all, Some(whole));
            assert!(sums.extents.into_inner().is_empty());
        }
    }
}
