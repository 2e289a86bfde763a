//! The bytes that one worker reads at a time: whole records, split into blocks.

use std::num::NonZeroU64;
use std::sync::Arc;

use swath_plan::extent::Extent;

use crate::buffer::Buffer;
use crate::records::block::Block;
use crate::records::cut::Cut;

/// The offsets at which blocks are cut: `base`, and then every `size` bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    /// The offset in the file at which block `first` begins.
    pub(crate) base: u64,
    pub(crate) size: NonZeroU64,
    /// The number of the first block.
    pub(crate) first: u64,
    /// Index of the source.
    pub(crate) source: usize,
}

impl Grid {
    /// Returns the number and the end of the block of a record that begins at `offset`.
    pub(crate) fn block_at(&self, offset: u64) -> (u64, u64) {
        let blocks = (offset - self.base) / self.size;
        let end = self.base.saturating_add((blocks + 1).saturating_mul(self.size.get()));
        (self.first + blocks, end)
    }

    /// Returns the number of the first block after a source that ends at `end`.
    pub(crate) fn after(&self, end: u64) -> u64 {
        self.first + (end - self.base).div_ceil(self.size.get())
    }
}

/// The records that begin in one lease.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordPiece<'p> {
    pub(crate) grid: Grid,
    pub(crate) cut: Cut,
    /// The end of the lease: all records begin before it.
    pub(crate) end: u64,
    /// Offset of the first record.
    pub(crate) offset: u64,
    pub(crate) bytes: &'p [u8],
    /// The memory of the bytes, unless it is a map.
    pub(crate) memory: Option<&'p Arc<Buffer>>,
}

impl RecordPiece<'_> {
    /// Returns the extent of a record longer than `most` bytes. Since `most` is at least a block, only
    /// the last record of a block can be that long.
    pub(crate) fn too_long(&self, most: u64) -> Option<Extent> {
        if self.bytes.len() as u64 <= most {
            return None;
        }
        let mut blocks = *self;
        blocks.find_map(|block| {
            let end = block.offset + block.bytes.len() as u64;
            let record =
                Extent::between(block.offset + self.cut.last_start(block.bytes) as u64, end);
            (record.len() > most).then_some(record)
        })
    }
}

/// The blocks of a piece, in order.
impl<'p> Iterator for RecordPiece<'p> {
    type Item = Block<'p>;

    fn next(&mut self) -> Option<Block<'p>> {
        if self.bytes.is_empty() {
            return None;
        }
        let (index, end) = self.grid.block_at(self.offset);
        let len = match end >= self.end {
            true => None,
            // The last byte of the block's share belongs to its last record.
            false => usize::try_from(end - 1 - self.offset)
                .ok()
                .filter(|&last| last < self.bytes.len())
                .and_then(|last| self.cut.end_after(self.bytes, last)),
        };
        let (bytes, rest) = self.bytes.split_at(len.unwrap_or(self.bytes.len()));
        let Self { offset, cut, memory, .. } = *self;
        let block = Block { index, offset, bytes, source: self.grid.source, cut, memory };
        self.offset += bytes.len() as u64;
        self.bytes = rest;
        Some(block)
    }
}
