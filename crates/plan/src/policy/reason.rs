//! The reason for the way a file is read, in one sentence, and the shares that it mentions.

use alloc::format;
use alloc::string::String;

use super::{Facts, PageCache, SMALL, Storage, Tuning};
use crate::window::{self, Residency};

/// The number of bytes in the page cache, from the windows.
pub(super) struct Share {
    pub(super) resident: u64,
    pub(super) absent: u64,
    pub(super) unknown: u64,
}

impl Share {
    pub(super) fn of(facts: &Facts) -> Self {
        let mut share = Self { resident: 0, absent: 0, unknown: facts.extent.len() };
        // Windows that were not inspected are unknown: time may not allow all of them.
        for (window, known) in window::windows(facts.extent).zip(&facts.residency) {
            let bytes = match known {
                Residency::Resident => &mut share.resident,
                Residency::Partial | Residency::Absent => &mut share.absent,
                Residency::Unknown => continue,
            };
            *bytes += window.len();
            share.unknown -= window.len();
        }
        share
    }
}

/// Returns the reason why a small file takes one read.
pub fn small_reason(len: u64, tuning: &Tuning) -> String {
    match len > SMALL {
        false => String::from("at most 64 KiB: one read, no thread"),
        true => {
            format!("at most {} KiB, as tuned: one read, no thread", tuning.small_bytes() >> 10)
        }
    }
}

/// Returns one sentence for the report.
pub(super) fn reason(
    facts: &Facts,
    share: &Share,
    page_cache: PageCache,
    bypass: bool,
) -> String {
    let percent = |bytes: u64| bytes.saturating_mul(100) / facts.extent.len().max(1);
    let known = match share.unknown {
        0 => format!("{} % in the page cache", percent(share.resident)),
        _ => String::from("page cache unknown"),
    };
    let how = match (page_cache, bypass) {
        (PageCache::Bypass, true) => "the rest direct, past it",
        (PageCache::Bypass, false) => "read from it",
        (PageCache::Drop, _) => "buffered, then dropped",
        _ if share.absent == 0 && share.unknown == 0 => "buffered",
        _ => "buffered, which warms it",
    };
    let place = match facts.storage {
        Storage::Local => "local",
        Storage::Rotational => "rotational: few, large, ordered reads",
        Storage::Network => "network: few, large, ordered reads",
        Storage::Fuse => "FUSE: no ring",
        Storage::Memory => "in memory",
        Storage::Foreign => "not a file",
    };
    format!("{known}, {how}; {place}")
}
