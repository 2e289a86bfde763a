//! Sources that only implement `read_at`: their hints, and the resulting decisions.
//!
//! Nothing is known about the storage of such a source. So requests are larger than those to the
//! kernel, and a [`Crew`](crate::crew::Crew) finds how many pay off, unless the caller or the
//! source decides.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU64;

use super::keep_in_range;
use super::tuning::{LEAST_CHUNK, MOST_CHUNK};
use super::{
    DIRECT_DEPTH, Decision, Engine, Facts, LEASE_SIZE, MOST_IN_FLIGHT, ORDERED, PageCache,
    READ_SIZE, Storage, WORKER_SHARE, Wishes, to_usize,
};
use crate::chunk::ChunkPlan;
use crate::crew::Bounds;
use crate::fallback::Fallback;
use crate::schedule::{LeaseCut, Run, Way};

/// The most workers by default.
const MOST_WORKERS: u64 = 64;
/// Workers to begin with if requests are known to wait.
const FIRST_REMOTE: u64 = 16;
/// Size of one request in bytes, if there are enough of them for all workers. Larger requests pay
/// for the wait once for more bytes, but delay consumers that wait for the last one.
const REQUEST_SIZE: u64 = 4 << 20;
/// Bytes in flight or held by a consumer that stores them separately, for all workers together.
pub(super) const MOST_IN_HAND: u64 = 128 << 20;

/// The storage of a source that is not a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SourceKind {
    /// Unknown.
    #[default]
    Unknown,
    /// Memory: requests do not wait.
    Memory,
    /// A local device without moving parts.
    Device,
    /// A local spinning disk.
    Disk,
    /// Another machine: each request waits.
    Remote,
}

/// Whether several requests at a time are faster than one after another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParallelRequests {
    /// Unknown: found out while reading.
    #[default]
    Unknown,
    /// They are.
    Pay,
    /// They are not: one at a time.
    DoNotPay,
}

/// The hints of a source; 0 and `Unknown` mean "unknown".
///
/// Requests of the caller take precedence, then measurements, then these hints, then the
/// defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Its storage.
    pub kind: SourceKind,
    /// The best size of a request in bytes.
    pub request_size: u64,
    /// The number of requests in flight that pays off.
    pub queue_depth: u64,
    /// Whether more than one pays off at all.
    pub parallel: ParallelRequests,
}

impl Hints {
    /// Clamps absurd values, and reports them.
    fn bounded(&self, fallbacks: &mut Vec<Fallback>) -> Self {
        let mut hints = *self;
        for (name, (least, most), number) in [
            ("request size", (LEAST_CHUNK, MOST_CHUNK), &mut hints.request_size),
            ("queue depth", (1, MOST_IN_FLIGHT), &mut hints.queue_depth),
        ] {
            fallbacks.extend(keep_in_range("source", name, number, least..=most));
        }
        hints
    }
}

/// Returns the facts with their hints clamped to sensible values, if there are any.
pub(super) fn bounded(facts: &Facts, fallbacks: &mut Vec<Fallback>) -> Option<Facts> {
    if facts.hints == Hints::default() {
        return None;
    }
    Some(Facts { hints: facts.hints.bounded(fallbacks), ..facts.clone() })
}

/// Whether `facts` describe a source that is neither a file nor copies.
pub(super) fn is_foreign(facts: &Facts) -> bool {
    facts.storage == Storage::Foreign && facts.copies == 0
}

/// Decides how to read a source that is neither a file nor copies.
pub(super) fn auto(
    facts: &Facts,
    wishes: &Wishes,
    page_cache: PageCache,
    fallbacks: Vec<Fallback>,
) -> Decision {
    let chunk = match wishes.chunk_size {
        0 => request_size(facts),
        size => size,
    };
    let chunk_size = NonZeroU64::new(chunk).unwrap_or(NonZeroU64::MIN);
    let cut = cut(facts, chunk_size);
    let (first, crew) = workers(facts, wishes, cut.size);
    let count = crew.map_or(to_usize(first), |bounds| bounds.most);
    Decision {
        engine: if count > 1 { Engine::Pool } else { Engine::Serial },
        page_cache,
        queues: vec![vec![Run { extent: facts.extent, way: Way::Buffered }]],
        workers: vec![vec![0]; count],
        crew,
        ring_depth: 0,
        ring_queues: Vec::new(),
        cut,
        chunk_size,
        reason: reason(facts, wishes, first, crew),
        fallbacks,
    }
}

/// Returns the cuts: several chunks are handed out together.
fn cut(facts: &Facts, chunk_size: NonZeroU64) -> LeaseCut {
    let chunks = (lease_size(facts) / chunk_size).max(1);
    let size = NonZeroU64::new(chunk_size.get().saturating_mul(chunks)).unwrap_or(chunk_size);
    LeaseCut { base: facts.extent.offset(), size }
}

/// Returns the size of one request in bytes; for requests that wait, see [`waited_size`].
fn request_size(facts: &Facts) -> u64 {
    match (facts.hints.request_size, facts.hints.kind) {
        (0, SourceKind::Memory | SourceKind::Device | SourceKind::Unknown) => READ_SIZE,
        (0, SourceKind::Disk) => ORDERED.1,
        (0, SourceKind::Remote) => waited_size(facts),
        (size, _) => size,
    }
}

/// Returns the size of one request in bytes if it has to wait.
fn waited_size(facts: &Facts) -> u64 {
    let share = facts.extent.len() / MOST_WORKERS;
    let share = share.checked_ilog2().map_or(0, |bits| 1 << bits);
    share.clamp(READ_SIZE, REQUEST_SIZE)
}

/// Returns the size of a block in bytes, if the caller gave none: `usual`, or the source's best
/// size.
pub fn block_size(facts: &Facts, usual: u64) -> u64 {
    let hinted = facts.hints.request_size.min(MOST_CHUNK);
    if is_foreign(facts) { usual.max(hinted) } else { usual }
}

/// Returns the bytes handed out at a time if chunks are smaller.
fn lease_size(facts: &Facts) -> u64 {
    match facts.hints.request_size {
        0 => request_size(facts).max(waited_size(facts)).min(LEASE_SIZE),
        hinted => hinted,
    }
}

/// Returns the workers to begin with, and the bounds if the best number is to be found.
fn workers(facts: &Facts, wishes: &Wishes, size: NonZeroU64) -> (u64, Option<Bounds>) {
    let requests = ChunkPlan::new(facts.extent, size).count().max(1);
    let shares = facts.extent.len().div_ceil(WORKER_SHARE).max(1);
    let hints = &facts.hints;
    let by_kind = match hints.kind {
        _ if wishes.workers > 0 => return (wishes.workers, None),
        _ if hints.parallel == ParallelRequests::DoNotPay => return (1, None),
        _ if hints.queue_depth > 0 => return (hints.queue_depth.min(requests), None),
        SourceKind::Memory => return (facts.cores.clamp(1, shares), None),
        SourceKind::Disk => return (ORDERED.0.min(requests), None),
        SourceKind::Device => DIRECT_DEPTH,
        SourceKind::Remote => FIRST_REMOTE,
        SourceKind::Unknown if hints.parallel == ParallelRequests::Pay => FIRST_REMOTE,
        SourceKind::Unknown => facts.cores.clamp(1, shares),
    };
    let first = by_kind.min(requests);
    let most = MOST_WORKERS.max(first).min(requests);
    // If the caller requests pieces of another size, a whole lease is read at once.
    let (request_size, waited_size) = match (wishes.chunk_size, hints.request_size) {
        (0, 0) => (request_size(facts), waited_size(facts).max(request_size(facts))),
        (0, hinted) => (hinted, hinted),
        _ => (size.get(), size.get()),
    };
    let (first_count, most) = (to_usize(first), to_usize(most));
    let bounds = Bounds { first: first_count, most, request_size, waited_size };
    (first, (most > first_count).then_some(bounds))
}

/// Returns the reason, in one sentence.
fn reason(facts: &Facts, wishes: &Wishes, first: u64, crew: Option<Bounds>) -> String {
    let hints = &facts.hints;
    let place = match hints.kind {
        SourceKind::Unknown => "not a file",
        SourceKind::Memory => "not a file: memory, it says",
        SourceKind::Device => "not a file: a local device, it says",
        SourceKind::Disk => "not a file: a spinning disk, it says",
        SourceKind::Remote => "not a file: another machine, it says",
    };
    let mut words = String::from(place);
    if hints.request_size > 0 && wishes.chunk_size == 0 {
        words += &format!("; requests of {} bytes, as it hints", hints.request_size);
    }
    match crew {
        Some(bounds) => {
            words += &format!("; from {first} to {} workers, as it responds", bounds.most);
        }
        None if wishes.workers > 0 => {}
        None if hints.parallel == ParallelRequests::DoNotPay => {
            words += "; one request at a time, as it hints";
        }
        None if hints.queue_depth > 0 => {
            words += &format!("; {first} requests in flight, as it hints");
        }
        None => {}
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::{Reuse, Tuning, decide, in_order};
    use super::*;
    use crate::extent::Extent;
    use alloc::string::ToString;

    const MIB: u64 = 1 << 20;

    fn foreign(len: u64, hints: Hints) -> Facts {
        Facts {
            extent: Extent::between(0, len),
            storage: Storage::Foreign,
            residency: Vec::new(),
            direct: None,
            ring: false,
            readahead: 0,
            cores: 2,
            processes: false,
            memory: u64::MAX,
            copies: 0,
            tuning: Tuning::default(),
            hints,
        }
    }

    fn decided(len: u64, hints: Hints, wishes: &Wishes) -> Decision {
        decide(&foreign(len, hints), wishes)
    }

    #[test]
    fn a_source_of_which_nothing_is_known_begins_with_few_workers_and_may_get_many() {
        for (len, chunk, first, most) in [
            (1024 * MIB, 4 * MIB, 2, 64),
            (255 * MIB, 2 * MIB, 2, 64),
            (64 * MIB, MIB, 2, 64),
            (8 * MIB, MIB, 2, 8),
            (2 * MIB, MIB, 1, 2),
        ] {
            let decision = decided(len, Hints::default(), &Wishes::default());
            let bounds = decision.crew.expect("found out");
            assert_eq!((bounds.request_size, bounds.waited_size), (MIB, chunk), "{len}");
            assert_eq!((bounds.first, bounds.most), (first, most), "{len}");
            assert_eq!((decision.workers.len(), decision.first_workers()), (most, first));
            assert!(decision.reason.contains("as it responds"), "{}", decision.reason);
        }
        let one = decided(MIB, Hints::default(), &Wishes::default());
        assert_eq!((one.engine, one.crew), (Engine::Serial, None), "one request");
    }

    #[test]
    fn what_the_source_says_comes_before_the_defaults() {
        let kind = |kind| Hints { kind, ..Hints::default() };
        let with = |hints| decided(1024 * MIB, hints, &Wishes::default());
        for (hinted, workers, most, chunk) in [
            (SourceKind::Memory, 2, 2, MIB),
            (SourceKind::Disk, 2, 2, 4 * MIB),
            (SourceKind::Device, 16, 64, MIB),
            (SourceKind::Remote, 16, 64, 4 * MIB),
        ] {
            let decision = with(kind(hinted));
            assert_eq!(decision.first_workers(), workers, "{hinted:?}");
            assert_eq!((decision.workers.len(), decision.chunk_size.get()), (most, chunk));
            assert!(decision.reason.contains("it says"), "{}", decision.reason);
        }
        let depth = with(Hints { queue_depth: 100, ..Hints::default() });
        assert_eq!((depth.workers.len(), depth.crew), (100, None));
        assert!(depth.reason.contains("100 requests in flight, as it hints"));
        let large = with(Hints { request_size: 16 * MIB, ..Hints::default() });
        assert_eq!((large.chunk_size.get(), large.workers.len()), (16 * MIB, 64));
        assert_eq!(large.crew.map(|bounds| bounds.waited_size), Some(16 * MIB));
        assert!(large.reason.contains("requests of 16777216 bytes, as it hints"));
        let parallel = ParallelRequests::DoNotPay;
        let alone = with(Hints { parallel, queue_depth: 9, ..Hints::default() });
        assert_eq!((alone.workers.len(), alone.engine), (1, Engine::Serial));
        assert!(alone.reason.contains("one request at a time, as it hints"));
        let pay = with(Hints { parallel: ParallelRequests::Pay, ..Hints::default() });
        assert_eq!((pay.first_workers(), pay.workers.len()), (16, 64));
    }

    #[test]
    fn what_the_caller_asks_for_comes_before_what_the_source_says() {
        let hints = Hints { request_size: 8 * MIB, queue_depth: 7, ..Hints::default() };
        let wishes = Wishes { workers: 3, chunk_size: 2 * MIB, ..Wishes::default() };
        let decision = decided(1024 * MIB, hints, &wishes);
        assert_eq!((decision.workers.len(), decision.crew), (3, None));
        assert_eq!(decision.chunk_size.get(), 2 * MIB);
        assert!(!decision.reason.contains("hints"), "{}", decision.reason);
        let pool = Wishes { engine: Engine::Pool, ..Wishes::default() };
        let decision = decided(1024 * MIB, hints, &pool);
        assert_eq!((decision.workers.len(), decision.chunk_size.get()), (7, 8 * MIB));
    }

    #[test]
    fn hints_that_nobody_can_mean_are_bounded_and_said() {
        let hints = Hints { request_size: 1, queue_depth: u64::MAX, ..Hints::default() };
        let decision = decided(1024 * MIB, hints, &Wishes::default());
        assert_eq!((decision.workers.len(), decision.chunk_size.get()), (1024, 4096));
        assert_eq!(decision.fallbacks.len(), 2, "{:?}", decision.fallbacks);
        let expected = Fallback::OutOfRange {
            from: "source",
            what: "request size",
            asked: 1,
            used: LEAST_CHUNK,
        };
        assert_eq!(decision.fallbacks[0], expected);
    }

    #[test]
    fn consumers_of_blocks_hold_a_bounded_number_of_them() {
        let hints = Hints { request_size: 16 * MIB, ..Hints::default() };
        let wishes = Wishes { chunk_size: MIB / 2, ..Wishes::default() };
        let extent = Extent::between(0, 4096 * MIB);
        let decision = in_order(decided(4096 * MIB, hints, &wishes), extent);
        assert_eq!((decision.cut.size.get(), decision.chunk_size.get()), (16 * MIB, MIB / 2));
        assert_eq!((decision.workers.len(), decision.first_workers()), (8, 2));
        let plain = in_order(decided(4096 * MIB, Hints::default(), &wishes), extent);
        assert_eq!((plain.cut.size.get(), plain.workers.len()), (2 * MIB, 64));
        assert_eq!(block_size(&foreign(9, hints), MIB), 16 * MIB);
        assert_eq!(block_size(&foreign(9, Hints::default()), MIB), MIB);
    }

    #[test]
    fn there_is_no_word_of_files_in_what_is_said_of_a_source() {
        for page_cache in [PageCache::Bypass, PageCache::Drop, PageCache::Auto] {
            for reuse in [Reuse::Once, Reuse::Unknown] {
                let wishes = Wishes { page_cache, reuse, ..Wishes::default() };
                let decision = decided(1024 * MIB, Hints::default(), &wishes);
                let told = decision.fallbacks.iter().map(ToString::to_string);
                let said = told.collect::<String>() + &decision.reason;
                assert!(!said.contains("O_DIRECT") && !said.contains("cached"), "{said}");
                assert_eq!(decision.page_cache, PageCache::Keep, "no page cache to spare");
            }
        }
    }
}
