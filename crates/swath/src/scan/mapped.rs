//! Kernels that consume bytes in a single pass, through a map where that is faster.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use swath_os::map::{Map, MapAdvice, Permit};
use swath_plan::extent::Extent;
use swath_plan::policy::{Engine, in_order};
use swath_plan::schedule::Lease;

use super::Scanned;
use crate::engine::fill::Hands;
use crate::engine::{Trouble, Visit, worker};
use crate::error::{Error, Operation, Result};
use crate::options::{Advice, ReadOptions};
use crate::planned::{Clock, Planned, WINDOWS, facts};
use crate::profile::Profile;
use crate::source::Source;
use crate::timeline::Activity;

/// A kernel that consumes bytes in a single pass, also from a map.
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
    fn run_unmapped(
        &self,
        permit: &Permit<'_>,
        name: &Path,
        kernel: Kernel,
    ) -> Result<Scanned<u64>> {
        let file = permit.file().try_clone();
        let file = file.map_err(|error| Error::io(Operation::Open, name, error))?;
        let options = match self.wishes.engine {
            Engine::Map => self.clone().with_engine(Engine::Auto),
            _ => self.clone(),
        };
        options.run_kernel(Source::file(file, name), kernel)
    }

    pub(super) fn map_kernel(
        &self,
        permit: Permit<'_>,
        name: &Path,
        kernel: Kernel,
    ) -> Result<Scanned<u64>> {
        let clock = Clock::start(self);
        let wanted = self.wishes.engine == Engine::Map;
        let (source, Some(extent)) = self.open_mapped(&permit, name)? else {
            return self.run_unmapped(&permit, name, kernel);
        };
        let facts = facts(&source, extent, self, WINDOWS);
        let resident = self.wishes.engine == Engine::Auto
            && facts.direct.is_none()
            && self.auto_profile().is_none_or(Profile::maps)
            && facts.is_resident();
        if !(wanted || resident) {
            return self.run_unmapped(&permit, name, kernel);
        }
        let mut decision = in_order(self.scan_decision(&facts).0, extent);
        decision.engine = Engine::Map;
        if resident {
            decision.reason += "; single pass over a file in the page cache: mapped";
        }
        let map = self.map_extent(permit, &source, extent)?;
        let planned = Planned::decided(&source, facts, self, decision);
        let job = planned.job(self.observer(extent), None)?;
        let slots = planned.decision.workers.len();
        let visit = SumMap {
            map: &map,
            extent,
            kernel,
            advice: self.advice,
            total: Mutex::new(0),
            ended: AtomicUsize::new(0),
            workers: slots,
        };
        worker::run(&job, &&visit, slots, None);
        let report = job.finish(planned.report)?;
        let value = visit.total.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Scanned { value, report: clock.stop(report) })
    }
}

/// Runs a kernel over leases of a map.
struct SumMap<'m> {
    map: &'m Map<'m>,
    extent: Extent,
    kernel: Kernel,
    advice: Advice,
    total: Mutex<u64>,
    ended: AtomicUsize,
    workers: usize,
}

/// Gives back a worker's share of the map's pages when the worker ends: beside the others, where
/// the final `munmap` would do it all alone.
struct Leave<'v>(&'v SumMap<'v>);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        // Relaxed: a number for each, nothing else.
        let index = self.0.ended.fetch_add(1, Ordering::Relaxed);
        let share = self.0.map.len().div_ceil(self.0.workers.max(1));
        let from = share.saturating_mul(index).min(self.0.map.len());
        let len = share.min(self.0.map.len() - from);
        if len > 0 && self.0.workers > 1 {
            // A worker that is not done yet finds its pages again in the page cache.
            let _ = self.0.map.advise(from, len, MapAdvice::DontNeed);
        }
    }
}

impl<'v> Visit for &'v SumMap<'v> {
    type Scratch = Leave<'v>;

    fn scratch(&self) -> Result<Leave<'v>> {
        Ok(Leave(self))
    }

    fn visit(
        &self,
        hands: &mut Hands<'_>,
        _: &mut Leave<'v>,
        lease: &Lease,
    ) -> std::result::Result<(), Trouble> {
        let from = usize::try_from(lease.extent.offset() - self.extent.offset());
        let (from, len) = (from.unwrap_or(usize::MAX), usize::try_from(lease.extent.len()));
        let len = len.unwrap_or(usize::MAX);
        if self.advice == Advice::MapAhead {
            let ahead = from.saturating_add(MAP_AHEAD).min(self.map.len());
            let more = len.min(self.map.len() - ahead);
            // Only advice: without it the pages come when they are touched.
            let _ = self.map.advise(ahead, more, MapAdvice::WillNeed);
        }
        hands.tally.calls += 1;
        let value = self.kernel.of_map(self.map, from, len);
        let (offset, len) = (lease.extent.offset(), lease.extent.len());
        hands.recorder.lap_fused(Activity::Compute, offset, len);
        *self.total.lock().unwrap_or_else(PoisonError::into_inner) += value;
        Ok(())
    }
}

/// How far ahead of a worker the rolling will-need goes.
const MAP_AHEAD: usize = 16 << 20;
