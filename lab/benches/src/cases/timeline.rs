//! Measures the cost of recording a timeline.

use crate::bench::{Bench, Size};
use crate::contestants::files;
use anyhow::Result;
use swath::ingest::IngestOptions;
use swath::{ReadOptions, Timeline};
use swath_study::fields::file::FileScan;
use swath_study::measure::{Entrants, Goal};
use swath_study::results::State;

const OFF: &str = "without a timeline";
const ON: &str = "with a timeline";
const SMALL_OFF: &str = "chunks of 64 KiB, without a timeline";
const SMALL_ON: &str = "chunks of 64 KiB, with a timeline";
const SUM_OFF: &str = "sum, without a timeline";
const SUM_ON: &str = "sum, with a timeline";

/// The most time with a timeline, as a multiple of the time without.
const COST: f64 = 1.02;

/// Measures a file in the page cache: no wait for a device hides the cost.
pub(super) fn build(bench: &Bench, size: Size) -> Result<Entrants> {
    let warm = bench.bytes(size, State::Warm)?;
    let plain = ReadOptions::new;
    let small = || ReadOptions::new().with_chunk_size(64 << 10);
    // One timeline for all runs: it keeps a bounded number of spans, and recording continues.
    let recorded = |options: ReadOptions| options.with_timeline(Timeline::with_most(1 << 16));
    let here = [
        warm.read_into(OFF, plain()),
        warm.read_into(ON, recorded(plain())),
        warm.read_into(SMALL_OFF, small()),
        warm.read_into(SMALL_ON, recorded(small())),
        warm.scanned(SUM_OFF, FileScan::Sum, plain()),
        warm.scanned(SUM_ON, FileScan::Sum, recorded(plain())),
    ];
    let goals = [(ON, OFF), (SMALL_ON, SMALL_OFF), (SUM_ON, SUM_OFF)]
        .map(|(on, off)| Goal::time(on, COST, &[off]));
    Ok(Entrants::new(here, goals))
}

/// Measures many small files in the page cache, with a span for each.
pub(super) fn build_files(warm: &files::FilesSetting<'_>) -> Result<Entrants> {
    let recorded = ReadOptions::new().with_timeline(Timeline::new());
    let here = [
        warm.with(OFF, IngestOptions::new()),
        warm.with(ON, IngestOptions::new().with_read(recorded)),
    ];
    Ok(Entrants::new(here, [Goal::time(ON, COST, &[OFF])]))
}
