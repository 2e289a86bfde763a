//! Sums of a file, and of its bytes in memory: limits that no read of it can beat.

use std::fs::File;
use std::path::Path;
use std::rc::Rc;

use anyhow::Result;
use swath::maps::Guard;
use swath::{ReadOptions, Scanned};
use swath_os::machine;

use crate::limits::{self, Schedule};
use crate::measure::{Entrant, Input, Outcome, SharedPages, Stage};

/// Sums the file at `path` through a map; the work includes opening and guarding it.
///
/// # Errors
///
/// If it cannot be mapped or read.
pub fn mapped(options: &ReadOptions, path: &Path) -> Result<Scanned<u64>> {
    let file = File::open(path)?;
    Ok(options.sum_mapped(Guard::install(&file, path)?, path)?)
}

/// Counts the line ends of the file at `path` through a map.
///
/// # Errors
///
/// As [`mapped`].
pub fn newlines_mapped(options: &ReadOptions, path: &Path) -> Result<Scanned<u64>> {
    let file = File::open(path)?;
    Ok(options.count_mapped(Guard::install(&file, path)?, path, b'\n')?)
}

/// Reads the bytes of `input` into memory.
///
/// # Errors
///
/// If there is no memory for them, or they cannot be read.
pub fn loaded(stage: &Stage, input: &Input) -> Result<SharedPages> {
    let pages = stage.pages(input.len())?;
    let (file, target) = (File::open(&input.path)?, &mut pages.borrow_mut()[..input.len()]);
    limits::pread(&file, target, stage.workers, Schedule::Dynamic)?;
    Ok(Rc::clone(&pages))
}

/// Returns an entrant that passes the bytes of `input`, already in memory, to `look` with all cores. The
/// result must be `checksum`.
pub fn of_memory(
    pages: &SharedPages,
    input: &Input,
    series: &str,
    checksum: u64,
    look: fn(&[u8], usize) -> u64,
) -> Entrant {
    let (len, workers) = (input.len(), machine::usable_cpus());
    let expected = Outcome { checksum, ..input.expected() };
    let here = Rc::clone(pages);
    Entrant::new(series, expected, move |meter| {
        let pages = here.borrow();
        let checksum = meter.measure(|| look(&pages[..len], workers))?;
        Ok(Outcome { checksum, ..expected })
    })
}

/// Returns an entrant that sums the bytes of `input`, already in memory, with all cores.
pub fn summed(pages: &SharedPages, input: &Input, series: &str) -> Entrant {
    of_memory(pages, input, series, input.made.sum, limits::memory_sum)
}

/// Returns an entrant that populates `len` bytes of new memory.
pub fn populated(series: &str, len: usize, workers: usize) -> Entrant {
    let expected = Outcome { bytes: len as u64, checksum: 0 };
    Entrant::new(series, expected, move |meter| {
        let pages = meter.measure(|| limits::touched_pages(len, workers))??;
        Ok(Outcome::of(&pages[..len], workers))
    })
}
