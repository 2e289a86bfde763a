//! Reading front to back through the standard traits.

use crate::bench::{Bench, Input, Residency, Size};
use crate::case::{Case, Goal};
use crate::contestants::timing::Setting;
use crate::contestants::{control, peer, swath};
use anyhow::Result;

/// Of a file in the page cache.
pub(super) fn build_warm<'b>(bench: &'b Bench, input: &'b Input, _: Size) -> Result<Case<'b>> {
    build(bench, input, Residency::Warm)
}

/// Of a file that is not.
pub(super) fn build_cold<'b>(bench: &'b Bench, input: &'b Input, _: Size) -> Result<Case<'b>> {
    build(bench, input, Residency::Cold)
}

fn build<'b>(bench: &'b Bench, input: &'b Input, residency: Residency) -> Result<Case<'b>> {
    let setting = Setting { bench, input, residency };
    let contestants =
        vec![peer::buf_reader(setting), swath::reader(setting), control::memory(bench)];
    let goals = vec![Goal::speed(swath::READER, 1.5, &[peer::BUF_READER])];
    Ok(Case { contestants, absent: Vec::new(), goals })
}
