//! Compressed bytes in order, with look-ahead.

use std::collections::VecDeque;
use std::io::{BufRead, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use swath::Reader;

use crate::error::{Error, FormatReason, Result};

/// A reader whose next bytes can be inspected before they are consumed.
///
/// Holds the inspected bytes, and one block of the reader.
pub(super) struct PackedSupply {
    reader: Reader,
    path: PathBuf,
    held: Vec<u8>,
    /// Consumed bytes of `held`.
    taken: usize,
    /// Offset of the next byte in the compressed stream.
    offset: u64,
    /// For a stream that may have to go back.
    kept: Option<Kept>,
}

/// Bytes of a stream that may be needed again.
struct Kept {
    blocks: VecDeque<Vec<u8>>,
    /// Offset of the first block.
    start: u64,
    /// Bytes before this offset are no longer needed.
    settled: Arc<AtomicU64>,
}

impl Kept {
    fn push(&mut self, block: &[u8]) {
        // Pairs with the store in `Turns::settle`; a stale value only keeps more bytes.
        let settled = self.settled.load(Ordering::Relaxed);
        while let Some(first) = self.blocks.front() {
            let end = self.start + first.len() as u64;
            if end > settled {
                break;
            }
            self.start = end;
            self.blocks.pop_front();
        }
        self.blocks.push_back(block.to_vec());
    }
}

impl PackedSupply {
    pub(super) fn new(reader: Reader) -> Self {
        let path = reader.path().to_owned();
        Self { reader, path, held: Vec::new(), taken: 0, offset: 0, kept: None }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the offset of the next byte from the start of the stream.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the next bytes without consuming them: at least `len`, fewer only at the end.
    pub(super) fn peek(&mut self, len: usize) -> Result<&[u8]> {
        if self.held.len() - self.taken < len {
            self.held.drain(..self.taken);
            self.taken = 0;
        }
        while self.held.len() - self.taken < len && self.more()? {}
        Ok(&self.held[self.taken..])
    }

    /// Returns the bytes already read; empty only at the end. Copies nothing.
    pub(super) fn some(&mut self) -> Result<&[u8]> {
        if self.taken < self.held.len() {
            return Ok(&self.held[self.taken..]);
        }
        self.reader.fill_buf().map_err(|error| Error::from_io(error, &self.path))
    }

    /// Consumes `len` inspected bytes.
    pub(super) fn consume(&mut self, len: usize) {
        let held = len.min(self.held.len() - self.taken);
        self.taken += held;
        self.offset += len as u64;
        let of_block = len - held;
        if of_block == 0 {
            return;
        }
        // The reader holds this block already, so this reads nothing.
        if let (Some(kept), Ok(block)) = (&mut self.kept, self.reader.fill_buf()) {
            kept.push(&block[..of_block]);
        }
        self.reader.consume(of_block);
    }

    /// Appends `len` inspected bytes to `target`.
    pub(super) fn take(&mut self, len: usize, target: &mut Vec<u8>) -> Result<()> {
        target.try_reserve(len).map_err(|_| no_memory(&self.path))?;
        target.extend_from_slice(&self.held[self.taken..self.taken + len]);
        self.consume(len);
        Ok(())
    }

    /// Skips `len` bytes; returns the number skipped.
    pub(super) fn skip(&mut self, len: u64) -> Result<u64> {
        let mut left = len;
        while left > 0 {
            let there = self.some()?.len();
            let step = usize::try_from(left).unwrap_or(usize::MAX).min(there);
            if step == 0 {
                break;
            }
            self.consume(step);
            left -= step as u64;
        }
        Ok(len - left)
    }

    /// Reads another block; `false` at the end.
    fn more(&mut self) -> Result<bool> {
        let block = match self.reader.fill_buf() {
            Ok(block) => block,
            Err(error) => return Err(Error::from_io(error, &self.path)),
        };
        let len = block.len();
        let room = self.held.try_reserve(len);
        room.map_err(|_| no_memory(&self.path))?;
        self.held.extend_from_slice(block);
        if let Some(kept) = &mut self.kept {
            kept.push(block);
        }
        self.reader.consume(len);
        Ok(len > 0)
    }

    /// Allows [going back](Self::go_back), but not before `settled`. From now on, a source that can
    /// be read only once is kept in memory.
    pub(super) fn keep_from(&mut self, settled: Arc<AtomicU64>) {
        if self.len().is_none() {
            let blocks = VecDeque::from([self.held[self.taken..].to_vec()]);
            self.kept = Some(Kept { blocks, start: self.offset, settled });
        }
    }

    /// Goes back to `offset`.
    pub(super) fn go_back(&mut self, offset: u64) -> Result<()> {
        let Some(kept) = &self.kept else { return self.seek(offset) };
        let before = usize::try_from(offset - kept.start).unwrap_or(usize::MAX);
        self.held = kept.blocks.iter().flatten().skip(before).copied().collect();
        (self.taken, self.offset) = (0, offset);
        Ok(())
    }

    /// Returns the length of the stream in bytes; `None` if only reading to its end would show it.
    pub(super) fn len(&self) -> Option<u64> {
        self.reader.end_position()
    }

    /// Moves to `offset`; only for a stream with a known [`len`](Self::len).
    pub(super) fn seek(&mut self, offset: u64) -> Result<()> {
        self.held.clear();
        self.taken = 0;
        self.offset = offset;
        let moved = self.reader.seek(SeekFrom::Start(offset));
        moved.map(drop).map_err(|error| Error::from_io(error, &self.path))
    }

    /// Returns the error for wrong bytes at `offset` from the start.
    pub(super) fn corrupt(&self, offset: u64, what: impl Into<String>) -> Error {
        Error::decompressing(&self.path, FormatReason::Corrupt, what).at(offset)
    }

    /// Returns the error for a frame at `offset` whose end is missing.
    pub(super) fn truncated(&self, offset: u64, what: &str) -> Error {
        let text = format!("the {what} that starts here is incomplete");
        Error::decompressing(&self.path, FormatReason::Truncated, text).at(offset)
    }
}

/// Returns the error for an allocation that failed.
pub(super) fn no_memory(path: &Path) -> Error {
    let error =
        Error::decompressing(path, FormatReason::OutOfMemory, "there is not enough memory");
    error.hint("use fewer workers")
}
