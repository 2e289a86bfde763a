//! The limit of all entrants: the bytes of a file, summed where they already are in memory.

use std::rc::Rc;

use anyhow::Result;

use crate::fields::sums::{loaded, summed};
use crate::limits;
use crate::measure::{Entrant, Input, Stage};
use crate::results::State;

/// Its series.
pub(super) const MEMORY: &str = "limit: memory";

/// Sums the bytes of `input` with all cores, from existing memory, at a place.
pub(super) fn memory(
    stage: &Stage,
    input: &Rc<Input>,
    x: f64,
    state: State,
) -> Result<Entrant> {
    let pages = loaded(stage, input)?;
    let sum = summed(&pages, input, MEMORY);
    let (len, workers) = (input.len(), stage.workers);
    // As warm in the processor's caches as the file is after the others have read it.
    Ok(sum.at(x, state).with_before(move || {
        std::hint::black_box(limits::memory_sum(&pages.borrow()[..len], workers));
        Ok(())
    }))
}
