//! Names of the ways to use one file, for entrants and goals.

use swath_study::limits::Schedule;

/// Reads in flight of the direct reads.
pub(crate) const DEPTHS: [usize; 2] = [8, 16];

/// Threads of the buffered cold reads.
pub(crate) const THREADS: [usize; 4] = [1, 2, 4, 8];

/// Opens, reads and closes with five bare calls.
pub(crate) const BARE: &str = "limit: five bare calls";
/// Reads with the one call that needs no settings.
pub(crate) const PLAIN_READ: &str = "swath::read";
/// Reads with the standard library, into a vector.
pub(crate) const STD: &str = "std::fs::read";
/// Counts lines with ripgrep, its start included.
pub(crate) const RIPGREP: &str = "rg --mmap -c ''";

/// Returns the name of a read through the page cache.
pub(crate) fn pread_name(workers: usize, schedule: Schedule) -> String {
    let schedule = match schedule {
        Schedule::Static => "static",
        Schedule::Dynamic => "dynamic",
    };
    format!("limit: pread {workers} {schedule}")
}

/// Returns the name of a read past the page cache.
pub(crate) fn direct_name(depth: usize) -> String {
    format!("limit: O_DIRECT {depth}")
}
