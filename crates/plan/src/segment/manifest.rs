//! The manifest: the bytes of segments that make up the file, in serial order.
//!
//! A [`Manifest`] always satisfies all rules below, whether it was built ([`new`](Manifest::new))
//! or read ([`decode`](Manifest::decode)). So its users need not check again before opening a file
//! by a name in it or reading at an offset in it.
//!
//! ```
//! use swath_plan::{extent::Extent, segment::manifest::{Manifest, ManifestExtent, Segment}};
//!
//! fn crc32c_append(previous: u32, bytes: &[u8]) -> u32 {
//! #     bytes.iter().fold(previous, |sum, &byte| sum.rotate_left(5) ^ u32::from(byte))
//!     // … from a library of your choice
//! }
//!
//! let segments = vec![Segment { name: "segment-0".into(), len: 10 }];
//! let extent = Extent::new(4, 6).expect("fits");
//! let extents = vec![ManifestExtent { segment: 0, extent, crc32c: None }];
//! let manifest = Manifest::new(segments, extents)?;
//! let bytes = manifest.encode(crc32c_append);
//! assert_eq!(Manifest::decode(&bytes, crc32c_append)?, manifest);
//! assert_eq!(manifest.len(), 6);
//! # Ok::<(), swath_plan::segment::manifest::ManifestError>(())
//! ```
//!
//! # The encoding
//!
//! Version 1. All numbers are unsigned and little-endian; nothing is aligned or padded. Equal
//! manifests have equal encodings.
//!
//! | Offset | Bytes | What |
//! | ---: | ---: | --- |
//! | 0 | 8 | `SWATHMAN` |
//! | 8 | 4 | version: 1 |
//! | 12 | 4 | flags: 0; this version does not know any set bit |
//! | 16 | 8 | total: the length of the file, which is the sum of the lengths of all extents |
//! | 24 | 4 | *S*, the count of segments, at most 2³¹ |
//! | 28 | 8 | *E*, the count of extents |
//! | 36 | | *S* segments, one after the other |
//! | | 24 × *E* | extents in serial order |
//! | | 4 | CRC-32C of everything before it |
//!
//! A segment, `9 + n` bytes:
//!
//! | Offset | Bytes | What |
//! | ---: | ---: | --- |
//! | 0 | 8 | the length of the part of the segment's file that extents may be in; the file may
//! be longer |
//! | 8 | 1 | *n*, the length of its name |
//! | 9 | *n* | its name, UTF-8, in the folder of the manifest |
//!
//! An extent, 24 bytes:
//!
//! | Offset | Bytes | What |
//! | ---: | ---: | --- |
//! | 0 | 4 | bits 0 to 30: the index of its segment; bit 31: whether it has a checksum |
//! | 4 | 4 | CRC-32C of its bytes; 0 without a checksum |
//! | 8 | 8 | its offset in the segment's file |
//! | 16 | 8 | its length |
//!
//! # The rules
//!
//! A violation is refused, with the offset of the fault:
//!
//! * the encoding ends where the counts say, and the checksum at the end is right;
//! * a name has 1 to 255 bytes, no `/` and no NUL, does not start with a dot, is not `MANIFEST`
//!   and occurs once;
//! * an extent names a segment that exists, is not empty, ends inside the segment's length, and
//!   shares no byte with another extent;
//! * the total is the sum of the extents, and fits 64 bits.

mod check;
mod decode;
mod fault;
#[cfg(test)]
mod tests;

use crate::extent::Extent;
use alloc::boxed::Box;
use alloc::vec::Vec;

pub use fault::{Fault, ManifestError};

/// Adds bytes to a CRC-32C: takes the sum of the previous bytes (0: none) and the next ones.
pub type Crc32cAppend = fn(u32, &[u8]) -> u32;

/// The name of the file that holds a manifest.
pub const FILE_NAME: &str = "MANIFEST";

/// Bytes of the longest name that a segment may have: `NAME_MAX` of Linux.
pub const NAME_LEN_MAX: usize = 255;

const MAGIC: &[u8; 8] = b"SWATHMAN";
const VERSION: u32 = 1;
const FLAGS: u32 = 0;
/// Offsets of the fields of the header.
const VERSION_AT: usize = 8;
const FLAGS_AT: usize = 12;
const TOTAL_AT: usize = 16;
const SEGMENT_COUNT_AT: usize = 24;
const EXTENT_COUNT_AT: usize = 28;
const HEADER_LEN: usize = 36;
/// Bytes of a segment in addition to its name.
const SEGMENT_LEN: usize = 9;
const EXTENT_LEN: usize = 24;
const SUM_LEN: usize = 4;
/// The bit in an extent's first number that marks a checksum.
const HAS_CHECKSUM: u32 = 1 << 31;

/// A file that contains extents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its name in the folder of the manifest.
    pub name: Box<str>,
    /// The length of its part that extents may be in.
    pub len: u64,
}

/// A range of bytes of one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManifestExtent {
    /// The index of the segment.
    pub segment: u32,
    /// Range of its bytes.
    pub extent: Extent,
    /// The CRC-32C of these bytes, if it was computed.
    pub crc32c: Option<u32>,
}

/// Segments, and the extents of them that make up the file, in serial order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    segments: Vec<Segment>,
    extents: Vec<ManifestExtent>,
    len: u64,
}

impl Manifest {
    /// Checks the rules of the [module](self) and puts the parts together.
    ///
    /// O(n) if every segment's extents are in the order of their offsets, otherwise O(n log n).
    ///
    /// # Errors
    ///
    /// The first broken rule, and the place of the broken part in the encoding.
    pub fn new(
        segments: Vec<Segment>,
        extents: Vec<ManifestExtent>,
    ) -> Result<Self, ManifestError> {
        let len = check::check(&segments, &extents)?;
        Ok(Self { segments, extents, len })
    }

    /// Decodes a manifest from any source; it may be damaged or malicious.
    ///
    /// O(n), or O(n log n) as in [`new`](Self::new). Takes memory for at most a small multiple of
    /// the length of `bytes`, and most of it only after checking the checksum.
    ///
    /// # Errors
    ///
    /// The first fault, and its offset.
    pub fn decode(bytes: &[u8], crc32c_append: Crc32cAppend) -> Result<Self, ManifestError> {
        decode::decode(bytes, crc32c_append)
    }

    /// Returns the encoding.
    pub fn encode(&self, crc32c_append: Crc32cAppend) -> Vec<u8> {
        let names: usize = self.segments.iter().map(|it| SEGMENT_LEN + it.name.len()).sum();
        let len = HEADER_LEN + names + self.extents.len() * EXTENT_LEN + SUM_LEN;
        let mut bytes = Vec::with_capacity(len);
        self.encode_header(&mut bytes);
        for segment in &self.segments {
            encode_segment(segment, &mut bytes);
        }
        for extent in &self.extents {
            bytes.extend_from_slice(&encode_extent(extent));
        }
        let sum = crc32c_append(0, &bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn encode_header(&self, bytes: &mut Vec<u8>) {
        let segments = u32::try_from(self.segments.len()).expect("checked when it was made");
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&FLAGS.to_le_bytes());
        bytes.extend_from_slice(&self.len.to_le_bytes());
        bytes.extend_from_slice(&segments.to_le_bytes());
        bytes.extend_from_slice(&(self.extents.len() as u64).to_le_bytes());
    }

    /// Returns the segments, in the order of their indices.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the extents in serial order.
    pub fn extents(&self) -> &[ManifestExtent] {
        &self.extents
    }

    /// Returns the length of the described file in bytes.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether the described file is empty.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the parts, for a manifest that continues this one.
    pub fn into_parts(self) -> (Vec<Segment>, Vec<ManifestExtent>) {
        (self.segments, self.extents)
    }
}

fn encode_segment(segment: &Segment, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&segment.len.to_le_bytes());
    bytes.push(u8::try_from(segment.name.len()).expect("checked when it was made"));
    bytes.extend_from_slice(segment.name.as_bytes());
}

fn encode_extent(it: &ManifestExtent) -> [u8; EXTENT_LEN] {
    let flag = if it.crc32c.is_some() { HAS_CHECKSUM } else { 0 };
    let mut bytes = [0; EXTENT_LEN];
    bytes[..4].copy_from_slice(&(it.segment | flag).to_le_bytes());
    bytes[4..8].copy_from_slice(&it.crc32c.unwrap_or(0).to_le_bytes());
    bytes[8..16].copy_from_slice(&it.extent.offset().to_le_bytes());
    bytes[16..].copy_from_slice(&it.extent.len().to_le_bytes());
    bytes
}

/// Returns the offset of extent `index` in the encoding.
fn extent_at(segments: &[Segment], index: usize) -> usize {
    segment_at(segments, segments.len()) + index * EXTENT_LEN
}

/// Returns the offset of segment `index` in the encoding.
fn segment_at(segments: &[Segment], index: usize) -> usize {
    let before = segments[..index].iter().map(|it| SEGMENT_LEN + it.name.len());
    HEADER_LEN + before.sum::<usize>()
}
