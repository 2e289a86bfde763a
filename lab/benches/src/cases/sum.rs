//! Sums a warm file without keeping its bytes.

use crate::bench::{Bench, Size};
use crate::contestants::file::RIPGREP;
use anyhow::Result;
use swath::ReadOptions;
use swath_study::fields::file::FileScan;
use swath_study::fields::sums::{loaded, of_memory, summed};
use swath_study::limits::memory_newlines;
use swath_study::measure::{Entrants, Goal};

const MEMORY_SUM: &str = "limit: sum of memory";
const MEMORY_NEWLINES: &str = "limit: newlines of memory";
const MAP: &str = "swath sum, guarded map";
const PREAD: &str = "swath sum, pread";
const NEWLINES: &str = "swath newlines, guarded map";

/// Compares with summing memory and with ripgrep's scan.
pub(super) fn build(bench: &Bench, size: Size) -> Result<Entrants> {
    let warm = bench.numbers(size)?;
    let pages = loaded(&bench.stage, &warm.input)?;
    let here = [
        summed(&pages, &warm.input, MEMORY_SUM),
        warm.scanned(MAP, FileScan::SumMapped, ReadOptions::new()),
        warm.scanned(PREAD, FileScan::Sum, ReadOptions::new()),
        warm.scanned(NEWLINES, FileScan::NewlinesMapped, ReadOptions::new()),
    ];
    let goals = [
        Goal::speed(MAP, 0.95, &[MEMORY_SUM]),
        Goal::speed(PREAD, 0.60, &[MEMORY_SUM]),
        Goal::speed(MAP, 1.6, &[RIPGREP]),
        Goal::speed(NEWLINES, 1.6, &[RIPGREP]),
    ];
    let mut entrants = Entrants::new(here, goals);
    entrants.add(bench.ripgrep(RIPGREP).map(|rg| warm.ripgrep(RIPGREP, rg)));
    Ok(entrants)
}

const RECORDS: &str = "swath records, pread";

/// Compares counting the newlines of a file with counting those of memory.
pub(super) fn build_newlines(bench: &Bench, size: Size) -> Result<Entrants> {
    let warm = bench.numbers(size)?;
    let input = &warm.input;
    let pages = loaded(&bench.stage, input)?;
    let here = [
        of_memory(&pages, input, MEMORY_NEWLINES, input.made.lines, memory_newlines),
        warm.scanned(NEWLINES, FileScan::NewlinesMapped, ReadOptions::new()),
        warm.scanned(RECORDS, FileScan::Records, ReadOptions::new()),
    ];
    let goals = [
        Goal::speed(NEWLINES, 0.95, &[MEMORY_NEWLINES]),
        Goal::speed(RECORDS, 0.60, &[MEMORY_NEWLINES]),
    ];
    Ok(Entrants::new(here, goals))
}
