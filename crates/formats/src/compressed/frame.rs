//! One frame, and the trait for encoders.

/// One frame, as written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    /// Bytes in the compressed stream.
    pub(super) packed: u32,
    /// Bytes of input.
    pub(super) plain: u32,
    /// A checksum, if the format's index stores one.
    pub(super) checksum: u32,
}

/// Makes independent frames. A worker keeps it from block to block; its output depends only on the
/// block.
pub(super) trait Encode: Send {
    /// Appends the frame of `block` to `out`. The error is a reason without a path.
    fn encode(&mut self, block: &[u8], out: &mut Vec<u8>) -> Result<Frame, String>;
}

/// Returns the size of a frame as every index stores it.
pub(super) fn size32(len: usize) -> Result<u32, String> {
    u32::try_from(len).map_err(|_| String::from("a frame is larger than 4 GiB"))
}
