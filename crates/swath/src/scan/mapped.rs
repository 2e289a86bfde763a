//! Kernels that process bytes in a single pass, through a map where that is faster.

use std::path::Path;
use std::sync::PoisonError;

use swath_os::map::{Map, MapAdvice, Permit};
use swath_plan::extent::Extent;
use swath_plan::policy::{Engine, in_order};
use swath_plan::schedule::Lease;

use crate::engine::fill::Hands;
use crate::engine::{Trouble, Visit, worker};
use crate::error::{Error, Operation, Result};
use crate::locks::Mutex;
use crate::options::{Advice, ReadOptions};
use crate::planned::{Clock, Mapping, Planned, Shares, decide_to_consume};
use crate::profile::Profile;
use crate::report::Scanned;
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
        let is_welcome = self.auto_profile().is_none_or(Profile::maps);
        let Some(mapping) = self.map_to_consume(permit, name, is_welcome)? else {
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
        if !wanted {
            decision.reason += "; single pass over a file in the page cache: mapped";
        }
        let planned = Planned::decided(&source, facts, self, decision);
        let job = planned.job(self.observer(extent), None)?;
        let slots = planned.decision.workers.len();
        let visit = MapKernel {
            map: &map,
            extent,
            kernel,
            advice: self.advice,
            total: Mutex::new(0),
            shares: Shares::new(&map, slots),
        };
        worker::run(&job, &&visit, slots, None);
        let report = job.finish(planned.report)?;
        let value = visit.total.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Scanned { value, report: clock.stop(report) })
    }
}

/// Runs a kernel over leases of a map.
struct MapKernel<'m> {
    map: &'m Map<'m>,
    extent: Extent,
    kernel: Kernel,
    advice: Advice,
    total: Mutex<u64>,
    shares: Shares<'m>,
}

/// Gives a worker's share of the map back when it ends.
struct Leave<'v>(&'v MapKernel<'v>);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.shares.give_back();
    }
}

impl<'v> Visit for &'v MapKernel<'v> {
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
            // Only advice: without it the pages are read when they are touched.
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
