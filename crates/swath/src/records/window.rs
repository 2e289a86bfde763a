//! Reads the records that begin in a lease, to the end of the last one.
//!
//! ```text
//! lease            |--------|
//! window        |l |--------|tail|         read at one time
//! records    ...aaaa|bb|ccccccc|dddd...
//! piece              |bb|ccccccc|
//! ```
//!
//! The window begins a cache line before the lease, to see whether a record ends there, and
//! extends so far past it that the last record usually ends in it. If it does not, more is read,
//! twice as much each time: a record of any length is found, and each of its bytes is copied once
//! or twice.

use std::ops::Range;
use std::sync::Arc;

use swath_plan::extent::Extent;
use swath_plan::schedule::{Lease, Way};

use crate::buffer::{Buffer, BufferPool};
use crate::engine::LeaseTrouble;
use crate::engine::fill::Hands;
use crate::error::{Error, Operation, Reason, Result};
use crate::records::cut::{Cut, Unfinished, is_odd};
use crate::records::piece::{Grid, RecordPiece};
use crate::records::quotes::Quotes;
use crate::source::OpenSource;

/// Bytes read before a lease: one would be enough, but copies are faster if source and target are
/// aligned alike.
const LEAD: u64 = 64;
/// Bytes first read after a lease: minimum, and maximum after short records.
const TAIL: Range<u64> = 128..64 << 10;
/// Bytes by which a direct read may be widened.
const EDGES: usize = 128 << 10;
/// Size at which the available memory is checked before more is allocated.
const LARGE: u64 = 64 << 20;

/// Cuts pieces out of one file.
#[derive(Debug)]
pub(crate) struct Cutter<'m> {
    pub(crate) cut: Cut,
    pub(crate) extent: Extent,
    pub(crate) grid: Grid,
    /// Longest accepted record, in bytes.
    pub(crate) record_limit: u64,
    /// Returns the available memory in bytes; called only if a record is long.
    pub(crate) memory: fn() -> u64,
    /// All of the extent, if it is promised not to change.
    pub(crate) map: Option<&'m [u8]>,
    pub(crate) quotes: Quotes,
}

/// Memory that one worker reads into, lease after lease. If the caller keeps blocks, they share it,
/// and the next lease gets other memory.
pub(crate) struct Window {
    buffer: Arc<Buffer>,
    pool: BufferPool,
    /// Bytes to read past a lease.
    tail: u64,
}

/// The records found in the bytes of a lease.
enum Seen {
    /// No record begins in it.
    Nothing,
    /// Its records, complete.
    Whole(Range<usize>),
    /// They begin here and end after the bytes.
    Open(usize),
}

impl Window {
    pub(crate) fn new(pool: BufferPool) -> Self {
        Self { buffer: Arc::default(), pool, tail: TAIL.start }
    }

    /// Returns the memory, which blocks may share.
    pub(crate) fn memory(&self) -> &Arc<Buffer> {
        &self.buffer
    }

    /// Returns the memory for writing, after [`make_room`](Self::make_room) and before blocks share
    /// it.
    pub(crate) fn memory_mut(&mut self) -> &mut Buffer {
        Arc::get_mut(&mut self.buffer).expect("room was made, and no block is out yet")
    }

    /// Provides room for `len` bytes that no block shares; the first `kept` stay. Memory that a
    /// long record took is freed.
    pub(crate) fn make_room(
        &mut self,
        source: &OpenSource,
        len: usize,
        kept: usize,
    ) -> Result<()> {
        let capacity = self.buffer.capacity();
        let lavish = kept == 0 && capacity / 8 > len.max(1 << 20);
        let is_shared = Arc::get_mut(&mut self.buffer).is_none();
        if capacity < len || lavish || is_shared {
            let mut buffer = source.block(&self.pool, len)?;
            buffer.narrow(0, buffer.capacity());
            buffer[..kept].copy_from_slice(&self.buffer[..kept]);
            self.buffer = Arc::new(buffer);
        }
        Ok(())
    }

    /// Adapts `tail` to how far the last record extended past its lease.
    fn learn(&mut self, overshoot: u64) {
        let wanted = (self.tail - self.tail / 8).max(overshoot.saturating_mul(2));
        self.tail = wanted.clamp(TAIL.start, TAIL.end);
    }
}

/// The parameters of a load.
pub(crate) struct Loading<'l> {
    pub(crate) source: &'l OpenSource,
    pub(crate) lease: Lease,
    /// Number of the lease, counted from the start of the extent.
    pub(crate) number: u64,
    /// Whether the read of the file has failed.
    pub(crate) is_over: &'l dyn Fn() -> bool,
}

impl Cutter<'_> {
    /// Reads the records that begin in a lease; `None` if no record does.
    pub(crate) fn load<'w>(
        &'w self,
        loading: &Loading<'_>,
        hands: &mut Hands<'_>,
        window: &'w mut Window,
    ) -> std::result::Result<Option<RecordPiece<'w>>, LeaseTrouble> {
        // Only quotes depend on earlier leases: without them, no lock is taken here.
        let trying = self.cut.quote().map(|_| self.quotes.begun(loading.number));
        let piece = match self.map {
            Some(map) => self.find(loading, hands, map)?,
            None => self.read(loading, hands, window)?,
        };
        let most = self.record_limit.max(self.grid.size.get());
        if let Some(record) = piece.and_then(|piece| piece.too_long(most)) {
            return Err(LeaseTrouble::fatal(too_long(loading.source, record, most)));
        }
        if let Some(trying) = trying {
            trying.done();
        }
        Ok(piece)
    }

    /// Finds the records in a map of the whole extent.
    fn find<'m>(
        &self,
        loading: &Loading<'_>,
        hands: &mut Hands<'_>,
        map: &'m [u8],
    ) -> std::result::Result<Option<RecordPiece<'m>>, LeaseTrouble> {
        hands.tally.calls += 1;
        let wanted = loading.lease.extent;
        let start = wanted.offset() - LEAD.min(wanted.offset() - self.extent.offset());
        let bytes = &map[to_usize(start - self.extent.offset())..];
        let inside = self.is_inside(loading, start, bytes)?;
        let Seen::Whole(found) = self.look(wanted, start, bytes, inside) else {
            return Ok(None);
        };
        self.check(loading.source, start, bytes, &found)?;
        let offset = start + found.start as u64;
        Ok(Some(self.piece(wanted, offset, &bytes[found])))
    }

    fn read<'w>(
        &self,
        loading: &Loading<'_>,
        hands: &mut Hands<'_>,
        window: &'w mut Window,
    ) -> std::result::Result<Option<RecordPiece<'w>>, LeaseTrouble> {
        let (source, wanted) = (loading.source, loading.lease.extent);
        let before = wanted.offset() - self.extent.offset();
        let around = match self.cut.divides(before) && self.cut.divides(wanted.len()) {
            true => 0..0,
            false => LEAD.min(before)..window.tail,
        };
        let start = wanted.offset() - around.start;
        let end = self.cap(wanted.end().saturating_add(around.end));
        let mut read = Extent::between(start, end);
        let skip = first_fill(source, hands, window, loading.lease.way, read)?;
        let bytes = &window.memory()[skip..skip + to_usize(read.len())];
        let inside = self.is_inside(loading, start, bytes)?;
        let found = loop {
            let bytes = &window.memory()[skip..skip + to_usize(read.len())];
            match self.look(wanted, start, bytes, inside) {
                Seen::Nothing => return Ok(None),
                Seen::Whole(found) => {
                    self.check(source, start, bytes, &found)?;
                    break found;
                }
                Seen::Open(begin) => {
                    let more = self.extended(source, wanted, start, bytes, begin)?;
                    let kept = skip + to_usize(read.len());
                    let room = skip + to_usize(more.end() - start);
                    window.make_room(source, room, kept).map_err(LeaseTrouble::fatal)?;
                    hands.fill_once(
                        Way::Buffered,
                        more.offset(),
                        &mut window.memory_mut()[kept..room],
                    )?;
                    read = Extent::between(start, more.end());
                }
            }
        };
        let offset = start + found.start as u64;
        window.learn((start + found.end as u64).saturating_sub(wanted.end()));
        let memory = window.memory();
        let bytes = &memory[skip + found.start..skip + found.end];
        Ok(Some(RecordPiece { memory: Some(memory), ..self.piece(wanted, offset, bytes) }))
    }

    /// Whether the lease begins between quotes, which depends on earlier leases.
    fn is_inside(
        &self,
        loading: &Loading<'_>,
        start: u64,
        bytes: &[u8],
    ) -> std::result::Result<bool, LeaseTrouble> {
        let Some(quote) = self.cut.quote() else { return Ok(false) };
        let lease = loading.lease.extent;
        let [from, to] = [lease.offset(), lease.end()].map(|at| to_usize(at - start));
        let odd = is_odd(&bytes[from..to], quote);
        self.quotes.is_inside(loading.number, odd, loading.is_over).ok_or_else(|| {
            let error = Error::new(Operation::Read, Reason::Poisoned, loading.source.name());
            LeaseTrouble::fatal(error.at(lease).detail("the bytes before it could not be read"))
        })
    }

    /// Checks that the last record of the source has an end.
    fn check(
        &self,
        source: &OpenSource,
        start: u64,
        bytes: &[u8],
        found: &Range<usize>,
    ) -> std::result::Result<(), LeaseTrouble> {
        if start + (found.end as u64) < self.extent.end() {
            return Ok(());
        }
        match self.cut.unfinished(&bytes[found.clone()]) {
            None => Ok(()),
            Some(unfinished) => {
                let offset = start + found.start as u64;
                Err(LeaseTrouble::fatal(no_end(source, offset, unfinished)))
            }
        }
    }

    fn piece<'p>(&self, lease: Extent, offset: u64, bytes: &'p [u8]) -> RecordPiece<'p> {
        let (grid, cut) = (self.grid, self.cut);
        RecordPiece { grid, cut, end: lease.end(), offset, bytes, memory: None }
    }

    fn cap(&self, end: u64) -> u64 {
        end.min(self.extent.end())
    }

    /// Finds the records that begin in `lease`, in bytes that begin at offset `start`.
    fn look(&self, lease: Extent, start: u64, bytes: &[u8], inside: bool) -> Seen {
        let begin = to_usize(lease.offset() - start);
        // The record that contains the lease's last byte is the last one.
        let last = to_usize(lease.end() - 1 - start);
        let skipped = lease.offset() - self.extent.offset();
        let begin = match begin {
            0 => 0,
            begin => match self.cut.first_start(&bytes[begin - 1..last], inside, skipped) {
                Some(after) => begin - 1 + after,
                None => return Seen::Nothing,
            },
        };
        match self.cut.end_after(&bytes[begin..], last - begin) {
            Some(len) => Seen::Whole(begin..begin + len),
            None if start + bytes.len() as u64 == self.extent.end() => {
                Seen::Whole(begin..bytes.len())
            }
            None => Seen::Open(begin),
        }
    }

    /// Returns the bytes to read next, after `bytes`, which begin at `start` and contain only the
    /// beginning of the lease's last record; an error if that record is too long. The first record
    /// is at `begin`.
    fn extended(
        &self,
        source: &OpenSource,
        lease: Extent,
        start: u64,
        bytes: &[u8],
        begin: usize,
    ) -> std::result::Result<Extent, LeaseTrouble> {
        let end = start + bytes.len() as u64;
        let last = to_usize(lease.end() - start);
        let record = begin + self.cut.last_start(&bytes[begin..last]);
        let record = start + record as u64;
        let known = Extent::between(record, end);
        let most = self.record_limit.max(self.grid.size.get());
        if known.len() > most {
            return Err(LeaseTrouble::fatal(too_long(source, known, most)));
        }
        let more = known.len().max(self.grid.size.get()).max(TAIL.start);
        let more = Extent::between(end, self.cap(end.saturating_add(more)));
        if more.len() > LARGE && more.len() + known.len() > (self.memory)() {
            let error = Error::new(Operation::Allocate, Reason::OutOfMemory, source.name());
            return Err(LeaseTrouble::fatal(
                error
                    .at(known)
                    .detail("a record does not fit into the available memory")
                    .hint("look for a missing delimiter or quote, or set another delimiter"),
            ));
        }
        Ok(more)
    }
}

/// Reads the window of a lease; returns its position in the buffer.
fn first_fill(
    source: &OpenSource,
    hands: &mut Hands<'_>,
    window: &mut Window,
    way: Way,
    extent: Extent,
) -> std::result::Result<usize, LeaseTrouble> {
    let len = to_usize(extent.len());
    let edges = if way == Way::Direct { EDGES } else { 0 };
    window.make_room(source, len.saturating_add(edges), 0).map_err(LeaseTrouble::fatal)?;
    match way {
        Way::Direct => hands.fill_units(extent, window.memory_mut()),
        Way::Buffered => {
            hands.fill_once(Way::Buffered, extent.offset(), &mut window.memory_mut()[..len])?;
            Ok(0)
        }
    }
}

pub(crate) fn too_long(source: &OpenSource, record: Extent, most: u64) -> Error {
    Error::new(Operation::Read, Reason::Invalid, source.name())
        .at(record)
        .detail(format!("a record is longer than the limit of {most} bytes"))
        .hint("look for a missing delimiter or quote, or raise the limit")
}

/// Returns the error for a last record without an end, in bytes that begin at `offset`.
pub(crate) fn no_end(source: &OpenSource, offset: u64, unfinished: Unfinished) -> Error {
    let at = |at: usize, len: usize| {
        let at = offset + at as u64;
        Extent::between(at, at + len as u64)
    };
    let error = Error::new(Operation::Read, Reason::Corrupt, source.name());
    match unfinished {
        Unfinished::Quote(quote) => error
            .at(at(quote, 1))
            .detail("this quote is never closed")
            .hint("close it, or set another quote"),
        Unfinished::Short(record, len, width) => error
            .at(at(record, len))
            .detail(format!("the last record has {len} of {width} bytes"))
            .hint("set the size that records have"),
    }
}

fn to_usize(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU64;

    #[test]
    fn a_record_that_does_not_fit_into_memory_is_told_before_memory_is_taken() {
        let source = OpenSource::open("/etc/passwd".into()).expect("it is there");
        let size = NonZeroU64::new(LARGE + 1).expect("positive");
        let cutter = |memory| Cutter {
            cut: Cut::Byte(b'\n'),
            extent: Extent::between(0, 1 << 40),
            grid: Grid { base: 0, size, first: 0, source: 0 },
            record_limit: u64::MAX,
            memory,
            map: None,
            quotes: Quotes::default(),
        };
        let lease = Extent::between(0, 4);
        let extended = |memory| cutter(memory).extended(&source, lease, 0, b"a\nbc", 0);
        let more = extended(|| LARGE + 3).expect("just enough");
        assert_eq!(more, Extent::between(4, LARGE + 5));
        let error = extended(|| LARGE + 2).expect_err("one byte too little").error;
        assert_eq!((error.reason(), error.extent()), (Reason::OutOfMemory, Extent::new(2, 2)));
    }
}
