//! Cuts the text of a stream into blocks of whole lines, each with the number of its first line.
//!
//! ```text
//! reader   2\n42 40 …\n42 4|0 …\n       ends anywhere
//! blocks     |42 40 …\n|42 40 …\n|      without the count, whole lines
//! lines    1  2         3
//! ```
//!
//! Lines are counted here, in order. A vector kernel counts many times faster than bytes arrive, so
//! every error has its line, even from a pipe, which cannot be read again.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use swath::Reader;

use super::header::{count, surplus, too_few};
use super::line::{LineFault, MOST_LINE, too_long};
use crate::error::{Error, FormatReason, Result};
use crate::spare::Spare;

/// Whole lines.
pub(super) struct LineBlock {
    bytes: Vec<u8>,
    /// The start of its contracts, after the count.
    from: usize,
    /// Offset of the first of `bytes` in the stream.
    offset: u64,
    /// The line of its first contract.
    line: u64,
    /// The number of lines that are contracts; the lines after them are blank.
    pub(super) contracts: usize,
    /// The number in line 1, if this block contains it.
    pub(super) declared: Option<u64>,
}

impl LineBlock {
    /// Returns its contracts, one per line.
    pub(super) fn text(&self) -> &[u8] {
        &self.bytes[self.from..]
    }

    /// Returns the error for a fault in its text, `skipped` contracts and `at` bytes from its
    /// start.
    pub(super) fn error(
        &self,
        path: &Path,
        wrong: LineFault,
        skipped: usize,
        at: usize,
    ) -> Error {
        let text =
            StreamText { path, bytes: &self.bytes, line: self.line, offset: self.offset };
        text.error(wrong, skipped, self.from + at)
    }

    /// Returns its length in the stream in bytes.
    pub(super) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Returns its buffer, for reuse.
    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.bytes
    }
}

/// Part of a stream, and its position there.
pub(super) struct StreamText<'t> {
    pub(super) path: &'t Path,
    pub(super) bytes: &'t [u8],
    /// The number of its first line.
    pub(super) line: u64,
    /// Offset of its first byte.
    pub(super) offset: u64,
}

impl StreamText<'_> {
    /// Returns the error for a fault this many lines and bytes from its start.
    pub(super) fn error(&self, wrong: LineFault, line: usize, at: usize) -> Error {
        let (line, at) = (line + wrong.line, at + wrong.at);
        let error = Error::reading(self.path, wrong.reason, wrong.what);
        let error = error.at(self.offset + at as u64).on_line(self.line + line as u64);
        match self.line_around(at) {
            [] => error,
            line => error.quoting(line),
        }
    }

    /// Returns the line that contains byte `at`, from a limited distance before it.
    fn line_around(&self, at: usize) -> &[u8] {
        let (before, after) = self.bytes.split_at(at);
        let newline = before.iter().rposition(|&byte| byte == b'\n');
        let from = newline.map_or(0, |newline| newline + 1);
        let to = after.iter().position(|&byte| byte == b'\n').unwrap_or(after.len());
        &self.bytes[from.max(at.saturating_sub(60))..before.len() + to]
    }
}

fn no_memory(path: &Path) -> Error {
    let what = "there is not enough memory for a block of lines";
    Error::reading(path, FormatReason::OutOfMemory, what)
        .hint("use smaller blocks or fewer workers")
}

/// Cuts a stream into blocks; the iterator ends after the first error.
pub(super) struct LineSupply<'s> {
    reader: Reader,
    spare: &'s Spare<Vec<u8>>,
    path: PathBuf,
    block_size: usize,
    /// Offset of the next block in the stream.
    offset: u64,
    /// The number of the next line.
    line: u64,
    /// The start of a line whose end has not been read yet.
    begun: Vec<u8>,
    declared: Option<u64>,
    /// Number of contracts that are still missing.
    missing: u64,
    /// Whether the stream has ended.
    ended: bool,
    /// The fault after the last block, reported later.
    later: Option<Error>,
}

impl<'s> LineSupply<'s> {
    pub(super) fn new(reader: Reader, spare: &'s Spare<Vec<u8>>, block_size: usize) -> Self {
        let path = reader.path().to_owned();
        Self {
            reader,
            spare,
            path,
            block_size,
            offset: 0,
            line: 1,
            begun: Vec::new(),
            declared: None,
            missing: 0,
            ended: false,
            later: None,
        }
    }

    /// Reads whole lines, about as many bytes as a block has; at the end, the rest.
    fn lines(&mut self) -> Result<Vec<u8>> {
        let mut bytes = self.spare.buffer();
        let room = self.begun.len() + self.block_size;
        bytes.try_reserve(room).map_err(|_| no_memory(&self.path))?;
        bytes.append(&mut self.begun);
        // The begun line contains no newline.
        let mut searched = bytes.len();
        let mut wanted = self.block_size.max(bytes.len() + 1);
        loop {
            if !self.fill(&mut bytes, wanted)? {
                self.ended = true;
                return Ok(bytes);
            }
            let newline = bytes[searched..].iter().rposition(|&byte| byte == b'\n');
            if let Some(newline) = newline {
                let end = searched + newline + 1;
                self.begun.extend_from_slice(&bytes[end..]);
                bytes.truncate(end);
                return Ok(bytes);
            }
            searched = bytes.len();
            if searched > MOST_LINE {
                return Err(self.wrong(&bytes, too_long()));
            }
            wanted = searched + self.block_size;
        }
    }

    /// Reads until there are `wanted` bytes; `false` if the stream ends earlier.
    fn fill(&mut self, bytes: &mut Vec<u8>, wanted: usize) -> Result<bool> {
        while bytes.len() < wanted {
            let came = self.reader.fill_buf();
            let came = came.map_err(|error| Error::from_io(error, &self.path))?;
            let len = came.len().min(wanted - bytes.len());
            if len == 0 {
                return Ok(false);
            }
            bytes.try_reserve(len).map_err(|_| no_memory(&self.path))?;
            bytes.extend_from_slice(&came[..len]);
            self.reader.consume(len);
        }
        Ok(true)
    }

    /// Returns the error for a fault at the start of `bytes`, which begin with the next line.
    fn wrong(&self, bytes: &[u8], wrong: LineFault) -> Error {
        let text = StreamText { path: &self.path, bytes, line: self.line, offset: self.offset };
        text.error(wrong, 0, 0)
    }

    fn block(&mut self) -> Result<LineBlock> {
        let bytes = self.lines()?;
        let mut block = LineBlock {
            bytes,
            from: 0,
            offset: self.offset,
            line: 0,
            contracts: 0,
            declared: None,
        };
        let declared = match self.declared {
            Some(declared) => declared,
            None => {
                let (declared, from) = self.declared(&block.bytes)?;
                (self.declared, self.missing) = (Some(declared), declared);
                (block.declared, block.from) = (Some(declared), from);
                declared
            }
        };
        let text = block.text();
        let newlines = swath_simd::count(text, b'\n');
        let lines = newlines + u64::from(text.last().is_some_and(|&byte| byte != b'\n'));
        let contracts = lines.min(self.missing);
        block.contracts = usize::try_from(contracts).unwrap_or(usize::MAX);
        block.line = self.line + u64::from(block.declared.is_some());
        if lines > contracts {
            // A fault in the block takes precedence.
            self.later = self.surplus(&block);
        }
        self.missing -= contracts;
        self.offset += block.bytes.len() as u64;
        self.line = block.line + lines;
        if self.ended && self.missing > 0 {
            let wrong = too_few(declared, declared - self.missing);
            self.later = Some(self.wrong(&[], wrong));
        }
        Ok(block)
    }

    /// Returns the count in line 1, and the start of line 2.
    fn declared(&self, bytes: &[u8]) -> Result<(u64, usize)> {
        let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
        let line = (!bytes.is_empty()).then_some(&bytes[..end]);
        let declared = count(line).map_err(|wrong| self.wrong(bytes, wrong))?;
        Ok((declared, (end + 1).min(bytes.len())))
    }

    /// Checks that only blank lines follow the last contract of `block`.
    fn surplus(&self, block: &LineBlock) -> Option<Error> {
        let text = block.text();
        let mut from = 0;
        if block.contracts > 0 {
            let mut newlines = text.iter().enumerate().filter(|&(_, &byte)| byte == b'\n');
            from = newlines.nth(block.contracts - 1).map_or(text.len(), |(at, _)| at + 1);
        }
        let wrong = surplus(&text[from..], self.declared.unwrap_or(0))?;
        Some(block.error(&self.path, wrong, block.contracts, from))
    }
}

impl Iterator for LineSupply<'_> {
    type Item = Result<LineBlock>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.later.take() {
            self.ended = true;
            return Some(Err(error));
        }
        if self.ended {
            return None;
        }
        let block = self.block();
        self.ended |= block.is_err();
        Some(block)
    }
}
