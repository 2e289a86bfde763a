//! What a profile of `swath tune` brings, and that it costs nothing: `auto` with and without.
//!
//! Each case is tuned anew, on the file system that it reads from, so a record holds several
//! profiles. One that holds no setting leaves `auto` as it is.

use crate::bench::{Bench, Input, Residency, Size};
use crate::case::{Case, Goal};
use crate::contestants::timing::Setting;
use crate::contestants::{control, files, ingest, swath};
use crate::trees::Files;
use ::swath::ingest::{Arena, IngestOptions};
use ::swath::{CancelToken, Profile, ReadOptions};
use anyhow::Result;
use std::time::Duration;
use swath_study::tune::{Settings, run};

const AUTO: &str = "auto";
const TUNED: &str = "auto, tuned";
const SUM: &str = "auto, sum";
const SUM_TUNED: &str = "auto, sum, tuned";

/// Time that a profile may cost: what two runs of the same differ by at least.
const COST: f64 = 1.02;

fn profile(bench: &Bench) -> Result<Profile> {
    let settings = Settings {
        folder: bench.folder().to_owned(),
        budget: Duration::from_secs(if bench.quick { 1 } else { 20 }),
        seed: 1,
    };
    let tuned = run(&settings, &CancelToken::new(), &mut |_| {})?;
    let taken: Vec<String> = tuned
        .found
        .iter()
        .filter_map(|one| Some(format!("{} {}", one.setting, one.taken.as_ref()?)))
        .collect();
    eprintln!(
        "  tuned: {}",
        if taken.is_empty() { "nothing".into() } else { taken.join(", ") }
    );
    Ok(tuned.profile)
}

/// A file in the page cache.
pub(super) fn build_warm<'b>(bench: &'b Bench, input: &'b Input, _: Size) -> Result<Case<'b>> {
    one_file(Setting { bench, input, residency: Residency::Warm })
}

/// A file on the device.
pub(super) fn build_cold<'b>(bench: &'b Bench, input: &'b Input, _: Size) -> Result<Case<'b>> {
    one_file(Setting { bench, input, residency: Residency::Cold })
}

fn one_file(setting: Setting<'_>) -> Result<Case<'_>> {
    let profile = profile(setting.bench)?;
    let (plain, tuned) = (ReadOptions::new(), ReadOptions::new().with_profile(profile));
    let named = |name, options: &ReadOptions| swath::Named::new(name, options.clone());
    // Reused: what fresh memory costs differs more from run to run than anything that is tuned.
    let pages = setting.bench.pages_for(setting.input)?;
    let contestants = vec![
        swath::into_pages(setting, &pages, 1, named(AUTO, &plain)),
        swath::into_pages(setting, &pages, 1, named(TUNED, &tuned)),
        swath::summed(setting, named(SUM, &plain)),
        swath::summed(setting, named(SUM_TUNED, &tuned)),
        control::memory(setting.bench),
    ];
    let goals = vec![Goal::time(TUNED, COST, &[AUTO]), Goal::time(SUM_TUNED, COST, &[SUM])];
    Ok(Case { contestants, absent: Vec::new(), goals })
}

/// Many files in the page cache.
pub(super) fn build_files<'b>(bench: &'b Bench, input: &'b Files) -> Result<Case<'b>> {
    many(files::Setting { bench, files: input, residency: Residency::Warm, repeats: 1 })
}

/// Many files on the device.
pub(super) fn build_files_cold<'b>(bench: &'b Bench, input: &'b Files) -> Result<Case<'b>> {
    many(files::Setting { bench, files: input, residency: Residency::Cold, repeats: 1 })
}

fn many(setting: files::Setting<'_>) -> Result<Case<'_>> {
    let profile = profile(setting.bench)?;
    let plain = IngestOptions::new().with_arena(Arena::new());
    let tuned = IngestOptions::new()
        .with_arena(Arena::new())
        .with_read(ReadOptions::new().with_profile(profile));
    let contestants = vec![
        ingest::with(setting, AUTO, plain),
        ingest::with(setting, TUNED, tuned),
        control::memory(setting.bench),
    ];
    let goals = vec![Goal::time(TUNED, COST, &[AUTO])];
    Ok(Case { contestants, absent: Vec::new(), goals })
}
