//! Kernels that process bytes in a single pass, through a map where that is faster.

use std::path::Path;
use std::time::{Duration, Instant};

use swath_os::map::{Map, MapAdvice, Permit};
use swath_os::memory::Pages;
use swath_os::usage;
use swath_plan::contest::{Contender, Contest, HeatCost};
use swath_plan::extent::Extent;
use swath_plan::policy::{Engine, in_order};
use swath_plan::schedule::{Lease, Way};

use crate::engine::fill::Hands;
use crate::engine::{LeaseTrouble, Visit, worker};
use crate::error::{Error, Operation, Result};
use crate::locks::Mutex;
use crate::options::{Advice, ReadOptions};
use crate::planned::{Clock, Mapping, Planned, Shares, decide_to_consume};
use crate::report::Scanned;
use crate::scan::trial::{MapTrial, settle};
use crate::source::Source;
use crate::timeline::Activity;

/// A kernel that processes bytes in a single pass, also from a map.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kernel {
    Sum,
    Count(u8),
}

impl Kernel {
    pub(super) fn of_bytes(self, bytes: &[u8]) -> u64 {
        match self {
            Self::Sum => swath_simd::sum(bytes),
            Self::Count(byte) => swath_simd::count(bytes, byte),
        }
    }

    fn of_map(self, map: &Map<'_>, from: usize, len: usize) -> u64 {
        let cells = map.cells().part(from, len);
        match self {
            Self::Sum => swath_simd::sum_cells(cells),
            Self::Count(byte) => swath_simd::count_cells(cells, byte),
        }
    }
}

impl ReadOptions {
    pub(super) fn map_kernel(
        &self,
        permit: Permit<'_>,
        name: &Path,
        kernel: Kernel,
    ) -> Result<Scanned<u64>> {
        let clock = Clock::start(self);
        let wanted = self.wishes.engine == Engine::Map;
        let file = permit.file().try_clone();
        let file = file.map_err(|error| Error::io(Operation::Open, name, error))?;
        let mut trial = MapTrial::Mapped;
        let mapping = self.map_to_consume(permit, name, |extent, source| {
            trial = MapTrial::of(extent, source);
            trial != MapTrial::Read
        })?;
        let Some(mapping) = mapping else {
            let options = match wanted {
                true => self.clone().with_engine(Engine::Auto),
                false => self.clone(),
            };
            return options.run_kernel(Source::file(file, name), kernel);
        };
        let Mapping { source, facts, map } = mapping;
        let extent = facts.extent;
        let mut decision = in_order(decide_to_consume(&facts, self).0, extent);
        decision.engine = Engine::Map;
        let planned = Planned::decided(&source, facts, self, decision);
        let job = planned.job(self.observer(extent), None)?;
        let slots = planned.decision.workers.len();
        let visit = MapKernel {
            map: &map,
            name,
            extent,
            kernel,
            options: self,
            total: Mutex::new(0),
            shares: Shares::new(&map, slots),
            contest: trial.contest(extent).map(Mutex::new),
        };
        worker::run(&job, &&visit, slots, None);
        let was_alone = job.running.presence.is_alone();
        let mut report = job.finish(planned.report)?;
        if !wanted {
            let contest = visit.contest.as_ref().map(Mutex::lock);
            settle(contest.as_deref(), &source, was_alone, &mut report);
        }
        let value = visit.total.into_inner();
        Ok(Scanned { value, report: clock.stop(report) })
    }
}

/// Runs a kernel over leases of a map.
struct MapKernel<'m> {
    map: &'m Map<'m>,
    name: &'m Path,
    extent: Extent,
    kernel: Kernel,
    options: &'m ReadOptions,
    total: Mutex<u64>,
    shares: Shares<'m>,
    /// Compares the map with reads, if both are tried.
    contest: Option<Mutex<Contest>>,
}

/// The memory of a worker; its drop gives the worker's share of the map back.
struct KernelRoom<'v> {
    visit: &'v MapKernel<'v>,
    /// Memory for bytes that are read, if some may be.
    room: Option<Pages>,
}

impl Drop for KernelRoom<'_> {
    fn drop(&mut self) {
        self.visit.shares.give_back();
        if let Some(room) = self.room.take() {
            self.visit.options.pool.put(room);
        }
    }
}

impl MapKernel<'_> {
    /// Processes the first bytes of `rest`; returns their value and their extent.
    fn first_of(
        &self,
        hands: &mut Hands<'_>,
        room: &mut [u8],
        rest: Extent,
    ) -> std::result::Result<(u64, Extent), LeaseTrouble> {
        let heat = self.contest.as_ref().map(|contest| contest.lock().next(rest));
        let Some((contest, heat)) = self.contest.as_ref().zip(heat) else {
            return Ok((self.of_map(hands, rest), rest));
        };
        let (value, cost) = measured(heat.counts, || match heat.side {
            Contender::Usual => self.of_read(hands, room, heat.extent),
            Contender::Other => Ok(self.of_map(hands, heat.extent)),
        });
        if let (Contender::Other, Some(window)) = (heat.side, heat.over) {
            // Reads leave no pages of the map to give back.
            let from = to_usize(window.offset() - self.extent.offset());
            let len = to_usize(window.len());
            let (_, cost) = measured(true, || self.map.advise(from, len, MapAdvice::DontNeed));
            contest.lock().cleared(&heat, cost);
        }
        if heat.counts {
            contest.lock().took(&heat, cost);
        }
        Ok((value?, heat.extent))
    }

    fn of_map(&self, hands: &mut Hands<'_>, extent: Extent) -> u64 {
        let from = to_usize(extent.offset() - self.extent.offset());
        let len = to_usize(extent.len());
        if self.options.advice == Advice::MapAhead {
            let ahead = from.saturating_add(MAP_AHEAD).min(self.map.len());
            let more = len.min(self.map.len() - ahead);
            // Only advice: without it the pages are read when they are touched.
            let _ = self.map.advise(ahead, more, MapAdvice::WillNeed);
        }
        hands.tally.calls += 1;
        let value = self.kernel.of_map(self.map, from, len);
        hands.recorder.lap_fused(Activity::Compute, extent.offset(), extent.len());
        value
    }

    fn of_read(
        &self,
        hands: &mut Hands<'_>,
        room: &mut [u8],
        extent: Extent,
    ) -> std::result::Result<u64, LeaseTrouble> {
        let (mut value, mut at) = (0, extent.offset());
        while at < extent.end() {
            let len = room.len().min(to_usize(extent.end() - at));
            let part = &mut room[..len];
            hands.fill(Way::Buffered, at, part)?;
            value += self.kernel.of_bytes(part);
            let len = part.len() as u64;
            hands.recorder.lap(Activity::Compute, at, len);
            at += len;
        }
        Ok(value)
    }
}

impl<'v> Visit for &'v MapKernel<'v> {
    type Scratch = KernelRoom<'v>;

    fn scratch(&self) -> Result<KernelRoom<'v>> {
        let room = self.contest.as_ref().map(|_| self.options.pool.take(ROOM));
        let failed = |error| Error::io(Operation::Allocate, self.name, error);
        Ok(KernelRoom { visit: self, room: room.transpose().map_err(failed)? })
    }

    fn visit(
        &self,
        hands: &mut Hands<'_>,
        mine: &mut KernelRoom<'v>,
        lease: &Lease,
    ) -> std::result::Result<(), LeaseTrouble> {
        let (mut value, mut rest) = (0, lease.extent);
        let room = mine.room.as_deref_mut().unwrap_or_default();
        while !rest.is_empty() {
            let (more, done) = self.first_of(hands, room, rest)?;
            value += more;
            rest = Extent::between(done.end(), rest.end());
        }
        *self.total.lock() += value;
        Ok(())
    }
}

/// Returns the result of `work` and, if it `counts`, its cost to this thread.
fn measured<T>(counts: bool, work: impl FnOnce() -> T) -> (T, HeatCost) {
    if !counts {
        return (work(), HeatCost { wall: 0, cpu: 0 });
    }
    let (wall, cpu) = (Instant::now(), usage::thread_time());
    let done = work();
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let cpu = usage::thread_time().saturating_sub(cpu);
    (done, HeatCost { wall: nanos(wall.elapsed()), cpu: nanos(cpu) })
}

fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Bytes that a worker reads at a time: a heat of the contest. Each page more would be a fault in a short read.
const ROOM: usize = 256 << 10;
/// Bytes ahead of a worker for which it gives the advice will-need.
const MAP_AHEAD: usize = 16 << 20;
