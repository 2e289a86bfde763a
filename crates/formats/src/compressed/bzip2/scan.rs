//! Cuts bzip2 streams at every mark, without decoding.
//!
//! ```text
//! BZh9 |block |block   |end      BZh9 |block |end
//!      |------|--------|--------------|------|---|    segments
//! ```
//!
//! A mark can appear in the data by chance, about once in 30 TB. So segments are candidates;
//! [`search`](super::search) decides their kind when their turn comes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::bits::{BLOCK, END, Finder, MARK, align};
use super::lone::HEAD;
use crate::compressed::supply::{PackedSupply, no_memory};
use crate::error::Result;

/// The most compressed bytes of a block.
pub(crate) const MOST: usize = 4 << 20;

/// The bits between two marks.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) index: u64,
    pub(crate) kind: SegmentKind,
    /// Its place: number of bits of the stream before it, and up to its end.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// All bytes that contain bits of it.
    pub(crate) bytes: Vec<u8>,
    /// Whether it follows an apparent end of the last stream: then it may not belong to a stream.
    pub(crate) doubtful: bool,
}

/// The apparent kind of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SegmentKind {
    Block,
    /// The end of a stream, and what follows it.
    End(After),
    /// Bits that follow too long a stretch without a mark.
    Unmarked,
}

/// The bytes after the end of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// Another stream.
    Stream,
    Nothing,
    /// Something else, starting at this byte.
    Other(u64),
    /// The stream ends before its end is complete.
    Cut,
}

impl Segment {
    /// Number of bits before it in its first byte.
    pub(crate) fn skip(&self) -> u64 {
        self.start % 8
    }

    /// Returns its first `len` bits, or all of them if there are fewer.
    pub(crate) fn head(&self, len: u64) -> Vec<u8> {
        let mut head = Vec::new();
        align(&self.bytes, self.skip(), len.min(self.end - self.start), &mut head);
        head
    }
}

pub(crate) struct Scanner {
    supply: PackedSupply,
    finder: Finder,
    /// Bytes from the start of the current segment.
    bytes: Vec<u8>,
    start: u64,
    mark: Option<u64>,
    doubtful: bool,
    ended: bool,
    next_index: u64,
    /// Segments found but not handed out yet.
    pending: VecDeque<Arc<Segment>>,
    /// Segments found but not forgotten yet.
    recent: BTreeMap<u64, Arc<Segment>>,
}

impl Scanner {
    /// Starts after the header of the first stream.
    pub(crate) fn new(mut supply: PackedSupply) -> Result<Self> {
        let head = supply.peek(10)?;
        let (there, mark) = (head.len(), head.get(4..10).unwrap_or_default());
        let begins = [BLOCK, END].iter().any(|known| known.to_be_bytes()[2..] == *mark);
        if there < 10 {
            return Err(supply.truncated(0, "bzip2 stream"));
        }
        if !begins {
            return Err(supply.corrupt(4, "this is not the start of a bzip2 block"));
        }
        supply.consume(4);
        Ok(Self {
            supply,
            finder: Finder::default(),
            bytes: Vec::new(),
            start: 32,
            mark: None,
            doubtful: false,
            ended: false,
            next_index: 0,
            pending: VecDeque::new(),
            recent: BTreeMap::new(),
        })
    }

    pub(crate) fn supply(&self) -> &PackedSupply {
        &self.supply
    }

    /// Returns the next segment in order; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Arc<Segment>>> {
        match self.pending.pop_front() {
            Some(segment) => Ok(Some(segment)),
            None => self.scan(),
        }
    }

    /// Returns a segment that has not been forgotten, or reads the one after all found ones.
    pub(crate) fn look_at(&mut self, index: u64) -> Result<Option<Arc<Segment>>> {
        if index == self.next_index {
            let found = self.scan()?;
            self.pending.extend(found);
        }
        Ok(self.recent.get(&index).cloned())
    }

    /// Forgets the segments before `index`.
    pub(crate) fn forget_before(&mut self, index: u64) {
        self.recent = self.recent.split_off(&index);
    }

    fn scan(&mut self) -> Result<Option<Arc<Segment>>> {
        while !self.ended {
            let chunk = self.supply.some()?;
            if chunk.is_empty() {
                self.ended = true;
                return Ok(self.mark.map(|_| self.cut(None)));
            }
            let found = self.finder.find(chunk);
            let used = found.map_or(chunk.len(), |(index, _)| index + 1);
            if self.bytes.try_reserve(used).is_err() {
                return Err(no_memory(self.supply.path()));
            }
            self.bytes.extend_from_slice(&chunk[..used]);
            self.supply.consume(used);
            let Some((_, found)) = found else {
                if self.bytes.len() > MOST {
                    return Ok(Some(self.cut(None)));
                }
                continue;
            };
            let at = 8 * self.supply.offset() - found.after - MARK;
            if self.mark.is_some() {
                return Ok(Some(self.cut(Some((at, found.mark)))));
            }
            // The first mark must be at the start.
            self.mark = Some(found.mark);
        }
        Ok(None)
    }

    /// Ends the segment at a mark, or at the end of the bytes; the next one begins there.
    fn cut(&mut self, at: Option<(u64, u64)>) -> Arc<Segment> {
        let (end, mark) = at.unwrap_or((8 * self.supply.offset(), 0));
        let kind = match self.mark {
            Some(BLOCK) => SegmentKind::Block,
            Some(END) => SegmentKind::End(self.after(end, at.is_some())),
            _ => SegmentKind::Unmarked,
        };
        let first = self.start / 8;
        let index_of = |byte: u64| usize::try_from(byte - first).unwrap_or(usize::MAX);
        let rest = self.bytes[index_of(end / 8)..].to_vec();
        self.bytes.truncate(index_of(end.div_ceil(8)));
        let segment = Arc::new(Segment {
            index: self.next_index,
            kind,
            start: self.start,
            end,
            bytes: std::mem::replace(&mut self.bytes, rest),
            doubtful: self.doubtful,
        });
        self.doubtful |= matches!(kind, SegmentKind::End(After::Other(_)));
        (self.start, self.mark) = (end, Some(mark));
        self.recent.insert(self.next_index, Arc::clone(&segment));
        self.next_index += 1;
        segment
    }

    /// Returns what follows the end of the stream, if the segment is one that ends at bit `end`.
    fn after(&self, end: u64, at_mark: bool) -> After {
        let after = (self.start + 8 * HEAD).div_ceil(8);
        if end < 8 * after {
            return After::Cut;
        }
        let first = self.start / 8;
        let rest = usize::try_from(after - first).ok().and_then(|at| self.bytes.get(at..));
        match rest {
            Some([b'B', b'Z', b'h', b'1'..=b'9', ..]) if at_mark && end == 8 * after + 32 => {
                After::Stream
            }
            Some([]) if self.ended => After::Nothing,
            _ => After::Other(after),
        }
    }
}
