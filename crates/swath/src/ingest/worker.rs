//! One thread of an ingest: takes files, reads them in the cheapest way, puts their bytes in place.
//!
//! ```text
//! in the page cache?  → open, read, inspect: done
//! not there           → the device: by a ring, or this thread waits and another one is started;
//!                       measurements decide which of them opens the file
//! large, odd, young   → with care: inspected before and after
//! ```

mod large;

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Instant;

use rustix::io::Errno;
use swath_plan::files::{By, Opener, Probe, ProbeWay};

use super::Starter;
use super::claims::{Claims, WorkerClaim};
use super::destination::Destination;
use super::file_reader::{Call, FileReader, Outcome, SMALL, Wait, is_out_of_descriptors};
use super::in_flight::{FileOutcome, InFlight, Landed};
use super::options::{Content, Failures, OpenedBy};
use super::second_look::refused;
use super::utf8;
use crate::error::{Error, Result};
use crate::timeline::{Activity, Flights};

/// See the [module](self).
pub(super) struct Worker<'s, 'e, P> {
    claims: &'e Claims<'e>,
    reader: FileReader<'e>,
    to: P,
    probe: Probe,
    opener: Opener,
    in_flight: InFlight,
    /// The reads in flight, for a timeline.
    flights: Flights,
    /// Files that the ring could not prove whole.
    later: Vec<usize>,
    /// The large file that this worker read last, open.
    large: Option<(usize, OwnedFd)>,
    start: Starter<'s, 'e, P>,
    /// Whether it runs on the calling thread.
    here: bool,
    /// Bytes that have been reported to the claims.
    counted: u64,
}

/// Whether the ring reads a file; if not, the file is returned, unless it had to be closed.
enum Offer {
    Taken,
    Declined(Option<OwnedFd>),
}

impl<'s, 'e, P: Destination + 'e> Worker<'s, 'e, P> {
    pub(super) fn new(start: Starter<'s, 'e, P>, to: P, here: bool) -> Self {
        let claims = start.team.claims;
        let reader =
            FileReader::new(claims.listing, claims.began, claims.share(), claims.recorder());
        let in_flight = InFlight::new(claims.ring_depth());
        let opener = match claims.options.opened_by {
            OpenedBy::Auto => Opener::default(),
            OpenedBy::Worker => Opener::only(By::Worker),
            OpenedBy::Ring => Opener::only(By::Ring),
        };
        let (probe, later, flights) = (Probe::default(), Vec::new(), claims.flights());
        let large = None;
        Self {
            claims,
            reader,
            to,
            probe,
            opener,
            in_flight,
            flights,
            later,
            large,
            start,
            here,
            counted: 0,
        }
    }

    /// Carries out one claim.
    pub(super) fn claimed(&mut self, claim: WorkerClaim) {
        self.reader.recorder.waited();
        match claim {
            WorkerClaim::Files(first, end) => {
                self.files(first, end);
                self.to.pause();
                self.reader.recorder.waited();
            }
            WorkerClaim::Part(large, offset, len) => self.part(&large, offset, len),
        }
        if self.here {
            self.claims.tell();
        }
    }

    /// Whether files are in flight, or wait to be read again.
    pub(super) fn has_files_left(&self) -> bool {
        self.in_flight.count() > 0 || !self.later.is_empty()
    }

    /// Closes open files, and adds the worker's counts.
    pub(super) fn end(mut self) {
        if let Some((_, file)) = self.large.take() {
            self.reader.done_with(file);
        }
        self.reader.let_go();
        self.reader.tally.calls.ring += self.in_flight.calls();
        if let Some(refused) = self.in_flight.refused() {
            self.claims.fell_back(refused);
        }
        self.claims.count(self.reader.tally);
    }

    /// Reads the files at places `first .. end` of the order.
    fn files(&mut self, first: usize, end: usize) {
        for place in first..end {
            if self.claims.is_stopped() {
                break;
            }
            let index = self.claims.at(place);
            if self.claims.is_beyond(index) {
                continue;
            }
            if let Err(error) = self.sparing(|own| own.file(index)) {
                self.failed(index, error);
            }
        }
        self.count_came();
    }

    /// Reports the bytes read since the last call to the claims.
    fn count_came(&mut self) {
        let came = self.reader.tally.bytes;
        self.claims.came(came - self.counted);
        self.counted = came;
    }

    /// Repeats `work` as long as it fails for lack of descriptors and one can be freed.
    fn sparing(&mut self, mut work: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        loop {
            match work(self) {
                Err(error) if is_out_of_descriptors(error.raw_os_error()) && self.give_up() => {
                }
                other => return other,
            }
        }
    }

    /// Closes a descriptor that is only kept for speed; returns `false` if there is none.
    fn give_up(&mut self) -> bool {
        while self.in_flight.count() > 0 {
            self.reap(self.in_flight.count());
        }
        let large = self.large.take();
        let had_large = large.is_some();
        if let Some((_, file)) = large {
            self.reader.done_with(file);
        }
        self.reader.let_go();
        had_large || self.in_flight.give_up()
    }

    /// Reads one file.
    fn file(&mut self, index: usize) -> Result<()> {
        let path = self.claims.listing.path(index);
        self.reader.recorder.turn_to(self.claims.source(index));
        if let Some(error) = self.claims.listing.broken(index) {
            return Err(error.again());
        }
        if self.has_files_left() && !self.to.is_ready(index) {
            // The file that other workers wait for may be in flight on this one.
            self.drain();
        }
        let (mut opened, mut cached) = (None, None);
        let is_tried = self.probe.way() == ProbeWay::Cached;
        if is_tried {
            let Some(room) = self.to.room(index, SMALL, path)? else { return Ok(()) };
            if !P::SHARED {
                // In a stream: waited for room.
                self.reader.recorder.waited();
            }
            match self.reader.read_small(index, room, Wait::Never) {
                Outcome::Miss(file) => opened = file,
                outcome => cached = Some(outcome),
            }
            self.probe.saw(cached.is_some());
        }
        if cached.is_none() {
            // With a ring, from the beginning of the file.
            match self.begin(index, opened)? {
                Offer::Taken => return Ok(()),
                Offer::Declined(file) => opened = file,
            }
            self.reader.tally.misses += 1;
            if self.claims.missed() {
                self.start.more();
            }
        }
        let Some(room) = self.to.room(index, SMALL, path)? else { return Ok(()) };
        let reader = &mut self.reader;
        if !P::SHARED && !is_tried {
            reader.recorder.waited();
        }
        let outcome = match (cached, opened) {
            (Some(outcome), _) => outcome,
            (None, Some(file)) => reader.read_opened(file, room, Wait::ForDevice),
            (None, None) => reader.read_small(index, room, Wait::ForDevice),
        };
        match outcome {
            Outcome::Whole(len) => {
                // The lap starts at the end of the previous file.
                reader.recorder.lap(Activity::Read, 0, len as u64);
                check_text(self.claims.options.shape, path, &room[..len])?;
                self.kept(index, len);
                Ok(())
            }
            Outcome::Careful(file) => self.careful(index, file),
            Outcome::Failed(call, error) => {
                reader.recorder.lap(Activity::Read, 0, 0);
                Err(refused(call, error, path))
            }
            // Cannot happen: waiting for the device has another outcome.
            Outcome::Miss(_) => Err(refused(Call::Read, Errno::AGAIN, path)),
        }
    }

    /// Begins to read a file by the ring, if possible; the file may be open already.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened.
    fn begin(&mut self, index: usize, opened: Option<OwnedFd>) -> Result<Offer> {
        if !self.in_flight.is_allowed() {
            return Ok(Offer::Declined(opened));
        }
        let Some((folder, device)) = self.reader.ring_folder(index) else {
            return Ok(Offer::Declined(opened));
        };
        let has_room = self.reader.has_room_for(self.in_flight.depth());
        let by = if has_room { self.opener.by() } else { By::Ring };
        if self.in_flight.is_full() {
            self.reap(self.in_flight.batch(by));
        }
        let file = match opened {
            Some(file) if has_room => Some(file),
            Some(file) => {
                self.reader.done_with(file);
                None
            }
            None if by == By::Worker => self.open_for_ring(index)?,
            None => None,
        };
        let name = self.claims.listing.c_name(index);
        let declined = match file {
            Some(file) => self.in_flight.begin_open(file, device, index).err().map(Some),
            None => (!self.in_flight.begin(&folder, device, name, index)).then_some(None),
        };
        if let Some(file) = declined {
            return Ok(Offer::Declined(file));
        }
        self.reader.tally.misses += 1;
        self.reader.recorder.lap(Activity::Open, 0, 0);
        self.in_flight.recorded(self.reader.recorder.leave(&mut self.flights));
        Ok(Offer::Taken)
    }

    /// Opens a file for the ring to read; `None` if there are no descriptors left.
    fn open_for_ring(&mut self, index: usize) -> Result<Option<OwnedFd>> {
        let began = Instant::now();
        let opened = self.reader.open(index, Wait::ForDevice);
        self.opener.took(began.elapsed());
        match opened {
            Ok(file) => Ok(Some(file)),
            // No descriptors are left; the ring needs none.
            Err(Errno::MFILE | Errno::NFILE) => Ok(None),
            Err(error) => Err(refused(Call::Open, error, self.claims.listing.path(index))),
        }
    }

    /// Waits for all files in flight, then reads those that were not read completely, in order,
    /// because a stream waits for the first ones.
    pub(super) fn drain(&mut self) {
        while self.in_flight.count() > 0 {
            self.reap(self.in_flight.count());
        }
        let mut later = std::mem::take(&mut self.later);
        later.sort_unstable();
        for index in later {
            if self.claims.is_stopped() || self.claims.is_beyond(index) {
                break;
            }
            if let Err(error) = self.sparing(|own| own.file_carefully(index)) {
                self.failed(index, error);
            }
        }
        self.count_came();
    }

    /// Waits for `want` files and puts their bytes in place.
    fn reap(&mut self, want: usize) {
        self.in_flight.wait(want);
        self.reader.recorder.waited();
        loop {
            let (reader, to, claims) = (&mut self.reader, &mut self.to, self.claims);
            let taken = self.in_flight.take(reader.old(), |index, bytes| {
                let path = claims.listing.path(index);
                check_text(claims.options.shape, path, bytes)?;
                to.put(index, bytes, path)?;
                reader.tally.files += 1;
                reader.tally.ring_files += 1;
                reader.tally.bytes += bytes.len() as u64;
                Ok(())
            });
            let Some(Landed { index, came, bytes, file, flight }) = taken else { break };
            if let Some(file) = file {
                self.reader.done_with(file);
            }
            let recorder = &mut self.reader.recorder;
            recorder.turn_to(claims.source(index));
            recorder.land(&mut self.flights, flight, 0, bytes);
            match came {
                FileOutcome::Done => {}
                FileOutcome::Failed(error) => self.failed(index, error),
                // Large, odd, young, or refused: the careful path finds out.
                FileOutcome::Unproven => self.later.push(index),
            }
        }
        self.reader.recorder.mark();
    }

    /// Reads a file that the ring could not prove whole.
    fn file_carefully(&mut self, index: usize) -> Result<()> {
        let path = self.claims.listing.path(index);
        self.reader.recorder.turn_to(self.claims.source(index));
        let file = self.reader.open(index, Wait::ForDevice);
        let file = file.map_err(|error| refused(Call::Open, error, path))?;
        self.careful(index, file)
    }

    /// Keeps a whole file that is in the room.
    fn kept(&mut self, index: usize, len: usize) {
        self.to.keep(index, 0, len, true);
        self.reader.tally.files += 1;
        self.reader.tally.bytes += len as u64;
    }

    fn failed(&mut self, index: usize, error: Error) {
        // A stream fails when it reaches that file.
        if P::SHARED && self.claims.options.failures == Failures::Fail {
            self.claims.fail(index, error);
        } else {
            self.to.failed(index, error);
        }
    }
}

fn check_text(shape: Content, path: &Path, bytes: &[u8]) -> Result<()> {
    match shape {
        Content::Bytes => Ok(()),
        Content::Text => utf8::check(path, 0, bytes),
    }
}
