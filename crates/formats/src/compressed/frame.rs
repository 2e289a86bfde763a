//! One frame, and who makes it.

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

/// Bytes of a frame, as every index stores them.
pub(super) fn size32(len: usize) -> Result<u32, String> {
    u32::try_from(len).map_err(|_| String::from("a frame exceeds 4 GiB"))
}
