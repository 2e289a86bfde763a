//! The usage of this process so far: faults, context switches, time and peak memory.
//!
//! Counters only grow. [`Usage::since`] returns the difference between two readings, which the
//! caller interprets.

use std::fs;
use std::io;
use std::time::Duration;

use crate::kernel_text;

/// Counters of the whole process, with all threads, at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Page faults that needed no device.
    pub minor_faults: u64,
    /// Page faults that waited for a device.
    pub major_faults: u64,
    /// The number of times that a thread gave up its processor, mostly to wait.
    pub voluntary_switches: u64,
    /// The number of times that a thread was taken off its processor.
    pub involuntary_switches: u64,
    /// Processor time in the program.
    pub user: Duration,
    /// Processor time in the kernel.
    pub system: Duration,
    /// The most resident memory at one time, in bytes, since the process started or
    /// [`reset_peak_rss`] was called.
    pub peak_rss: u64,
}

impl Usage {
    /// Returns the usage after `earlier`; the peak is that of `self`, because peaks have no
    /// difference.
    ///
    /// A counter that is smaller than in `earlier` gives 0.
    pub fn since(&self, earlier: &Usage) -> Usage {
        Usage {
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            voluntary_switches: self
                .voluntary_switches
                .saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(earlier.involuntary_switches),
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
            peak_rss: self.peak_rss,
        }
    }
}

/// Returns the processor time of the calling thread; 0 if the kernel does not report it.
pub fn thread_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(now).unwrap_or_default()
}

/// Reads the counters of this process.
///
/// The peak comes from `VmHWM` in `/proc/self/status`, which can be reset, or else from
/// getrusage(2), which cannot. That file takes most of the time.
///
/// # Errors
///
/// The errors of getrusage(2), which does not fail on Linux.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// let before = swath_os::usage::usage()?;
/// let used = swath_os::usage::usage()?.since(&before);
/// assert!(used.peak_rss > 0);
/// # Ok(())
/// # }
/// ```
pub fn usage() -> io::Result<Usage> {
    let raw = getrusage(libc::RUSAGE_SELF)?;
    let peak = kernel_text::read_text("/proc/self/status").ok().and_then(|text| peak_of(&text));
    let used = usage_of(&raw);
    Ok(Usage { peak_rss: peak.unwrap_or(used.peak_rss), ..used })
}

/// Reads the counters of all children that have ended and were waited for, in total; the peak is
/// that of the largest.
///
/// Until a child runs its own program, its peak includes the memory of its parent at the start: a
/// small process measures its children best.
///
/// # Errors
///
/// The errors of getrusage(2), which does not fail on Linux.
pub fn usage_of_children() -> io::Result<Usage> {
    Ok(usage_of(&getrusage(libc::RUSAGE_CHILDREN)?))
}

fn usage_of(raw: &libc::rusage) -> Usage {
    Usage {
        minor_faults: count(raw.ru_minflt),
        major_faults: count(raw.ru_majflt),
        voluntary_switches: count(raw.ru_nvcsw),
        involuntary_switches: count(raw.ru_nivcsw),
        user: duration(raw.ru_utime),
        system: duration(raw.ru_stime),
        peak_rss: count(raw.ru_maxrss).saturating_mul(1024),
    }
}

/// Restarts the peak of resident memory at the current value.
///
/// # Errors
///
/// `NotFound` or `PermissionDenied` if `/proc` is missing or read-only.
pub fn reset_peak_rss() -> io::Result<()> {
    // proc(5): "To reset the peak resident set size ("high water mark")".
    fs::write("/proc/self/clear_refs", "5")
}

fn getrusage(who: libc::c_int) -> io::Result<libc::rusage> {
    let mut raw = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel writes one `rusage` there and keeps no pointer.
    let status = unsafe { libc::getrusage(who, raw.as_mut_ptr()) };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has filled it in; zeros would be valid, too.
    Ok(unsafe { raw.assume_init() })
}

fn count(signed: libc::c_long) -> u64 {
    u64::try_from(signed).unwrap_or(0)
}

fn duration(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let microseconds = u64::try_from(time.tv_usec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_micros(microseconds)
}

/// Finds `VmHWM` in the text of `/proc/self/status`, in bytes.
fn peak_of(status: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn touching_new_pages_is_counted_as_faults() {
        let before = usage().expect("usage");
        let mut pages = vec![0_u8; 32 << 20];
        for byte in pages.iter_mut().step_by(4096) {
            *byte = 1;
        }
        black_box(&pages);
        let used = usage().expect("usage").since(&before);
        // Huge pages need one fault for each 2 MiB.
        assert!(used.minor_faults >= 16, "{used:?}");
        assert!(used.peak_rss >= 32 << 20, "{used:?}");
    }

    #[test]
    fn differences_keep_the_peak_and_never_underflow() {
        let small = Usage { minor_faults: 1, peak_rss: 10, ..Usage::default() };
        let large = Usage {
            minor_faults: 4,
            user: Duration::from_secs(2),
            peak_rss: 7,
            ..Usage::default()
        };
        let forward = large.since(&small);
        assert_eq!((forward.minor_faults, forward.peak_rss), (3, 7));
        assert_eq!(forward.user, Duration::from_secs(2));
        let backward = small.since(&large);
        assert_eq!((backward.minor_faults, backward.peak_rss), (0, 10));
        assert_eq!(backward.user, Duration::ZERO);
    }

    #[test]
    fn the_high_water_mark_is_read_in_bytes() {
        assert_eq!(peak_of("Name:\tx\nVmHWM:\t    1732 kB\nVmRSS:\t 1 kB\n"), Some(1732 << 10));
        assert_eq!(peak_of("VmRSS:\t 1 kB\n"), None);
        assert_eq!(peak_of("VmHWM:\t many kB\n"), None);
        assert_eq!(peak_of(&format!("VmHWM: {} kB", u64::MAX)), None);
    }

    #[test]
    fn a_reset_peak_is_no_higher_than_before() {
        let before = usage().expect("usage").peak_rss;
        match reset_peak_rss() {
            // Parallel tests may take memory in between, so only success is certain.
            Ok(()) => assert!(usage().expect("usage").peak_rss > 0 && before > 0),
            Err(error) => eprintln!("skipped: the peak cannot be reset here: {error}"),
        }
    }
}
