//! What recording who did what costs.

use crate::bench::{Bench, Input, Residency, Size};
use crate::case::{Case, Goal};
use crate::contestants::timing::Setting;
use crate::contestants::{control, files, ingest, swath};
use crate::trees::Files;
use ::swath::ingest::{Arena, IngestOptions};
use ::swath::{ReadOptions, Timeline};
use anyhow::Result;

const OFF: &str = "without a timeline";
const ON: &str = "with a timeline";
const SMALL_OFF: &str = "chunks of 64 KiB, without a timeline";
const SMALL_ON: &str = "chunks of 64 KiB, with a timeline";
const SUM_OFF: &str = "sum, without a timeline";
const SUM_ON: &str = "sum, with a timeline";

/// Time that it may cost.
const COST: f64 = 1.02;

/// A file in the page cache; there is nothing but memory to wait for, so what it costs is seen.
pub(super) fn build<'b>(bench: &'b Bench, input: &'b Input, _: Size) -> Result<Case<'b>> {
    let setting = Setting { bench, input, residency: Residency::Warm };
    let pages = bench.pages_for(input)?;
    let plain = ReadOptions::new();
    let small = ReadOptions::new().with_chunk_size(64 << 10);
    // One for all runs: what is kept is bounded, what is recorded is not.
    let recorded =
        |options: &ReadOptions| options.clone().with_timeline(Timeline::with_most(1 << 16));
    let load = |name, options: ReadOptions| {
        swath::into_pages(setting, &pages, input.repeats, swath::Named::new(name, options))
    };
    let contestants = vec![
        load(OFF, plain.clone()),
        load(ON, recorded(&plain)),
        load(SMALL_OFF, small.clone()),
        load(SMALL_ON, recorded(&small)),
        swath::summed(setting, swath::Named::new(SUM_OFF, plain.clone())),
        swath::summed(setting, swath::Named::new(SUM_ON, recorded(&plain))),
        control::memory(bench),
    ];
    let goals = vec![
        Goal::time(ON, COST, &[OFF]),
        Goal::time(SMALL_ON, COST, &[SMALL_OFF]),
        Goal::time(SUM_ON, COST, &[SUM_OFF]),
    ];
    Ok(Case { contestants, absent: Vec::new(), goals })
}

/// Many small files in the page cache: a span for each.
pub(super) fn build_files<'b>(bench: &'b Bench, input: &'b Files) -> Result<Case<'b>> {
    let setting =
        files::Setting { bench, files: input, residency: Residency::Warm, repeats: 1 };
    let plain = IngestOptions::new().with_arena(Arena::new());
    let recorded = IngestOptions::new().with_arena(Arena::new());
    let recorded = recorded.with_read(ReadOptions::new().with_timeline(Timeline::new()));
    let contestants = vec![
        ingest::with(setting, OFF, plain),
        ingest::with(setting, ON, recorded),
        control::memory(bench),
    ];
    let goals = vec![Goal::time(ON, COST, &[OFF])];
    Ok(Case { contestants, absent: Vec::new(), goals })
}
