//! Hands out only the frames that the index selects.

use std::ops::Range;

use super::index::Index;
use crate::compressed::supply::Supply;
use crate::compressed::work::{Split, Tally, Work};
use crate::error::Result;
use crate::spare::Spare;

pub(crate) struct Picked<'s> {
    supply: Supply,
    index: Index,
    spare: &'s Spare<Vec<u8>>,
    frames: Range<usize>,
    /// The decoded bytes to keep.
    wanted: Range<u64>,
    tally: Tally,
}

impl<'s> Picked<'s> {
    /// `frames` of `index`, of which only the bytes in `wanted` are kept.
    pub(crate) fn new(
        supply: Supply,
        spare: &'s Spare<Vec<u8>>,
        index: Index,
        frames: Range<usize>,
        wanted: Range<u64>,
    ) -> Result<Self> {
        let mut supply = supply;
        supply.seek(index.packed(&frames).0)?;
        Ok(Self { supply, index, spare, frames, wanted, tally: Tally::default() })
    }
}

impl Split for Picked<'_> {
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

    fn tally(&self) -> Tally {
        self.tally.clone()
    }
}
