//! Memory nodes: how many there are, and which one this thread is on.

use std::io;
use std::ptr;
use std::sync::OnceLock;

use crate::kernel_text;

/// Returns how many memory nodes are online, at least 1. Read once from sysfs.
#[must_use]
pub fn node_count() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| {
        let list = kernel_text::read_text("/sys/devices/system/node/online");
        list.ok().and_then(|list| count_of(list.trim())).unwrap_or(1).max(1)
    })
}

/// Returns the memory node of the processor that this thread runs on at this moment.
///
/// Node numbers may have gaps, so the result may exceed [`node_count`].
///
/// # Errors
///
/// `Unsupported` (`ENOSYS`) if a sandbox forbids getcpu(2).
pub fn current_node() -> io::Result<usize> {
    let mut node: libc::c_uint = 0;
    let into = ptr::from_mut(&mut node);
    let unused = ptr::null_mut::<libc::c_void>();
    // SAFETY: the kernel writes one integer to `node`, and skips the arguments that are null.
    let status = unsafe { libc::syscall(libc::SYS_getcpu, unused, into, unused) };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    usize::try_from(node).map_err(io::Error::other)
}

/// Counts the entries of a list such as `0-3,5`; `None` if it is not such a list.
fn count_of(list: &str) -> Option<usize> {
    list.split(',')
        .map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
            last.checked_sub(first)?.checked_add(1)
        })
        .try_fold(0_usize, |total, count| total.checked_add(count?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_nodes_are_counted() {
        for (list, count) in [
            ("0", Some(1)),
            ("0-3", Some(4)),
            ("0-3,5", Some(5)),
            ("0,2,4-5", Some(4)),
            ("", None),
            ("3-1", None),
            ("0-", None),
            ("a", None),
        ] {
            assert_eq!(count_of(list), count, "{list:?}");
        }
    }

    #[test]
    fn there_is_a_node_and_this_thread_is_on_one() {
        assert!(node_count() >= 1);
        match current_node() {
            Ok(node) => assert!(node < 1 << 16, "{node}"),
            Err(error) => eprintln!("skipped: getcpu is refused: {error}"),
        }
    }
}
