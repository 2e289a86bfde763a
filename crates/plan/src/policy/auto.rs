//! The engine `auto`: chooses how to read one extent, from the known facts.

use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU64;

use super::reason::{Share, reason, small_reason};
use super::tuning::Taken;
use super::{
    COLD_WORKERS, Decision, Engine, FAR_AHEAD, Facts, LONG, ORDERED, PageCache, Storage,
    Tuning, WORKER_SHARE, Wishes, chunk_size, cut, depth, foreign, runs,
};
use crate::fallback::Fallback;
use crate::schedule::{Run, Way};
use crate::window::Residency;

pub(super) fn auto(
    facts: &Facts,
    wishes: &Wishes,
    tuning: &Tuning,
    page_cache: PageCache,
    mut fallbacks: Vec<Fallback>,
) -> Decision {
    let mut taken = Taken::default();
    let share = Share::of(facts);
    let bypass = page_cache == PageCache::Bypass && share.resident < facts.extent.len();
    let way = if bypass { Way::Direct } else { Way::Buffered };
    if wishes.take_one_read(facts.extent.len(), tuning.small_bytes()) && !bypass {
        let chunk_size = chunk_size(facts, wishes.chunk_size, way, &mut fallbacks);
        return one_read(facts, page_cache, chunk_size, tuning, fallbacks);
    }
    if foreign::is_foreign(facts) {
        return foreign::auto(facts, wishes, page_cache, fallbacks);
    }
    let could_bypass = facts.direct.is_some() && wishes.page_cache != PageCache::Drop;
    if page_cache == PageCache::Drop && !tuning.bypasses() && could_bypass {
        taken.note("no O_DIRECT");
    }
    let wish = auto_chunk_size(facts, wishes, tuning, &share, bypass, &mut taken);
    let chunk_size = chunk_size(facts, wish, way, &mut fallbacks);
    let runs = runs(facts, facts.extent, way, |residency| way_of(residency, way));
    let (buffered, direct): (Vec<_>, Vec<_>) =
        runs.into_iter().partition(|run| run.way == Way::Buffered);
    let mut ring = bypass && facts.ring && !direct.is_empty();
    if ring && tuning.direct_engine == Engine::Pool {
        taken.note("threads, no ring");
        ring = false;
    }
    let bytes = buffered.iter().map(|run| run.extent.len()).sum();
    let workers = match wishes.workers {
        _ if bytes == 0 => 0,
        0 => auto_workers(facts, tuning, &share, bypass, bytes, &mut taken),
        wished => wished,
    };
    let mut slots: Vec<Vec<usize>> = (0..workers).map(|_| vec![0]).collect();
    let depth = if bypass && (ring || wishes.workers == 0) {
        depth(facts, taken.pick("depth", wishes.queue_depth, tuning.direct_depth))
    } else {
        0
    };
    if bypass && !ring && wishes.workers > 0 {
        slots = (0..wishes.workers).map(|_| vec![1, 0]).collect();
    } else if bypass && !ring {
        // A blocked thread for each direct read; threads without one help with the rest.
        slots.extend((0..depth).map(|_| vec![1, 0]));
    }
    let engine = match (ring, slots.len()) {
        (true, _) => Engine::Ring,
        (false, 0 | 1) => Engine::Serial,
        _ => Engine::Pool,
    };
    Decision {
        engine,
        page_cache,
        queues: vec![buffered, direct],
        workers: slots,
        crew: None,
        ring_depth: if ring { depth } else { 0 },
        ring_queues: if ring { vec![1] } else { Vec::new() },
        cut: cut(facts, chunk_size, way),
        chunk_size,
        reason: reason(facts, &share, page_cache, bypass) + &taken.words(),
        fallbacks,
    }
}

pub(super) fn way_of(residency: Residency, missing: Way) -> Way {
    match residency {
        Residency::Resident => Way::Buffered,
        Residency::Partial | Residency::Absent | Residency::Unknown => missing,
    }
}

/// Returns the bytes of one call: as requested, or as known to be good for the source; 0: neither.
fn auto_chunk_size(
    facts: &Facts,
    wishes: &Wishes,
    tuning: &Tuning,
    share: &Share,
    bypass: bool,
    taken: &mut Taken,
) -> u64 {
    let tuned = match share.unknown {
        _ if bypass => tuning.direct_chunk_size,
        0 if share.absent == 0 => tuning.warm_chunk_size,
        0 => tuning.cold_chunk_size,
        _ => 0,
    };
    let ordered = matches!(facts.storage, Storage::Rotational | Storage::Network);
    match taken.pick("chunk size", wishes.chunk_size, tuned) {
        0 if ordered && share.absent > 0 => ORDERED.1,
        size => size,
    }
}

fn one_read(
    facts: &Facts,
    page_cache: PageCache,
    chunk_size: NonZeroU64,
    tuning: &Tuning,
    fallbacks: Vec<Fallback>,
) -> Decision {
    Decision {
        engine: Engine::Serial,
        page_cache,
        queues: vec![vec![Run { extent: facts.extent, way: Way::Buffered }]],
        workers: vec![vec![0]],
        crew: None,
        ring_depth: 0,
        ring_queues: Vec::new(),
        cut: cut(facts, chunk_size, Way::Buffered),
        chunk_size,
        reason: small_reason(facts.extent.len(), tuning),
        fallbacks,
    }
}

/// Returns the number of blocking workers for `bytes` of buffered reads.
fn auto_workers(
    facts: &Facts,
    tuning: &Tuning,
    share: &Share,
    bypass: bool,
    bytes: u64,
    taken: &mut Taken,
) -> u64 {
    // When bypassing, buffered bytes are resident, except at the edges.
    let resident = bypass || share.resident >= facts.extent.len();
    let far_ahead = facts.readahead >= FAR_AHEAD;
    // It was measured on a shorter file, for which the kernel alone may have been enough.
    let other_rule = far_ahead && bytes >= LONG;
    let tuned = match share.unknown {
        _ if resident => tuning.warm_workers,
        0 if !other_rule => tuning.cold_workers,
        _ => 0,
    };
    let wanted = match facts.storage {
        _ if tuned > 0 => taken.pick("workers", 0, tuned),
        _ if resident => facts.cores,
        Storage::Memory | Storage::Foreign => facts.cores,
        Storage::Rotational | Storage::Network => ORDERED.0,
        // Workers block on the device, not on a core; if nothing is known, blocking costs little.
        _ if bytes < LONG && share.unknown == 0 && far_ahead && facts.processes => facts.cores,
        _ if bytes < LONG && share.unknown == 0 && far_ahead => 1,
        _ => facts.cores.max(COLD_WORKERS),
    };
    // Each copy has its own device.
    wanted.saturating_mul(facts.copies.max(1)).clamp(1, bytes.div_ceil(WORKER_SHARE))
}
