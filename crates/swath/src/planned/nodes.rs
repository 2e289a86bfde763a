//! Chooses the memory nodes of a result before workers populate its memory.

use std::io;

use swath_os::memory::Leases;
use swath_os::numa::{Limits, MemoryPolicy, Topology, current_node};
use swath_plan::fallback::Fallback;
use swath_plan::numa::{NumaFacts, Placement, decide, is_open};

use crate::options::{Numa, ReadOptions};

/// Places the unpopulated part of `memory`, which this many reads in flight will fill. Returns a
/// requested placement that was refused: it only costs speed.
pub(crate) fn place(
    memory: &Leases<'_>,
    in_flight: u64,
    options: &ReadOptions,
) -> Option<Fallback> {
    if memory.unpopulated() == 0 {
        return None;
    }
    let placed = match options.numa {
        Numa::FirstTouch => Ok(()),
        // No placement was requested, so there is nothing to report.
        Numa::Auto => return as_planned(memory, in_flight, options).err().and(None),
        Numa::Caller => near_caller(memory, options),
        Numa::Interleave => topology(options).and_then(|nodes| spread(memory, &nodes)),
    };
    placed.err().map(|error| Fallback::NotPlaced { why: error.to_string() })
}

/// Places `memory` as the plan says. Cheap facts come first and suffice for all but large results.
fn as_planned(memory: &Leases<'_>, in_flight: u64, options: &ReadOptions) -> io::Result<()> {
    let fresh = memory.unpopulated() as u64;
    if !is_open(fresh, in_flight) {
        return Ok(());
    }
    let topology = topology(options)?;
    let nodes = topology.homes().len() as u64;
    let own_policy = nodes > 1 && !MemoryPolicy::of_thread()?.is_default();
    match decide(&NumaFacts { fresh, in_flight, nodes, own_policy }) {
        Placement::Interleave => spread(memory, &topology),
        Placement::FirstTouch => Ok(()),
    }
}

fn spread(memory: &Leases<'_>, topology: &Topology) -> io::Result<()> {
    match topology.homes() {
        homes if homes.len() > 1 => memory.interleave(&homes),
        _ => Ok(()),
    }
}

fn near_caller(memory: &Leases<'_>, options: &ReadOptions) -> io::Result<()> {
    let topology = topology(options)?;
    if topology.nodes().len() < 2 {
        return Ok(());
    }
    let node = current_node()?;
    if !topology.has_memory(node) {
        let why = format!("node {node} of the caller has no memory for this process");
        return Err(io::Error::other(why));
    }
    memory.prefer_node(node)
}

/// Returns the nodes that this thread, and the workers it starts, may use.
fn topology(options: &ReadOptions) -> io::Result<Topology> {
    #[cfg(test)]
    if let Some(topology) = options.topology {
        return topology();
    }
    let _ = options;
    let machine = Topology::of_machine()?;
    // The limits cost one more file to read, and do not matter for one node.
    if machine.nodes().len() < 2 {
        return Ok(machine.clone());
    }
    Ok(machine.within(&Limits::of_thread()?))
}

#[cfg(test)]
mod tests;
