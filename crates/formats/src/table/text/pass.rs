//! Passes over a text in blocks of whole records, by all workers.
//!
//! ```text
//! blocks    |a,b¶c,"d¶|e",f¶g,h¶|        cut at newlines, wherever quotes are
//! look      the states that each block leads to, by any worker     (state.rs)
//! turn      the state in which it begins, in the order of the file
//! pieces    a,b¶      |c,"d¶e",f¶ + g,h¶   whole records, by any worker
//! ```
//!
//! A record that is open at the start of a block belongs to the block in which it ends. Its first
//! bytes are kept until then.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use swath::machine::Mutex;
use swath::{Block, Extent, ReadOptions};

use super::dialect::Dialect;
use super::faults::{self, Origin, Problem};
use super::record::{RecordFault, RecordText};
use super::state::{LineState, Lines, ends, possible};
use crate::error::{Error, Result};
use crate::input::InputText;

/// The reason why a pass ended early.
#[derive(Debug)]
pub(in crate::table) enum PassEnd {
    Failed(Error),
    /// The rest is not needed.
    Enough,
}

impl From<swath::Error> for PassEnd {
    fn from(error: swath::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl From<Error> for PassEnd {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Whole records, in one or two texts.
#[derive(Debug)]
pub(in crate::table) struct RecordPiece<'b> {
    /// The number of the block: the same in every pass over the same text.
    pub(in crate::table) index: u64,
    /// The record that began in an earlier block, up to its end.
    pub(in crate::table) head: Option<RecordPart<'b>>,
    /// The records after `head`.
    pub(in crate::table) body: Option<RecordPart<'b>>,
}

/// Consecutive whole records.
#[derive(Clone, Copy, Debug)]
pub(in crate::table) struct RecordPart<'b> {
    pub(in crate::table) bytes: &'b [u8],
    /// Their offset in the text.
    pub(in crate::table) offset: u64,
}

impl RecordPart<'_> {
    /// Returns the offset of the records after these.
    pub(in crate::table) fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }
}

impl<'b> RecordPiece<'b> {
    /// Returns `head` and `body`, if present.
    pub(in crate::table) fn parts(&self) -> impl Iterator<Item = RecordPart<'b>> + Clone {
        self.head.into_iter().chain(self.body)
    }
}

/// A pass: the records, and how to read them.
#[derive(Clone, Copy)]
pub(in crate::table) struct RecordPass<'p> {
    pub(in crate::table) input: &'p InputText,
    pub(in crate::table) read: &'p ReadOptions,
    /// 0 for the usual size.
    pub(in crate::table) block_size: u64,
    pub(in crate::table) dialect: Dialect,
    pub(in crate::table) origin: Origin,
    /// The offset of the first record in the text.
    pub(in crate::table) data: u64,
    /// The pass covers only records that begin here.
    pub(in crate::table) wanted: Extent,
}

/// The default size of a block in bytes.
const BLOCK_SIZE: u64 = 1 << 20;

/// A block that a worker has scanned.
struct Looked {
    offset: u64,
    len: u64,
    /// The state that each possible state leads to, if known.
    ends: Vec<Option<LineState>>,
    /// The block, if an end state is unknown or not the start of a record.
    bytes: Option<Bytes>,
}

/// The state at the start of a block, and the place of its records.
#[derive(Debug)]
struct Turn {
    begins: LineState,
    /// The start of the record that is open at the first byte.
    open: u64,
    /// The bytes of that record before the block, if it ends in the block.
    before: Vec<Bytes>,
    /// The start of the record that is open after the last byte; otherwise the end of the block.
    until: u64,
    /// Whether no wanted record begins in the block or after it.
    is_after: bool,
}

/// The state at the end of the blocks handled, in the order of the file.
#[derive(Debug)]
struct Reached {
    state: LineState,
    /// The start of the record that is open there.
    open: u64,
    /// The bytes of that record.
    before: Vec<Bytes>,
}

/// The most bytes of an open record to copy: copying more takes longer than new memory for the next
/// block.
const FEW: usize = 64 << 10;

impl<'p> RecordPass<'p> {
    /// Calls `each` for all pieces, on any worker and in any order. Returns the first error in the
    /// order of the text.
    pub(in crate::table) fn each(
        &self,
        each: &(dyn Fn(RecordPiece<'_>) -> std::result::Result<(), PassEnd> + Sync),
    ) -> Result<()> {
        let before = Vec::new();
        let reached = Mutex::new(Reached { state: LineState::Start, open: self.data, before });
        let ended = if self.dialect.has_long_lines() {
            self.long_lines(&reached, each)
        } else {
            self.short_lines(each)
        };
        match ended {
            Ok(()) => self.last(reached.into_inner(), each),
            Err(PassEnd::Enough) => Ok(()),
            Err(PassEnd::Failed(error)) => Err(error),
        }
    }

    /// Passes over a text in which every newline ends a record.
    fn short_lines(
        &self,
        each: &(dyn Fn(RecordPiece<'_>) -> std::result::Result<(), PassEnd> + Sync),
    ) -> std::result::Result<(), PassEnd> {
        let records = self.records(self.data);
        let records =
            if self.is_whole() { records } else { records.with_starting_in(self.wanted) };
        let piece = |block: Block<'_>| {
            let body = Some(RecordPart { bytes: block.bytes, offset: block.offset });
            each(RecordPiece { index: block.index, head: None, body })
        };
        records.map_blocks(piece).map(drop)
    }

    /// Passes over a text in which a newline may be part of a record. Reads the lines that begin in
    /// the wanted extent, and those after it until the record that is open there ends.
    fn long_lines(
        &self,
        reached: &Mutex<Reached>,
        each: &(dyn Fn(RecordPiece<'_>) -> std::result::Result<(), PassEnd> + Sync),
    ) -> std::result::Result<(), PassEnd> {
        let turn = |looked: Looked| {
            let mut reached = reached.lock();
            Ok(self.turn(&looked, &mut reached))
        };
        let blocks = AtomicU64::new(0);
        let (mut from, mut to, mut more) = (self.data, self.wanted.end(), self.block_size());
        loop {
            // Relaxed: the end of a pass orders it before the next one.
            let before = blocks.load(Ordering::Relaxed);
            let map = |mut block: Block<'_>, turn: Turn| {
                block.index += before;
                blocks.fetch_max(block.index + 1, Ordering::Relaxed);
                self.map(block, turn, each)
            };
            let records = self.records(self.data);
            let is_last = to >= self.input.len();
            let records = match from == self.data && is_last {
                true => records,
                false => records.with_starting_in(Extent::between(from, to)),
            };
            records.map_blocks_in_turn(|block| Ok(self.look(block)), turn, map)?;
            let open = reached.lock().open;
            if is_last || open >= self.wanted.end() {
                return Ok(());
            }
            (from, to) = (to, to.saturating_add(more));
            more = more.saturating_mul(2);
        }
    }

    /// Whether all records are wanted.
    pub(in crate::table) fn is_whole(&self) -> bool {
        self.wanted.offset() <= self.data && self.wanted.end() >= self.input.len()
    }

    /// Returns the same pass without quotes and escapes.
    pub(in crate::table) fn without_quotes(self) -> Self {
        Self { dialect: Dialect { quote: None, escape: None, ..self.dialect }, ..self }
    }

    fn block_size(&self) -> u64 {
        if self.block_size == 0 { BLOCK_SIZE } else { self.block_size }
    }

    fn records(&self, from: u64) -> swath::Records<'static> {
        let read = self.read.clone().without_extent().with_offset(from);
        read.records(self.input.source()).with_block_size(self.block_size())
    }

    fn look(&self, block: Block<'_>) -> Looked {
        let ends = ends(block.bytes, self.dialect);
        let is_open = ends.iter().any(|&end| end != Some(LineState::Start));
        let bytes = is_open.then(|| block.to_bytes());
        Looked { offset: block.offset, len: block.bytes.len() as u64, ends, bytes }
    }

    fn turn(&self, looked: &Looked, reached: &mut Reached) -> Turn {
        let (begins, open) = (reached.state, reached.open);
        let mut before = Vec::new();
        if open >= self.wanted.end() {
            return Turn { begins, open, before, until: open, is_after: true };
        }
        let found = possible(self.dialect).iter().position(|&state| state == begins);
        let text = looked.bytes.as_deref().unwrap_or_default();
        let lines = Lines { text, dialect: self.dialect, state: begins };
        let state = looked.ends[found.unwrap_or(0)].unwrap_or_else(|| lines.end());
        let mut until = looked.offset + looked.len;
        reached.state = state;
        if state == LineState::Start {
            before = std::mem::take(&mut reached.before);
            reached.open = until;
        } else {
            let known = looked.bytes.as_ref();
            if let Some(record) = lines.last_record() {
                before = std::mem::take(&mut reached.before);
                reached.open = looked.offset + record as u64;
                reached.before.extend(known.map(|bytes| kept(bytes, record)));
            } else {
                reached.before.extend(known.map(|bytes| kept(bytes, 0)));
            }
            until = reached.open;
        }
        Turn { begins, open, before, until, is_after: false }
    }

    fn map(
        &self,
        block: Block<'_>,
        turn: Turn,
        each: &(dyn Fn(RecordPiece<'_>) -> std::result::Result<(), PassEnd> + Sync),
    ) -> std::result::Result<(), PassEnd> {
        if turn.is_after {
            return Err(PassEnd::Enough);
        }
        let end = block.offset + block.bytes.len() as u64;
        if end <= self.wanted.offset() || turn.until <= turn.open {
            return Ok(());
        }
        let head = match turn.begins {
            LineState::Start => Vec::new(),
            LineState::Plain | LineState::Quoted => self.head(block, &turn.before.concat()),
        };
        let open = RecordPart { bytes: &head, offset: turn.open };
        let from = if head.is_empty() { block.offset } else { open.end() };
        let range = to_usize(from - block.offset)..to_usize(turn.until - block.offset);
        let body = RecordPart { bytes: &block.bytes[range], offset: from };
        let head = self.trimmed(open).filter(|head| !head.bytes.is_empty());
        let body = self.trimmed(body).filter(|body| !body.bytes.is_empty());
        match (head, body) {
            (None, None) => Ok(()),
            (head, body) => each(RecordPiece { index: block.index, head, body }),
        }
    }

    /// Returns the record that is open at the start of a block, up to its end in the block.
    fn head(&self, block: Block<'_>, before: &[u8]) -> Vec<u8> {
        let mut len = 64 << 10;
        loop {
            let some = &block.bytes[..block.bytes.len().min(len)];
            let mut head = [before, some].concat();
            let end = RecordText { text: &head, dialect: self.dialect, layout: None }.end(0);
            // An end at the last known byte may be an artefact of the cut.
            match end.filter(|&end| end < head.len() || some.len() == block.bytes.len()) {
                Some(end) => {
                    head.truncate(end);
                    return head;
                }
                None if some.len() == block.bytes.len() => return Vec::new(),
                None => len *= 8,
            }
        }
    }

    /// Reads a part of the text.
    pub(in crate::table) fn text(&self, from: u64, to: u64) -> Result<swath::Buffer> {
        let read = ReadOptions::new().with_workers(1).with_offset(from).with_len(to - from);
        Ok(read.read(self.input.source())?.buffer)
    }

    /// Removes records that are not wanted.
    fn trimmed<'b>(&self, part: RecordPart<'b>) -> Option<RecordPart<'b>> {
        let (from, to) = (self.wanted.offset(), self.wanted.end());
        if from <= part.offset && part.end() <= to {
            return Some(part);
        }
        let records = RecordText { text: part.bytes, dialect: self.dialect, layout: None };
        let (mut at, mut begin) = (0, None);
        while at < part.bytes.len() && part.offset + (at as u64) < to {
            if part.offset + at as u64 >= from {
                begin.get_or_insert(at);
            }
            at = records.end(at).unwrap_or(part.bytes.len());
        }
        let begin = begin?;
        Some(RecordPart { bytes: &part.bytes[begin..at], offset: part.offset + begin as u64 })
    }

    /// Returns the record that is open at the end of the text.
    fn last(
        &self,
        reached: Reached,
        each: &(dyn Fn(RecordPiece<'_>) -> std::result::Result<(), PassEnd> + Sync),
    ) -> Result<()> {
        let is_wanted = (self.wanted.offset()..self.wanted.end()).contains(&reached.open);
        if reached.state == LineState::Start || !is_wanted {
            return Ok(());
        }
        if reached.state == LineState::Quoted {
            return Err(self.unclosed(reached.open)?);
        }
        // The last newline is escaped, and the text ends after it.
        let text = reached.before.concat();
        let part = RecordPart { bytes: &text, offset: reached.open };
        let Some(body) = self.trimmed(part) else { return Ok(()) };
        match each(RecordPiece { index: u64::MAX, head: None, body: Some(body) }) {
            Err(PassEnd::Failed(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the error for an open quote in the record at `record`.
    fn unclosed(&self, record: u64) -> Result<Error> {
        const LOOK: u64 = 1 << 20;
        let (mut at, mut state, mut quote) = (record, LineState::Start, record);
        let (end, mut look) = (self.input.len(), LOOK);
        while at < end {
            let some = self.text(at, end.min(at + look))?;
            let newline = some.iter().rposition(|&byte| byte == b'\n');
            let len = match newline {
                _ if at + look >= end => some.len(),
                Some(newline) => newline + 1,
                None => {
                    look *= 2;
                    continue;
                }
            };
            let lines = Lines { text: &some[..len], dialect: self.dialect, state };
            if let Some(open) = lines.open_quote() {
                quote = at + open as u64;
            }
            (at, state, look) = (at + len as u64, lines.end(), LOOK);
        }
        Ok(self.before(record, quote)?.into_error(self.input, self.origin))
    }

    /// Returns the fault of the record at `record` with an open quote at `quote`: it may have
    /// another fault before that. Does not search a very long record.
    fn before(&self, record: u64, quote: u64) -> Result<Problem> {
        const LONGEST: u64 = 64 << 20;
        if quote - record <= LONGEST {
            let text = self.text(record, quote + 1)?;
            let records = RecordText { text: &text, dialect: self.dialect, layout: None };
            if let Err(wrong) = records.split(0, |_| {}) {
                return Ok(faults::split(wrong, record, record));
            }
        }
        Ok(faults::wrong(RecordFault::OpenQuote(0), quote))
    }
}

/// Returns the bytes of a block starting at `at`, kept until the record ends.
fn kept(block: &Bytes, at: usize) -> Bytes {
    let rest = block.slice(at..);
    if rest.len() <= FEW { Bytes::copy_from_slice(&rest) } else { rest }
}

fn to_usize(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}
