//! Reads bytes of known length into memory: makes, runs and checks the plan.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use swath_os::map::Map;
use swath_os::memory::{Leases, WriteLease};
use swath_plan::extent::Extent;
use swath_plan::fallback::Fallback;
use swath_plan::policy::{Decision, Engine, Facts, PageCache, decide};
use swath_plan::schedule::Lease;

use crate::engine::fill::Hands;
use crate::engine::{LeaseTrouble, ReadJob, Visit, ring, worker};
use crate::error::{Error, Operation, Reason, Result};
use crate::options::{Advice, ReadOptions};
use crate::planned::{self, Planned};
use crate::report::Report;
use crate::source::OpenSource;

/// Fills leases with `extent`, from `map` if there is one.
pub(super) fn fill_memory(
    options: &ReadOptions,
    source: &Arc<OpenSource>,
    extent: Extent,
    leases: &Leases<'_>,
    phase: usize,
    map: Option<&Map<'_>>,
) -> Result<Report> {
    let mut aligned = true;
    let planned = Planned::of(source, extent, options, |facts| {
        aligned = source_aligned(source, facts, leases, phase);
        facts.ring &= aligned;
        decide(facts, &options.wishes)
    });
    let job = planned.job(options.observer(extent), None)?.copying_from(map);
    let Planned { decision, mut report, .. } = planned;
    if !aligned && decision.page_cache == PageCache::Bypass {
        report.fallbacks.push(Fallback::NotAligned);
    }
    if map.is_some() && options.advice == Advice::MapAhead {
        let why = "for sums and counts only, ignored";
        report.fallbacks.push(Fallback::Unused { what: "advice `map-ahead`", why });
    }
    let in_flight = decision.workers.len() as u64 + decision.ring_depth;
    report.fallbacks.extend(planned::place(leases, in_flight, options));
    let visit = IntoMemory { leases, base: extent.offset(), phase, source };
    if run(&job, &visit, &decision) == Ring::Refused {
        report.engine = Engine::Pool;
    }
    let report = job.finish(report)?;
    let len = usize::try_from(extent.len()).unwrap_or(usize::MAX);
    if leases.read(phase, len).is_none() {
        // A fault of Swath; a partly filled buffer must never be returned.
        let error = Error::new(Operation::Read, Reason::Io, source.name()).at(extent);
        return Err(error.detail("not every byte was delivered"));
    }
    Ok(report)
}

/// How the ring ended.
#[derive(PartialEq, Eq)]
enum Ring {
    Unused,
    Used,
    Refused,
}

/// Runs the workers of a decision, and the ring on this thread.
fn run(job: &ReadJob<'_>, visit: &IntoMemory<'_>, decision: &Decision) -> Ring {
    let (slot, depth) = (decision.workers.len(), decision.ring_depth);
    if depth == 0 {
        worker::run(job, visit, slot, None);
        return Ring::Unused;
    }
    let depth = u32::try_from(depth).unwrap_or(u32::MAX).min(1024);
    let refused = AtomicBool::new(false);
    let mut beside = || {
        if let Err(error) = ring::run(job, visit, slot, depth) {
            let why = error.to_string();
            job.running.fell_back(Fallback::RingRefused { why, each: "read" });
            // Relaxed: read on this thread.
            refused.store(true, Ordering::Relaxed);
            worker::run_slot(job, visit, slot, depth);
        }
    };
    worker::run(job, visit, slot, Some(&mut beside));
    if refused.into_inner() { Ring::Refused } else { Ring::Used }
}

/// Puts the bytes of a lease in their place in memory.
struct IntoMemory<'l> {
    leases: &'l Leases<'l>,
    base: u64,
    phase: usize,
    source: &'l OpenSource,
}

impl<'l> IntoMemory<'l> {
    fn lend(&self, lease: &Lease) -> std::result::Result<WriteLease<'l>, LeaseTrouble> {
        let offset = usize::try_from(lease.extent.offset() - self.base).unwrap_or(usize::MAX);
        let len = usize::try_from(lease.extent.len()).unwrap_or(usize::MAX);
        self.leases.write(offset.saturating_add(self.phase), len).ok_or_else(|| {
            let error = Error::new(Operation::Read, Reason::Io, self.source.name());
            LeaseTrouble::fatal(
                error.at(lease.extent).detail("these bytes are already being read"),
            )
        })
    }
}

impl Visit for IntoMemory<'_> {
    type Scratch = ();

    fn scratch(&self) -> Result<()> {
        Ok(())
    }

    fn visit(
        &self,
        hands: &mut Hands<'_>,
        (): &mut (),
        lease: &Lease,
    ) -> std::result::Result<(), LeaseTrouble> {
        let mut memory = self.lend(lease)?;
        hands.prepare(&memory, lease.extent.offset())?;
        hands.fill(lease.way, lease.extent.offset(), &mut memory)?;
        memory.freeze();
        Ok(())
    }
}

impl<'l> ring::LeasePlace<'l> for IntoMemory<'l> {
    fn place(&self, lease: &Lease) -> std::result::Result<WriteLease<'l>, LeaseTrouble> {
        self.lend(lease)
    }
}

/// Whether direct reads can go straight into the destination.
fn source_aligned(
    source: &OpenSource,
    facts: &Facts,
    leases: &Leases<'_>,
    phase: usize,
) -> bool {
    let Some(direct) = facts.direct.and_then(|_| source.direct()) else { return true };
    let first = facts.extent.offset();
    let to_unit = first.next_multiple_of(direct.unit.get()) - first;
    let address = leases.address().wrapping_add(phase);
    address.wrapping_add(usize::try_from(to_unit).unwrap_or(0)).is_multiple_of(direct.memory)
}
