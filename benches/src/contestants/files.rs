//! Ways to read many files, Swath's aside: bare calls, the standard library, study B, ripgrep.

use crate::bench::{Bench, Residency};
use crate::contestants::timing::UNREAD;
use crate::trees::Files;
use anyhow::{Context, Result};
use std::path::Path;
use std::rc::Rc;
use swath_study::harness::{Contestant, Work, timed};
use swath_study::limits;
use swath_study::many::bare::Bare;
use swath_study::many::lines::read_by_lines;
use swath_study::many::manager::manage;
use swath_study::many::{Glance, plain};
use swath_study::peers::Absent;

/// Files in a state, read a few times in one timed run.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'b> {
    pub(crate) bench: &'b Bench,
    pub(crate) files: &'b Files,
    pub(crate) residency: Residency,
    pub(crate) repeats: u64,
}

impl<'b> Setting<'b> {
    /// Times reads whose bytes are not kept.
    pub(crate) fn dropped(
        self,
        name: &str,
        read: impl Fn() -> Result<Glance> + 'b,
    ) -> Contestant<'b> {
        let Self { bench, files, residency, repeats } = self;
        Contestant::new(name, files.glanced(repeats), move || {
            let (glance, timing) = timed(|| {
                (1..repeats).try_for_each(|_| read().map(drop))?;
                read()
            })?;
            let glance = glance?;
            Ok(Work::new(glance.bytes * repeats, glance.sum).with_timing(timing))
        })
        .with_before(move || files.prepare(bench, residency, 0))
    }

    /// Times reads that bring their own memory for all bytes; `sum` looks at them afterwards, and
    /// gives their number and their sum. Letting go of the last is not timed.
    pub(crate) fn kept<M>(
        self,
        name: &str,
        read: impl Fn() -> Result<M> + 'b,
        sum: impl Fn(&M) -> (u64, u64) + 'b,
    ) -> Contestant<'b> {
        let Self { bench, files, residency, repeats } = self;
        Contestant::new(name, files.kept(repeats), move || {
            let (last, timing) = timed(|| {
                (1..repeats).try_for_each(|_| read().map(drop))?;
                read()
            })?;
            let (bytes, sum) = sum(&last?);
            Ok(Work::new(bytes * repeats, sum).with_timing(timing))
        })
        .with_before(move || files.prepare(bench, residency, files.len()))
    }
}

/// Five bare calls a file, into one buffer for each thread.
pub(crate) const BARE: &str = "limit: bare calls, one buffer a thread";
/// The same, into memory for all files that is there.
pub(crate) const BARE_REUSED: &str = "limit: bare calls, reused arena";
/// The same, into fresh memory.
pub(crate) const BARE_FRESH: &str = "limit: bare calls, fresh arena";

/// See [`BARE`], [`BARE_REUSED`] and [`BARE_FRESH`].
pub(crate) fn bare(setting: Setting<'_>) -> Result<[Contestant<'_>; 3]> {
    let Setting { bench, files, residency, .. } = setting;
    let workers = bench.workers;
    let calls = Rc::new(Bare::of(&files.paths).context("cannot look the files up")?);
    let buffers = {
        let calls = Rc::clone(&calls);
        setting.dropped(BARE, move || Ok(calls.through_buffers(workers)?))
    };
    let reused = {
        let calls = Rc::clone(&calls);
        let mut pages = limits::touched_pages(files.len(), workers)?;
        Contestant::new(BARE_REUSED, files.kept(1), move || {
            let target = &mut pages[..files.len()];
            limits::fill(target, UNREAD, workers);
            let (read, timing) = timed(|| calls.into_arena(target, workers))?;
            read?;
            let sum = limits::memory_sum(target, workers);
            Ok(Work::new(files.made.bytes, sum).with_timing(timing))
        })
        .with_before(move || files.prepare(bench, residency, 0))
    };
    let fresh = Setting { repeats: 1, ..setting }.kept(
        BARE_FRESH,
        move || {
            let mut pages = swath_os::memory::Pages::map(files.len())?;
            // Where huge pages are forbidden, small ones have to do.
            let _ = pages.advise_huge();
            calls.into_arena(&mut pages[..files.len()], workers)?;
            Ok(pages)
        },
        move |pages| (files.made.bytes, limits::memory_sum(&pages[..files.len()], workers)),
    );
    Ok([buffers, reused, fresh])
}

/// `std::fs::read` by each thread, the bytes let go.
pub(crate) const STD_DROPPED: &str = "std::fs::read by each thread, dropped";
/// The same, all bytes kept.
pub(crate) const STD_KEPT: &str = "std::fs::read by each thread, kept";

/// See [`STD_DROPPED`].
pub(crate) fn std_dropped(setting: Setting<'_>) -> Contestant<'_> {
    let Setting { bench, files, .. } = setting;
    setting.dropped(STD_DROPPED, move || Ok(plain::read_and_drop(&files.paths, bench.workers)?))
}

/// See [`STD_KEPT`].
pub(crate) fn std_kept(setting: Setting<'_>) -> Contestant<'_> {
    let Setting { bench, files, .. } = setting;
    let read = move || Ok(plain::read_all(&files.paths, bench.workers)?);
    setting.kept(STD_KEPT, read, |files| sum(files))
}

fn sum(files: &[Vec<u8>]) -> (u64, u64) {
    files.iter().fold((0, 0), |(bytes, sum), file| {
        (bytes + file.len() as u64, sum + limits::memory_sum(file, 1))
    })
}

/// Study B's task manager with so many threads.
pub(crate) fn manager_name(threads: usize) -> String {
    format!("study B's task manager, {threads}")
}

/// See [`manager_name`].
pub(crate) fn manager(setting: Setting<'_>, threads: usize) -> Contestant<'_> {
    let files = setting.files;
    let read = move || Ok(manage(&files.paths, threads, |path| std::fs::read(path))?);
    setting.kept(&manager_name(threads), read, |files| sum(files))
}

/// A way to read one file after the other.
pub(crate) struct OneByOne {
    name: &'static str,
    read: fn(&Path) -> std::io::Result<Vec<u8>>,
}

/// Study B's reading, line by line, and all at once.
pub(crate) const LINE_BY_LINE: OneByOne = OneByOne {
    name: "line by line, the string made anew",
    read: |path| Ok(read_by_lines(path)?.into_bytes()),
};
/// As [`LINE_BY_LINE`] should have been.
pub(crate) const WHOLE: OneByOne =
    OneByOne { name: "each file at once", read: |path| std::fs::read(path) };

/// One thread reads all files in one of these ways.
pub(crate) fn one_by_one<'b>(setting: Setting<'b>, way: OneByOne) -> Contestant<'b> {
    let files = setting.files;
    setting.kept(way.name, move || Ok(manage(&files.paths, 1, way.read)?), |files| sum(files))
}

/// Counts the lines of all files with ripgrep, its start included.
pub(crate) const RIPGREP: &str = "rg -c ''";

/// See [`RIPGREP`].
pub(crate) fn ripgrep(setting: Setting<'_>) -> Result<Contestant<'_>, Absent> {
    let Setting { bench, files, residency, .. } = setting;
    let absent = |absent: &Absent| Absent::new(RIPGREP, absent.reason.clone());
    let ripgrep = bench.ripgrep.as_ref().map_err(absent)?;
    let expected =
        swath_study::harness::Expected { bytes: files.made.bytes, checksum: files.made.lines };
    let run = move || {
        let counted = ripgrep.count_lines_below(&files.folder)?;
        // Its CPU time is another process's.
        let work = Work::new(files.made.bytes, counted.lines);
        Ok(Work { seconds: Some(counted.seconds), ..work })
    };
    Ok(Contestant::new(RIPGREP, expected, run)
        .with_before(move || files.prepare(bench, residency, 0)))
}
