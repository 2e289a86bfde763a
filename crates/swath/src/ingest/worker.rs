//! One thread of an ingest: takes files, reads them the cheapest way, puts their bytes in place.
//!
//! ```text
//! in the page cache?  → open, read, look: done
//! not there           → the device: by a ring, or this thread waits and another one is started
//! large, odd, young   → with care: a look before and a look after
//! ```

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Scope;

use rustix::io::Errno;
use swath_plan::files::{Probe, Way};

use super::careful::{Kind, refused};
use super::crew::{Crew, Large, StopOnPanic, Unit};
use super::hands::{Call, Hands, Outcome, Wait};
use super::options::{Failures, Shape};
use super::text;
use crate::error::{Error, Result};
use crate::source::Identity;

/// Where one worker's bytes go.
pub(super) trait Place {
    /// Whether a large file has one place, that several workers fill.
    const SHARED: bool;

    /// Room for at least `want` bytes of file `index`; `None` when it is over.
    ///
    /// # Errors
    ///
    /// If there is no memory.
    fn room(&mut self, index: usize, want: usize, path: &Path) -> Result<Option<&mut [u8]>>;

    /// The first `len` bytes of the room are those of file `index` from `offset` on, the last of
    /// them if `is_last`.
    fn keep(&mut self, index: usize, offset: u64, len: usize, is_last: bool);

    /// File `index` cannot be read.
    fn failed(&mut self, index: usize, error: Error);

    /// A claim is done: what is there may go.
    fn pause(&mut self) {}

    /// Sets memory aside for a file that several workers read.
    ///
    /// # Errors
    ///
    /// If there is none.
    fn set_aside(&mut self, len: u64, path: &Path) -> Result<usize>;

    /// Fills a part of such a file with `fill`.
    ///
    /// # Errors
    ///
    /// What `fill` says.
    fn part(
        &mut self,
        at: usize,
        len: usize,
        path: &Path,
        fill: &mut dyn FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()>;

    /// All parts of such a file are there: its bytes, for a last look.
    fn complete(&mut self, index: usize, base: usize, len: u64) -> Option<&[u8]>;
}

/// How workers are started: those of the beginning, and more of them when files have to be waited
/// for.
pub(super) struct Starter<'s, 'e, P> {
    scope: &'s Scope<'s, 'e>,
    crew: &'e Crew<'e>,
    make: &'e (dyn Fn() -> P + Sync + 'e),
}

impl<P> Clone for Starter<'_, '_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Starter<'_, '_, P> {}

impl<'e, P: Place + 'e> Starter<'_, 'e, P> {
    /// One worker more.
    fn more(self) -> bool {
        let thread = std::thread::Builder::new().name(String::from("swath-ingest"));
        let started = thread.spawn_scoped(self.scope, move || {
            Worker::new(self, (self.make)(), false).run();
        });
        if let Err(error) = &started {
            self.crew.not_started(error);
        }
        started.is_ok()
    }
}

/// Where the thread that called is meanwhile.
pub(super) enum Caller<'w> {
    /// It is one of the workers.
    Works,
    /// It does this.
    Does(&'w mut dyn FnMut()),
}

/// Runs workers until nothing is left.
pub(super) fn run<P: Place>(
    crew: &Crew<'_>,
    make: &(dyn Fn() -> P + Sync),
    caller: Caller<'_>,
) {
    std::thread::scope(|scope| {
        let start = Starter { scope, crew, make };
        let here = usize::from(matches!(caller, Caller::Works));
        for _ in here..crew.threads() {
            if !start.more() {
                break;
            }
        }
        match caller {
            Caller::Works => Worker::new(start, make(), true).run(),
            Caller::Does(work) => {
                let _stop = StopOnPanic(crew);
                work();
            }
        }
    });
}

/// See the [module](self).
struct Worker<'s, 'e, P> {
    crew: &'e Crew<'e>,
    hands: Hands<'e>,
    place: P,
    probe: Probe,
    /// The large file that this worker read last, open.
    large: Option<(usize, OwnedFd)>,
    start: Starter<'s, 'e, P>,
    /// On the thread that called.
    here: bool,
}

/// Files up to this length less one are read without being looked at first.
pub(super) const SMALL: usize = 64 << 10;

impl<'s, 'e, P: Place + 'e> Worker<'s, 'e, P> {
    fn new(start: Starter<'s, 'e, P>, place: P, here: bool) -> Self {
        let crew = start.crew;
        let hands = Hands::new(crew.listing, crew.began, crew.share());
        Self { crew, hands, place, probe: Probe::default(), large: None, start, here }
    }

    /// Works until nothing is left.
    fn run(mut self) {
        let _stop = StopOnPanic(self.crew);
        let mut again = false;
        while let Some(unit) = self.crew.next(again) {
            again = true;
            match unit {
                Unit::Files(first, end) => {
                    self.files(first, end);
                    self.place.pause();
                }
                Unit::Part(large, offset, len) => self.part(&large, offset, len),
            }
            if self.here {
                self.crew.tell();
            }
        }
        if let Some((_, file)) = self.large.take() {
            self.hands.done_with(file);
        }
        self.hands.let_go();
        self.crew.count(self.hands.tally);
    }

    fn files(&mut self, first: usize, end: usize) {
        let before = self.hands.tally.bytes;
        for place in first..end {
            if self.crew.is_stopped() {
                break;
            }
            let index = self.crew.at(place);
            if let Err(error) = self.file(index) {
                self.failed(index, error);
            }
        }
        self.crew.came(self.hands.tally.bytes - before);
    }

    /// Reads one file.
    fn file(&mut self, index: usize) -> Result<()> {
        let path = self.crew.listing.path(index);
        if let Some(error) = self.crew.listing.broken(index) {
            return Err(error.again());
        }
        let wait = match self.probe.way() {
            Way::Cached => Wait::Never,
            Way::Device => Wait::ForDevice,
        };
        let Some(room) = self.place.room(index, SMALL, path)? else { return Ok(()) };
        let hands = &mut self.hands;
        let mut outcome = hands.read_small(index, room, wait);
        let missed = matches!(outcome, Outcome::Miss(_));
        if wait == Wait::Never {
            self.probe.saw(!missed);
        }
        if missed || wait == Wait::ForDevice {
            hands.tally.misses += 1;
            if self.crew.missed() {
                self.start.more();
            }
        }
        if let Outcome::Miss(opened) = outcome {
            outcome = match opened.map_or_else(|| hands.open(index, Wait::ForDevice), Ok) {
                Ok(file) => hands.read_opened(file, room, Wait::ForDevice),
                Err(error) => Outcome::Failed(Call::Open, error),
            };
        }
        match outcome {
            Outcome::Whole(len) => {
                check_text(self.crew.options.shape, path, &room[..len])?;
                self.kept(index, len);
                Ok(())
            }
            Outcome::Careful(file) => self.careful(index, file),
            Outcome::Failed(call, error) => Err(refused(call, error, path)),
            // Waiting for the device ends in one of the others.
            Outcome::Miss(_) => Err(refused(Call::Read, Errno::AGAIN, path)),
        }
    }

    /// A whole file is in the room.
    fn kept(&mut self, index: usize, len: usize) {
        self.place.keep(index, 0, len, true);
        self.hands.tally.files += 1;
        self.hands.tally.bytes += len as u64;
    }

    fn failed(&mut self, index: usize, error: Error) {
        if self.crew.options.failures == Failures::Fail {
            self.crew.fail(index, error);
        } else {
            self.place.failed(index, error);
        }
    }

    /// Reads a file that is large or out of the ordinary.
    fn careful(&mut self, index: usize, file: OwnedFd) -> Result<()> {
        let path = self.crew.listing.path(index);
        let done = match self.hands.inspect(&file, path) {
            Ok(Kind::Made(before)) => self.made(index, &file, &before),
            Ok(Kind::Sized(before)) => {
                let part_len = self.crew.options.part_len();
                if before.len <= part_len as u64 {
                    self.at_once(index, &file, &before)
                } else if P::SHARED {
                    return self.share_out(index, file, before);
                } else {
                    self.in_parts(index, &file, &before, part_len)
                }
            }
            Err(error) => Err(error),
        };
        self.hands.done_with(file);
        done
    }

    /// At most one part: as a small file, and its last look is to be equal to its first.
    fn at_once(&mut self, index: usize, file: &OwnedFd, before: &Identity) -> Result<()> {
        let path = self.crew.listing.path(index);
        let len = usize::try_from(before.len).unwrap_or(usize::MAX);
        let Some(room) = self.place.room(index, len, path)? else { return Ok(()) };
        let room = &mut room[..len];
        self.hands.fill(file, path, 0, room)?;
        self.hands.check(file, path, before)?;
        check_text(self.crew.options.shape, path, room)?;
        self.kept(index, len);
        Ok(())
    }

    /// Part after part, each handed over before the next; of text whole characters.
    fn in_parts(
        &mut self,
        index: usize,
        file: &OwnedFd,
        before: &Identity,
        part_len: usize,
    ) -> Result<()> {
        let path = self.crew.listing.path(index);
        let (mut begun, mut held) = ([0; 4], 0);
        let mut offset = 0;
        while offset < before.len {
            let left = usize::try_from(before.len - offset).unwrap_or(usize::MAX);
            let len = left.min(part_len - held);
            let Some(room) = self.place.room(index, held + len, path)? else { return Ok(()) };
            let part = &mut room[..held + len];
            part[..held].copy_from_slice(&begun[..held]);
            self.hands.fill(file, path, offset, &mut part[held..])?;
            let (start, is_last) = (offset - held as u64, len == left);
            held = match self.crew.options.shape {
                Shape::Bytes => 0,
                Shape::Text => text::check_part(path, start, part, is_last)?,
            };
            let whole = part.len() - held;
            begun[..held].copy_from_slice(&part[whole..]);
            if is_last {
                // Before the last part goes: whoever gets it may rely on the file.
                self.hands.check(file, path, before)?;
            }
            self.place.keep(index, start, whole, is_last);
            self.hands.tally.bytes += len as u64;
            offset += len as u64;
        }
        self.hands.tally.files += 1;
        self.hands.tally.large_files += 1;
        Ok(())
    }

    /// A file without a length.
    fn made(&mut self, index: usize, file: &OwnedFd, before: &Identity) -> Result<()> {
        let path = self.crew.listing.path(index);
        let bytes = self.hands.read_made(file, path, before)?;
        check_text(self.crew.options.shape, path, &bytes)?;
        let part_len = if P::SHARED { bytes.len() } else { self.crew.options.part_len() };
        let mut offset = 0;
        loop {
            let part = &bytes[offset..][..part_len.min(bytes.len() - offset)];
            let Some(room) = self.place.room(index, part.len(), path)? else { return Ok(()) };
            room[..part.len()].copy_from_slice(part);
            let is_last = offset + part.len() == bytes.len();
            self.place.keep(index, offset as u64, part.len(), is_last);
            offset += part.len();
            if is_last {
                break;
            }
        }
        self.hands.tally.files += 1;
        self.hands.tally.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Lets all workers read the parts of a large file.
    fn share_out(&mut self, index: usize, file: OwnedFd, before: Identity) -> Result<()> {
        let path = self.crew.listing.path(index);
        let base = match self.place.set_aside(before.len, path) {
            Ok(base) => base,
            Err(error) => {
                self.hands.done_with(file);
                return Err(error);
            }
        };
        let part_len = self.crew.options.part_len();
        let parts = before.len.div_ceil(part_len as u64);
        let left = AtomicUsize::new(usize::try_from(parts).unwrap_or(usize::MAX));
        let failed = AtomicBool::new(false);
        self.remember(index, file);
        let large = Arc::new(Large { index, before, base, left, failed });
        self.crew.share_out(&large, part_len);
        Ok(())
    }

    fn remember(&mut self, index: usize, file: OwnedFd) {
        if let Some((_, former)) = self.large.replace((index, file)) {
            self.hands.done_with(former);
        }
    }

    /// Reads a part of a large file; whoever reads the last one looks whether it is unchanged.
    fn part(&mut self, large: &Arc<Large>, offset: u64, len: usize) {
        let index = large.index;
        let mut done = Ok(());
        if !large.failed.load(Ordering::Relaxed) && !self.crew.is_stopped() {
            done = self.read_part(large, offset, len);
            self.crew.came(len as u64);
        }
        if let Err(error) = done
            // Relaxed: which of several failures is told does not matter.
            && !large.failed.swap(true, Ordering::Relaxed)
        {
            self.failed(index, error);
        }
        // AcqRel: whoever comes last sees what the others did.
        let is_last = large.left.fetch_sub(1, Ordering::AcqRel) == 1;
        if is_last && !large.failed.load(Ordering::Relaxed) && !self.crew.is_stopped() {
            match self.completed(large) {
                Ok(()) => {
                    self.hands.tally.files += 1;
                    self.hands.tally.large_files += 1;
                    self.hands.tally.bytes += large.before.len;
                }
                Err(error) => self.failed(index, error),
            }
        }
    }

    fn read_part(&mut self, large: &Large, offset: u64, len: usize) -> Result<()> {
        let path = self.crew.listing.path(large.index);
        self.open_large(large, path)?;
        let (hands, Some((_, file))) = (&mut self.hands, &self.large) else { return Ok(()) };
        let at = large.base + usize::try_from(offset).unwrap_or(usize::MAX);
        self.place.part(at, len, path, &mut |target| hands.fill(file, path, offset, target))
    }

    /// Every worker opens a large file for itself, and sees that it is the same.
    fn open_large(&mut self, large: &Large, path: &Path) -> Result<()> {
        if self.large.as_ref().is_some_and(|&(open, _)| open == large.index) {
            return Ok(());
        }
        let file = self.hands.open(large.index, Wait::ForDevice);
        let file = file.map_err(|error| refused(Call::Open, error, path))?;
        let checked = self.hands.check(&file, path, &large.before);
        self.remember(large.index, file);
        checked
    }

    fn completed(&mut self, large: &Large) -> Result<()> {
        let path = self.crew.listing.path(large.index);
        self.open_large(large, path)?;
        if let Some((_, file)) = &self.large {
            self.hands.check(file, path, &large.before)?;
        }
        let bytes = self.place.complete(large.index, large.base, large.before.len);
        if self.crew.options.shape == Shape::Text
            && let Some(bytes) = bytes
        {
            return text::check(path, 0, bytes);
        }
        Ok(())
    }
}

fn check_text(shape: Shape, path: &Path, bytes: &[u8]) -> Result<()> {
    match shape {
        Shape::Bytes => Ok(()),
        Shape::Text => text::check(path, 0, bytes),
    }
}
