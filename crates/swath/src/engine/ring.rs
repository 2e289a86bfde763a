//! Many direct reads in flight from one thread.

use std::fs::File;
use std::io;
use std::time::Duration;

use swath_os::memory::WriteLease;
use swath_os::ring::{Completion, Ring, with_ring};
use swath_plan::schedule::{Lease, Way};

use super::fill::{Failure, Hands, read_buffered};
use super::running::Turn;
use super::{LeaseTrouble, ReadJob};
use crate::timeline::{Flight as Recorded, Flights};

/// Provides the memory of a lease, which the kernel may write to until the read ends.
pub(crate) trait LeasePlace<'p> {
    /// # Errors
    ///
    /// If there is not enough memory.
    fn place(&self, lease: &Lease) -> Result<WriteLease<'p>, LeaseTrouble>;
}

/// A lease in flight, and the bytes of it that have been read.
struct RingFlight {
    lease: Lease,
    filled: usize,
    recorded: Recorded,
}

struct Reaper<'j, 'p> {
    job: &'j ReadJob<'j>,
    files: RingFiles<'p>,
    flights: Vec<Option<RingFlight>>,
    hands: Hands<'j>,
    recorded: Flights,
}

/// The descriptors of the source, for direct and for buffered reads.
#[derive(Clone, Copy)]
struct RingFiles<'p> {
    buffered: &'p File,
    direct: Option<&'p File>,
    unit: usize,
}

impl<'p> RingFiles<'p> {
    fn of(&self, way: Way) -> &'p File {
        match (way, self.direct) {
            (Way::Direct, Some(direct)) => direct,
            _ => self.buffered,
        }
    }
}

/// Runs ring slot `slot` of `job` with up to `depth` reads in flight.
///
/// # Errors
///
/// If no ring can be created; then nothing has been read.
pub(crate) fn run<'p>(
    job: &'p ReadJob<'p>,
    place: &impl LeasePlace<'p>,
    slot: usize,
    depth: u32,
) -> io::Result<()> {
    let Some(buffered) = job.source.file() else {
        return Err(io::ErrorKind::Unsupported.into());
    };
    let direct = job.source.direct();
    let unit = direct.map_or(1, |direct| usize::try_from(direct.unit.get()).unwrap_or(1));
    let _priority = job.running.set_io_priority(true);
    let files = RingFiles { buffered, direct: direct.map(|direct| &direct.file), unit };
    with_ring(depth, |ring| {
        let flights = (0..ring.room()).map(|_| None).collect();
        let (hands, recorded) = (Hands::new(job), job.running.observer.flights());
        let mut reaper = Reaper { job, files, flights, hands, recorded };
        reaper.fly(ring, place, slot);
        job.running.count(reaper.hands.tally);
    })
}

impl<'p> Reaper<'_, 'p> {
    fn fly(&mut self, ring: &mut Ring<'p>, place: &impl LeasePlace<'p>, slot: usize) {
        loop {
            let mut wait = None;
            while ring.room() > 0 {
                match self.job.running.turn(slot) {
                    Turn::Work(lease) => match place.place(&lease) {
                        Ok(memory) => self.take_off(ring, lease, memory),
                        Err(trouble) => self.job.completed(lease, Err(trouble)),
                    },
                    Turn::Later(nap) => {
                        wait = Some(nap);
                        break;
                    }
                    Turn::Over => break,
                }
            }
            let done = ring.complete();
            self.hands.recorder.waited();
            match (done, wait) {
                (Some(done), _) => self.land(ring, done),
                (None, Some(nap)) => std::thread::sleep(nap.min(Duration::from_millis(50))),
                (None, None) => return,
            }
        }
    }

    fn take_off(&mut self, ring: &mut Ring<'p>, lease: Lease, memory: WriteLease<'p>) {
        // Before its own read, while others are in flight.
        if let Err(trouble) = self.hands.prepare(&memory, lease.extent.offset()) {
            return self.job.completed(lease, Err(trouble));
        }
        let free = self.flights.iter().position(Option::is_none);
        let index = free.unwrap_or_default();
        let recorded = self.hands.recorder.leave(&mut self.recorded);
        let flight = RingFlight { lease, filled: 0, recorded };
        if free.is_none() {
            // Cannot happen: each entry of the ring has a slot. Read on this thread anyway.
            return self.finish(flight, memory);
        }
        self.flights[index] = Some(flight);
        self.submit(ring, index, memory);
    }

    fn submit(&mut self, ring: &mut Ring<'p>, index: usize, memory: WriteLease<'p>) {
        let Some(flight) = &self.flights[index] else { return };
        self.hands.tally.calls += 1;
        let offset = flight.lease.extent.offset() + flight.filled as u64;
        let file = self.files.of(flight.lease.way);
        ring.submit(file, offset, flight.filled, memory, index as u64);
    }

    fn land(&mut self, ring: &mut Ring<'p>, done: Completion<'p>) {
        let index = usize::try_from(done.token).unwrap_or(usize::MAX);
        let Some(mut flight) = self.flights.get_mut(index).and_then(Option::take) else {
            return;
        };
        let memory = done.lease;
        let source = &self.job.source;
        let offset = flight.lease.extent.offset();
        match done.result {
            Ok(0) => {
                let end = Failure::End(offset + flight.filled as u64);
                let trouble = end.into_trouble(source, offset, memory.len());
                self.ended(flight, Err(trouble));
            }
            Ok(more) => {
                flight.filled = (flight.filled + more).min(memory.len());
                if flight.lease.way == Way::Direct {
                    self.hands.tally.direct_bytes += more as u64;
                }
                if flight.filled == memory.len() {
                    memory.freeze();
                    self.ended(flight, Ok(()));
                } else if flight.filled.is_multiple_of(self.files.unit) {
                    self.again(ring, index, flight, memory);
                } else {
                    // The file ends inside a unit: the rest cannot be read directly.
                    self.finish(flight, memory);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                self.again(ring, index, flight, memory);
            }
            Err(error) => {
                let mut failure = Failure::of(error);
                if flight.lease.way == Way::Direct {
                    failure = failure.refusable();
                }
                let trouble = failure.into_trouble(source, offset, memory.len());
                // Returned before the scheduler may hand the bytes out again.
                drop(memory);
                self.ended(flight, Err(trouble));
            }
        }
    }

    fn ended(&mut self, flight: RingFlight, ended: Result<(), LeaseTrouble>) {
        let RingFlight { lease, recorded, .. } = flight;
        let bytes = if ended.is_ok() { lease.extent.len() } else { 0 };
        self.hands.recorder.land(&mut self.recorded, recorded, lease.extent.offset(), bytes);
        self.job.completed(lease, ended);
    }

    fn again(
        &mut self,
        ring: &mut Ring<'p>,
        index: usize,
        flight: RingFlight,
        memory: WriteLease<'p>,
    ) {
        self.hands.tally.retries += 1;
        self.flights[index] = Some(flight);
        self.submit(ring, index, memory);
    }

    /// Reads the rest of a flight on this thread, through the page cache.
    fn finish(&mut self, flight: RingFlight, mut memory: WriteLease<'_>) {
        let offset = flight.lease.extent.offset();
        let source = &self.job.source;
        let len = memory.len();
        let rest = &mut memory[flight.filled..];
        let ended =
            read_buffered(source, offset + flight.filled as u64, rest, &mut self.hands.tally)
                .map_err(|failure| failure.into_trouble(source, offset, len));
        // Returned before the scheduler may hand the bytes out again.
        match &ended {
            Ok(()) => memory.freeze(),
            Err(_) => drop(memory),
        }
        self.hands.recorder.mark();
        self.ended(flight, ended);
    }
}
