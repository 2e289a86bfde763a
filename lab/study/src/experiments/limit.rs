//! The limit of all entrants: summing the bytes of a file that is already in memory.

use std::rc::Rc;

use anyhow::Result;

use crate::fields::sums::{loaded, summed};
use crate::limits;
use crate::measure::{Entrant, Input, Stage};
use crate::results::State;

/// The name of the limit's series.
pub(super) const MEMORY: &str = "limit: memory";

/// Sums the bytes of `input` from memory with all cores, at place `x`.
pub(super) fn memory(
    stage: &Stage,
    input: &Rc<Input>,
    x: f64,
    state: State,
) -> Result<Entrant> {
    let pages = loaded(stage, input)?;
    let sum = summed(&pages, input, MEMORY);
    let (len, workers) = (input.len(), stage.workers);
    // Warm the processor's caches, as the other entrants find them.
    Ok(sum.at(x, state).with_before(move || {
        std::hint::black_box(limits::memory_sum(&pages.borrow()[..len], workers));
        Ok(())
    }))
}
