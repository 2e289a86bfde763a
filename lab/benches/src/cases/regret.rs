//! The cost of leaving the choice to `auto`, against the best setting fixed by hand.
//!
//! The best setting is chosen from the same runs, so the luckiest of twelve is the rival: the regret
//! is judged a little too strictly rather than too mildly. A read past the page cache can win a single
//! cold read and lose the next one, so `auto` is compared with all settings and, separately, with those
//! that leave the page cache in the same state.

use crate::bench::{Bench, Size};
use crate::contestants::file::{Named, Residency, Setting, fixed};
use anyhow::Result;
use swath::{PageCache, ReadOptions};
use swath_study::measure::{Entrants, Goal};

const AUTO: &str = "auto";
const AUTO_BYPASS: &str = "auto, told to bypass";

/// Time that `auto` may take, as a multiple of the best.
const REGRET: f64 = 1.05;

pub(super) fn build(bench: &Bench, size: Size, residency: Residency) -> Result<Entrants> {
    let file = Setting::bytes(bench, size, residency)?;
    let (keeping, bypassing) = (fixed(PageCache::Keep), fixed(PageCache::Bypass));
    let goals = goals(&names(&keeping), &names(&bypassing), residency);
    let bypass = ReadOptions::new().with_page_cache(PageCache::Bypass);
    let settings = keeping.into_iter().chain(bypassing);
    let mut here: Vec<_> =
        settings.map(|Named { name, options }| file.read_into(&name, options)).collect();
    here.push(file.read_into(AUTO, ReadOptions::new()));
    here.push(file.read_into(AUTO_BYPASS, bypass));
    Ok(Entrants::new(here, goals))
}

fn names(settings: &[Named]) -> Vec<&str> {
    settings.iter().map(|named| named.name.as_str()).collect()
}

fn goals(keeping: &[&str], bypassing: &[&str], residency: Residency) -> Vec<Goal> {
    let all = [keeping, bypassing].concat();
    let mut goals = vec![Goal::time(AUTO, REGRET, &all)];
    if residency != Residency::Warm {
        goals.push(Goal::time(AUTO, REGRET, keeping));
        goals.push(Goal::time(AUTO_BYPASS, REGRET, bypassing));
    }
    goals
}
