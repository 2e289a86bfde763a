//! The order in which files are read, and its gain.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, statat};
use swath_os::placement::first_byte_on_device;

use super::listing::Listing;
use super::options::FileOrder;

/// A reading order: some files as given, for comparison, then the others.
pub(super) struct ReadingOrder {
    pub(super) files: Vec<u32>,
    /// Number of files that are read first, as given.
    pub(super) sampled: usize,
    pub(super) sorting: Duration,
    pub(super) calls: u64,
}

/// The most files that are read in the given order, besides the limit of an eighth of all.
const SAMPLE: usize = 2048;

impl ReadingOrder {
    /// Returns the order; `None` for [`FileOrder::Given`].
    pub(super) fn of(listing: &Listing, order: FileOrder) -> Option<Self> {
        let started = Instant::now();
        let sampled = (listing.len() / 8).min(SAMPLE);
        let mut files: Vec<u32> =
            (0..listing.len()).filter_map(|at| u32::try_from(at).ok()).collect();
        let (_, rest) = files.split_at_mut(sampled);
        let mut calls = 0;
        match order {
            FileOrder::Given => return None,
            FileOrder::Path => {
                rest.sort_by_key(|&index| listing.path(index as usize).as_os_str())
            }
            FileOrder::Inode => {
                rest.sort_by_cached_key(|&index| inode(listing, index as usize, &mut calls))
            }
            FileOrder::Extent => {
                rest.sort_by_cached_key(|&index| place(listing, index as usize, &mut calls))
            }
        }
        Some(Self { files, sampled, sorting: started.elapsed(), calls })
    }
}

/// Returns the inode number, known from the walk or looked up.
fn inode(listing: &Listing, index: usize, calls: &mut u64) -> u64 {
    match listing.inode(index) {
        0 => {
            *calls += 1;
            let stat = statat(CWD, listing.c_path(index), AtFlags::empty());
            #[expect(clippy::unnecessary_cast, reason = "types differ between architectures")]
            stat.map_or(0, |stat| stat.st_ino as u64)
        }
        known => known,
    }
}

/// Returns the place on the device; files without one, and those that cannot be opened, come first.
fn place(listing: &Listing, index: usize, calls: &mut u64) -> u64 {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    *calls += 1;
    let Ok(file) = openat(CWD, listing.c_path(index), flags, Mode::empty()) else { return 0 };
    *calls += 2;
    first_byte_on_device(file.as_fd()).ok().flatten().unwrap_or(0)
}
