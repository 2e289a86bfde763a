//! One thread of an ingest: takes files, reads them the cheapest way, puts their bytes in place.
//!
//! ```text
//! in the page cache?  → open, read, look: done
//! not there           → the device: by a ring, or this thread waits and another one is started;
//!                       who opens it is measured
//! large, odd, young   → with care: a look before and a look after
//! ```

mod large;

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Scope;
use std::time::Instant;

use rustix::io::Errno;
use swath_plan::files::{By, Opener, Probe, Way};

use super::careful::refused;
use super::crew::{Crew, StopOnPanic, Unit};
use super::destination::Destination;
use super::hands::{Call, Hands, Outcome, SMALL, Wait};
use super::options::{Content, Failures, OpenedBy};
use super::ring::{Came, Landed, Reaper};
use super::text;
use crate::error::{Error, Result};
use crate::threads::{self, Separate};
use crate::timeline::{Activity, Flights};

/// What the workers of one ingest are made from.
struct Team<'e, P> {
    crew: &'e Crew<'e>,
    make: &'e (dyn Fn() -> P + Sync + 'e),
    /// The number of the thread that is started next.
    next: AtomicUsize,
}

impl<'e, P: Destination + 'e> Team<'e, P> {
    fn new(crew: &'e Crew<'e>, make: &'e (dyn Fn() -> P + Sync + 'e)) -> Self {
        Self { crew, make, next: AtomicUsize::new(1) }
    }
}

impl<P: Destination> Separate for Team<'_, P> {
    fn run<'scope, 'env>(&'env self, scope: &'scope Scope<'scope, 'env>, _slot: usize) {
        Worker::new(Starter { scope, team: self }, (self.make)(), false).run();
    }
}

/// How workers are started: those of the beginning, and more of them when files have to be waited
/// for.
struct Starter<'s, 'e, P> {
    scope: &'s Scope<'s, 'e>,
    team: &'e Team<'e, P>,
}

impl<P> Clone for Starter<'_, '_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Starter<'_, '_, P> {}

impl<'e, P: Destination + 'e> Starter<'_, 'e, P> {
    /// Those of the beginning, where `here` many are there without being started; returns how many
    /// there are then.
    fn first(self, here: usize) -> usize {
        let (mut running, wanted) = (here, self.team.crew.threads());
        while running < wanted && self.more() {
            running += 1;
        }
        if running < wanted {
            self.team.crew.only(running);
        }
        running
    }

    /// One worker more.
    fn more(self) -> bool {
        // Relaxed: it numbers them, and publishes nothing else.
        let slot = self.team.next.fetch_add(1, Ordering::Relaxed);
        let started = threads::start_separate(self.scope, slot, self.team);
        if let Err(error) = &started {
            self.team.crew.not_started(error);
        }
        started.is_ok()
    }
}

/// Runs workers until nothing is left. This thread is one of them, and fills `to`.
pub(super) fn run<P: Destination>(crew: &Crew<'_>, make: &(dyn Fn() -> P + Sync), to: P) {
    let team = Team::new(crew, make);
    std::thread::scope(|scope| {
        let start = Starter { scope, team: &team };
        start.first(1);
        Worker::new(start, to, true).run();
    });
}

/// Runs workers until nothing is left, while this thread does `work`. Returns `false`, and has not
/// begun it, where not one worker can be started: `work` would wait for what nobody reads.
pub(super) fn run_beside<P: Destination>(
    crew: &Crew<'_>,
    make: &(dyn Fn() -> P + Sync),
    work: &mut dyn FnMut(),
) -> bool {
    let team = Team::new(crew, make);
    std::thread::scope(|scope| {
        let there = Starter { scope, team: &team }.first(0) > 0;
        if there {
            let _stop = StopOnPanic(crew);
            work();
        }
        there
    })
}

/// See the [module](self).
struct Worker<'s, 'e, P> {
    crew: &'e Crew<'e>,
    hands: Hands<'e>,
    to: P,
    probe: Probe,
    opener: Opener,
    ring: Reaper,
    /// What is on its way, for a timeline.
    flights: Flights,
    /// Files that the ring could not prove whole.
    later: Vec<usize>,
    /// The large file that this worker read last, open.
    large: Option<(usize, OwnedFd)>,
    start: Starter<'s, 'e, P>,
    /// On the thread that called.
    here: bool,
}

impl<'s, 'e, P: Destination + 'e> Worker<'s, 'e, P> {
    fn new(start: Starter<'s, 'e, P>, to: P, here: bool) -> Self {
        let crew = start.team.crew;
        let hands = Hands::new(crew.listing, crew.began, crew.share(), crew.recorder());
        let ring = Reaper::new(crew.ring_depth());
        let opener = match crew.options.opened_by {
            OpenedBy::Auto => Opener::default(),
            OpenedBy::Worker => Opener::only(By::Worker),
            OpenedBy::Ring => Opener::only(By::Ring),
        };
        let (probe, later, flights) = (Probe::default(), Vec::new(), crew.flights());
        let large = None;
        Self { crew, hands, to, probe, opener, ring, flights, later, large, start, here }
    }

    /// Works until nothing is left.
    fn run(mut self) {
        let _stop = StopOnPanic(self.crew);
        let mut again = false;
        loop {
            if self.crew.is_drained() {
                // What comes by the ring may be a large file, that others could help with.
                self.drain();
            }
            let Some(unit) = self.crew.next(again) else {
                if self.ring.in_flight() == 0 && self.later.is_empty() {
                    break;
                }
                self.drain();
                again = false;
                continue;
            };
            again = true;
            self.hands.recorder.waited();
            match unit {
                Unit::Files(first, end) => {
                    self.files(first, end);
                    self.to.pause();
                    self.hands.recorder.waited();
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
        self.hands.tally.calls.ring += self.ring.calls();
        if let Some(refused) = self.ring.refused() {
            self.crew.fell_back(refused);
        }
        self.crew.count(self.hands.tally);
    }

    fn files(&mut self, first: usize, end: usize) {
        let before = self.hands.tally.bytes;
        for place in first..end {
            if self.crew.is_stopped() {
                break;
            }
            let index = self.crew.at(place);
            if self.crew.is_beyond(index) {
                continue;
            }
            if let Err(error) = self.sparing(|own| own.file(index)) {
                self.failed(index, error);
            }
        }
        self.crew.came(self.hands.tally.bytes - before);
    }

    /// Does `work` again, as long as it fails for want of descriptors and there is one to give up.
    fn sparing(&mut self, mut work: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        loop {
            match work(self) {
                Err(error) if is_out_of_descriptors(&error) && self.give_up() => {}
                other => return other,
            }
        }
    }

    /// Closes what this worker keeps open only to be faster; `false` if there is nothing left.
    fn give_up(&mut self) -> bool {
        while self.ring.in_flight() > 0 {
            self.reap(self.ring.in_flight());
        }
        let large = self.large.take();
        let had_large = large.is_some();
        if let Some((_, file)) = large {
            self.hands.done_with(file);
        }
        self.hands.let_go();
        had_large || self.ring.give_up()
    }

    /// Reads one file.
    fn file(&mut self, index: usize) -> Result<()> {
        let path = self.crew.listing.path(index);
        self.hands.recorder.turn_to(self.crew.source(index));
        if let Some(error) = self.crew.listing.broken(index) {
            return Err(error.again());
        }
        let wait = match self.probe.way() {
            Way::Cached => Wait::Never,
            Way::Device => Wait::ForDevice,
        };
        let waits = self.ring.in_flight() > 0 || !self.later.is_empty();
        if waits && !self.to.is_ready(index) {
            // The file that everybody waits for may be on its way here.
            self.drain();
        }
        if wait == Wait::ForDevice && self.begin(index)? {
            return Ok(());
        }
        let Some(room) = self.to.room(index, SMALL, path)? else { return Ok(()) };
        let hands = &mut self.hands;
        if !P::SHARED {
            // For room, in a stream.
            hands.recorder.waited();
        }
        let mut outcome = hands.read_small(index, room, wait);
        let missed = matches!(outcome, Outcome::Miss(_));
        if wait == Wait::Never {
            self.probe.saw(!missed);
        }
        if let Outcome::Miss(opened) = outcome {
            // It goes back to the ring from its beginning, where there is one.
            if let Some(file) = opened {
                self.hands.done_with(file);
            }
            if self.begin(index)? {
                return Ok(());
            }
            outcome = Outcome::Miss(None);
        }
        let Some(room) = self.to.room(index, SMALL, path)? else { return Ok(()) };
        let hands = &mut self.hands;
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
                // The end of one file is the beginning of the next.
                hands.recorder.lap(Activity::Read, 0, len as u64);
                check_text(self.crew.options.shape, path, &room[..len])?;
                self.kept(index, len);
                Ok(())
            }
            Outcome::Careful(file) => self.careful(index, file),
            Outcome::Failed(call, error) => {
                hands.recorder.lap(Activity::Read, 0, 0);
                Err(refused(call, error, path))
            }
            // Waiting for the device ends in one of the others.
            Outcome::Miss(_) => Err(refused(Call::Read, Errno::AGAIN, path)),
        }
    }

    /// Begins to read a file by the ring; `false` where that cannot be.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    fn begin(&mut self, index: usize) -> Result<bool> {
        if !self.ring.is_allowed() {
            return Ok(false);
        }
        let Some((folder, device)) = self.hands.ring_folder(index) else { return Ok(false) };
        let has_room = self.hands.has_room_for(self.ring.depth());
        let by = if has_room { self.opener.by() } else { By::Ring };
        if self.ring.is_full() {
            self.reap(self.ring.batch(by));
        }
        let opened = if by == By::Worker { self.open_for_ring(index)? } else { None };
        let begun = match opened {
            Some(file) => match self.ring.begin_open(file, device, index) {
                Ok(()) => true,
                Err(file) => {
                    self.hands.done_with(file);
                    false
                }
            },
            None => self.ring.begin(&folder, device, self.crew.listing.c_name(index), index),
        };
        if begun {
            self.hands.tally.misses += 1;
            self.hands.recorder.lap(Activity::Open, 0, 0);
            self.ring.recorded(self.hands.recorder.leave(&mut self.flights));
        }
        Ok(begun)
    }

    /// Opens a file that the ring is to read; `None` if there are no descriptors left.
    fn open_for_ring(&mut self, index: usize) -> Result<Option<OwnedFd>> {
        let began = Instant::now();
        let opened = self.hands.open(index, Wait::ForDevice);
        self.opener.took(began.elapsed());
        match opened {
            Ok(file) => Ok(Some(file)),
            // Others have taken the descriptors: the ring needs none.
            Err(Errno::MFILE | Errno::NFILE) => Ok(None),
            Err(error) => Err(refused(Call::Open, error, self.crew.listing.path(index))),
        }
    }

    /// Waits for all files that are on their way, then reads those that did not come whole: the
    /// first ones first, for that is what a stream waits for.
    fn drain(&mut self) {
        while self.ring.in_flight() > 0 {
            self.reap(self.ring.in_flight());
        }
        let mut later = std::mem::take(&mut self.later);
        later.sort_unstable();
        for index in later {
            if self.crew.is_stopped() || self.crew.is_beyond(index) {
                break;
            }
            if let Err(error) = self.sparing(|own| own.file_carefully(index)) {
                self.failed(index, error);
            }
        }
    }

    /// Waits for `want` files and puts what came in place.
    fn reap(&mut self, want: usize) {
        self.ring.wait(want);
        self.hands.recorder.waited();
        loop {
            let (hands, to, crew) = (&mut self.hands, &mut self.to, self.crew);
            let taken = self.ring.take(hands.old(), |index, bytes| {
                let path = crew.listing.path(index);
                check_text(crew.options.shape, path, bytes)?;
                to.put(index, bytes, path)?;
                hands.tally.files += 1;
                hands.tally.ring_files += 1;
                hands.tally.bytes += bytes.len() as u64;
                crew.came(bytes.len() as u64);
                Ok(())
            });
            let Some(Landed { index, came, bytes, file, flight }) = taken else { break };
            if let Some(file) = file {
                self.hands.done_with(file);
            }
            let recorder = &mut self.hands.recorder;
            recorder.turn_to(crew.source(index));
            recorder.land(&mut self.flights, flight, 0, bytes);
            match came {
                Came::Done => {}
                Came::Failed(error) => self.failed(index, error),
                // Large, odd, young, or refused: whoever is careful finds out.
                Came::Unproven => self.later.push(index),
            }
        }
        self.hands.recorder.mark();
    }

    /// Reads a file that the ring could not prove whole.
    fn file_carefully(&mut self, index: usize) -> Result<()> {
        let path = self.crew.listing.path(index);
        self.hands.recorder.turn_to(self.crew.source(index));
        let file = self.hands.open(index, Wait::ForDevice);
        let file = file.map_err(|error| refused(Call::Open, error, path))?;
        self.careful(index, file)
    }

    /// A whole file is in the room.
    fn kept(&mut self, index: usize, len: usize) {
        self.to.keep(index, 0, len, true);
        self.hands.tally.files += 1;
        self.hands.tally.bytes += len as u64;
    }

    fn failed(&mut self, index: usize, error: Error) {
        // A stream fails when it comes to that file.
        if P::SHARED && self.crew.options.failures == Failures::Fail {
            self.crew.fail(index, error);
        } else {
            self.to.failed(index, error);
        }
    }
}

/// The process's table is full, or the system's.
fn is_out_of_descriptors(error: &Error) -> bool {
    let full = [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|number| full.contains(&number))
}

fn check_text(shape: Content, path: &Path, bytes: &[u8]) -> Result<()> {
    match shape {
        Content::Bytes => Ok(()),
        Content::Text => text::check(path, 0, bytes),
    }
}
