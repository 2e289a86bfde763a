//! The work that splitters hand to decoders.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::MOST_BLOCK;
use super::bzip2::scan::Segment;
use crate::error::{Error, FormatReason, Result};

/// The most bytes that one item decodes to. Longer frames are decoded in steps while they are read.
pub(super) const MOST_DECODED: usize = 32 << 20;
const _: () = assert!(MOST_DECODED as u64 == MOST_BLOCK);
/// The most compressed bytes of an item: an incompressible block, and its frame.
pub(super) const MOST_ENCODED: usize = MOST_DECODED + (1 << 20);
/// Short frames are handed out together, up to this many bytes.
pub(super) const STEP: usize = 1 << 20;
/// Bytes decoded at a time if the order is fixed. They fit in a core's second-level cache, so
/// decoding is faster than in larger steps.
pub(super) const STEP_IN_ORDER: usize = 256 << 10;

/// The work of one lease.
pub(super) enum Work {
    /// Whole frames to decode.
    Encoded(EncodedFrames),
    /// Bytes that had to be decoded in order.
    Decoded(Vec<u8>),
    /// The bits between two marks of a bzip2 stream.
    Segment(Arc<Segment>),
}

/// Whole frames.
pub(super) struct EncodedFrames {
    /// Offset of the first frame in the compressed stream.
    pub(super) offset: u64,
    pub(super) bytes: Vec<u8>,
    /// Upper limit of the decoded length; at most [`MOST_DECODED`].
    pub(super) most: usize,
    /// Their entry in the index.
    pub(super) cut: Option<Cut>,
}

/// The index entry of some frames, and the bytes to keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// Their exact decoded length.
    pub(super) len: usize,
    /// The part of the decoded bytes to keep.
    pub(super) keep: Range<usize>,
    /// The lower half of their XXH64.
    pub(super) checksum: Option<u32>,
}

/// The tally of a stream while it is split.
#[derive(Clone, Debug, Default)]
pub(super) struct WorkTally {
    pub(super) bytes_in: u64,
    pub(super) frames: u64,
    /// Bytes after the stream that do not belong to it.
    pub(super) rest: Option<Range<u64>>,
    /// Whether the mark that should end the stream is missing.
    pub(super) lacks_end: bool,
}

/// Cuts a stream into work.
pub(super) trait StreamSplit: Send {
    /// Returns the next work; `None` at the end.
    fn next(&mut self) -> Result<Option<Work>>;

    fn tally(&self) -> WorkTally;

    /// Goes back to the byte where some work began, with this many frames before it, and no longer
    /// trusts recorded lengths from there. Only for formats whose lengths are trusted.
    fn go_back(&mut self, _offset: u64, _frames: u64) -> Result<()> {
        Ok(())
    }
}

/// Decodes whole frames; a worker keeps it from one item to the next.
pub(super) trait Decode: Send {
    /// Appends the decoded contents of `encoded` to `out`. The error is about `encoded` alone.
    fn decode(
        &mut self,
        encoded: &EncodedFrames,
        out: &mut Vec<u8>,
    ) -> std::result::Result<(), BytesFault>;
}

/// The fault in some bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BytesFault {
    /// Offset of the affected frame from the start of the bytes.
    pub(super) at: usize,
    pub(super) reason: FormatReason,
    pub(super) what: String,
    /// The hint; "" leaves it to the reason.
    pub(super) hint: &'static str,
}

impl BytesFault {
    pub(super) fn corrupt(at: usize, what: impl Into<String>) -> Self {
        Self { at, reason: FormatReason::Corrupt, what: what.into(), hint: "" }
    }

    pub(super) fn no_memory() -> Self {
        let what = String::from("there is not enough memory");
        Self { at: 0, reason: FormatReason::OutOfMemory, what, hint: "use fewer workers" }
    }

    /// Returns the error for bytes that begin at `offset` of a stream.
    pub(super) fn into_error(self, path: &Path, offset: u64) -> Error {
        let error = Error::decompressing(path, self.reason, self.what);
        error.at(offset + self.at as u64).hint(self.hint)
    }
}
