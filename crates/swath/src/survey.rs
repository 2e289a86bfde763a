//! Looks at a source once, so that the policy can decide: the verbs' common beginning.

use std::num::NonZeroU64;

use swath_os::advise::{FileAdvice, advise_file};
use swath_os::machine;
use swath_os::residency::residency;
use swath_plan::extent::Extent;
use swath_plan::policy::{Decision, Engine, Facts, PageCache, Reuse, SMALL};
use swath_plan::schedule::{Scheduler, Setup};
use swath_plan::window::{self, Residency};

use crate::engine::{DropBehind, Manner};
use crate::options::{Advice, ReadOptions};
use crate::report::Report;
use crate::source::Opened;

/// From this length on it pays to ask how much memory is at hand.
const LARGE: u64 = 64 << 20;
/// How often a lease may fail for a passing reason.
const RETRIES: u32 = 3;

/// What can be known about `extent` of `source` at a cost below 1 % of reading it.
pub(crate) fn facts(source: &Opened, extent: Extent, options: &ReadOptions) -> Facts {
    let wishes = &options.wishes;
    let (storage, ring) = source.storage();
    let large = extent.len() >= LARGE;
    let memory = if large { machine::memory_at_hand().unwrap_or(u64::MAX) } else { u64::MAX };
    let cores =
        if large { machine::usable_cpus() } else { machine::usable_cpus_at_start() } as u64;
    let may_bypass = match wishes.page_cache {
        PageCache::Bypass => true,
        PageCache::Auto => wishes.reuse == Reuse::Once || extent.len() > memory / 4,
        PageCache::Keep | PageCache::Drop => false,
    };
    let direct = if may_bypass { source.direct().map(|direct| direct.unit) } else { None };
    let asks = wishes.engine == Engine::Auto || wishes.page_cache == PageCache::Drop;
    let residency =
        if asks && extent.len() > SMALL { look(source, extent) } else { Vec::new() };
    Facts { extent, storage, residency, direct, ring, map: false, cores, memory }
}

/// Samples the page cache, window by window.
fn look(source: &Opened, extent: Extent) -> Vec<Residency> {
    let Some(file) = source.file() else { return Vec::new() };
    let mut known = Vec::new();
    for window in window::windows(extent) {
        let (mut cached, mut seen) = (0, 0);
        for sample in window::samples(window) {
            // EPERM means unknown: then `mincore` would claim that everything is there.
            let Ok(pages) = residency(file, sample.offset(), sample.len()) else {
                return known;
            };
            cached += pages.cached_pages;
            seen += pages.total_pages;
        }
        known.push(Residency::from_sample(cached, seen));
    }
    known
}

/// Whether every window of a survey is in the page cache.
pub(crate) fn all_resident(facts: &Facts) -> bool {
    let wanted = window::windows(facts.extent).count();
    facts.residency.len() == wanted
        && facts.residency.iter().all(|&known| known == Residency::Resident)
}

/// The scheduler for a decision; the ring's slot comes behind the workers'.
pub(crate) fn scheduler(
    decision: &Decision,
    options: &ReadOptions,
    ahead: Option<NonZeroU64>,
) -> Scheduler {
    let mut slots = decision.workers.clone();
    slots.push(decision.ring_queues.clone());
    Scheduler::new(Setup {
        queues: decision.queues.clone(),
        slots,
        cut: decision.cut,
        retries: RETRIES,
        ahead,
        rate_bytes_per_s: options.rate_bytes_per_s,
    })
}

/// How the engine is to run, for a decision.
pub(crate) fn manner(
    decision: &Decision,
    facts: &Facts,
    options: &ReadOptions,
) -> Manner<'static> {
    let drop_behind = (decision.page_cache == PageCache::Drop).then(|| DropBehind {
        first_window: facts.extent.offset() / window::WINDOW_SIZE,
        residency: facts.residency.clone(),
    });
    Manner {
        chunk_size: Some(decision.chunk_size),
        drop_behind,
        io_priority: options.io_priority,
        map: None,
        map_offset: 0,
    }
}

/// Tells the kernel what the caller wants it told; what it cannot be told is returned.
pub(crate) fn advise(source: &Opened, extent: Extent, advice: Advice) -> Option<String> {
    let wanted = match advice {
        Advice::None => return None,
        Advice::WillNeed => FileAdvice::WillNeed,
        Advice::Sequential => FileAdvice::Sequential,
        Advice::Random => FileAdvice::Random,
        Advice::HugePage | Advice::MapAhead => {
            return Some(String::from("this advice is for maps only: not given"));
        }
    };
    let file = source.file()?;
    let refused = advise_file(file, extent.offset(), extent.len(), wanted).err()?;
    Some(format!("advice refused: {refused}"))
}

/// The report of a decision, before anything has been counted.
pub(crate) fn report(decision: &Decision) -> Report {
    Report {
        engine: decision.engine,
        page_cache: decision.page_cache,
        workers: (decision.workers.len() as u64).max(1),
        queue_depth: decision.workers.len() as u64 + decision.ring_depth,
        fallbacks: decision.fallbacks.clone(),
        ..Report::serial(&decision.reason, decision.chunk_size.get())
    }
}
