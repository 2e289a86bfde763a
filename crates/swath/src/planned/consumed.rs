//! Decides how to read bytes that workers process and do not keep.

use std::num::NonZeroU64;

use swath_plan::policy::{Decision, Engine, FAR_AHEAD, Facts, PageCache, by_workers, decide};

use crate::options::ReadOptions;

/// The default `chunk_size` of `scan`, `sum`, `count` and `copy`: it stays in the second-level cache.
pub(crate) const FOLD_SIZE: NonZeroU64 = NonZeroU64::new(512 << 10).unwrap();

/// Returns the policy's decision for an extent that workers process and do not keep, and whether
/// whole leases are read at once.
pub(crate) fn decide_to_consume(facts: &Facts, options: &ReadOptions) -> (Decision, bool) {
    let (no_ring, no_shares) =
        ("a scan folds on its workers", "a scan goes in order, used `dynamic`");
    let (mut wishes, fallbacks) = by_workers(&options.wishes, no_ring, no_shares);
    let chunk_size = NonZeroU64::new(wishes.chunk_size).unwrap_or(FOLD_SIZE);
    wishes.chunk_size = chunk_size.get();
    let tuning = facts.tuning.beside_work(facts.cores);
    let facts = Facts { ring: false, processes: true, tuning, ..facts.clone() };
    let mut decision = decide(&facts, &wishes);
    decision.fallbacks.extend(fallbacks);
    // The caller's chunk size holds, whatever unit a device reads in.
    decision.chunk_size = chunk_size;
    let chunks = (decision.cut.size.get() / chunk_size).max(1);
    let size = chunk_size.get().saturating_mul(chunks);
    decision.cut.size = NonZeroU64::new(size).unwrap_or(chunk_size);
    // A kernel that reads far ahead keeps the device busy, and short calls leave bytes in the processor's cache.
    let is_ahead = facts.readahead >= FAR_AHEAD && decision.page_cache == PageCache::Keep;
    let is_cold = wishes.engine == Engine::Auto && !facts.is_resident();
    let by_lease = facts.copies > 0 || (is_cold && !is_ahead);
    (decision, by_lease)
}
