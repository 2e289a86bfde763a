//! What everybody is measured by: the bytes of a file, summed where they already are in memory.

use std::fs::File;
use std::rc::Rc;

use anyhow::Result;

use crate::experiment::{Entrant, Input, Meter, Outcome, Stage};
use crate::limits;
use crate::results::State;

/// The series of it.
pub(super) const MEMORY: &str = "limit: memory";

/// Sums the bytes of `input` by all cores, out of memory that is already there, at a place.
pub(super) fn memory(
    stage: &Stage,
    input: &Rc<Input>,
    x: f64,
    state: State,
) -> Result<Entrant> {
    let (len, workers, made) = (input.len(), stage.workers(), input.made);
    let pages = stage.pages(len)?;
    let (file, dynamic) = (File::open(&input.path)?, limits::Schedule::Dynamic);
    limits::pread(&file, &mut pages.borrow_mut()[..len], workers, dynamic)?;
    let expected = Outcome { bytes: made.bytes, checksum: made.sum };
    let here = Rc::clone(&pages);
    let work = move |meter: &mut Meter| {
        let pages = here.borrow();
        let checksum = meter.measure(|| limits::memory_sum(&pages[..len], workers))?;
        Ok(Outcome { checksum, ..expected })
    };
    // As near to the processor as the file is after the others have read it.
    let touched = Rc::clone(&pages);
    let entrant = Entrant::new(MEMORY, x, state, expected, work).with_before(move || {
        std::hint::black_box(limits::memory_sum(&touched.borrow()[..len], workers));
        Ok(())
    });
    Ok(entrant)
}
