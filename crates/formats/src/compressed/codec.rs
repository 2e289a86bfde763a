//! Encodes a block, ends a file, and decodes, for each format.

use std::path::Path;

use super::frame::{Encode, Frame};
use super::seekable::index::has_checksum;
use super::supply::no_memory;
use super::work::{BytesFault, Decode, EncodedFrames};
use super::{Format, bzip2, gzip, zstd};
use crate::error;

/// The parameters that determine every byte of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodecShape {
    pub(super) format: Format,
    pub(super) level: i32,
    pub(super) block_size: usize,
    /// Shorter tables than the level's own, if memory is short.
    pub(super) tables: Option<zstd::Tables>,
}

impl CodecShape {
    pub(super) fn encoder(self) -> Result<Box<dyn Encode>, String> {
        Ok(match self.format {
            Format::Zstd => {
                Box::new(zstd::ZstdEncoder::new(self.level, self.block_size, self.tables)?)
            }
            Format::Gzip => {
                Box::new(gzip::GzipEncoder::new(self.level, gzip::MemberKind::Sized)?)
            }
            Format::Bgzf => {
                Box::new(gzip::GzipEncoder::new(self.level, gzip::MemberKind::Bgzf)?)
            }
            Format::Bzip2 => Box::new(bzip2::Bzip2Encoder::new(self.level)?),
        })
    }

    /// Returns the bytes that follow the last frame.
    pub(super) fn trailer(self, frames: &[Frame]) -> Result<Vec<u8>, String> {
        match self.format {
            Format::Zstd => zstd::seek_table::written(frames),
            Format::Gzip => Ok(gzip::index::written(frames)),
            Format::Bgzf => Ok(gzip::BGZF_END.to_vec()),
            Format::Bzip2 => Ok(Vec::new()),
        }
    }

    /// Whether an empty input needs a frame: without one the file would not be valid.
    pub(super) fn needs_a_frame(self) -> bool {
        self.format != Format::Bgzf
    }
}

/// Returns the decoder for the work that the splitter of `format` produces; `None` if there is no
/// memory for it.
pub(super) fn decoder(format: Format) -> Option<Box<dyn Decode>> {
    match format {
        Format::Zstd => Some(Box::new(zstd::FrameDecoder::new()?)),
        // bzip2's blocks are decoded by `BlockSearch`.
        Format::Gzip | Format::Bgzf | Format::Bzip2 => {
            Some(Box::new(gzip::inflate::MemberDecoder::new()?))
        }
    }
}

/// Decodes whole frames into `out`, which is empty, compares them with the index, and keeps the
/// requested bytes.
pub(super) fn decode_into(
    decoder: &mut dyn Decode,
    encoded: &EncodedFrames,
    out: &mut Vec<u8>,
    path: &Path,
) -> error::Result<()> {
    out.try_reserve(encoded.most).map_err(|_| no_memory(path))?;
    decoder.decode(encoded, out).map_err(|wrong| wrong.into_error(path, encoded.offset))?;
    let Some(cut) = &encoded.cut else { return Ok(()) };
    let corrupt = |what| Err(BytesFault::corrupt(0, what).into_error(path, encoded.offset));
    if out.len() != cut.len {
        let (is, says) = (out.len(), cut.len);
        return corrupt(format!("the frame holds {is} bytes, but the index says {says}"));
    }
    if cut.checksum.is_some_and(|checksum| !has_checksum(checksum, &encoded.bytes, out)) {
        return corrupt(String::from("the frame does not match the checksum in the index"));
    }
    out.truncate(cut.keep.end);
    out.drain(..cut.keep.start);
    Ok(())
}
