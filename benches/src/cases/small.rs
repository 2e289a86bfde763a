//! Reading a file so small that the calls around the read cost more than the read.

use crate::bench::{Bench, Input, Residency, Size};
use crate::case::{Case, Goal};
use crate::contestants::swath::{self, Named, PLAIN_READ};
use crate::contestants::timing::Setting;
use crate::contestants::{control, limit, peer};
use ::swath::ReadOptions;
use anyhow::Result;

const INTO: &str = "swath, read_into";
const POOLED: &str = "swath, buffer from a pool";

/// Compares with the five calls that cannot be left out, and with the standard library.
pub(super) fn build<'b>(bench: &'b Bench, input: &'b Input, _: Size) -> Result<Case<'b>> {
    let setting = Setting { bench, input, residency: Residency::Warm };
    let pages = bench.pages_for(input)?;
    let contestants = vec![
        limit::bare(setting, &pages),
        swath::into_pages(setting, &pages, input.repeats, Named::new(INTO, ReadOptions::new())),
        swath::pooled(setting, Named::new(POOLED, ReadOptions::new())),
        swath::plain_read(setting),
        peer::std_read(setting),
        control::memory(bench),
    ];
    let goals = vec![
        Goal::time(INTO, 1.15, &[limit::BARE]),
        Goal::time(PLAIN_READ, 1.15, &[limit::BARE]),
        Goal::time(PLAIN_READ, 1.0, &[peer::STD]),
    ];
    Ok(Case { contestants, absent: Vec::new(), goals })
}
