//! `scan`: sums and counts, without keeping a byte.

use std::fs::File;
use std::time::Instant;

use anyhow::Result;
use swath::maps::Guard;
use swath::{ReadOptions, Scanned};

use super::stage::Stage;
use super::{Limit, Memory, Row, Run, State};

/// Runs over the file at the stage's path.
type Work = fn(&Stage, &ReadOptions) -> Result<Scanned<u64>>;

pub(super) fn rows(_: &Stage) -> Result<Vec<Row>> {
    Ok(vec![
        row("byte sum", State::Warm, Limit::MemorySum, sum, |stage| stage.made.sum),
        row("newline count", State::Warm, Limit::MemorySum, count, |stage| stage.made.lines),
        row("byte sum", State::Cold, Limit::DirectRead, sum, |stage| stage.made.sum),
    ])
}

fn row(
    way: &'static str,
    state: State,
    limit: Limit,
    work: Work,
    right: fn(&Stage) -> u64,
) -> Row {
    Row {
        capability: "scan",
        engine: "auto",
        way,
        state,
        memory: Memory::None,
        limit,
        is_peer: false,
        bytes: None,
        run: Box::new(move |stage| {
            let start = Instant::now();
            let scanned = work(stage, &ReadOptions::new())?;
            let elapsed = start.elapsed();
            let is_right = scanned.value == right(stage)
                && scanned.report.bytes == stage.bytes.len() as u64;
            Ok(Run { elapsed, is_right, fallbacks: scanned.report.fallbacks })
        }),
    }
}

fn sum(stage: &Stage, options: &ReadOptions) -> Result<Scanned<u64>> {
    let file = File::open(&stage.path)?;
    Ok(options.sum_mapped(Guard::install(&file, &stage.path)?, &stage.path)?)
}

fn count(stage: &Stage, options: &ReadOptions) -> Result<Scanned<u64>> {
    let file = File::open(&stage.path)?;
    let guard = Guard::install(&file, &stage.path)?;
    Ok(options.count_mapped(guard, &stage.path, b'\n')?)
}
