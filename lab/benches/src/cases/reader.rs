//! Reading front to back through the standard traits.

use crate::bench::{Bench, Size};
use crate::contestants::file::{BUF_READER, FileSetting, READER, Residency};
use anyhow::Result;
use swath_study::measure::{Entrants, Goal};

pub(super) fn build(bench: &Bench, size: Size, residency: Residency) -> Result<Entrants> {
    let file = FileSetting::bytes(bench, size, residency)?;
    let goals = [Goal::speed(READER, 1.5, &[BUF_READER])];
    Ok(Entrants::new([file.buf_reader(), file.reader()], goals))
}
