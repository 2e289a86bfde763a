//! The machine's limits as contestants.

use crate::bench::{Bench, Input, SharedPages};
use crate::contestants::timing::Setting;
use anyhow::Result;
use std::fs::File;
use std::rc::Rc;
use swath_study::harness::{Contestant, Expected, Work, timed};
use swath_study::limits::{self, Schedule};

/// Reads in flight that the best direct read is looked for among.
pub(crate) const DEPTHS: [usize; 2] = [8, 16];

/// Threads that the best buffered cold read is looked for among.
pub(crate) const THREADS: [usize; 4] = [1, 2, 4, 8];

/// Reads through the page cache into pages that exist, 1 MiB at a time.
pub(crate) fn pread<'b>(
    setting: Setting<'b>,
    pages: &SharedPages,
    workers: usize,
    schedule: Schedule,
) -> Result<Contestant<'b>> {
    let file = File::open(&setting.input.path)?;
    let name = pread_name(workers, schedule);
    Ok(setting.into_pages(&name, pages, setting.input.repeats, move |target| {
        Ok(limits::pread(&file, target, workers, schedule)?)
    }))
}

/// Returns the name of [`pread`] as a rival.
pub(crate) fn pread_name(workers: usize, schedule: Schedule) -> String {
    let schedule = match schedule {
        Schedule::Static => "static",
        Schedule::Dynamic => "dynamic",
    };
    format!("limit: pread {workers} {schedule}")
}

/// Reads past the page cache into pages that exist, `depth` reads of 1 MiB in flight.
pub(crate) fn direct<'b>(
    setting: Setting<'b>,
    pages: &SharedPages,
    depth: usize,
) -> Result<Contestant<'b>> {
    let file = File::open(&setting.input.path)?;
    let name = direct_name(depth);
    Ok(setting.into_pages(&name, pages, setting.input.repeats, move |target| {
        Ok(limits::direct(&file, target, depth)?)
    }))
}

/// Returns the name of [`direct`] as a rival.
pub(crate) fn direct_name(depth: usize) -> String {
    format!("limit: O_DIRECT {depth}")
}

/// Opens, reads and closes with five bare calls.
pub(crate) const BARE: &str = "limit: five bare calls";

/// See [`BARE`].
pub(crate) fn bare<'b>(setting: Setting<'b>, pages: &SharedPages) -> Contestant<'b> {
    let path = &setting.input.path;
    setting.into_pages(BARE, pages, setting.input.repeats, move |target| {
        limits::bare_read(path, target)?;
        Ok(())
    })
}

/// Sums memory that holds the file's bytes.
pub(crate) const MEMORY_SUM: &str = "limit: sum of memory";

/// See [`MEMORY_SUM`].
pub(crate) fn memory_sum<'b>(
    bench: &'b Bench,
    input: &'b Input,
    pages: &SharedPages,
) -> Result<Contestant<'b>> {
    in_memory(bench, input, pages, MEMORY_SUM, input.made.sum, limits::memory_sum)
}

/// Counts the newlines in memory that holds the file's bytes.
pub(crate) const MEMORY_NEWLINES: &str = "limit: newlines of memory";

/// See [`MEMORY_NEWLINES`].
pub(crate) fn memory_newlines<'b>(
    bench: &'b Bench,
    input: &'b Input,
    pages: &SharedPages,
) -> Result<Contestant<'b>> {
    in_memory(bench, input, pages, MEMORY_NEWLINES, input.made.lines, limits::memory_newlines)
}

fn in_memory<'b>(
    bench: &'b Bench,
    input: &'b Input,
    pages: &SharedPages,
    name: &str,
    checksum: u64,
    each: impl Fn(&[u8], usize) -> u64 + 'b,
) -> Result<Contestant<'b>> {
    let file = File::open(&input.path)?;
    let len = input.len();
    limits::pread(&file, &mut pages.borrow_mut()[..len], bench.workers, Schedule::Dynamic)?;
    let pages = Rc::clone(pages);
    let expected = Expected { bytes: input.made.bytes, checksum };
    Ok(Contestant::new(name, expected, move || {
        let pages = pages.borrow();
        let (sum, timing) = timed(|| each(&pages[..len], bench.workers))?;
        Ok(Work::new(len as u64, sum).with_timing(timing))
    }))
}
