//! Fixed work in every round, to measure the noise of the machine.

use anyhow::{Context, Result};

use super::{Entrant, Meter, Outcome};
use crate::limits;

/// The name of the series with fixed work, the same in all experiments.
pub const CONTROL: &str = "control";

/// Makes a control: one thread sums `len` bytes of its own memory, `times` times.
///
/// # Errors
///
/// If there is no memory for it.
pub fn control(len: usize, times: u64) -> Result<Entrant> {
    let mut pages = limits::touched_pages(len, 1).context("no memory for the control")?;
    limits::fill(&mut pages[..len], 1, 1);
    let bytes = len as u64 * times;
    let work = move |meter: &mut Meter| {
        let sum = || (0..times).map(|_| limits::memory_sum(&pages[..len], 1)).sum();
        Ok(Outcome { bytes, checksum: meter.measure(sum)? })
    };
    Ok(Entrant::new(CONTROL, Outcome { bytes, checksum: bytes }, work))
}
