//! Reads a file that is not in the page cache, once and three times in a row.

use crate::bench::{Bench, Size};
use crate::contestants::file::{DEPTHS, THREADS, direct_name, pread_name};
use anyhow::Result;
use swath::{PageCache, ReadOptions};
use swath_study::fields::file::FileMemory;
use swath_study::limits::Schedule::Dynamic;
use swath_study::measure::{Entrant, Entrants, Goal};
use swath_study::results::State;

const BYPASS_REUSED: &str = "swath bypass, reused buffer";
const BYPASS_FRESH: &str = "swath bypass, fresh buffer";
const KEEP_REUSED: &str = "swath keep, reused buffer";
const KEEP_FRESH: &str = "swath keep, fresh buffer";

/// CPU seconds allowed for reading 2 GiB past the page cache.
const CPU_SECONDS: f64 = 0.1;

fn with(page_cache: PageCache) -> ReadOptions {
    ReadOptions::new().with_page_cache(page_cache)
}

/// Compares with the best direct and the best buffered limit. One thread through the page cache comes
/// first: it is the reference for all ratios.
pub(super) fn build(bench: &Bench, size: Size) -> Result<Entrants> {
    let cold = bench.bytes(size, State::Cold)?;
    let buffered =
        THREADS.map(|threads| cold.pread(&pread_name(threads, Dynamic), threads, Dynamic));
    let direct = DEPTHS.map(|depth| cold.direct(&direct_name(depth), depth));
    let mut here: Vec<Entrant> = buffered.into_iter().chain(direct).collect();
    here.extend([
        cold.read_into(BYPASS_REUSED, with(PageCache::Bypass)),
        cold.read(BYPASS_FRESH, FileMemory::Fresh, with(PageCache::Bypass)),
        cold.read_into(KEEP_REUSED, with(PageCache::Keep)),
        cold.read(KEEP_FRESH, FileMemory::Fresh, with(PageCache::Keep)),
    ]);
    let direct = DEPTHS.map(direct_name);
    let mut goals = vec![
        Goal::speed(BYPASS_REUSED, 0.97, &direct),
        Goal::speed(BYPASS_FRESH, 0.90, &direct),
        Goal::speed(KEEP_REUSED, 0.97, &THREADS.map(|count| pread_name(count, Dynamic))),
    ];
    if size == Size::Large {
        goals.push(Goal::cpu_seconds(BYPASS_REUSED, CPU_SECONDS));
    }
    Ok(Entrants::new(here, goals))
}

/// Compares `auto` with fixed policies in three reads, the first of them cold.
pub(super) fn build_three_reads(bench: &Bench, size: Size) -> Result<Entrants> {
    const AUTO: &str = "three times auto";
    const KEEP: &str = "three times keep";
    const BYPASS: &str = "three times bypass";
    let cold = bench.bytes(size, State::Cold)?.times(3);
    let here = [(AUTO, PageCache::Auto), (KEEP, PageCache::Keep), (BYPASS, PageCache::Bypass)];
    let here = here.map(|(name, page_cache)| cold.read_into(name, with(page_cache)));
    Ok(Entrants::new(here, [Goal::time(AUTO, 1.05, &[KEEP, BYPASS])]))
}
