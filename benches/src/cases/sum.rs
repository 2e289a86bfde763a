//! Summing a warm file without keeping it.

use crate::bench::{Bench, Input, Residency, Size};
use crate::case::{Case, Goal};
use crate::contestants::swath::{self, Scan};
use crate::contestants::timing::Setting;
use crate::contestants::{control, limit, peer};
use anyhow::Result;

const MAP: &str = "swath sum, guarded map";
const PREAD: &str = "swath sum, pread";
const NEWLINES: &str = "swath newlines, guarded map";

/// Compares with summing memory and with ripgrep's scan.
pub(super) fn build<'b>(bench: &'b Bench, input: &'b Input, _: Size) -> Result<Case<'b>> {
    let setting = Setting { bench, input, residency: Residency::Warm };
    let pages = bench.pages_for(input)?;
    let mut contestants = vec![
        limit::memory_sum(bench, input, &pages)?,
        swath::scan(setting, MAP, Scan::SumMapped),
        swath::scan(setting, PREAD, Scan::Sum),
        swath::scan(setting, NEWLINES, Scan::NewlinesMapped),
        control::memory(bench),
    ];
    let mut absent = Vec::new();
    match peer::ripgrep(setting) {
        Ok(contestant) => contestants.push(contestant),
        Err(reason) => absent.push(reason),
    }
    let goals = vec![
        Goal::speed(MAP, 0.95, &[limit::MEMORY_SUM]),
        Goal::speed(PREAD, 0.60, &[limit::MEMORY_SUM]),
        Goal::speed(MAP, 1.6, &[peer::RIPGREP]),
        Goal::speed(NEWLINES, 1.6, &[peer::RIPGREP]),
    ];
    Ok(Case { contestants, absent, goals })
}

const RECORDS: &str = "swath records, pread";

/// Compares counting newlines with counting those of memory.
pub(super) fn build_newlines<'b>(
    bench: &'b Bench,
    input: &'b Input,
    _: Size,
) -> Result<Case<'b>> {
    let setting = Setting { bench, input, residency: Residency::Warm };
    let pages = bench.pages_for(input)?;
    let contestants = vec![
        limit::memory_newlines(bench, input, &pages)?,
        swath::scan(setting, NEWLINES, Scan::NewlinesMapped),
        swath::scan(setting, RECORDS, Scan::Records),
        control::memory(bench),
    ];
    let goals = vec![
        Goal::speed(NEWLINES, 0.95, &[limit::MEMORY_NEWLINES]),
        Goal::speed(RECORDS, 0.60, &[limit::MEMORY_NEWLINES]),
    ];
    Ok(Case { contestants, absent: Vec::new(), goals })
}
