//! Decides whether the memory of a large result is spread over the memory nodes of the machine.
//!
//! ```text
//! first touch   |node of the worker that took the lease|of another worker|...
//! interleave    |node 0|node 1|node 0|node 1|...        a page each
//! ```
//!
//! The kernel takes a page from the node of the thread that touches it first. For a block that one
//! worker fills and uses, that is right: its memory is close. A result is different. Workers take
//! leases as they come, so a page is on the node of whichever worker took the lease, which has
//! nothing to do with the thread that uses the page later. If few workers, or a single ring, are
//! enough for reading, all of it is on one node: then the bandwidth of that node limits every
//! thread of the program. Spread over all nodes, each thread has the mean distance, and the
//! bandwidth of all nodes.
//!
//! So this applies to results only. Blocks, scratch memory and a program's own data are left to the
//! first touch.
//!
//! ```
//! use swath_plan::numa::{NumaFacts, Placement, decide};
//!
//! let facts = NumaFacts { fresh: 1 << 30, in_flight: 8, nodes: 2, own_policy: false };
//! assert_eq!(decide(&facts), Placement::Interleave);
//! assert_eq!(decide(&NumaFacts { nodes: 1, ..facts }), Placement::FirstTouch);
//! ```

/// The largest page; the kernel spreads memory page by page.
const HUGE_PAGE: u64 = 2 << 20;
/// With 8 huge pages for each node, no node has more than an eighth above its share. Less memory
/// gains little: 16 MiB for each node are read in a few milliseconds and fit into today's caches,
/// while finding the nodes takes tens of microseconds.
const PAGES_EACH: u64 = 8;

/// The facts about the memory of a result before it is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumaFacts {
    /// Bytes of it that have no page yet. Other pages stay where they are.
    pub fresh: u64,
    /// Reads in flight: threads, and entries of a ring.
    pub in_flight: u64,
    /// Nodes with memory and with processors of this process. Memory without processors, which is
    /// farther away or has another purpose, does not count.
    pub nodes: u64,
    /// Whether the thread already has a memory policy, for example from `numactl`.
    pub own_policy: bool,
}

/// The source of fresh memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placement {
    /// The node of the thread that touches a page first.
    FirstTouch,
    /// All nodes in turn.
    Interleave,
}

/// Decides the placement of one result.
///
/// A single read in flight means first touch: the program chose one thread, or the machine has one
/// processor for it, and the node of this thread is the best guess. A policy of the thread is the
/// user's choice.
pub fn decide(facts: &NumaFacts) -> Placement {
    let &NumaFacts { fresh, in_flight, nodes, own_policy } = facts;
    if nodes > 1 && in_flight > 1 && !own_policy && fresh >= least(nodes) {
        Placement::Interleave
    } else {
        Placement::FirstTouch
    }
}

/// Whether the nodes and the policy matter at all. If not, it is first touch on every machine, and
/// they need not be looked up.
pub fn is_open(fresh: u64, in_flight: u64) -> bool {
    let best = NumaFacts { fresh, in_flight, nodes: 2, own_policy: false };
    decide(&best) == Placement::Interleave
}

/// Returns the fewest bytes that are spread over this many nodes.
fn least(nodes: u64) -> u64 {
    nodes.saturating_mul(PAGES_EACH * HUGE_PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn large_results_of_several_reads_in_flight_are_spread_and_nothing_else_is() {
        use Placement::{FirstTouch, Interleave};
        for (fresh, in_flight, nodes, own_policy, expected) in [
            (1 << 30, 8, 2, false, Interleave),
            (1 << 30, 2, 2, false, Interleave),
            (1 << 30, 1, 2, false, FirstTouch),
            (1 << 30, 0, 2, false, FirstTouch),
            (1 << 30, 8, 1, false, FirstTouch),
            (1 << 30, 8, 0, false, FirstTouch),
            (1 << 30, 8, 2, true, FirstTouch),
            (32 * MIB - 1, 8, 2, false, FirstTouch),
            (32 * MIB, 8, 2, false, Interleave),
            (32 * MIB + 1, 8, 2, false, Interleave),
            (128 * MIB - 1, 8, 8, false, FirstTouch),
            (128 * MIB, 8, 8, false, Interleave),
            (0, 8, 2, false, FirstTouch),
            (u64::MAX, u64::MAX, 1024, false, Interleave),
            (u64::MAX - 1, 2, u64::MAX, false, FirstTouch),
        ] {
            let facts = NumaFacts { fresh, in_flight, nodes, own_policy };
            assert_eq!(decide(&facts), expected, "{facts:?}");
        }
    }

    #[test]
    fn where_nothing_is_open_no_machine_decides_otherwise() {
        for fresh in (0..=10).map(|steps| steps * 16 * MIB) {
            for in_flight in 0..4 {
                let by_nodes = (0..10).map(|nodes| NumaFacts {
                    fresh,
                    in_flight,
                    nodes,
                    own_policy: false,
                });
                let any = by_nodes.clone().any(|facts| decide(&facts) == Placement::Interleave);
                assert_eq!(is_open(fresh, in_flight), any, "{fresh} {in_flight}");
                for facts in by_nodes {
                    let own = NumaFacts { own_policy: true, ..facts };
                    assert_eq!(decide(&own), Placement::FirstTouch);
                }
            }
        }
    }

    #[test]
    fn more_memory_never_turns_it_back_and_more_nodes_never_turn_it_on() {
        for nodes in 2..10 {
            for steps in 0..20 {
                let facts =
                    |fresh, nodes| NumaFacts { fresh, in_flight: 2, nodes, own_policy: false };
                let here = decide(&facts(steps * 8 * MIB, nodes));
                let larger = decide(&facts((steps + 1) * 8 * MIB, nodes));
                let wider = decide(&facts(steps * 8 * MIB, nodes + 1));
                assert!(here == Placement::FirstTouch || larger == here);
                assert!(here == Placement::Interleave || wider == here);
            }
        }
    }
}
