//! Finds the members of a gzip stream that record their length, and decodes the others.

use flate2::{Decompress, FlushDecompress, Status};
use libdeflater::Crc;
use swath::machine::caught;

use super::header::{HeaderParse, parse};
use super::inflate::check;
use super::{TRAILER, header};
use crate::compressed::supply::{PackedSupply, no_memory};
use crate::compressed::work::{
    EncodedFrames, MOST_DECODED, MOST_ENCODED, STEP, STEP_IN_ORDER, StreamSplit, Work,
    WorkTally,
};
use crate::error::Result;
use crate::spare::Spare;

/// Enough for nearly every header.
const USUAL_HEADER: usize = 256;
/// The format allows names and comments of any length; this is a practical limit.
const MOST_HEADER: usize = 1 << 20;
/// A member has at least this many bytes after its header.
const LEAST_BODY: usize = 2 + TRAILER;

pub(crate) struct GzipSplitter<'s> {
    supply: PackedSupply,
    spare: &'s Spare<Vec<u8>>,
    inflate: Decompress,
    /// The member being decoded here.
    long: Option<LongMember>,
    /// Whether all recorded lengths of members have been right.
    believes: bool,
    /// Whether the last member was a BGZF member with data: such a stream must end with an empty
    /// one.
    lacks_end: bool,
    tally: WorkTally,
}

struct LongMember {
    offset: u64,
    is_bgzf: bool,
    crc: Crc,
    len: u64,
}

/// A member that records its length.
struct Sized {
    size: usize,
    is_bgzf: bool,
    decoded: usize,
}

impl<'s> GzipSplitter<'s> {
    pub(crate) fn new(supply: PackedSupply, spare: &'s Spare<Vec<u8>>) -> Result<Self> {
        let inflate = caught(|| Decompress::new(false));
        let inflate = inflate.ok_or_else(|| no_memory(supply.path()))?;
        Ok(Self {
            supply,
            spare,
            inflate,
            long: None,
            believes: true,
            lacks_end: false,
            tally: WorkTally::default(),
        })
    }

    /// Takes members with recorded lengths that together decode to one step. `None` if the next one
    /// has none or cannot be trusted.
    fn gather(&mut self) -> Result<Option<EncodedFrames>> {
        if !self.believes {
            return Ok(None);
        }
        let offset = self.supply.offset();
        let (mut len, mut most) = (0, 0);
        while len < STEP && most < STEP {
            let Some(member) = self.sized_member(len)? else { break };
            let Sized { size, is_bgzf, decoded } = member;
            if len + size > MOST_ENCODED || most + decoded > MOST_DECODED {
                break;
            }
            len += size;
            most += decoded;
            self.lacks_end = is_bgzf && decoded > 0;
            self.tally.frames += 1;
        }
        if len == 0 {
            return Ok(None);
        }
        let mut bytes = self.spare.buffer();
        self.supply.take(len, &mut bytes)?;
        Ok(Some(EncodedFrames { offset, bytes, most, cut: None }))
    }

    /// Returns the member `at` bytes ahead, if it records its length and the bytes after it confirm
    /// that.
    fn sized_member(&mut self, at: usize) -> Result<Option<Sized>> {
        let ahead = self.supply.peek(at + USUAL_HEADER)?;
        let said = sized(ahead.get(at..).unwrap_or_default());
        let Some((size, is_bgzf)) = said else { return Ok(None) };
        if size > MOST_ENCODED {
            return Ok(None);
        }
        let end = at + size;
        let ahead = self.supply.peek(end + 2)?;
        let plausible =
            matches!(ahead.get(end..), Some([] | [0, ..] | [0x1f] | [0x1f, 0x8b, ..]));
        let length = ahead.get(end - 4..end).and_then(<[u8]>::first_chunk);
        let decoded = length.and_then(|len| usize::try_from(u32::from_le_bytes(*len)).ok());
        Ok(decoded.filter(|_| plausible).map(|decoded| Sized { size, is_bgzf, decoded }))
    }

    /// Steps over the header of a member that is decoded here.
    fn begin_long(&mut self) -> Result<LongMember> {
        let offset = self.supply.offset();
        let mut needs = USUAL_HEADER;
        let (len, is_bgzf) = loop {
            let head = self.supply.peek(needs)?;
            let there = head.len();
            match parse(head) {
                HeaderParse::Header(header) => break (header.len, header.bgzf),
                HeaderParse::Short if there < needs => {
                    return Err(self.supply.truncated(offset, "member"));
                }
                HeaderParse::Short if needs < MOST_HEADER => needs *= 2,
                HeaderParse::Short => {
                    return Err(self.supply.corrupt(offset, "the member's header is too long"));
                }
                HeaderParse::Foreign(what) => return Err(self.supply.corrupt(offset, what)),
            }
        };
        self.supply.consume(len);
        self.inflate.reset(false);
        self.tally.frames += 1;
        Ok(LongMember { offset, is_bgzf, crc: Crc::new(), len: 0 })
    }

    /// Decodes the next bytes of a long member.
    fn go_on(&mut self, mut long: LongMember) -> Result<Work> {
        let mut bytes = self.spare.buffer();
        bytes.try_reserve(STEP_IN_ORDER).map_err(|_| no_memory(self.supply.path()))?;
        let mut ended = false;
        while !ended && bytes.len() < STEP_IN_ORDER {
            let packed = self.supply.some()?;
            if packed.is_empty() {
                return Err(self.supply.truncated(long.offset, "member"));
            }
            let before = self.inflate.total_in();
            let status = self.inflate.decompress_vec(packed, &mut bytes, FlushDecompress::None);
            let used = usize::try_from(self.inflate.total_in() - before).unwrap_or(0);
            match status {
                Ok(Status::StreamEnd) => ended = true,
                Ok(_) => {}
                Err(_) => {
                    let what = "the deflate stream of the member that starts here is damaged";
                    return Err(self.supply.corrupt(long.offset, what));
                }
            }
            self.supply.consume(used);
        }
        long.crc.update(&bytes);
        long.len += bytes.len() as u64;
        match ended {
            true => self.end_long(&long)?,
            false => self.long = Some(long),
        }
        Ok(Work::Decoded(bytes))
    }

    fn end_long(&mut self, long: &LongMember) -> Result<()> {
        let Some(&trailer) = self.supply.peek(TRAILER)?.first_chunk() else {
            return Err(self.supply.truncated(long.offset, "member"));
        };
        check(trailer, long.crc.sum(), long.len)
            .map_err(|what| self.supply.corrupt(long.offset, what))?;
        self.supply.consume(TRAILER);
        self.lacks_end = long.is_bgzf && long.len > 0;
        Ok(())
    }

    /// Skips bytes that are not a member: zeros silently, since tapes are padded with them; others
    /// are reported.
    fn skip_rest(&mut self) -> Result<()> {
        let offset = self.supply.offset();
        let mut zeros = true;
        loop {
            let rest = self.supply.some()?;
            let len = rest.len();
            if len == 0 {
                break;
            }
            zeros &= rest.iter().all(|&byte| byte == 0);
            self.supply.consume(len);
        }
        if !zeros {
            self.tally.rest = Some(offset..self.supply.offset());
        }
        Ok(())
    }
}

/// Returns the length of the member at the start of `bytes`, if it is recorded and not too short,
/// and whether it is recorded as in BGZF.
pub(crate) fn sized(bytes: &[u8]) -> Option<(usize, bool)> {
    let HeaderParse::Header(header::GzipHeader { len, size: Some(size), bgzf, .. }) =
        parse(bytes)
    else {
        return None;
    };
    (size >= len + LEAST_BODY).then_some((size, bgzf))
}

impl StreamSplit for GzipSplitter<'_> {
    fn next(&mut self) -> Result<Option<Work>> {
        if let Some(long) = self.long.take() {
            return self.go_on(long).map(Some);
        }
        let head = self.supply.peek(2)?;
        if self.tally.frames > 0 && !head.starts_with(&[0x1f, 0x8b]) {
            self.skip_rest()?;
            self.tally.lacks_end = self.lacks_end;
            return Ok(None);
        }
        if let Some(encoded) = self.gather()? {
            return Ok(Some(Work::Encoded(encoded)));
        }
        let long = self.begin_long()?;
        self.go_on(long).map(Some)
    }

    fn tally(&self) -> WorkTally {
        WorkTally { bytes_in: self.supply.offset(), ..self.tally.clone() }
    }

    fn go_back(&mut self, offset: u64, frames: u64) -> Result<()> {
        self.supply.go_back(offset)?;
        (self.long, self.believes) = (None, false);
        self.tally = WorkTally { frames, ..WorkTally::default() };
        Ok(())
    }
}
