//! Fixed work that runs in every round of every case, to see how calm the machine is.

use crate::bench::Bench;
use crate::case::CONTROL;
use std::rc::Rc;
use swath_study::harness::{Contestant, Expected, Work, timed};
use swath_study::limits;

/// Sums the same memory with one thread, four times over.
pub(crate) fn memory(bench: &Bench) -> Contestant<'_> {
    const TIMES: u64 = 4;
    let pages = Rc::clone(&bench.control_pages);
    let bytes = pages.borrow().len() as u64 * TIMES;
    Contestant::new(CONTROL, Expected { bytes, checksum: 0 }, move || {
        let pages = pages.borrow();
        let (sum, timing) =
            timed(|| (0..TIMES).map(|_| limits::memory_sum(&pages, 1)).sum::<u64>())?;
        Ok(Work::new(bytes, sum).with_timing(timing))
    })
}
