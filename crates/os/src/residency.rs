//! The number of pages of a file that are in the page cache.
//!
//! The source is cachestat(2) (Linux 6.5), which inspects the cache itself and maps nothing.
//! mincore(2) is not a substitute: for a file that the caller neither owns nor may write, the
//! kernel reports every page as resident, so a cold file looks warm. If cachestat is refused, the
//! residency is *unknown*.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::AsRawFd;

use rustix::param::page_size;

/// The number of cachestat(2) on every architecture except alpha and mips.
const SYS_CACHESTAT: libc::c_long = 451;

/// `struct cachestat_range` of `<linux/mman.h>`.
#[repr(C)]
struct Range {
    offset: u64,
    len: u64,
}

/// `struct cachestat` of `<linux/mman.h>`.
#[repr(C)]
#[derive(Default)]
struct Counts {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Page counts of an extent of a file at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Residency {
    /// Pages that a read would find in the page cache.
    pub cached_pages: u64,
    /// The resident pages that are not yet written to the device.
    pub dirty_pages: u64,
    /// Pages that the extent touches, up to the end of the file.
    pub total_pages: u64,
}

/// Counts the pages of `len` bytes of `file` starting at `offset`; a `len` of 0 means to the end.
///
/// The cost grows with the cached pages, not with the length of the file.
///
/// # Errors
///
/// `Unsupported` before Linux 6.5, and for hugetlbfs. `PermissionDenied` (`EPERM`) if the caller
/// neither owns the file nor may write to it, or if a sandbox refuses the call: the residency is
/// then *unknown*, not zero.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// let file = tempfile::tempfile()?;
/// match swath_os::residency::residency(&file, 0, 0) {
///     Ok(residency) => assert_eq!(residency.total_pages, 0),
///     Err(unknown) => eprintln!("{unknown}"),
/// }
/// # Ok(())
/// # }
/// ```
pub fn residency(file: &File, offset: u64, len: u64) -> io::Result<Residency> {
    let metadata = file.metadata()?;
    let wanted_end = if len == 0 { u64::MAX } else { offset.saturating_add(len) };
    // A device's metadata says 0; only the length of a regular file is its end.
    let end = if metadata.is_file() { wanted_end.min(metadata.len()) } else { wanted_end };
    residency_up_to(file, &Range { offset, len }, end)
}

/// Like [`residency`], for a part that is known to be inside the file: one call instead of two.
///
/// # Errors
///
/// Like [`residency`].
pub fn residency_of_part(file: &File, offset: u64, len: NonZeroU64) -> io::Result<Residency> {
    let range = Range { offset, len: len.get() };
    residency_up_to(file, &range, offset.saturating_add(len.get()))
}

/// Returns the residency of a range; the file contains its bytes up to `end`.
fn residency_up_to(file: &File, range: &Range, end: u64) -> io::Result<Residency> {
    let counts = cachestat(file, range)?;
    let total_pages = pages_between(range.offset, end, page_size() as u64);
    Ok(Residency { cached_pages: counts.cached, dirty_pages: counts.dirty, total_pages })
}

fn cachestat(file: &File, range: &Range) -> io::Result<Counts> {
    let mut counts = Counts::default();
    let (from, into) = (std::ptr::from_ref(range), std::ptr::from_mut(&mut counts));
    // SAFETY: the kernel reads one `Range` and writes one `Counts`, both in the kernel's layout,
    // and keeps neither pointer.
    let status = unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), from, into, 0_u32) };
    if status == 0 { Ok(counts) } else { Err(io::Error::last_os_error()) }
}

/// Counts the pages that `offset .. end` touches.
fn pages_between(offset: u64, end: u64, page_size: u64) -> u64 {
    if end <= offset { 0 } else { (end - 1) / page_size - offset / page_size + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Write};

    /// Returns `None`, and prints the reason, if the kernel does not report it.
    fn known(answer: io::Result<Residency>) -> Option<Residency> {
        match answer {
            Ok(residency) => Some(residency),
            Err(error) => {
                let kind = error.kind();
                assert!(matches!(kind, ErrorKind::Unsupported | ErrorKind::PermissionDenied));
                eprintln!("skipped: residency is unknown: {error}");
                None
            }
        }
    }

    #[test]
    fn pages_are_counted_from_the_first_to_the_last_touched() {
        let cases = [
            (0, 0, 0),
            (5, 5, 0),
            (6, 5, 0),
            (0, 1, 1),
            (0, 4096, 1),
            (0, 4097, 2),
            (4095, 4097, 2),
            (4096, 8192, 1),
            (u64::MAX - 1, u64::MAX, 1),
            (0, u64::MAX, 1 << 52),
        ];
        for (offset, end, pages) in cases {
            assert_eq!(pages_between(offset, end, 4096), pages, "{offset}..{end}");
        }
    }

    #[test]
    fn what_was_just_written_is_cached_and_counted_by_extent() {
        let page = page_size();
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(&vec![1; 10 * page]).expect("written");
        let Some(all) = known(residency(&file, 0, 0)) else { return };
        assert_eq!((all.cached_pages, all.total_pages), (10, 10));
        let page = page as u64;
        let part = residency(&file, page - 1, 2).expect("known a moment ago");
        assert_eq!((part.cached_pages, part.total_pages), (2, 2));
        let two = NonZeroU64::new(2).expect("not 0");
        assert_eq!(residency_of_part(&file, page - 1, two).expect("known"), part);
        let past_the_end = residency(&file, 8 * page, 100 * page).expect("known");
        assert_eq!((past_the_end.cached_pages, past_the_end.total_pages), (2, 2));
        let past_end = residency(&file, 10 * page, 0).expect("known");
        assert_eq!(past_end, Residency::default());
    }

    #[test]
    fn a_hole_is_not_cached() {
        let file = tempfile::tempfile().expect("a temporary file");
        file.set_len(1 << 20).expect("a hole");
        let Some(all) = known(residency(&file, 0, 0)) else { return };
        let pages = (1 << 20) / page_size() as u64;
        assert_eq!((all.cached_pages, all.total_pages), (0, pages));
    }

    #[test]
    fn a_missing_system_call_is_unsupported() {
        let error = io::Error::from_raw_os_error(libc::ENOSYS);
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}
