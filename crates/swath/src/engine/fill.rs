//! Fills memory from a source: the only place that makes blocking reads.
//!
//! Short reads and interrupts are handled here; the result is complete, or an error with its
//! bytes.

use std::fs::File;
use std::io::{self, IoSliceMut};
use std::num::NonZeroU64;

use rustix::io::{Errno, ReadWriteFlags, preadv2};
use swath_os::map::Map;
use swath_os::memory::{Pages, WriteLease};
use swath_plan::extent::Extent;
use swath_plan::schedule::{Outcome, Way};

use super::crew::{Teller, Watch};
use super::{LeaseTrouble, ReadJob};
use crate::error::{Error, Operation, Reason};
use crate::report::ReadTally;
use crate::source::{OpenSource, SourceTrouble};
use crate::timeline::{Activity, Recorder};

/// The reading state of one worker: its counters and its bounce buffer.
pub(crate) struct Hands<'j> {
    source: &'j OpenSource,
    chunk_size: usize,
    /// A map to copy from, and the file offset at which it begins.
    map: Option<(&'j Map<'j>, u64)>,
    bounce: Option<Pages>,
    teller: Teller<'j>,
    pub(crate) tally: ReadTally,
    /// Records this worker's activities and their times.
    pub(crate) recorder: Recorder,
}

impl<'j> Hands<'j> {
    pub(crate) fn new(job: &'j ReadJob<'j>) -> Self {
        let map = job.map.map(|map| (map, job.extent.offset()));
        let recorder = job.running.observer.recorder(job.source.name());
        let hands = Self::of(&job.source, job.manner.chunk_size, recorder);
        Self { map, ..hands.watched_by(job.running.watch.as_ref()) }
    }

    /// Returns hands that read `source`, with one call for each chunk.
    pub(crate) fn of(
        source: &'j OpenSource,
        chunk_size: Option<NonZeroU64>,
        recorder: Recorder,
    ) -> Self {
        let chunk_size = chunk_size.and_then(|size| usize::try_from(size.get()).ok());
        let chunk_size = chunk_size.unwrap_or(usize::MAX);
        let (tally, teller) = (ReadTally::default(), Teller::new(None));
        Self { source, chunk_size, map: None, bounce: None, teller, tally, recorder }
    }

    /// Returns the hands, reporting to `watch` how long their requests take.
    pub(crate) fn watched_by(self, watch: Option<&'j Watch>) -> Self {
        Self { teller: Teller::new(watch), ..self }
    }

    /// Continues with another source.
    pub(crate) fn turn_to(&mut self, source: &'j OpenSource) {
        if !std::ptr::eq(self.source, source) {
            self.source = source;
            self.recorder.turn_to_path(source.name());
        }
    }

    /// Populates the memory of `lease`, which begins at `offset` of the source.
    pub(crate) fn prepare(
        &mut self,
        memory: &WriteLease<'_>,
        offset: u64,
    ) -> Result<(), LeaseTrouble> {
        match memory.prepare() {
            Ok(0) => {}
            Ok(bytes) => {
                self.tally.populated_bytes += bytes as u64;
                self.recorder.lap(Activity::Populate, offset, bytes as u64);
            }
            Err(error) if error.kind() == io::ErrorKind::OutOfMemory => {
                let extent =
                    Extent::between(offset, offset.saturating_add(memory.len() as u64));
                return Err(LeaseTrouble::fatal(self.source.no_memory(extent, error)));
            }
            // Kernels before 5.14 refuse; the read itself populates the pages.
            Err(_) => {}
        }
        Ok(())
    }

    /// Fills `target` with the bytes at `offset`, one call for each chunk.
    ///
    /// `Direct` needs `offset` and the length in whole units; an unaligned `target` goes through
    /// a bounce buffer.
    pub(crate) fn fill(
        &mut self,
        way: Way,
        offset: u64,
        target: &mut [u8],
    ) -> Result<(), LeaseTrouble> {
        // Mirrored copies split requests themselves, where chunks can be compared.
        let is_whole = self.source.copies() > 0;
        let chunk_size = match is_whole {
            true => usize::MAX,
            false => self.teller.grown_size().unwrap_or(self.chunk_size),
        };
        let mut at = offset;
        for part in target.chunks_mut(chunk_size) {
            self.fill_once(way, at, part)?;
            at += part.len() as u64;
        }
        Ok(())
    }

    /// Fills `target` in one call, whatever the chunk size.
    pub(crate) fn fill_once(
        &mut self,
        way: Way,
        offset: u64,
        target: &mut [u8],
    ) -> Result<(), LeaseTrouble> {
        let extent = Extent::between(offset, offset.saturating_add(target.len() as u64));
        self.lapped(extent, |hands| hands.read(way, offset, target))
    }

    /// Records a read of `extent`, if it succeeds.
    fn lapped<T>(
        &mut self,
        extent: Extent,
        read: impl FnOnce(&mut Self) -> Result<T, LeaseTrouble>,
    ) -> Result<T, LeaseTrouble> {
        let ended = read(self);
        self.recorder.lap_if(&ended, Activity::Read, extent.offset(), extent.len());
        ended
    }

    /// Reads `extent` in steps that fit into `room`, and passes each to `each`. Begins again if a step
    /// that was already passed proves to be wrong.
    pub(crate) fn take_in_steps(
        &mut self,
        extent: Extent,
        room: &mut [u8],
        each: &mut dyn FnMut(&[u8], u64),
    ) -> Result<(), LeaseTrouble> {
        let source = self.source;
        self.tally.calls += 1;
        self.lapped(extent, |_| {
            source.take_in_steps(extent, room, each).map_err(|error| {
                let len = usize::try_from(extent.len()).unwrap_or(usize::MAX);
                Failure::of(error).into_trouble(source, extent.offset(), len)
            })
        })
    }

    fn read(&mut self, way: Way, offset: u64, target: &mut [u8]) -> Result<(), LeaseTrouble> {
        if let Some((map, map_offset)) = self.map {
            self.tally.calls += 1;
            let from = usize::try_from(offset - map_offset).unwrap_or(usize::MAX);
            map.copy_to(from, target);
            return Ok(());
        }
        let filled = match way {
            Way::Buffered => 0,
            Way::Direct => self.read_direct(offset, target)?,
        };
        let source = self.source;
        let (rest, tally) = (&mut target[filled..], &mut self.tally);
        self.teller
            .request(|| read_buffered(source, offset + filled as u64, rest, tally))
            .map_err(|failure| failure.into_trouble(source, offset, target.len()))
    }

    /// Reads directly, bypassing the page cache; less than all if the file ends inside a unit.
    fn read_direct(&mut self, offset: u64, target: &mut [u8]) -> Result<usize, LeaseTrouble> {
        let source = self.source;
        let Some(direct) = source.direct() else {
            let refused = io::Error::from(io::ErrorKind::Unsupported);
            return Err(Failure::Kernel(refused, Outcome::Refused).into_trouble(
                source,
                offset,
                target.len(),
            ));
        };
        let aligned = target.as_ptr().addr().is_multiple_of(direct.memory);
        let bounce = match aligned {
            true => None,
            false => Some(bounce(&mut self.bounce, target.len()).map_err(|error| {
                LeaseTrouble::fatal(Error::io(Operation::Allocate, source.name(), error))
            })?),
        };
        let unit = usize::try_from(direct.unit.get()).unwrap_or(usize::MAX);
        let len = target.len();
        let place = match bounce {
            None => &mut *target,
            Some(pages) => &mut pages[..len],
        };
        let read = |target: &mut [u8], offset| {
            use std::os::unix::fs::FileExt;
            direct.file.read_at(target, offset)
        };
        let filled = read_until_full(read, offset, place, unit, &mut self.tally)
            .map_err(|failure| failure.refusable().into_trouble(source, offset, len))?;
        if !aligned && let Some(pages) = &self.bounce {
            target[..filled].copy_from_slice(&pages[..filled]);
        }
        self.tally.direct_bytes += filled as u64;
        Ok(filled)
    }

    /// Reads `extent` directly into `target`, widened to whole units: `target` starts at the
    /// unit at or below the extent. Returns where in `target` the extent starts.
    pub(crate) fn fill_units(
        &mut self,
        extent: Extent,
        target: &mut [u8],
    ) -> Result<usize, LeaseTrouble> {
        self.lapped(extent, |hands| hands.read_units(extent, target))
    }

    fn read_units(&mut self, extent: Extent, target: &mut [u8]) -> Result<usize, LeaseTrouble> {
        let unit = self.source.direct().map_or(1, |direct| direct.unit.get());
        let first = extent.offset() / unit * unit;
        let skip = usize::try_from(extent.offset() - first).unwrap_or(usize::MAX);
        let len = usize::try_from(extent.end() - first).unwrap_or(usize::MAX);
        let wide = len.next_multiple_of(usize::try_from(unit).unwrap_or(1));
        let filled = self.read_direct(first, &mut target[..wide])?;
        if filled < len {
            let source = self.source;
            read_buffered(
                source,
                first + filled as u64,
                &mut target[filled..len],
                &mut self.tally,
            )
            .map_err(|failure| failure.into_trouble(source, extent.offset(), len - skip))?;
        }
        Ok(skip)
    }
}

fn bounce(held: &mut Option<Pages>, len: usize) -> io::Result<&mut Pages> {
    if held.as_ref().is_none_or(|pages| pages.len() < len) {
        *held = Some(Pages::map(len)?);
    }
    held.as_mut().ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))
}

/// The reason why bytes are missing.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The source ends here.
    End(u64),
    /// The kernel, or the source, returned an error.
    Kernel(io::Error, Outcome),
}

impl Failure {
    pub(crate) fn of(error: io::Error) -> Self {
        let outcome = match (SourceTrouble::of(&error), error.kind()) {
            (Some(SourceTrouble::Passing(after)), _) => {
                let after = u64::try_from(after.as_nanos()).unwrap_or(u64::MAX);
                Outcome::Passing { after }
            }
            (Some(SourceTrouble::Refused), _) => Outcome::Refused,
            (Some(_), _) => Outcome::Fatal,
            (None, io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                Outcome::Passing { after: 0 }
            }
            (None, _) => Outcome::Fatal,
        };
        Self::Kernel(error, outcome)
    }

    /// Marks errors that, for a direct read, mean that this way of reading is refused.
    pub(crate) fn refusable(self) -> Self {
        match self {
            Self::Kernel(error, _)
                if matches!(
                    error.kind(),
                    io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
                ) =>
            {
                Self::Kernel(error, Outcome::Refused)
            }
            other => other,
        }
    }

    pub(crate) fn into_trouble(
        self,
        source: &OpenSource,
        offset: u64,
        len: usize,
    ) -> LeaseTrouble {
        let extent = Extent::between(offset, offset.saturating_add(len as u64));
        match self {
            Self::End(at) => LeaseTrouble::fatal(source.truncated(extent, at)),
            Self::Kernel(error, outcome) => {
                LeaseTrouble { error: said(source, error).at(extent), outcome }
            }
        }
    }
}

/// Returns the error of a read, with the source's own report about it.
fn said(source: &OpenSource, error: io::Error) -> Error {
    match SourceTrouble::of(&error) {
        None => Error::io(Operation::Read, source.name(), error),
        Some(trouble) => {
            let reason = match trouble {
                SourceTrouble::Changed => Reason::Changed,
                _ => Reason::Io,
            };
            let told = Error::new(Operation::Read, reason, source.name());
            told.caused_by(error).hint(trouble.hint())
        }
    }
}

/// Fills the start of `target` with the bytes that are in the page cache, without waiting for a device. Returns 0 after
/// an error too, which the next way of reading reports.
pub(crate) fn read_cached(file: &File, offset: u64, target: &mut [u8]) -> usize {
    loop {
        let mut parts = [IoSliceMut::new(target)];
        match preadv2(file, &mut parts, offset, ReadWriteFlags::NOWAIT) {
            Err(Errno::INTR) => {}
            other => return other.unwrap_or(0),
        }
    }
}

/// Fills all of `target` through the page cache.
pub(crate) fn read_buffered(
    source: &OpenSource,
    offset: u64,
    target: &mut [u8],
    tally: &mut ReadTally,
) -> Result<(), Failure> {
    let len = target.len();
    let filled =
        read_until_full(|part, at| source.read_at(part, at), offset, target, 1, tally)?;
    if filled == len { Ok(()) } else { Err(Failure::End(offset + filled as u64)) }
}

/// Reads until `target` is full, the source ends, or a read returns a length that is not a
/// multiple of `unit`, after which a direct read cannot continue.
pub(crate) fn read_until_full(
    read: impl Fn(&mut [u8], u64) -> io::Result<usize>,
    offset: u64,
    target: &mut [u8],
    unit: usize,
    tally: &mut ReadTally,
) -> Result<usize, Failure> {
    let mut filled = 0;
    while filled < target.len() {
        tally.calls += 1;
        match read(&mut target[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(more) => {
                filled += more.min(target.len() - filled);
                if filled < target.len() {
                    tally.retries += 1;
                }
                if !filled.is_multiple_of(unit) {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => tally.retries += 1,
            Err(error) => return Err(Failure::of(error)),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Gives one byte per call, and `EINTR` on every third call.
    struct Grudging {
        bytes: &'static [u8],
        calls: AtomicUsize,
    }

    impl Grudging {
        fn read(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
            if self.calls.fetch_add(1, Ordering::Relaxed) % 3 == 2 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            match self.bytes.get(usize::try_from(offset).expect("small")) {
                Some(&byte) => {
                    target[0] = byte;
                    Ok(1)
                }
                None => Ok(0),
            }
        }
    }

    #[test]
    fn fill_goes_on_after_short_reads_and_interrupts() {
        let source = Grudging { bytes: b"0123456789", calls: 0.into() };
        let (mut target, mut tally) = ([0; 6], ReadTally::default());
        let filled = read_until_full(|t, o| source.read(t, o), 2, &mut target, 1, &mut tally);
        assert_eq!((filled.expect("six bytes are there"), &target), (6, b"234567"));
        assert_eq!((tally.calls, tally.retries), (8, 7));
    }

    #[test]
    fn fill_stops_at_the_end_and_where_a_direct_read_cannot_go_on() {
        let source = Grudging { bytes: b"0123456789", calls: 0.into() };
        let (mut target, mut tally) = ([0; 6], ReadTally::default());
        let filled = read_until_full(|t, o| source.read(t, o), 8, &mut target, 1, &mut tally);
        assert_eq!(filled.expect("no error"), 2);
        let filled = read_until_full(|t, o| source.read(t, o), 0, &mut target, 4, &mut tally);
        assert_eq!(filled.expect("no error"), 1, "one byte is not a multiple of four");
    }
}
