//! bzip2. Written as streams of one block. When read, every block of any stream is found by its
//! mark and decoded independently.

pub(super) mod bits;
pub(super) mod lone;
pub(super) mod scan;
pub(super) mod search;

use bzip2::{Action, Compress, Compression, Status};
use swath::machine::caught;

use super::frame::{Encode, Frame, size32};

/// The input that exactly fills one block at `level`: bzip2 reserves 19 bytes of its block.
pub(super) fn block_len(level: i32) -> usize {
    usize::try_from(level).unwrap_or(9).clamp(1, 9) * 100_000 - 19
}

pub(super) struct Bzip2Encoder(Compression);

impl Bzip2Encoder {
    pub(super) fn new(level: i32) -> Result<Self, String> {
        let level = u32::try_from(level).map_err(|_| "bzip2 does not have this level")?;
        Ok(Self(Compression::new(level)))
    }
}

impl Encode for Bzip2Encoder {
    /// The library's state cannot be reused; creating it costs a thousandth of a block.
    fn encode(&mut self, block: &[u8], out: &mut Vec<u8>) -> Result<Frame, String> {
        let before = out.len();
        // bzip2's manual: 1 % and 600 bytes more than the input are always enough.
        let bound = block.len() + block.len() / 100 + 600;
        let no_memory = "not enough memory for a bzip2 stream";
        out.try_reserve(bound).map_err(|_| no_memory)?;
        // The library panics if there is no memory.
        let mut stream = caught(|| Compress::new(self.0, 0)).ok_or(no_memory)?;
        match stream.compress_vec(block, out, Action::Finish) {
            Ok(Status::StreamEnd) => {}
            Ok(_) => return Err(String::from("bzip2's output buffer was too small")),
            Err(error) => return Err(format!("bzip2: {error}")),
        }
        Ok(Frame {
            packed: size32(out.len() - before)?,
            plain: size32(block.len())?,
            checksum: 0,
        })
    }
}
