//! Sums of a file, and of memory that has its bytes.

use std::fs::File;
use std::path::Path;
use std::rc::Rc;

use anyhow::Result;
use swath::maps::Guard;
use swath::{ReadOptions, Scanned};

use crate::limits::{self, Schedule};
use crate::measure::{Entrant, Input, Outcome, Stage};

/// Sums the file at `path` through a map; opening and guarding it is part of the work.
///
/// # Errors
///
/// If it cannot be mapped or read.
pub fn mapped(options: &ReadOptions, path: &Path) -> Result<Scanned<u64>> {
    let file = File::open(path)?;
    Ok(options.sum_mapped(Guard::install(&file, path)?, path)?)
}

/// Counts the line ends of the file at `path` in the same way.
///
/// # Errors
///
/// As [`mapped`].
pub fn newlines_mapped(options: &ReadOptions, path: &Path) -> Result<Scanned<u64>> {
    let file = File::open(path)?;
    Ok(options.count_mapped(Guard::install(&file, path)?, path, b'\n')?)
}

/// Looks at the bytes of `input` with all cores where they already are in memory; `look` gives
/// `checksum`.
///
/// # Errors
///
/// If there is no memory for them, or they cannot be read.
pub fn of_memory(
    stage: &Stage,
    input: &Rc<Input>,
    series: &str,
    checksum: u64,
    look: fn(&[u8], usize) -> u64,
) -> Result<Entrant> {
    let (len, workers) = (input.len(), stage.workers());
    let pages = stage.pages(len)?;
    let file = File::open(&input.path)?;
    limits::pread(&file, &mut pages.borrow_mut()[..len], workers, Schedule::Dynamic)?;
    let expected = Outcome { checksum, ..input.expected() };
    let (here, touched) = (Rc::clone(&pages), pages);
    let entrant = Entrant::new(series, expected, move |meter| {
        let pages = here.borrow();
        let checksum = meter.measure(|| look(&pages[..len], workers))?;
        Ok(Outcome { checksum, ..expected })
    });
    // As near to the processor as the file is after the others have read it.
    Ok(entrant.with_before(move || {
        std::hint::black_box(limits::memory_sum(&touched.borrow()[..len], workers));
        Ok(())
    }))
}
