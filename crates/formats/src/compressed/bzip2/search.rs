//! Decodes the segments of bzip2 streams on any thread, and decides their kind in order.
//!
//! A block whose data matches its checksum is accepted at once. One that does not match waits until
//! everything before it is settled. If it really begins where the previous block ends, a mark
//! inside it was a coincidence, and it is decoded again together with the segments after it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use swath::machine::{Condvar, Mutex, MutexGuard};

use super::lone::{self, HEAD};
use super::scan::{After, MOST, Scanner, Segment, SegmentKind};
use crate::compressed::supply::{PackedSupply, no_memory};
use crate::compressed::work::{StreamSplit, Work, WorkTally};
use crate::error::{Error, FormatReason, Result};

/// More false marks in one block than this are an attack.
const MOST_FALSE_MARKS: u64 = 64;

/// One bzip2 file: its segments, and how many are settled.
pub(crate) struct BlockSearch {
    path: PathBuf,
    scanner: Mutex<Scanner>,
    chain: Mutex<Chain>,
    turn: Condvar,
}

/// The settled part of a search.
#[derive(Debug)]
struct Chain {
    /// The next segment to settle.
    next: u64,
    /// Number of bits that are settled.
    at: u64,
    /// Checksum of the settled blocks of this stream.
    checksum: u32,
    blocks: u64,
    /// Set once the last stream has ended: the bytes after it.
    over: Option<After>,
    failed: bool,
    /// Decoded blocks, and ends, that wait for their turn.
    known: BTreeMap<u64, KnownBlock>,
}

#[derive(Clone, Copy, Debug)]
struct KnownBlock {
    start: u64,
    end: u64,
    checksum: u32,
    /// `None` for a block whose bytes have been written.
    ends: Option<After>,
}

impl BlockSearch {
    pub(crate) fn new(supply: PackedSupply) -> Result<Self> {
        let path = supply.path().to_owned();
        let chain = Chain {
            next: 0,
            at: 32,
            checksum: 0,
            blocks: 0,
            over: None,
            failed: false,
            known: BTreeMap::new(),
        };
        let scanner = Mutex::new(Scanner::new(supply)?);
        Ok(Self { path, scanner, chain: Mutex::new(chain), turn: Condvar::new() })
    }

    /// Appends the decoded `segment`, or nothing if it turns out not to be a block.
    pub(crate) fn decode(&self, segment: &Segment, out: &mut Vec<u8>) -> Result<()> {
        let Segment { index, start, end, .. } = *segment;
        match segment.kind {
            SegmentKind::End(after) => {
                let checksum = lone::checksum(&segment.head(8 * HEAD));
                self.settle(index, KnownBlock { start, end, checksum, ends: Some(after) })
            }
            SegmentKind::Block => {
                match self.decode_alone(&segment.bytes, segment.skip(), end - start, out)? {
                    Some(checksum) if !segment.doubtful => {
                        self.settle(index, KnownBlock { start, end, checksum, ends: None })
                    }
                    checksum => self.in_turn(segment, checksum, out),
                }
            }
            SegmentKind::Unmarked => self.in_turn(segment, None, out),
        }
    }

    /// Waits until everything before `segment` is settled, so that its kind is certain.
    fn in_turn(
        &self,
        segment: &Segment,
        checksum: Option<u32>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let Segment { index, start, .. } = *segment;
        let waiting = |chain: &mut Chain| chain.next < index && !chain.failed;
        let chain = self.turn.wait_while(self.chain.lock(), waiting);
        let mut chain = chain;
        if chain.failed {
            out.clear();
            return Ok(());
        }
        if chain.over.is_some() || chain.at > start {
            // It is after the last stream, or part of the block before it.
            out.clear();
            chain.next = index + 1;
            return self.go_on(chain);
        }
        drop(chain);
        let (checksum, end) = match checksum {
            Some(checksum) => (checksum, segment.end),
            None => self.decode_across(segment, out)?,
        };
        self.settle(index, KnownBlock { start, end, checksum, ends: None })
    }

    /// As [`lone::decode`].
    fn decode_alone(
        &self,
        bytes: &[u8],
        skip: u64,
        len: u64,
        out: &mut Vec<u8>,
    ) -> Result<Option<u32>> {
        lone::decode(bytes, skip, len, out).map_err(|lone::NoMemory| no_memory(&self.path))
    }

    /// Decodes the block that begins with `segment` and continues past false marks.
    fn decode_across(&self, segment: &Segment, out: &mut Vec<u8>) -> Result<(u32, u64)> {
        let first = segment.start / 8;
        let mut bytes = segment.bytes.clone();
        for step in 1..=MOST_FALSE_MARKS {
            let next = self.scanner.lock().look_at(segment.index + step)?;
            let Some(next) = next.filter(|_| segment.kind == SegmentKind::Block) else {
                if step == 1 && segment.kind == SegmentKind::Block {
                    return Err(self.truncated(segment.start));
                }
                break;
            };
            // Both contain the byte in which one ends and the next begins.
            bytes.truncate(usize::try_from(next.start / 8 - first).unwrap_or(usize::MAX));
            bytes.extend_from_slice(&next.bytes);
            if bytes.len() > MOST {
                break;
            }
            out.clear();
            let len = next.end - segment.start;
            if let Some(checksum) = self.decode_alone(&bytes, segment.skip(), len, out)? {
                return Ok((checksum, next.end));
            }
        }
        Err(self.corrupt(segment.start, "the bzip2 block that starts here is damaged"))
    }

    /// Records the kind of a segment, and settles every segment whose turn has come.
    fn settle(&self, index: u64, known: KnownBlock) -> Result<()> {
        let mut chain = self.chain.lock();
        chain.known.insert(index, known);
        self.go_on(chain)
    }

    fn go_on(&self, mut chain: MutexGuard<'_, Chain>) -> Result<()> {
        let mut outcome = Ok(());
        while let Some(known) = {
            let next = chain.next;
            chain.known.remove(&next)
        } {
            chain.next += 1;
            outcome = self.apply(&mut chain, known);
            if outcome.is_err() {
                chain.failed = true;
                break;
            }
        }
        let next = chain.next;
        drop(chain);
        self.turn.notify_all();
        self.scanner.lock().forget_before(next);
        outcome
    }

    fn apply(&self, chain: &mut Chain, known: KnownBlock) -> Result<()> {
        if chain.over.is_some() || chain.at > known.start {
            return match known.ends {
                Some(_) => Ok(()),
                // A block inside a block, or after the end. Only an attack contains one.
                None => Err(self.corrupt(known.start, "one bzip2 block lies inside another")),
            };
        }
        chain.at = known.end;
        let Some(after) = known.ends else {
            chain.checksum = chain.checksum.rotate_left(1) ^ known.checksum;
            chain.blocks += 1;
            return Ok(());
        };
        if after == After::Cut {
            return Err(self.truncated(known.start));
        }
        if known.checksum != chain.checksum {
            let what = "the checksum of the bzip2 stream that ends here is wrong";
            return Err(self.corrupt(known.start, what));
        }
        chain.checksum = 0;
        chain.over = (after != After::Stream).then_some(after);
        Ok(())
    }

    /// Fails if the last stream has no end.
    pub(crate) fn check_end(&self) -> Result<()> {
        let chain = self.chain.lock();
        match chain.over {
            Some(_) => Ok(()),
            None => Err(self.truncated(chain.at)),
        }
    }

    /// Wakes the waiting threads: a segment before theirs has failed.
    pub(crate) fn fail(&self) {
        self.chain.lock().failed = true;
        self.turn.notify_all();
    }

    fn corrupt(&self, bit: u64, what: &str) -> Error {
        Error::decompressing(&self.path, FormatReason::Corrupt, what).at(bit / 8)
    }

    fn truncated(&self, bit: u64) -> Error {
        let what = "the bzip2 stream is incomplete";
        Error::decompressing(&self.path, FormatReason::Truncated, what).at(bit / 8)
    }
}

impl StreamSplit for Arc<BlockSearch> {
    fn next(&mut self) -> Result<Option<Work>> {
        let segment: Option<Arc<Segment>> = self.scanner.lock().next()?;
        Ok(segment.map(Work::Segment))
    }

    fn tally(&self) -> WorkTally {
        let bytes_in = self.scanner.lock().supply().offset();
        let chain = self.chain.lock();
        let rest = match chain.over {
            Some(After::Other(at)) => Some(at..bytes_in),
            _ => None,
        };
        WorkTally { bytes_in, frames: chain.blocks, rest, ..WorkTally::default() }
    }
}
