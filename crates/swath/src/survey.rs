//! Looks at a source once, so that the policy can decide: the verbs' common
//! beginning, and their common end.

use std::fs::File;
use std::num::NonZeroU64;
use std::sync::OnceLock;
use std::time::Instant;

use swath_os::advise::{FileAdvice, advise_file};
use swath_os::residency::residency;
use swath_os::{machine, usage};
use swath_plan::extent::Extent;
use swath_plan::fallback::Fallback;
use swath_plan::policy::{Decision, Engine, Facts, PageCache, Reuse, SMALL, Storage};
use swath_plan::schedule::{Scheduler, Setup};
use swath_plan::window::{self, Residency};

use crate::engine::crew::Watch;
use crate::engine::stream::Stream;
use crate::engine::{self, DropBehind, Job, Manner};
use crate::error::{Error, Operation, Reason, Result};
use crate::observe::Observer;
use crate::options::{Advice, Costs, ReadOptions};
use crate::report::{Report, Tally, Usage};
use crate::source::{Kind, Opened};

/// Below this length, and below a sixteenth of all memory, nobody asks how much is at hand: the
/// question costs a sixth of a millisecond.
const LARGE: u64 = 256 << 20;
/// Windows that are looked at before a read: 256 GiB, in a hundredth of a second.
pub(crate) const WINDOWS: usize = 16 << 10;

/// What can be known about `extent` of `source` at a cost below 1 % of reading it.
///
/// At most `most_windows` windows are looked at; what is behind them is unknown.
pub(crate) fn facts(
    source: &Opened,
    extent: Extent,
    options: &ReadOptions,
    most_windows: usize,
) -> Facts {
    let wishes = &options.wishes;
    let large = is_large(extent.len());
    let memory = if large { machine::memory_at_hand().unwrap_or(u64::MAX) } else { u64::MAX };
    let cores =
        if large { machine::usable_cpus() } else { machine::usable_cpus_at_start() } as u64;
    let may_bypass = match wishes.page_cache {
        PageCache::Bypass => true,
        PageCache::Auto => wishes.reuse == Reuse::Once || extent.len() > memory / 4,
        PageCache::Keep | PageCache::Drop => false,
    };
    let asks = wishes.engine == Engine::Auto || wishes.page_cache == PageCache::Drop;
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
        memory,
        copies: source.copies(),
        tuning: options.tuning(),
        hints: source.hints(),
    };
    // What is in the page cache comes from there, wherever it lives: no need to find out.
    let small = extent.len() <= SMALL && wishes.engine == Engine::Auto;
    if may_bypass || !(small || all_resident(&facts)) {
        let place = source.place();
        (facts.storage, facts.ring) = (place.storage, place.ring);
        facts.readahead = place.readahead;
    }
    if may_bypass {
        facts.direct = source.direct().map(|direct| direct.unit);
    }
    facts
}

/// Whether a read of `len` bytes is worth asking how much memory is at hand.
pub(crate) fn is_large(len: u64) -> bool {
    len >= LARGE.min(memory_total() / 16)
}

fn memory_total() -> u64 {
    static TOTAL: OnceLock<u64> = OnceLock::new();
    *TOTAL.get_or_init(|| machine::memory_total().unwrap_or(0))
}

/// Samples the page cache, window by window.
fn look(source: &Opened, extent: Extent, most: usize) -> Vec<Residency> {
    // Of copies, that which is read first stands for all.
    let Some(&file) = source.files().first() else { return Vec::new() };
    let mut known = Vec::new();
    for window in window::windows(extent).take(most) {
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
    facts.residency.len() as u64 == window::count(facts.extent)
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
        retries: engine::RETRIES,
        pause: engine::pause(),
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
        watch: decision.crew.map(Watch::new),
    }
}

/// Tells the kernel what the caller wants it told; what it cannot be told is returned.
pub(crate) fn advise(source: &Opened, extent: Extent, advice: Advice) -> Option<Fallback> {
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

/// The report of a decision, before anything has been counted.
pub(crate) fn report(decision: &Decision, options: &ReadOptions) -> Report {
    Report {
        profile: options.profile_name(),
        engine: decision.engine,
        page_cache: decision.page_cache,
        workers: (decision.first_workers() as u64).max(1),
        queue_depth: decision.first_workers() as u64 + decision.ring_depth,
        fallbacks: decision.fallbacks.clone(),
        ..Report::serial(&decision.reason, decision.chunk_size.get())
    }
}

/// What a stream's buffer starts with.
pub(crate) const STREAM_SIZE: usize = 1 << 20;

/// The report of a source that only came in order.
pub(crate) fn stream_report(source: &Opened, tally: Tally) -> Report {
    let reason = match source.kind() {
        Kind::Stream => "not seekable: read in order by one thread",
        Kind::Made | Kind::Sized(_) => "made by the kernel when read: in order until it ends",
    };
    let mut report = Report::serial(reason, STREAM_SIZE as u64);
    report.fill_in(tally, Vec::new());
    report
}

/// The error of a read that was cancelled before it began.
pub(crate) fn cancelled_before(
    observer: &Observer,
    source: &Opened,
    extent: Extent,
) -> Result<()> {
    if !observer.is_cancelled() {
        return Ok(());
    }
    let error = Error::new(Operation::Read, Reason::Cancelled, source.name());
    Err(error.at(extent).detail("cancelled"))
}

/// Time and cost of one call.
pub(crate) struct Clock {
    started: Instant,
    usage: Option<Usage>,
    /// Fall-backs from before the call.
    noted: Vec<Fallback>,
}

impl Clock {
    pub(crate) fn start(options: &ReadOptions) -> Self {
        let usage = (options.costs == Costs::Process).then(|| usage::usage().ok()).flatten();
        Self { started: Instant::now(), usage, noted: options.noted.clone() }
    }

    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    pub(crate) fn stop(self, mut report: Report) -> Report {
        report.elapsed = self.started.elapsed();
        report.fallbacks.splice(0..0, self.noted);
        let now = self.usage.as_ref().and_then(|_| usage::usage().ok());
        report.usage = now.zip(self.usage).map(|(now, before)| now.since(&before));
        report
    }
}

impl ReadOptions {
    pub(crate) fn observer(&self, extent: Extent) -> Observer {
        Observer::new(self.hooks.clone(), Some(extent.len()))
    }

    pub(crate) fn skip_in(&self, stream: &mut Stream<'_>, source: &Opened) -> Result<()> {
        let reached = stream.skip(self.offset)?;
        if reached < self.offset {
            let extent = Extent::between(self.offset, self.offset);
            return Err(source.truncated(extent, reached).hint("ask for less"));
        }
        stream.tally.bytes = 0;
        Ok(())
    }
}

/// Ends a job: its failure, a change of its source, or its complete report.
pub(crate) fn finish(
    job: &Job<'_>,
    source: &Opened,
    extent: Extent,
    options: &ReadOptions,
    mut report: Report,
) -> Result<Report> {
    if let Some(error) = job.failure() {
        return Err(error);
    }
    source.check_unchanged(extent, options.growth)?;
    job.tell(&mut report);
    Ok(report)
}
