//! Kernels that consume bytes in a single pass, through a map where that is faster.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use swath_os::map::{Map, MapAdvice, Permit};
use swath_plan::extent::Extent;
use swath_plan::policy::{Engine, in_order};
use swath_plan::schedule::Lease;

use super::Scanned;
use crate::engine::fill::Hands;
use crate::engine::{Job, Trouble, Visit, worker};
use crate::error::{Error, Operation, Result};
use crate::options::{Advice, ReadOptions};
use crate::source::Source;
use crate::survey::{self, Clock, cancelled_before, finish};

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
        let cells = &map.cells()[from..from + len];
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
        let (source, extent) = self.open_mapped(&permit, name)?;
        let mut facts = survey::facts(&source, extent, self);
        facts.map = true;
        let wanted = self.wishes.engine == Engine::Map;
        let resident = self.wishes.engine == Engine::Auto
            && facts.direct.is_none()
            && survey::all_resident(&facts);
        if extent.is_empty() || !(wanted || resident) {
            let options = match wanted {
                true => self.clone().with_engine(Engine::Auto),
                false => self.clone(),
            };
            return options.run_kernel(Source::file(permit_file(&permit, name)?, name), kernel);
        }
        let mut decision = in_order(self.scan_decision(&facts).0, extent);
        decision.engine = Engine::Map;
        if resident {
            decision.reason += "; single pass over a file in the page cache: mapped";
        }
        let source = Arc::new(source);
        let map = self.map_extent(permit, name, extent)?;
        let mut manner = survey::manner(&decision, &facts, self);
        manner.map = Some(&map);
        manner.map_offset = extent.offset();
        let report = survey::report(&decision);
        let scheduler = survey::scheduler(&decision, self, None);
        let observer = self.observer(extent);
        cancelled_before(&observer, &source, extent)?;
        let job = Job::new(Arc::clone(&source), extent, scheduler, manner, observer);
        let visit =
            SumMap { map: &map, extent, kernel, advice: self.advice, total: Mutex::new(0) };
        worker::run(&job, &visit, decision.workers.len(), None);
        let report = finish(&job, &source, extent, self, report)?;
        let value = visit.total.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Scanned { value, report: clock.stop(report) })
    }
}

fn permit_file(permit: &Permit<'_>, name: &Path) -> Result<std::fs::File> {
    permit.file().try_clone().map_err(|error| Error::io(Operation::Open, name, error))
}

/// Runs a kernel over leases of a map.
struct SumMap<'m> {
    map: &'m Map<'m>,
    extent: Extent,
    kernel: Kernel,
    advice: Advice,
    total: Mutex<u64>,
}

impl Visit for SumMap<'_> {
    type Scratch = ();

    fn scratch(&self) -> Result<()> {
        Ok(())
    }

    fn visit(
        &self,
        hands: &mut Hands<'_>,
        (): &mut (),
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
        *self.total.lock().unwrap_or_else(PoisonError::into_inner) += value;
        Ok(())
    }
}

/// How far ahead of a worker the rolling will-need goes.
const MAP_AHEAD: usize = 16 << 20;
