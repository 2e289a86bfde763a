//! The nodes of pages that are not yet populated: one call for all of them.

use std::io;

use super::Pages;
use crate::numa::NodeMask;

const PREFERRED: libc::c_int = 1;
const INTERLEAVE: libc::c_int = 3;

impl Pages {
    /// Prefers memory of NUMA node `node` for pages that are not yet populated.
    ///
    /// # Errors
    ///
    /// The errors of mbind(2): `InvalidInput` for a node that does not exist, has no memory or is
    /// not allowed, `Unsupported` without NUMA, `PermissionDenied` in a sandbox.
    pub fn prefer_node(&self, node: usize) -> io::Result<()> {
        self.bind(PREFERRED, &NodeMask::of(&[node])?)
    }

    /// Spreads pages that are not yet populated over `nodes`, in turn: one page each, a huge page
    /// if there are any. Nodes that this process may not use are left out.
    ///
    /// # Errors
    ///
    /// Like [`prefer_node`](Self::prefer_node), if none of the nodes can be used.
    pub fn interleave(&self, nodes: &[usize]) -> io::Result<()> {
        self.bind(INTERLEAVE, &NodeMask::of(nodes)?)
    }

    /// Sets the memory policy of the mapping. Without flags, present pages are not moved.
    fn bind(&self, mode: libc::c_int, mask: &NodeMask) -> io::Result<()> {
        // SAFETY: the range is our own mapping, `mask` outlives the call and has as many bits as
        // it says.
        let status = unsafe {
            libc::syscall(
                libc::SYS_mbind,
                self.start.as_ptr(),
                self.len,
                mode,
                mask.as_ptr(),
                NodeMask::bits(),
                0,
            )
        };
        if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

#[cfg(test)]
#[cfg(not(miri))] // it knows no memory policy
mod tests {
    use super::super::POPULATE_SIZE;
    use super::*;
    use crate::numa::tests::skip;
    use crate::numa::{Limits, MemoryPolicy, Topology};

    /// Returns a node that this thread may use.
    fn allowed() -> io::Result<usize> {
        let here = Topology::of_machine()?.within(&Limits::of_thread()?);
        let first = here.nodes().first().map(|node| node.number);
        first.ok_or_else(|| io::Error::other("no node"))
    }

    #[test]
    fn pages_are_spread_over_the_nodes_that_can_be_used() {
        let pages = Pages::map(2 * POPULATE_SIZE).expect("address space");
        let done = allowed().and_then(|node| {
            pages
                .interleave(&[node, node + 1])
                .and(Ok((node, MemoryPolicy::of_memory(&pages)?)))
        });
        let (node, policy) = match done {
            Ok(done) => done,
            Err(error) => return skip(&error),
        };
        assert!(policy.interleaves() && policy.nodes().contains(&node), "{policy:?}");
        let last = MemoryPolicy::of_memory(&pages[pages.len() - 1..]).expect("as above");
        assert_eq!(last, policy);
        // The pages can still be populated, grown and returned.
        pages.prepare(0, pages.len()).expect("Linux 5.14");
        assert!(pages.iter().all(|&byte| byte == 0));
        let mut pages = pages;
        pages.grow(4 * POPULATE_SIZE).expect("address space");
        let grown = MemoryPolicy::of_memory(&pages[pages.len() - 1..]).expect("as above");
        assert_eq!(grown, policy);
    }

    #[test]
    fn a_preferred_node_replaces_an_earlier_choice() {
        let pages = Pages::map(POPULATE_SIZE).expect("address space");
        let done = allowed().and_then(|node| {
            pages.interleave(&[node])?;
            pages.prefer_node(node)?;
            Ok((node, MemoryPolicy::of_memory(&pages)?))
        });
        match done {
            Ok((node, policy)) => {
                assert!(!policy.interleaves() && !policy.is_default(), "{policy:?}");
                assert_eq!(policy.nodes(), [node]);
            }
            Err(error) => skip(&error),
        }
    }

    #[test]
    fn nodes_that_do_not_exist_are_refused_and_change_nothing() {
        let pages = Pages::map(4096).expect("address space");
        for nodes in [&[][..], &[1023], &[1024], &[0, usize::MAX]] {
            assert!(pages.interleave(nodes).is_err(), "{nodes:?}");
        }
        for node in [1023, 1024, usize::MAX] {
            assert!(pages.prefer_node(node).is_err(), "{node}");
        }
        if let Ok(policy) = MemoryPolicy::of_memory(&pages) {
            assert!(policy.is_default(), "{policy:?}");
        }
    }
}
