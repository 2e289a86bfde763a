//! Hands out only the frames that the index selects.

use std::ops::Range;

use super::index::FrameIndex;
use crate::compressed::supply::PackedSupply;
use crate::compressed::work::{StreamSplit, Work, WorkTally};
use crate::error::Result;
use crate::spare::Spare;

pub(crate) struct PickedFrames<'s> {
    supply: PackedSupply,
    index: FrameIndex,
    spare: &'s Spare<Vec<u8>>,
    frames: Range<usize>,
    /// The decoded bytes to keep.
    wanted: Range<u64>,
    tally: WorkTally,
}

impl<'s> PickedFrames<'s> {
    /// `frames` of `index`, of which only the bytes in `wanted` are kept.
    pub(crate) fn new(
        supply: PackedSupply,
        spare: &'s Spare<Vec<u8>>,
        index: FrameIndex,
        frames: Range<usize>,
        wanted: Range<u64>,
    ) -> Result<Self> {
        let mut supply = supply;
        supply.seek(index.packed(&frames).0)?;
        Ok(Self { supply, index, spare, frames, wanted, tally: WorkTally::default() })
    }
}

impl StreamSplit for PickedFrames<'_> {
    fn next(&mut self) -> Result<Option<Work>> {
        if self.frames.is_empty() {
            return Ok(None);
        }
        let batch = self.index.batch(&self.frames);
        self.frames.start = batch.end;
        let (offset, len) = self.index.packed(&batch);
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        if self.supply.peek(len)?.len() < len {
            return Err(self.supply.truncated(offset, "frame"));
        }
        let mut bytes = self.spare.buffer();
        self.supply.take(len, &mut bytes)?;
        self.tally.bytes_in += len as u64;
        self.tally.frames += batch.len() as u64;
        Ok(Some(Work::Encoded(self.index.encoded(batch, bytes, &self.wanted))))
    }

    fn tally(&self) -> WorkTally {
        self.tally.clone()
    }
}
