//! The policy of `auto`: turns facts about a file and the caller's options into one way of reading.
//!
//! ```text
//! Facts (len, residency, storage, cores, memory) ┐
//! Wishes (engine, page cache, workers, sizes)    ├→ decide → Decision (runs, workers, reason)
//! Tuning (what was measured to be faster here)   │
//! Hints (what a source says that is not a file)  ┘
//! ```
//!
//! `docs/design/auto.md` has the rules and the measurements that led to them. No request is dropped
//! silently: the decision lists the substitute for each that cannot be honoured.

use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};
use core::num::NonZeroU64;
use core::ops::RangeInclusive;

use crate::chunk::ChunkPlan;
use crate::crew::Bounds;
use crate::extent::Extent;
use crate::fallback::{DirectUse, Fallback};
use crate::schedule::{LeaseCut, Run, Way};
use crate::window::{self, Residency};

mod auto;
mod foreign;
mod ordered;
mod reason;
mod tuning;

pub use crate::wishes::{Engine, PageCache, Reuse, Schedule, Wishes};
pub use foreign::{Hints, ParallelRequests, SourceKind, block_size};
pub use ordered::in_order;
pub use reason::small_reason;
pub use tuning::Tuning;

/// Up to this many bytes, one `pread` without any thread is fastest.
pub const SMALL: u64 = 64 << 10;
/// The default size of one read.
pub const READ_SIZE: u64 = 1 << 20;
/// The lease of a worker for buffered reads: a huge page of the destination, so that no two workers
/// populate the same page.
const LEASE_SIZE: u64 = 2 << 20;
/// For fewer bytes, a worker costs more than it gains if the page cache holds them.
const WORKER_SHARE: u64 = 4 << 20;
/// Buffered reads in flight for a cold local device, whatever the core count.
const COLD_WORKERS: u64 = 4;
/// A kernel that reads this far ahead keeps a device busy for one thread; a second thread would
/// break the pattern by which the kernel recognises sequential reads.
pub const FAR_AHEAD: u64 = 2 << 20;
/// Above this length several threads win anyway: a single thread's copying would be the limit.
const LONG: u64 = 256 << 20;
/// Direct reads in flight for a local device.
const DIRECT_DEPTH: u64 = 16;
/// The most workers, and reads in flight.
pub const MOST_IN_FLIGHT: u64 = 1024;
/// Requests in flight, and their size, for spinning disks and networks.
const ORDERED: (u64, u64) = (2, 4 << 20);

/// The storage of a file, in the categories that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// A local device without moving parts, or one that hides them.
    Local,
    /// A local spinning disk.
    Rotational,
    /// Another machine.
    Network,
    /// A FUSE program, and whatever it reads from.
    Fuse,
    /// Memory: there is no device to bypass the page cache for.
    Memory,
    /// A source that only implements `read_at`: no descriptor, no page cache.
    Foreign,
}

/// The facts about one file and this machine.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The bytes to read.
    pub extent: Extent,
    /// Their storage.
    pub storage: Storage,
    /// The residency of each [window] of the extent; empty if it was not inspected.
    pub residency: Vec<Residency>,
    /// The unit of `O_DIRECT` offsets and lengths; `None` if that is not possible.
    pub direct: Option<NonZeroU64>,
    /// Whether `io_uring` may read this file.
    pub ring: bool,
    /// Bytes that the kernel reads ahead for one sequential thread; 0 if unknown.
    pub readahead: u64,
    /// Processors this process may use.
    pub cores: u64,
    /// Whether workers also process the bytes, so that one of them does not keep the device busy.
    pub processes: bool,
    /// Bytes of memory still available to this process; `u64::MAX` if not checked.
    pub memory: u64,
    /// Copies on separate devices that are read in parallel; 0 for a source that is not mirrored.
    pub copies: u64,
    /// Settings measured to be faster than the defaults on this storage.
    pub tuning: Tuning,
    /// The hints of the source, if it is not a file.
    pub hints: Hints,
}

impl Facts {
    /// Whether every window of the extent was inspected and found in the page cache.
    pub fn is_resident(&self) -> bool {
        self.residency.len() as u64 == window::count(self.extent)
            && self.residency.iter().all(|&known| known == Residency::Resident)
    }
}

/// The way to read.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Never `Auto`. With `Ring`, `workers` may read buffered runs in addition.
    pub engine: Engine,
    /// Never `Auto`.
    pub page_cache: PageCache,
    /// The runs, a list for each queue of the scheduler.
    pub queues: Vec<Vec<Run>>,
    /// The queues that each blocking worker serves, for the maximum number of workers.
    pub workers: Vec<Vec<usize>>,
    /// Set if only some of them begin, and the best number is found while reading.
    pub crew: Option<Bounds>,
    /// Entries of the ring; 0: there is no ring.
    pub ring_depth: u64,
    /// The queues that the ring serves.
    pub ring_queues: Vec<usize>,
    /// The places at which runs are cut into leases.
    pub cut: LeaseCut,
    /// Bytes of one call.
    pub chunk_size: NonZeroU64,
    /// The reason, in one sentence.
    pub reason: String,
    /// Options that could not be honoured, with their substitutes.
    pub fallbacks: Vec<Fallback>,
}

impl Decision {
    /// Whether some bytes are read directly, bypassing the page cache.
    pub fn is_direct(&self) -> bool {
        self.queues.iter().flatten().any(|run| run.way == Way::Direct)
    }

    /// Drops workers without a lease, if all workers serve the same queues. For the final decision:
    /// a verb may change where leases are cut.
    pub fn leave_out_idle(&mut self) {
        let are_alike = self.workers.iter().all(|queues| *queues == self.workers[0]);
        if self.crew.is_some() || !are_alike {
            return;
        }
        let leases = self.queues.iter().flatten().map(|run| self.cut.leases(run.extent));
        let leases = leases.fold(0, u64::saturating_add).max(1);
        self.workers.truncate(to_usize(leases));
    }

    /// Returns the number of workers to begin with.
    pub fn first_workers(&self) -> usize {
        self.crew.map_or(self.workers.len(), |bounds| bounds.first)
    }
}

/// Decides how to read.
pub fn decide(facts: &Facts, wishes: &Wishes) -> Decision {
    let mut fallbacks = Vec::new();
    let hinted = foreign::bounded(facts, &mut fallbacks);
    let facts = hinted.as_ref().unwrap_or(facts);
    let wishes = &bounded(wishes, &mut fallbacks);
    // A requested engine is used as it is.
    let tuning = match wishes.engine {
        Engine::Auto => facts.tuning.bounded(&mut fallbacks),
        _ => Tuning::default(),
    };
    let page_cache = choose_page_cache(facts, wishes, &tuning, &mut fallbacks);
    let engine = choose_engine(facts, wishes, &mut fallbacks);
    match engine {
        Engine::Auto => auto::auto(facts, wishes, &tuning, page_cache, fallbacks),
        engine => fixed(facts, wishes, engine, page_cache, fallbacks),
    }
}

/// Returns the options for workers that take the next lease, without a ring and without fixed
/// shares, for these reasons; and the resulting fallbacks.
pub fn by_workers(
    wishes: &Wishes,
    no_ring: &'static str,
    no_shares: &'static str,
) -> (Wishes, Vec<Fallback>) {
    let (mut wishes, mut fallbacks) = (*wishes, Vec::new());
    if wishes.engine == Engine::Ring {
        let (asked, used) = (Engine::Ring, Engine::Pool);
        fallbacks.push(Fallback::EngineUnused { asked, used, why: no_ring });
        wishes.engine = used;
    }
    if wishes.schedule == Schedule::Static {
        fallbacks.push(Fallback::Unused { what: "schedule `static`", why: no_shares });
        wishes.schedule = Schedule::Dynamic;
    }
    (wishes, fallbacks)
}

/// Bounds absurd numbers of threads or reads in flight, which are a mistake and cost memory.
fn bounded(wishes: &Wishes, fallbacks: &mut Vec<Fallback>) -> Wishes {
    let mut wishes = *wishes;
    for (what, wish) in
        [("workers", &mut wishes.workers), ("queue depth", &mut wishes.queue_depth)]
    {
        if *wish > MOST_IN_FLIGHT {
            let (asked, used) = (*wish, MOST_IN_FLIGHT);
            fallbacks.push(Fallback::TooMany { what, asked, used });
            *wish = used;
        }
    }
    wishes
}

/// Clamps a number from another source, which is named, and reports it; 0 stays.
fn keep_in_range(
    from: &'static str,
    what: &'static str,
    number: &mut u64,
    range: RangeInclusive<u64>,
) -> Option<Fallback> {
    let asked = *number;
    if asked == 0 || range.contains(&asked) {
        return None;
    }
    *number = asked.clamp(*range.start(), *range.end());
    Some(Fallback::OutOfRange { from, what, asked, used: *number })
}

fn choose_page_cache(
    facts: &Facts,
    wishes: &Wishes,
    tuning: &Tuning,
    fallbacks: &mut Vec<Fallback>,
) -> PageCache {
    let may_bypass = wishes.may_bypass(facts.extent.len(), facts.memory);
    let can_bypass = facts.direct.is_some() && tuning.bypasses();
    let asked = wishes.page_cache;
    let mut instead = |used: PageCache, why: &'static str| {
        fallbacks.push(Fallback::PageCacheUnused { asked, used, why });
        used
    };
    match asked {
        PageCache::Auto if wishes.engine == Engine::Map => PageCache::Keep,
        PageCache::Drop | PageCache::Bypass if wishes.engine == Engine::Map => {
            instead(PageCache::Keep, "a map keeps")
        }
        PageCache::Auto if facts.storage == Storage::Foreign => PageCache::Keep,
        PageCache::Drop | PageCache::Bypass if foreign::is_foreign(facts) => {
            instead(PageCache::Keep, "the source is not a file and has none")
        }
        PageCache::Auto if may_bypass && can_bypass => PageCache::Bypass,
        PageCache::Auto if wishes.reuse == Reuse::Once => PageCache::Drop,
        PageCache::Auto => PageCache::Keep,
        PageCache::Bypass if facts.direct.is_some() => PageCache::Bypass,
        PageCache::Bypass if facts.copies > 0 => {
            instead(PageCache::Drop, "copies are compared")
        }
        PageCache::Bypass => {
            let why = String::from("O_DIRECT is not possible here");
            fallbacks.push(Fallback::DirectRefused { at: DirectUse::Open, why });
            PageCache::Drop
        }
        PageCache::Keep | PageCache::Drop => asked,
    }
}

fn choose_engine(facts: &Facts, wishes: &Wishes, fallbacks: &mut Vec<Fallback>) -> Engine {
    match wishes.engine {
        Engine::Ring if !facts.ring => {
            let why = match facts.storage {
                _ if facts.copies > 0 => "copies are compared and fail over",
                Storage::Foreign => "the source is not a file",
                _ => "not usable here (kernel, sandbox or file system)",
            };
            let (asked, used) = (Engine::Ring, Engine::Pool);
            fallbacks.push(Fallback::EngineUnused { asked, used, why });
            used
        }
        wish => wish,
    }
}

/// Applies a requested engine to the whole extent.
fn fixed(
    facts: &Facts,
    wishes: &Wishes,
    engine: Engine,
    page_cache: PageCache,
    mut fallbacks: Vec<Fallback>,
) -> Decision {
    let is_inspected = wishes.page_cache == PageCache::Auto;
    let from_cache = is_inspected && facts.is_resident();
    let way = match page_cache {
        PageCache::Bypass if !from_cache => Way::Direct,
        _ => Way::Buffered,
    };
    let way_of = |known| if is_inspected { auto::way_of(known, way) } else { way };
    let wish = [wishes.chunk_size, facts.hints.request_size].into_iter().find(|&size| size > 0);
    let chunk_size = chunk_size(facts, wish.unwrap_or(0), way, &mut fallbacks);
    let count = match engine {
        Engine::Serial => 1,
        Engine::Ring => 0,
        _ if wishes.workers > 0 => wishes.workers,
        _ if facts.hints.queue_depth > 0 => facts.hints.queue_depth,
        _ if way == Way::Direct => depth(facts, wishes.queue_depth),
        _ => facts.cores.max(1).saturating_mul(facts.copies.max(1)),
    };
    let chunks = ChunkPlan::new(facts.extent, chunk_size);
    let count = count.min(chunks.count().max(1));
    let shared = wishes.schedule == Schedule::Dynamic || count <= 1;
    let (queues, workers): (Vec<Vec<Run>>, Vec<Vec<usize>>) = if shared {
        let runs = runs(facts, facts.extent, way, way_of);
        (vec![runs], (0..count).map(|_| vec![0]).collect())
    } else {
        let shares = chunks.shares(count).map(|extent| runs(facts, extent, way, way_of));
        (shares.collect(), (0..).take(to_usize(count)).map(|queue| vec![queue]).collect())
    };
    if engine == Engine::Ring && (wishes.workers > 0 || wishes.schedule == Schedule::Static) {
        let why = "one thread, so no workers and no schedule";
        fallbacks.push(Fallback::Unused { what: "engine `ring`", why });
    }
    let ring_depth = match engine {
        Engine::Ring => depth(facts, wishes.queue_depth),
        _ => 0,
    };
    Decision {
        engine,
        page_cache,
        queues,
        workers,
        crew: None,
        ring_depth,
        ring_queues: if ring_depth > 0 { vec![0] } else { Vec::new() },
        cut: cut(facts, chunk_size, way),
        chunk_size,
        reason: format!("engine `{engine}` was requested"),
        fallbacks,
    }
}

fn depth(facts: &Facts, wish: u64) -> u64 {
    match facts.storage {
        _ if wish > 0 => wish,
        Storage::Rotational | Storage::Network => ORDERED.0,
        _ => DIRECT_DEPTH,
    }
}

/// Returns the bytes of one call: the request, rounded to whole units of the device for direct
/// reads.
fn chunk_size(facts: &Facts, wish: u64, way: Way, fallbacks: &mut Vec<Fallback>) -> NonZeroU64 {
    let wish = NonZeroU64::new(wish);
    let size = wish.or(NonZeroU64::new(READ_SIZE)).unwrap_or(NonZeroU64::MIN);
    let unit = facts.direct.filter(|_| way == Way::Direct).map_or(1, NonZeroU64::get);
    let rounded = size.get().checked_next_multiple_of(unit).and_then(NonZeroU64::new);
    match rounded {
        Some(rounded) if rounded != size => {
            let (asked, used) = (size.get(), rounded.get());
            fallbacks.push(Fallback::ChunkSizeRounded { asked, unit, used });
            rounded
        }
        _ => size,
    }
}

/// Returns the cuts: small chunks are handed out together, to save a lock for each.
fn cut(facts: &Facts, chunk_size: NonZeroU64, way: Way) -> LeaseCut {
    // The kernel joins adjacent requests of a ring, but not those of several threads.
    let lease = if way == Way::Direct && facts.ring { READ_SIZE } else { LEASE_SIZE };
    let chunks = (lease / chunk_size).max(1);
    let size = NonZeroU64::new(chunk_size.get().saturating_mul(chunks)).unwrap_or(chunk_size);
    // Direct reads start at multiples of the unit in the file, wherever the extent does.
    let base = if way == Way::Direct { 0 } else { facts.extent.offset() };
    LeaseCut { base, size }
}

/// Splits the extent into runs, with the way chosen for each window. Only whole units can be read
/// directly; the rest at either end is buffered.
fn runs(
    facts: &Facts,
    extent: Extent,
    way: Way,
    choose: impl Fn(Residency) -> Way,
) -> Vec<Run> {
    let unit = facts.direct.map_or(1, NonZeroU64::get);
    let first = extent.offset().checked_next_multiple_of(unit).unwrap_or(u64::MAX);
    let inner = Extent::between(first, extent.end() / unit * unit);
    if way == Way::Buffered || inner.is_empty() {
        return vec![Run { extent, way: Way::Buffered }];
    }
    let mut runs: Vec<Run> = Vec::new();
    let mut push = |extent: Extent, way: Way| match runs.last_mut() {
        _ if extent.is_empty() => {}
        Some(last) if last.way == way && last.extent.end() == extent.offset() => {
            last.extent = Extent::between(last.extent.offset(), extent.end());
        }
        _ => runs.push(Run { extent, way }),
    };
    push(Extent::between(extent.offset(), inner.offset()), Way::Buffered);
    let mut looked_at = facts.extent.offset();
    for (window, &known) in window::windows(facts.extent).zip(&facts.residency) {
        push(window.intersect(inner), choose(known));
        looked_at = window.end();
    }
    let rest = Extent::between(looked_at, facts.extent.end());
    push(rest.intersect(inner), choose(Residency::Unknown));
    push(Extent::between(inner.end(), extent.end()), Way::Buffered);
    runs
}

fn to_usize(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
