//! What a format does to one block, and what it leaves behind the last one.

use super::{Format, bzip2, gzip, zstd};

/// One frame as it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    /// Bytes in the compressed stream.
    pub(super) packed: u32,
    /// Bytes of input.
    pub(super) plain: u32,
    /// Whatever the format's index wants to know beside.
    pub(super) checksum: u32,
}

/// Makes frames that stand alone. Kept by a worker from block to block; what it makes depends on
/// nothing but the block.
pub(super) trait Encode: Send {
    /// Appends the frame of `block` to `out`. The error is a reason without a path.
    fn encode(&mut self, block: &[u8], out: &mut Vec<u8>) -> Result<Frame, String>;
}

/// Numbers that decide every byte of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) format: Format,
    pub(super) level: i32,
    pub(super) block_size: usize,
    /// Shorter tables than the level has, for want of memory.
    pub(super) tables: Option<zstd::Tables>,
}

impl Shape {
    pub(super) fn encoder(self) -> Result<Box<dyn Encode>, String> {
        Ok(match self.format {
            Format::Zstd => {
                Box::new(zstd::Encoder::new(self.level, self.block_size, self.tables)?)
            }
            Format::Gzip => Box::new(gzip::Encoder::new(self.level, gzip::Kind::Sized)?),
            Format::Bgzf => Box::new(gzip::Encoder::new(self.level, gzip::Kind::Bgzf)?),
            Format::Bzip2 => Box::new(bzip2::Encoder::new(self.level)?),
        })
    }

    /// What follows the last frame.
    pub(super) fn trailer(self, frames: &[Frame]) -> Result<Vec<u8>, String> {
        match self.format {
            Format::Zstd => zstd::seek_table::written(frames),
            Format::Gzip => Ok(gzip::index::written(frames)),
            Format::Bgzf => Ok(gzip::BGZF_END.to_vec()),
            Format::Bzip2 => Ok(Vec::new()),
        }
    }

    /// Whether an empty input has a frame: without one its file would be no file of the format.
    pub(super) fn needs_a_frame(self) -> bool {
        self.format != Format::Bgzf
    }
}

/// Bytes of a frame, as every index stores them.
pub(super) fn size32(len: usize) -> Result<u32, String> {
    u32::try_from(len).map_err(|_| String::from("a frame exceeds 4 GiB"))
}
