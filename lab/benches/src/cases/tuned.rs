//! Compares `auto` with and without a profile of `swath tune`: the profile must cost nothing.
//!
//! Each case is tuned anew on the file system that it reads from, so a record holds several profiles.
//! An empty profile leaves `auto` unchanged.

use crate::bench::{Bench, Size};
use crate::contestants::files;
use anyhow::Result;
use std::time::Duration;
use swath::ingest::IngestOptions;
use swath::{CancelToken, Profile, ReadOptions};
use swath_study::fields::file::FileScan;
use swath_study::measure::{Entrants, Goal};
use swath_study::results::State;
use swath_study::tune::{TuneSettings, run};

const AUTO: &str = "auto";
const TUNED: &str = "auto, tuned";
const SUM: &str = "auto, sum";
const SUM_TUNED: &str = "auto, sum, tuned";

/// The most time with a profile, as a multiple of the time without: two equal runs differ by as much.
const COST: f64 = 1.02;

fn profile(bench: &Bench) -> Result<Profile> {
    let settings = TuneSettings {
        folder: bench.stage.output(""),
        budget: Duration::from_secs(bench.pick(20, 1)),
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

/// Compares reads and sums of one file.
pub(super) fn build(bench: &Bench, size: Size, state: State) -> Result<Entrants> {
    // Reused memory: the cost of fresh memory varies more than any tuned setting gains.
    let file = bench.bytes(size, state)?;
    let tuned = ReadOptions::new().with_profile(profile(bench)?);
    let here = [
        file.read_into(AUTO, ReadOptions::new()),
        file.read_into(TUNED, tuned.clone()),
        file.scanned(SUM, FileScan::Sum, ReadOptions::new()),
        file.scanned(SUM_TUNED, FileScan::Sum, tuned),
    ];
    let goals = [Goal::time(TUNED, COST, &[AUTO]), Goal::time(SUM_TUNED, COST, &[SUM])];
    Ok(Entrants::new(here, goals))
}

/// Compares reads of many files.
pub(super) fn build_files(setting: &files::FilesSetting<'_>) -> Result<Entrants> {
    let tuned = ReadOptions::new().with_profile(profile(setting.bench)?);
    let here = [
        setting.with(AUTO, IngestOptions::new()),
        setting.with(TUNED, IngestOptions::new().with_read(tuned)),
    ];
    Ok(Entrants::new(here, [Goal::time(TUNED, COST, &[AUTO])]))
}
