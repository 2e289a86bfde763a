//! gzip: independent members that record their length.
//!
//! ```text
//! member  |1f 8b 08 04 .. | XLEN | 'I''G' 4 size | deflate .. | CRC-32 | ISIZE |
//! BGZF    |1f 8b 08 04 .. | XLEN | 'B''C' 2 size - 1 | ..
//! ```
//!
//! Tools skip fields that they do not know. `IG` is the field of Python's `pgzip`, so `pgzip` too
//! reads these files with several threads.

pub(super) mod header;
pub(super) mod index;
pub(super) mod inflate;
pub(super) mod split;

use libdeflater::{CompressionLvl, Compressor, crc32};
use swath::machine::caught;

use super::frame::{Encode, Frame, size32};

/// The first bytes of a member: deflate, an extra field, no time, an unknown system.
pub(super) const START: [u8; 10] = [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff];
/// Length in bytes of CRC-32 and size after the data.
pub(super) const TRAILER: usize = 8;

/// The largest input of a BGZF member, as in `bgzip`: even stored, it stays below 64 KiB.
pub(super) const MOST_BGZF: usize = 0xff00;

/// The empty member at the end of every BGZF file.
pub(super) const BGZF_END: [u8; 28] = [
    0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, b'B', b'C', 2, 0, 27, 0, 3, 0, 0, 0, 0, 0, 0,
    0, 0, 0,
];

/// How a member records its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemberKind {
    /// In 32 bits.
    Sized,
    /// In 16 bits.
    Bgzf,
}

pub(super) struct GzipEncoder {
    compressor: Compressor,
    kind: MemberKind,
}

impl GzipEncoder {
    pub(super) fn new(level: i32, kind: MemberKind) -> Result<Self, String> {
        let level =
            CompressionLvl::new(level).map_err(|_| "libdeflate does not have this level")?;
        // The library panics if there is no memory.
        let compressor = caught(|| Compressor::new(level));
        Ok(Self { compressor: compressor.ok_or("not enough memory for a gzip encoder")?, kind })
    }
}

impl Encode for GzipEncoder {
    fn encode(&mut self, block: &[u8], out: &mut Vec<u8>) -> Result<Frame, String> {
        /// An upper limit for the header and trailer of a member.
        const AROUND: usize = 64;
        let before = out.len();
        let bound = self.compressor.deflate_compress_bound(block.len());
        out.try_reserve(AROUND + bound).map_err(|_| "not enough memory for a gzip member")?;
        out.extend_from_slice(&START);
        out.extend_from_slice(match self.kind {
            MemberKind::Sized => b"\x08\0IG\x04\0\0\0\0\0",
            MemberKind::Bgzf => b"\x06\0BC\x02\0\0\0",
        });
        let size_end = out.len();
        out.resize(size_end + bound, 0);
        let deflated = self.compressor.deflate_compress(block, &mut out[size_end..]);
        let len = deflated.map_err(|_| "libdeflate's output buffer was too small")?;
        out.truncate(size_end + len);
        let checksum = crc32(block);
        out.extend_from_slice(&checksum.to_le_bytes());
        out.extend_from_slice(&size32(block.len())?.to_le_bytes());

        let packed = size32(out.len() - before)?;
        match self.kind {
            MemberKind::Sized => {
                out[size_end - 4..size_end].copy_from_slice(&packed.to_le_bytes());
            }
            MemberKind::Bgzf => {
                let size =
                    u16::try_from(packed - 1).map_err(|_| "a member is larger than 64 KiB")?;
                out[size_end - 2..size_end].copy_from_slice(&size.to_le_bytes());
            }
        }
        Ok(Frame { packed, plain: size32(block.len())?, checksum })
    }
}

/// Whether the first member of a stream is a BGZF member.
pub(super) fn is_bgzf(head: &[u8]) -> bool {
    matches!(header::parse(head), header::HeaderParse::Header(header) if header.bgzf)
}
