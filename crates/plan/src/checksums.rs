//! The checksums of a file's chunks, and their encoding: a copy is compared with them.
//!
//! Nothing is computed here: the sums are passed in, and so is the function for the sum of the
//! whole encoding.
//!
//! ```
//! use swath_plan::checksums::Checksums;
//!
//! fn xxh3(bytes: &[u8]) -> u64 {
//! #     bytes.iter().fold(7, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x9e37_79b9))
//!     // … from a library of your choice
//! }
//!
//! let sums = Checksums::new(10, 4, vec![1, 2, 3])?;
//! assert_eq!(sums.chunk(2).map(|(extent, sum)| (extent.len(), sum)), Some((2, 3)));
//! let bytes = sums.encode(xxh3);
//! assert_eq!(Checksums::decode(&bytes, xxh3)?, sums);
//! # Ok::<(), swath_plan::checksums::ChecksumsError>(())
//! ```
//!
//! # The encoding
//!
//! Version 1. All numbers are unsigned and little-endian. Equal checksums have equal encodings.
//!
//! | Offset | Bytes | What |
//! | ---: | ---: | --- |
//! | 0 | 8 | `SWATHSUM` |
//! | 8 | 4 | version: 1 |
//! | 12 | 4 | kind of sum: 1 is XXH3 with 64 bits and seed 0; no other is defined |
//! | 16 | 8 | the length of the file |
//! | 24 | 8 | *C*, the length of a chunk, not 0; the last chunk may be shorter |
//! | 32 | 8 × *N* | the sum of each chunk; *N* is the length divided by *C*, rounded up |
//! | | 8 | the sum of everything before it |

use alloc::vec::Vec;
use core::fmt;
use core::num::NonZeroU64;

use crate::chunk::ChunkPlan;
use crate::extent::Extent;

/// Default chunk size in bytes, for a new manifest and for a vote.
pub const CHUNK_SIZE: u64 = 1 << 20;

/// Computes the sum of some bytes.
pub type Sum = fn(&[u8]) -> u64;

const MAGIC: &[u8; 8] = b"SWATHSUM";
const VERSION: u32 = 1;
const XXH3: u32 = 1;
const HEADER_LEN: usize = 32;
const SUM_LEN: usize = 8;

/// The sum of each chunk of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksums {
    plan: ChunkPlan,
    len: u64,
    chunk_size: NonZeroU64,
    sums: Vec<u64>,
}

impl Checksums {
    /// Combines the sums of a file of `len` bytes.
    ///
    /// # Errors
    ///
    /// If a chunk has no bytes, or the number of sums is not the number of chunks.
    pub fn new(len: u64, chunk_size: u64, sums: Vec<u64>) -> Result<Self, ChecksumsError> {
        let chunk_size = NonZeroU64::new(chunk_size).ok_or(ChecksumsError::ChunkSize)?;
        let plan = ChunkPlan::new(Extent::between(0, len), chunk_size);
        if plan.count() != sums.len() as u64 {
            return Err(ChecksumsError::Count);
        }
        Ok(Self { plan, len, chunk_size, sums })
    }

    /// Decodes bytes that may come from anywhere.
    /// Decodes a stored encoding from any source; it may be damaged.
    /// # Errors
    ///
    /// The fault of the bytes.
    pub fn decode(bytes: &[u8], sum: Sum) -> Result<Self, ChecksumsError> {
        let start = &bytes[..bytes.len().min(MAGIC.len())];
        if start != MAGIC {
            return Err(ChecksumsError::Magic);
        }
        let version = u32::from_le_bytes(array_at(bytes, 8)?);
        if version != VERSION {
            return Err(ChecksumsError::Version(version));
        }
        let kind = u32::from_le_bytes(array_at(bytes, 12)?);
        if kind != XXH3 {
            return Err(ChecksumsError::Kind(kind));
        }
        let len = u64::from_le_bytes(array_at(bytes, 16)?);
        let chunk_size = u64::from_le_bytes(array_at(bytes, 24)?);
        let count = len.div_ceil(chunk_size.max(1));
        let end = (bytes.len().checked_sub(SUM_LEN)).filter(|&end| end >= HEADER_LEN);
        let end = end.ok_or(ChecksumsError::Truncated)?;
        let body = &bytes[HEADER_LEN..end];
        match u64::try_from(body.len()).map(|have| (have, count.checked_mul(8))) {
            Ok((have, Some(want))) if have == want => {}
            Ok((have, Some(want))) if have > want => return Err(ChecksumsError::Trailing),
            _ => return Err(ChecksumsError::Truncated),
        }
        if sum(&bytes[..end]) != u64::from_le_bytes(array_at(bytes, end)?) {
            return Err(ChecksumsError::Sum);
        }
        let (sums, _) = body.as_chunks::<8>();
        Self::new(len, chunk_size, sums.iter().map(|&it| u64::from_le_bytes(it)).collect())
    }

    /// Returns the encoding.
    pub fn encode(&self, sum: Sum) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_LEN + (self.sums.len() + 1) * SUM_LEN);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&XXH3.to_le_bytes());
        for number in [self.len, self.chunk_size.get()].iter().chain(&self.sums) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let whole = sum(&bytes);
        bytes.extend_from_slice(&whole.to_le_bytes());
        bytes
    }

    /// Returns the length of the file in bytes.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file is empty.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the size of a chunk in bytes.
    pub const fn chunk_size(&self) -> NonZeroU64 {
        self.chunk_size
    }

    /// Returns the number of chunks.
    pub const fn count(&self) -> u64 {
        self.plan.count()
    }

    /// Returns the extent of chunk `index`, and its sum.
    pub fn chunk(&self, index: u64) -> Option<(Extent, u64)> {
        let sum = self.sums.get(usize::try_from(index).ok()?)?;
        Some((self.plan.chunk(index)?, *sum))
    }

    /// Returns the chunk that contains the byte at `offset`, and its sum; `None` past the last
    /// byte.
    pub fn chunk_at(&self, offset: u64) -> Option<(Extent, u64)> {
        if offset >= self.len { None } else { self.chunk(offset / self.chunk_size) }
    }
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], ChecksumsError> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk());
    found.copied().ok_or(ChecksumsError::Truncated)
}

/// The fault of encoded checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChecksumsError {
    /// The bytes do not start with the magic number.
    Magic,
    /// A version unknown to this library.
    Version(u32),
    /// A kind of sum unknown to this library.
    Kind(u32),
    /// A chunk has no bytes.
    ChunkSize,
    /// The number of sums differs from the number of chunks.
    Count,
    /// The bytes end early.
    Truncated,
    /// Other bytes follow the encoding.
    Trailing,
    /// The sum of the encoding is wrong.
    Sum,
}

impl fmt::Display for ChecksumsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Magic => "not a checksum manifest: it does not start with SWATHSUM",
            Self::Version(version) => {
                return write!(f, "this program does not know version {version}");
            }
            Self::Kind(kind) => {
                return write!(f, "this program does not know checksums of kind {kind}");
            }
            Self::ChunkSize => "a chunk cannot have 0 bytes",
            Self::Count => "there is not one checksum for each chunk",
            Self::Truncated => "it ends before the last checksum",
            Self::Trailing => "more bytes follow its end",
            Self::Sum => "its own checksum is wrong",
        })
    }
}

impl core::error::Error for ChecksumsError {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    /// A weak sum, but it differs if one byte differs.
    fn fold(bytes: &[u8]) -> u64 {
        let step = |sum: u64, &byte: &u8| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(7)
        };
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
    }

    #[test]
    fn there_is_one_sum_for_each_chunk() {
        for (len, count) in [(0, 0), (1, 1), (4, 1), (5, 2), (8, 2)] {
            assert!(Checksums::new(len, 4, vec![0; count]).is_ok(), "{len}");
            assert_eq!(
                Checksums::new(len, 4, vec![0; count + 1]),
                Err(ChecksumsError::Count),
                "{len}"
            );
        }
        assert_eq!(Checksums::new(0, 0, Vec::new()), Err(ChecksumsError::ChunkSize));
    }

    #[test]
    fn the_chunk_at_an_offset_holds_it() {
        let sums = Checksums::new(10, 4, vec![1, 2, 3]).expect("three chunks");
        for (offset, sum) in [(0, 1), (3, 1), (4, 2), (8, 3), (9, 3)] {
            let (extent, found) = sums.chunk_at(offset).expect("inside");
            assert_eq!(found, sum);
            assert!(extent.offset() <= offset && offset < extent.end());
        }
        assert_eq!(sums.chunk_at(12), None);
    }

    #[test]
    fn a_damaged_byte_is_always_found() {
        let bytes = Checksums::new(10, 4, vec![1, 2, 3]).expect("three chunks").encode(fold);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(Checksums::decode(&damaged, fold).is_err(), "byte {at}");
        }
        for len in 0..bytes.len() {
            assert!(Checksums::decode(&bytes[..len], fold).is_err(), "cut at {len}");
        }
    }

    #[test]
    fn a_count_from_outside_takes_no_memory() {
        let mut bytes = Checksums::new(0, 1, Vec::new()).expect("empty").encode(fold);
        bytes[16..24].fill(0xff);
        assert_eq!(Checksums::decode(&bytes, fold), Err(ChecksumsError::Truncated));
        bytes[16..24].fill(0);
        bytes.insert(32, 0);
        assert_eq!(Checksums::decode(&bytes, fold), Err(ChecksumsError::Trailing));
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(
            sums in proptest::collection::vec(any::<u64>(), 0..20), size in 1_u64..1000, less in 0_u64..1000,
        ) {
            let len = (sums.len() as u64 * size).saturating_sub(less % size);
            let sums = Checksums::new(len, size, sums).expect("that many chunks");
            prop_assert_eq!(Checksums::decode(&sums.encode(fold), fold), Ok(sums));
        }

        #[test]
        fn no_bytes_are_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = Checksums::decode(&bytes, fold);
        }
    }
}
