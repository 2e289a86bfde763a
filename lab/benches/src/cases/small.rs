//! Reading a file that is so small that the calls around the read cost more than the read.

use crate::bench::{Bench, Size};
use crate::contestants::file::{BARE, FileSetting, PLAIN_READ, Residency, STD};
use anyhow::Result;
use swath::ReadOptions;
use swath_study::measure::{Entrants, Goal};

const INTO: &str = "swath, read_into";
const POOLED: &str = "swath, buffer from a pool";

/// Compares with the five calls that cannot be left out, and with the standard library.
pub(super) fn build(bench: &Bench, size: Size) -> Result<Entrants> {
    let warm = FileSetting::bytes(bench, size, Residency::Warm)?;
    let here = [
        warm.bare(),
        warm.read_into(INTO, ReadOptions::new()),
        warm.pooled(POOLED),
        warm.plain_read(),
        warm.std_read(),
    ];
    let goals = [
        Goal::time(INTO, 1.15, &[BARE]),
        Goal::time(PLAIN_READ, 1.15, &[BARE]),
        Goal::time(PLAIN_READ, 1.0, &[STD]),
    ];
    Ok(Entrants::new(here, goals))
}
