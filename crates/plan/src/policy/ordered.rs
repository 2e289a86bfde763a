//! A decision, adapted for consumers that need file order.

use alloc::vec;
use alloc::vec::Vec;

use super::foreign::MOST_IN_HAND;
use super::{Decision, to_usize};
use crate::extent::Extent;
use crate::schedule::{LeaseCut, Run};

/// Adapts a decision for a consumer that takes whole leases in file order: one queue that every
/// worker serves, cut from the start of the extent, with a ring's reads done by workers.
pub fn in_order(decision: Decision, extent: Extent) -> Decision {
    let cut = LeaseCut { base: extent.offset(), ..decision.cut };
    let mut ways: Vec<Run> = decision.queues.iter().flatten().copied().collect();
    ways.sort_by_key(|run| run.extent);
    let mut runs: Vec<Run> = Vec::new();
    let mut at = extent.offset();
    for Run { extent: run, way } in ways {
        // A lease is read in the way chosen for its first byte.
        let leases = run.end().saturating_sub(cut.base).div_ceil(cut.size.get());
        let end = cut.base.saturating_add(leases.saturating_mul(cut.size.get()));
        let end = end.min(extent.end());
        match runs.last_mut() {
            _ if end <= at => continue,
            Some(last) if last.way == way => {
                last.extent = Extent::between(last.extent.offset(), end);
            }
            _ => runs.push(Run { extent: Extent::between(at, end), way }),
        }
        at = end;
    }
    let mut slots = to_usize(decision.ring_depth).max(decision.workers.len()).max(1);
    let mut crew = decision.crew;
    if let Some(bounds) = &mut crew {
        // Each worker holds a lease, and those are stored separately.
        bounds.most = to_usize(MOST_IN_HAND / cut.size).clamp(bounds.first, bounds.most);
        (bounds.request_size, bounds.waited_size) = (cut.size.get(), cut.size.get());
        slots = bounds.most;
    }
    Decision {
        queues: vec![runs],
        workers: vec![vec![0]; slots],
        crew: crew.filter(|bounds| bounds.most > bounds.first),
        ring_depth: 0,
        ring_queues: Vec::new(),
        cut,
        ..decision
    }
}
