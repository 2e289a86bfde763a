//! Blocks of a stream: the worker that holds the stream reads them in order into its own memory.
//!
//! They equal the blocks of a file with the same bytes, whatever the sizes of the reads.

use std::ops::Range;

use swath_plan::extent::Extent;

use crate::engine::stream::{Past, Stream};
use crate::error::{Error, Operation, Reason, Result};
use crate::observe::Observer;
use crate::records::cut::Cut;
use crate::records::piece::{Grid, RecordPiece};
use crate::records::window::{Window, no_end, too_long};
use crate::source::OpenSource;

/// The state of a stream between two blocks.
pub(crate) struct Flow {
    pub(crate) cut: Cut,
    pub(crate) grid: Grid,
    pub(crate) record_limit: u64,
    pub(crate) memory: fn() -> u64,
    /// Offset at which to stop, even if more bytes follow.
    pub(crate) end: Option<u64>,
    /// The extent in which wanted records begin.
    pub(crate) starting_in: Option<Extent>,
    pub(crate) past: Past,
    /// The first bytes of the next block, read with the last one.
    pub(crate) carry: Vec<u8>,
    /// Bytes to read after a block; its last record probably ends in them.
    pub(crate) tail: usize,
    /// The source has no more bytes.
    pub(crate) at_end: bool,
    /// There are no more blocks.
    pub(crate) has_ended: bool,
}

/// Minimum bytes read after a block.
pub(crate) const LEAST_TAIL: usize = 128;
const MOST_TAIL: usize = 64 << 10;

/// A block that was read.
struct FlowBlock {
    offset: u64,
    /// End of the block's share; its last record may end later.
    end: u64,
    len: usize,
}

impl Flow {
    /// Returns the offset of the next block.
    pub(crate) fn offset(&self) -> u64 {
        self.past.offset - self.carry.len() as u64
    }

    /// Reads the next block; `None` at the end. After an error there are no further blocks.
    pub(crate) fn next<'w>(
        &mut self,
        source: &OpenSource,
        observer: &Observer,
        window: &'w mut Window,
    ) -> Result<Option<RecordPiece<'w>>> {
        let (came, kept) = loop {
            if self.starting_in.is_some_and(|it| self.offset() >= it.end()) {
                self.has_ended = true;
            }
            let Some(came) = self.read(source, observer, window)? else { return Ok(None) };
            let kept = self.kept(&window.memory()[..came.len], came.offset);
            if !kept.is_empty() {
                break (came, kept);
            }
        };
        let (grid, cut, end) = (self.grid, self.cut, came.end);
        let offset = came.offset + kept.start as u64;
        let memory = window.memory();
        Ok(Some(RecordPiece {
            grid,
            cut,
            end,
            offset,
            bytes: &memory[kept],
            memory: Some(memory),
        }))
    }

    /// Returns the part of a block whose records begin in the wanted extent.
    fn kept(&self, bytes: &[u8], offset: u64) -> Range<usize> {
        let Some(part) = self.starting_in else { return 0..bytes.len() };
        // The start of the first record at or after this byte of the source.
        let first = |at: u64| {
            let at = to_usize(at.saturating_sub(offset)).min(bytes.len());
            let before = at.checked_sub(1);
            before.map_or(0, |at| self.cut.end_after(bytes, at).unwrap_or(bytes.len()))
        };
        first(part.offset())..first(part.end())
    }

    /// Reads the next block to the start of `window`.
    fn read(
        &mut self,
        source: &OpenSource,
        observer: &Observer,
        window: &mut Window,
    ) -> Result<Option<FlowBlock>> {
        if std::mem::replace(&mut self.has_ended, true) {
            return Ok(None);
        }
        let offset = self.offset();
        let (_, end) = self.grid.block_at(offset);
        let share = to_usize(end - offset);
        let carry = std::mem::take(&mut self.carry);
        let tail = if self.cut.divides(share as u64) { 0 } else { self.tail };
        let room = share.saturating_add(tail).max(carry.len());
        window.make_room(source, room, 0)?;
        window.memory_mut()[..carry.len()].copy_from_slice(&carry);
        let mut filled = carry.len();
        let mut wanted = room;
        let len = loop {
            filled = self.fill(source, observer, window, filled, wanted)?;
            let bytes = &window.memory()[..filled];
            let found =
                (filled >= share).then(|| self.cut.end_after(bytes, share - 1)).flatten();
            match found {
                Some(len) => break len,
                None if filled < wanted => break self.last(source, offset, bytes)?,
                None => {
                    wanted = self.more(source, offset, bytes, share)?;
                    window.make_room(source, wanted, filled)?;
                }
            }
        };
        self.tail = (2 * len.saturating_sub(share)).clamp(LEAST_TAIL, MOST_TAIL);
        let memory = window.memory();
        self.carry.extend_from_slice(&memory[len..filled]);
        let (grid, cut) = (self.grid, self.cut);
        let bytes = &memory[..len];
        let piece = RecordPiece { grid, cut, end, offset, bytes, memory: Some(memory) };
        let most = self.record_limit.max(grid.size.get());
        if let Some(record) = piece.too_long(most) {
            return Err(too_long(source, record, most));
        }
        self.has_ended = filled < wanted && self.carry.is_empty();
        Ok((len > 0).then_some(FlowBlock { offset, end, len }))
    }

    /// Reads until there are `wanted` bytes, or the stream ends; returns the number of bytes.
    fn fill(
        &mut self,
        source: &OpenSource,
        observer: &Observer,
        window: &mut Window,
        filled: usize,
        wanted: usize,
    ) -> Result<usize> {
        let left = self.end.map_or(usize::MAX, |end| to_usize(end - self.past.offset));
        let until = wanted.min(filled.saturating_add(left));
        if until <= filled || self.at_end {
            return Ok(filled);
        }
        let mut stream = Stream::resume(source, observer, self.past);
        let came = stream.fill(&mut window.memory_mut()[filled..until]);
        self.past = stream.pause();
        let came = came?;
        self.at_end = came < until - filled;
        if let Some(end) = self.end.filter(|&end| self.at_end && self.past.offset < end) {
            let extent = Extent::between(self.grid.base, end);
            return Err(source.too_short(extent, self.past.offset));
        }
        Ok(filled + came)
    }

    /// Returns the length of the last block, which has all remaining bytes.
    fn last(&self, source: &OpenSource, offset: u64, bytes: &[u8]) -> Result<usize> {
        match self.cut.unfinished(bytes) {
            Some(unfinished) if self.is_wanted(offset + self.cut.last_start(bytes) as u64) => {
                Err(no_end(source, offset, unfinished))
            }
            Some(_) | None => Ok(bytes.len()),
        }
    }

    /// Whether a record that begins here is wanted.
    fn is_wanted(&self, record: u64) -> bool {
        self.starting_in.is_none_or(|part| (part.offset()..part.end()).contains(&record))
    }

    /// Returns how many bytes to read up to next, if `bytes` do not contain the end of the last
    /// record that begins in the block.
    fn more(
        &self,
        source: &OpenSource,
        offset: u64,
        bytes: &[u8],
        share: usize,
    ) -> Result<usize> {
        let begin = self.cut.last_start(&bytes[..share]);
        let len = bytes.len() - begin;
        let start = offset + begin as u64;
        let record = Extent::between(start, start + len as u64);
        let most = self.record_limit.max(self.grid.size.get());
        if record.len() > most {
            return Err(too_long(source, record, most));
        }
        let more = len.max(share);
        if more > LARGE && (more + len) as u64 > (self.memory)() {
            let error = Error::new(Operation::Allocate, Reason::OutOfMemory, source.name());
            return Err(error
                .at(record)
                .detail("a record does not fit into the available memory"));
        }
        Ok(bytes.len() + more)
    }
}

/// Size at which the available memory is checked before more is allocated.
const LARGE: usize = 64 << 20;

fn to_usize(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}
