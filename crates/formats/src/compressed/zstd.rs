//! zstd: independent frames, found by walking over their blocks.

pub(super) mod frame;
pub(super) mod seek_table;
pub(super) mod split;

use zstd::zstd_safe::{
    CCtx, CParameter, DCtx, compress_bound, find_frame_compressed_size, get_error_name,
};

use super::frame::{Encode, Frame, size32};
use super::work::{BytesFault, Decode, EncodedFrames};
use crate::error::FormatReason;

/// The level for which tables were measured, with the logarithms of its long and its short table.
///
/// A window as large as the frame makes the output 1 to 2 % smaller than zstd's own 2 MiB. Tables
/// half and an eighth as long as zstd's stay in the cache and are 15 % faster, at the cost of about
/// half of that gain. Compared with `zstd -3`, archives of numbers, logs, manuals, sources, JSON,
/// programs and Python are between 3 % smaller and 1 % larger, in this order.
const MEASURED: (i32, u32, u32) = (3, 16, 13);

/// Table sizes of an encoder, as powers of two, in units of four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tables {
    chain: u32,
    hash: u32,
}

impl Tables {
    /// zstd 1.5's own sizes for long inputs, by level; the first row is for levels below 1.
    const OF_LEVELS: [(u32, u32); 23] = [
        (12, 13),
        (13, 14),
        (15, 16),
        (16, 17),
        (18, 18),
        (18, 19),
        (18, 19),
        (19, 20),
        (19, 20),
        (20, 21),
        (21, 22),
        (21, 22),
        (22, 23),
        (22, 22),
        (22, 23),
        (23, 23),
        (22, 22),
        (23, 22),
        (23, 22),
        (24, 22),
        (25, 23),
        (26, 24),
        (27, 25),
    ];
    /// Shorter tables would save no memory that matters.
    const LEAST: u32 = 16;

    /// Returns the sizes for `level` and blocks of this size; tables are never much longer than a
    /// block.
    pub(super) fn of(level: i32, block_size: usize) -> Self {
        let row = usize::try_from(level).unwrap_or(0).min(Self::OF_LEVELS.len() - 1);
        let (chain, hash) = Self::OF_LEVELS[row];
        let most = block_size.next_power_of_two().ilog2() + 1;
        Self { chain: chain.min(most), hash: hash.min(most) }
    }

    /// Halves the longer table; `false` if both are at their shortest.
    pub(super) fn shorten(&mut self) -> bool {
        let longer = if self.chain > self.hash { &mut self.chain } else { &mut self.hash };
        let is_long = *longer > Self::LEAST;
        *longer -= u32::from(is_long);
        is_long
    }

    /// Returns the length of a context in bytes: the tables, the tags of fast searches, and the
    /// rest.
    pub(super) fn bytes(self) -> u64 {
        (4 << self.chain) + (5 << self.hash) + (1 << 20)
    }
}

/// Smallest and largest window, as powers of two, that every decoder accepts.
const WINDOW_LOGS: (u32, u32) = (10, 27);

pub(super) struct ZstdEncoder(CCtx<'static>);

impl ZstdEncoder {
    pub(super) fn new(
        level: i32,
        block_size: usize,
        tables: Option<Tables>,
    ) -> Result<Self, String> {
        let mut context = CCtx::try_create().ok_or("not enough memory for a zstd context")?;
        let (least, most) = WINDOW_LOGS;
        let window_log = block_size.next_power_of_two().ilog2().clamp(least, most);
        let mut parameters = vec![
            CParameter::CompressionLevel(level),
            CParameter::ChecksumFlag(true),
            CParameter::WindowLog(window_log),
        ];
        let (measured, hash_log, chain_log) = MEASURED;
        if let Some(Tables { chain, hash }) = tables {
            parameters.push(CParameter::HashLog(hash));
            parameters.push(CParameter::ChainLog(chain));
        } else if level == measured {
            parameters.push(CParameter::HashLog(hash_log));
            parameters.push(CParameter::ChainLog(chain_log));
        }
        for parameter in parameters {
            context.set_parameter(parameter).map_err(said)?;
        }
        Ok(Self(context))
    }
}

impl Encode for ZstdEncoder {
    fn encode(&mut self, block: &[u8], out: &mut Vec<u8>) -> Result<Frame, String> {
        let before = out.len();
        let bound = compress_bound(block.len());
        out.try_reserve(bound).map_err(|_| "not enough memory for a zstd frame")?;
        if before == 0 {
            self.0.compress2(out, block).map_err(said)?;
        } else {
            out.resize(before + bound, 0);
            let len = self.0.compress2(&mut out[before..], block).map_err(said)?;
            out.truncate(before + len);
        }
        let frame = &out[before..];
        // A frame ends with the lower half of its content's XXH64, which the seek table needs.
        let checksum = frame.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        Ok(Frame { packed: size32(frame.len())?, plain: size32(block.len())?, checksum })
    }
}

/// Decodes whole frames.
pub(super) struct FrameDecoder(DCtx<'static>);

impl FrameDecoder {
    /// Returns `None` if there is not enough memory.
    pub(super) fn new() -> Option<Self> {
        Some(Self(DCtx::try_create()?))
    }
}

impl Decode for FrameDecoder {
    fn decode(&mut self, encoded: &EncodedFrames, out: &mut Vec<u8>) -> Result<(), BytesFault> {
        debug_assert!(out.is_empty() && out.capacity() >= encoded.most);
        match self.0.decompress(out, &encoded.bytes) {
            Ok(_) => Ok(()),
            Err(code) => {
                let mut wrong = wrong(code);
                wrong.at = self.first_wrong(&encoded.bytes, out);
                Err(wrong)
            }
        }
    }
}

impl FrameDecoder {
    /// Returns the start of the first frame that cannot be decoded.
    fn first_wrong(&mut self, frames: &[u8], out: &mut Vec<u8>) -> usize {
        let mut at = 0;
        while let Ok(len) = find_frame_compressed_size(&frames[at..])
            && at + len < frames.len()
        {
            out.clear();
            if self.0.decompress(out, &frames[at..at + len]).is_err() {
                break;
            }
            at += len;
        }
        at
    }
}

/// The library's message for a window that is too large.
const TOO_LARGE: &str = "Frame requires too much memory for decoding";

/// Describes the fault of a frame.
pub(super) fn wrong(code: usize) -> BytesFault {
    match get_error_name(code) {
        TOO_LARGE => BytesFault {
            at: 0,
            reason: FormatReason::Unsupported,
            what: String::from("the frame needs a window of more than 128 MiB"),
            hint: "decompress it with `zstd -d --long=31`",
        },
        said => BytesFault::corrupt(0, said.to_lowercase()),
    }
}

/// Returns the library's message for an error code.
fn said(code: usize) -> String {
    String::from(get_error_name(code))
}
