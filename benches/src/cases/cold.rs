//! Reading a file that is not in the page cache, once and three times in a row.

use crate::bench::{Bench, Input, Residency, SharedPages, Size};
use crate::case::{Case, Goal};
use crate::contestants::swath::{self, Named};
use crate::contestants::timing::Setting;
use crate::contestants::{control, limit};
use ::swath::{PageCache, ReadOptions};
use anyhow::Result;
use swath_study::harness::Contestant;
use swath_study::limits::Schedule;

const BYPASS_REUSED: &str = "swath bypass, reused buffer";
const BYPASS_FRESH: &str = "swath bypass, fresh buffer";
const KEEP_REUSED: &str = "swath keep, reused buffer";
const KEEP_FRESH: &str = "swath keep, fresh buffer";

/// CPU seconds that 2 GiB past the page cache may cost.
const CPU_SECONDS: f64 = 0.1;

/// Compares with the best direct and the best buffered control.
pub(super) fn build<'b>(bench: &'b Bench, input: &'b Input, size: Size) -> Result<Case<'b>> {
    let setting = Setting { bench, input, residency: Residency::Cold };
    let pages = bench.pages_for(input)?;
    let mut contestants = controls(setting, &pages)?;
    let named =
        |name, page_cache| Named::new(name, ReadOptions::new().with_page_cache(page_cache));
    contestants.extend([
        swath::into_pages(setting, &pages, 1, named(BYPASS_REUSED, PageCache::Bypass)),
        swath::fresh(setting, named(BYPASS_FRESH, PageCache::Bypass)),
        swath::into_pages(setting, &pages, 1, named(KEEP_REUSED, PageCache::Keep)),
        swath::fresh(setting, named(KEEP_FRESH, PageCache::Keep)),
        control::memory(bench),
    ]);
    Ok(Case { contestants, absent: Vec::new(), goals: goals(size) })
}

/// One thread through the page cache comes first, as the others' reference.
fn controls<'b>(setting: Setting<'b>, pages: &SharedPages) -> Result<Vec<Contestant<'b>>> {
    let buffered =
        limit::THREADS.map(|threads| limit::pread(setting, pages, threads, Schedule::Dynamic));
    let direct = limit::DEPTHS.map(|depth| limit::direct(setting, pages, depth));
    buffered.into_iter().chain(direct).collect()
}

fn goals(size: Size) -> Vec<Goal> {
    let direct = limit::DEPTHS.map(limit::direct_name);
    let buffered = limit::THREADS.map(|count| limit::pread_name(count, Schedule::Dynamic));
    let mut goals = vec![
        Goal::speed(BYPASS_REUSED, 0.97, &direct),
        Goal::speed(BYPASS_FRESH, 0.90, &direct),
        Goal::speed(KEEP_REUSED, 0.97, &buffered),
    ];
    if size == Size::Large {
        goals.push(Goal::cpu_seconds(BYPASS_REUSED, CPU_SECONDS));
    }
    goals
}

const THREE_AUTO: &str = "three times auto";

/// Compares three reads by `auto`, the first of them cold, with policies that stay the same.
pub(super) fn build_three_reads<'b>(
    bench: &'b Bench,
    input: &'b Input,
    _: Size,
) -> Result<Case<'b>> {
    const KEEP: &str = "three times keep";
    const BYPASS: &str = "three times bypass";
    let setting = Setting { bench, input, residency: Residency::Cold };
    let pages = bench.pages_for(input)?;
    let three = |name, page_cache| {
        let options = ReadOptions::new().with_page_cache(page_cache);
        swath::into_pages(setting, &pages, 3, Named::new(name, options))
    };
    let contestants = vec![
        three(THREE_AUTO, PageCache::Auto),
        three(KEEP, PageCache::Keep),
        three(BYPASS, PageCache::Bypass),
        control::memory(bench),
    ];
    let goals = vec![Goal::time(THREE_AUTO, 1.05, &[KEEP, BYPASS])];
    Ok(Case { contestants, absent: Vec::new(), goals })
}
