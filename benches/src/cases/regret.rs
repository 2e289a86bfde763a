//! What leaving the choice to `auto` costs, against the best setting fixed by hand.
//!
//! Which setting is best is found out from the same runs, so the luckiest of twelve is the
//! rival: the regret is judged a little too hard rather than too mildly. A way past the page
//! cache can win a single cold read and lose the next one, so `auto` is compared with all
//! settings and, separately, with those that leave the page cache as it does.

use crate::bench::{Bench, Input, Residency, Size};
use crate::case::{Case, Goal};
use crate::contestants::control;
use crate::contestants::swath::{self, Named, fixed};
use crate::contestants::timing::Setting;
use ::swath::{PageCache, ReadOptions};
use anyhow::Result;

const AUTO: &str = "auto";
const AUTO_BYPASS: &str = "auto, told to bypass";

/// Time that `auto` may take, as a multiple of the best.
const REGRET: f64 = 1.05;

/// On a file in the page cache.
pub(super) fn build_warm<'b>(bench: &'b Bench, input: &'b Input, _: Size) -> Result<Case<'b>> {
    build(Setting { bench, input, residency: Residency::Warm })
}

/// On a file that is not.
pub(super) fn build_cold<'b>(bench: &'b Bench, input: &'b Input, _: Size) -> Result<Case<'b>> {
    build(Setting { bench, input, residency: Residency::Cold })
}

/// On a file of which every second window is.
pub(super) fn build_half<'b>(bench: &'b Bench, input: &'b Input, _: Size) -> Result<Case<'b>> {
    build(Setting { bench, input, residency: Residency::Half })
}

fn build(setting: Setting<'_>) -> Result<Case<'_>> {
    let pages = setting.bench.pages_for(setting.input)?;
    let (keeping, bypassing) = (fixed(PageCache::Keep), fixed(PageCache::Bypass));
    let goals = goals(&names(&keeping), &names(&bypassing), setting.residency);
    let autos = [
        Named::new(AUTO, ReadOptions::new()),
        Named::new(AUTO_BYPASS, ReadOptions::new().with_page_cache(PageCache::Bypass)),
    ];
    let settings = keeping.into_iter().chain(bypassing).chain(autos);
    let repeats = setting.input.repeats;
    let mut contestants: Vec<_> =
        settings.map(|named| swath::into_pages(setting, &pages, repeats, named)).collect();
    contestants.push(control::memory(setting.bench));
    Ok(Case { contestants, absent: Vec::new(), goals })
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
