//! The resources of this machine, and the share that this process may use.
//!
//! ```text
//! processors   affinity ∧ control group's quota
//! memory       free memory ∧ the rest of each control group's limit ∧ the address space limit
//! pages        their size
//! ```
//!
//! Returns numbers only: other modules decide what to do with them.

use std::io;
use std::sync::OnceLock;
use std::thread;

use crate::limits::address_space_limit;
use crate::once::computed_once;
use crate::{cgroup, kernel_text};

/// Returns the number of processors that this process may use at a time, at least 1.
///
/// This is its affinity, limited by the quota of its control groups (rounded down), as returned
/// by [`thread::available_parallelism`]. Reads several files each time: see
/// [`usable_cpus_at_start`] if that is too slow.
pub fn usable_cpus() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Returns what [`usable_cpus`] returned when this was first called.
///
/// For frequent calls; a later change of affinity or quota is not noticed.
pub fn usable_cpus_at_start() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *computed_once(&COUNT, usable_cpus)
}

/// Returns the number of bytes that this process can still take before the kernel refuses or kills.
///
/// The minimum of: memory that is free or can be freed (`MemAvailable`); for each of the
/// process's control groups and their ancestors, limit - usage + page cache that would be
/// dropped first; and, if it is limited, the remaining address space. Other processes take from the
/// same memory, so the number is a hint that ages. Reads several files of `/proc` and sysfs each
/// time.
///
/// # Errors
///
/// `NotFound` if `/proc` is not mounted, `InvalidData` if its text cannot be parsed.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// println!("{} MiB available", swath_os::machine::memory_at_hand()? >> 20);
/// # Ok(())
/// # }
/// ```
pub fn memory_at_hand() -> io::Result<u64> {
    let available = meminfo_now("MemAvailable")?;
    let groups = cgroup::groups().into_iter().map(cgroup::GroupMemory::at_hand);
    let address_space = match address_space_limit() {
        Some(limit) => Some(limit.saturating_sub(mapped_now()?)),
        None => None,
    };
    Ok(least(available, groups.chain(address_space)))
}

/// Returns the number of bytes that this process could have if it were alone.
///
/// The minimum of the machine's memory, each control group's limit and the address space limit.
///
/// # Errors
///
/// Like [`memory_at_hand`].
pub fn memory_total() -> io::Result<u64> {
    let total = meminfo_now("MemTotal")?;
    let limits = cgroup::limits().into_iter();
    Ok(least(total, limits.chain(address_space_limit())))
}

/// Returns the size of a page of memory, in bytes.
pub fn page_size() -> usize {
    rustix::param::page_size()
}

fn least(first: u64, others: impl Iterator<Item = u64>) -> u64 {
    others.fold(first, u64::min)
}

fn meminfo_now(name: &str) -> io::Result<u64> {
    meminfo(&kernel_text::read_text("/proc/meminfo")?, name)
}

/// Finds `name` in the text of `/proc/meminfo`, in bytes.
fn meminfo(text: &str, name: &str) -> io::Result<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kibibytes =
        value.and_then(|value| value.trim().strip_suffix("kB")?.trim().parse().ok());
    kibibytes
        .and_then(|count: u64| count.checked_mul(1024))
        .ok_or_else(|| not_understood(&format!("/proc/meminfo: no {name} in kB")))
}

/// Returns the size of the mapped address space of this process, in bytes.
fn mapped_now() -> io::Result<u64> {
    mapped(&kernel_text::read_text("/proc/self/statm")?, page_size() as u64)
}

/// Reads the first number of `/proc/self/statm`, which counts pages.
fn mapped(text: &str, page_size: u64) -> io::Result<u64> {
    text.split_whitespace()
        .next()
        .and_then(|word| word.parse::<u64>().ok()?.checked_mul(page_size))
        .ok_or_else(|| not_understood("/proc/self/statm: no count of pages"))
}

fn not_understood(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo_is_read_in_bytes() {
        let text = "MemTotal:       24684096 kB\nMemFree:  1 kB\nMemAvailable:   3 kB\n";
        assert_eq!(meminfo(text, "MemTotal").expect("there"), 24_684_096 << 10);
        assert_eq!(meminfo(text, "MemAvailable").expect("there"), 3 << 10);
        for text in ["", "MemAvailable: 3 pages", "MemAvailable: x kB", "MemAvailableX: 3 kB"] {
            let error = meminfo(text, "MemAvailable").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{text}");
            assert_eq!(error.to_string(), "/proc/meminfo: no MemAvailable in kB");
        }
    }

    #[test]
    fn mapped_pages_are_counted_in_bytes() {
        assert_eq!(mapped("765 435 406 5 0 123 0\n", 4096).expect("a count"), 765 * 4096);
        for text in ["", "x 1", "99999999999999999999"] {
            let error = mapped(text, 4096).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{text}");
        }
    }

    #[test]
    fn the_least_of_all_limits_holds() {
        assert_eq!(least(5, [].into_iter()), 5);
        assert_eq!(least(5, [7, 3, 9].into_iter()), 3);
    }

    #[test]
    fn no_more_is_at_hand_than_there_is() {
        let (at_hand, total) =
            (memory_at_hand().expect("known"), memory_total().expect("known"));
        assert!(0 < at_hand && at_hand <= total, "{at_hand} of {total}");
    }

    #[test]
    fn pages_and_processors_are_there() {
        assert!(page_size().is_power_of_two());
        assert!(usable_cpus() >= 1 && usable_cpus_at_start() >= 1);
    }
}
