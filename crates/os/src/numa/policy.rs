//! The rule for the node of fresh memory: `numactl --interleave`, a call of mbind(2), or only the
//! first touch.

use std::io;
use std::ptr;

use super::NodeMask;

const DEFAULT: libc::c_int = 0;
const INTERLEAVE: libc::c_int = 3;
/// Flags that newer kernels return with the mode.
const FLAGS: libc::c_int = 0xe000;
/// Queries an address, not the thread.
const AT_ADDRESS: libc::c_ulong = 2;

/// The memory policy of a thread, or of some memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPolicy {
    mode: libc::c_int,
    nodes: Vec<usize>,
}

impl MemoryPolicy {
    /// Returns the policy of the calling thread, which threads that it starts inherit.
    ///
    /// # Errors
    ///
    /// The errors of get_mempolicy(2): `Unsupported` without NUMA, `PermissionDenied` in a sandbox.
    pub fn of_thread() -> io::Result<Self> {
        Self::look(ptr::null(), 0)
    }

    /// Returns the policy of the memory at the start of `bytes`: the default if it has none; then
    /// the policy of the thread that touches it first applies.
    ///
    /// # Errors
    ///
    /// Like [`of_thread`](Self::of_thread).
    pub fn of_memory(bytes: &[u8]) -> io::Result<Self> {
        Self::look(bytes.as_ptr(), AT_ADDRESS)
    }

    fn look(address: *const u8, flags: libc::c_ulong) -> io::Result<Self> {
        let (mut mode, mut mask) = (DEFAULT, NodeMask::EMPTY);
        // SAFETY: the kernel writes one integer to `mode` and as many bits as `mask` has; the
        // memory at `address` is only looked up.
        let status = unsafe {
            libc::syscall(
                libc::SYS_get_mempolicy,
                &raw mut mode,
                mask.as_mut_ptr(),
                NodeMask::bits(),
                address,
                flags,
            )
        };
        if status != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { mode: mode & !FLAGS, nodes: mask.nodes() })
    }

    /// Whether no policy is set. For a thread: only the first touch decides.
    pub fn is_default(&self) -> bool {
        self.mode == DEFAULT
    }

    /// Whether the pages are spread in turn over [`nodes`](Self::nodes).
    pub fn interleaves(&self) -> bool {
        self.mode == INTERLEAVE
    }

    /// Returns its nodes that this process may use; none for the default.
    pub fn nodes(&self) -> &[usize] {
        &self.nodes
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::skip;
    use super::*;

    /// Sets the policy of this thread alone.
    fn set(mode: libc::c_int, nodes: &[usize]) -> io::Result<()> {
        let mask = NodeMask::of(nodes)?;
        // SAFETY: the kernel reads the mask; only where fresh memory comes from changes.
        let status = unsafe {
            libc::syscall(libc::SYS_set_mempolicy, mode, mask.as_ptr(), NodeMask::bits())
        };
        if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    #[test]
    fn a_policy_of_the_threads_own_is_seen_by_it_and_by_its_children_only() {
        let node = super::super::current_node();
        let on_another_thread = std::thread::spawn(move || {
            let node = node?;
            for mode in [1, 2, INTERLEAVE] {
                set(mode, &[node])?;
                let seen = MemoryPolicy::of_thread()?;
                assert_eq!((seen.mode, seen.nodes()), (mode, &[node][..]));
                assert!(!seen.is_default());
                assert_eq!(seen.interleaves(), mode == INTERLEAVE);
                let inherited = std::thread::spawn(MemoryPolicy::of_thread).join();
                assert_eq!(inherited.expect("no panic")?, seen);
                let memory = vec![0; 1 << 20];
                assert!(MemoryPolicy::of_memory(&memory)?.is_default(), "none of its own");
            }
            set(DEFAULT, &[])?;
            assert!(MemoryPolicy::of_thread()?.is_default());
            io::Result::Ok(())
        });
        let before = MemoryPolicy::of_thread();
        if let Err(error) = on_another_thread.join().expect("no panic") {
            return skip(&error);
        }
        assert_eq!(MemoryPolicy::of_thread().ok(), before.ok());
    }
}
