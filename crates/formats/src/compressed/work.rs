//! What goes from the one who finds frames to those who decode them.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::MOST_BLOCK;
use super::bzip2::scan::Segment;
use crate::error::{Error, FormatReason, Result};

/// The most that one item decodes to. What is longer is decoded while it is read, in steps.
pub(super) const MOST_DECODED: usize = 32 << 20;
const _: () = assert!(MOST_DECODED as u64 == MOST_BLOCK);
/// The most compressed bytes of one item: a block that could not be compressed, and its frame.
pub(super) const MOST_ENCODED: usize = MOST_DECODED + (1 << 20);
/// Bytes that are decoded at one time where it must be done in order.
pub(super) const STEP: usize = 1 << 20;

/// What a worker gets.
pub(super) enum Work {
    /// Whole frames, to be decoded.
    Encoded(Encoded),
    /// Bytes that had to be decoded in order.
    Decoded(Vec<u8>),
    /// What lies between two marks of a bzip2 stream.
    Segment(Arc<Segment>),
}

/// Whole frames.
pub(super) struct Encoded {
    /// Of the first one, in the compressed stream.
    pub(super) offset: u64,
    pub(super) bytes: Vec<u8>,
    /// They decode to no more than this, which is at most [`MOST_DECODED`].
    pub(super) most: usize,
    /// What an index says of them.
    pub(super) cut: Option<Cut>,
}

/// What an index says of some frames, and what of them is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// They decode to just as many bytes.
    pub(super) len: usize,
    /// Of which these are to be kept.
    pub(super) keep: Range<usize>,
    /// The lower half of their XXH64.
    pub(super) checksum: Option<u32>,
}

/// What was seen of a stream so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) bytes_in: u64,
    pub(super) frames: u64,
    /// What follows the stream and is no part of it.
    pub(super) rest: Option<Range<u64>>,
    /// It ends without the mark that its format puts there.
    pub(super) lacks_end: bool,
}

/// Cuts a stream into work.
pub(super) trait Split: Send {
    /// The next work; `None` at the end.
    fn next(&mut self) -> Result<Option<Work>>;

    fn tally(&self) -> Tally;

    /// Goes back to the byte where some work began, with so many frames before it, and from there on
    /// believes no length that a frame says it has. Only where lengths are believed.
    fn go_back(&mut self, _offset: u64, _frames: u64) -> Result<()> {
        Ok(())
    }
}

/// Decodes whole frames; kept by a worker from one item to the next.
pub(super) trait Decode: Send {
    /// Appends what `encoded` holds to `out`. The error is about `encoded` alone.
    fn decode(
        &mut self,
        encoded: &Encoded,
        out: &mut Vec<u8>,
    ) -> std::result::Result<(), Wrong>;
}

/// What is wrong with some bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// Of the frame that it is about, from the start of the bytes.
    pub(super) at: usize,
    pub(super) reason: FormatReason,
    pub(super) what: String,
    /// What to try; "" leaves that to the reason.
    pub(super) hint: &'static str,
}

impl Wrong {
    pub(super) fn corrupt(at: usize, what: impl Into<String>) -> Self {
        Self { at, reason: FormatReason::Corrupt, what: what.into(), hint: "" }
    }

    pub(super) fn no_memory() -> Self {
        let what = String::from("there is not enough memory");
        Self { at: 0, reason: FormatReason::Unsupported, what, hint: "use fewer workers" }
    }

    /// The error for bytes that begin at `offset` of a stream.
    pub(super) fn into_error(self, path: &Path, offset: u64) -> Error {
        let error = Error::decompressing(path, self.reason, self.what);
        error.at(offset + self.at as u64).hint(self.hint)
    }
}
