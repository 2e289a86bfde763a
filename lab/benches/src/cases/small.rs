//! Reads a file so small that the calls around the read cost more than the read.

use crate::bench::{Bench, Size};
use crate::contestants::file::{BARE, PLAIN_READ, STD};
use anyhow::Result;
use swath::ReadOptions;
use swath_study::fields::file::FileMemory;
use swath_study::measure::{Entrants, Goal};
use swath_study::results::State;

const INTO: &str = "swath, read_into";
const POOLED: &str = "swath, buffer from a pool";

/// Compares with the five necessary calls, and with the standard library.
pub(super) fn build(bench: &Bench, size: Size) -> Result<Entrants> {
    let warm = bench.bytes(size, State::Warm)?;
    let here = [
        warm.bare(BARE),
        warm.read_into(INTO, ReadOptions::new()),
        warm.read(POOLED, FileMemory::Reused, ReadOptions::new()),
        warm.read(PLAIN_READ, FileMemory::Default, ReadOptions::new()),
        warm.std_read(STD),
    ];
    let goals = [
        Goal::time(INTO, 1.15, &[BARE]),
        Goal::time(PLAIN_READ, 1.15, &[BARE]),
        Goal::time(PLAIN_READ, 1.0, &[STD]),
    ];
    Ok(Entrants::new(here, goals))
}
