//! Inspects a source once, so that the policy can decide how to read it.

use std::fs::File;
use std::num::NonZeroU64;
use std::sync::OnceLock;

use swath_os::advise::{FileAdvice, advise_file};
use swath_os::machine;
use swath_os::once::computed_once;
use swath_os::residency::residency_of_part;
use swath_plan::extent::Extent;
use swath_plan::fallback::Fallback;
use swath_plan::policy::{Engine, Facts, PageCache, SMALL, Storage};
use swath_plan::window::{self, Residency};

use crate::options::{Advice, ReadOptions};
use crate::source::OpenSource;

/// Below this length, and below a sixteenth of all memory, the available memory is not checked: a
/// check costs a sixth of a millisecond.
const LARGE: u64 = 256 << 20;
/// Below this length, not even the total memory is determined: a process with less than sixteen times as much
/// could not have started.
const NEVER_LARGE: u64 = 1 << 20;
/// Windows inspected before a read: 256 GiB, in a hundredth of a second.
pub(crate) const WINDOWS: usize = 16 << 10;

/// Returns the facts about `extent` that cost below 1 % of reading it.
///
/// At most `most_windows` windows are inspected; later ones are unknown.
pub(crate) fn facts(
    source: &OpenSource,
    extent: Extent,
    options: &ReadOptions,
    most_windows: usize,
) -> Facts {
    let wishes = &options.wishes;
    let large = is_large(extent.len());
    let memory = if large { machine::memory_at_hand().unwrap_or(u64::MAX) } else { u64::MAX };
    let small = wishes.take_one_read(extent.len(), SMALL);
    let cores = match (small, large) {
        // A single read needs one core.
        (true, _) => 1,
        (false, true) => machine::usable_cpus(),
        (false, false) => machine::usable_cpus_at_start(),
    } as u64;
    let may_bypass = wishes.may_bypass(extent.len(), memory);
    let asks = wishes.engine == Engine::Auto
        || wishes.page_cache == PageCache::Drop
        || may_bypass && wishes.page_cache == PageCache::Auto;
    let residency = if asks && extent.len() > SMALL {
        look(source, extent, most_windows)
    } else {
        Vec::new()
    };
    let mut facts = Facts {
        extent,
        storage: Storage::Local,
        residency,
        direct: None,
        ring: false,
        readahead: 0,
        cores,
        processes: false,
        memory,
        copies: source.copies(),
        tuning: options.tuning(),
        hints: source.hints(),
    };
    // Bytes in the page cache come from there: their storage does not matter.
    if may_bypass || !(small || facts.is_resident()) {
        let place = source.place();
        (facts.storage, facts.ring) = (place.storage, place.ring);
        facts.readahead = place.readahead;
    }
    if may_bypass {
        facts.direct = source.direct().map(|direct| direct.unit);
    }
    facts
}

/// Samples the page cache, window by window.
fn look(source: &OpenSource, extent: Extent, most: usize) -> Vec<Residency> {
    // Among several copies, the one that is read first stands for all.
    let Some(&file) = source.files().first() else { return Vec::new() };
    let mut known = Vec::new();
    for window in window::windows(extent).take(most) {
        let (mut cached, mut seen) = (0, 0);
        for sample in window::samples(window) {
            let Some(len) = NonZeroU64::new(sample.len()) else { continue };
            // EPERM means unknown: `mincore` would report everything as resident.
            let Ok(pages) = residency_of_part(file, sample.offset(), len) else { return known };
            cached += pages.cached_pages;
            seen += pages.total_pages;
        }
        known.push(Residency::from_sample(cached, seen));
    }
    known
}

/// Passes the caller's advice to the kernel; returns what was not accepted.
pub(crate) fn advise(source: &OpenSource, extent: Extent, advice: Advice) -> Option<Fallback> {
    let wanted = match advice {
        Advice::None => return None,
        Advice::WillNeed => FileAdvice::WillNeed,
        Advice::Sequential => FileAdvice::Sequential,
        Advice::Random => FileAdvice::Random,
        Advice::HugePage | Advice::MapAhead => {
            return Some(Fallback::AdviceForMapsOnly);
        }
    };
    let advise = |file: &File| advise_file(file, extent.offset(), extent.len(), wanted).err();
    let refused = source.files().into_iter().find_map(advise)?;
    Some(Fallback::AdviceRefused { why: refused.to_string() })
}

/// Whether a read of `len` bytes is worth checking the available memory.
pub(crate) fn is_large(len: u64) -> bool {
    len >= NEVER_LARGE && len >= LARGE.min(memory_total() / 16)
}

fn memory_total() -> u64 {
    static TOTAL: OnceLock<u64> = OnceLock::new();
    *computed_once(&TOTAL, || machine::memory_total().unwrap_or(0))
}
