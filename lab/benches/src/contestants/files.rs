//! Ways to read many files: Swath, bare calls, the standard library, study B, ripgrep.

use crate::bench::Bench;
use anyhow::{Context, Result};
use std::path::Path;
use std::rc::Rc;
use swath::ingest::{Arena, Files, IngestOptions, OpenedBy};
use swath::{Error, ReadOptions};
use swath_os::memory::Pages;
use swath_study::fields::grove::{Grove, of_files};
use swath_study::many::bare::Bare;
use swath_study::many::{Glance, plain};
use swath_study::measure::{Entrant, Outcome};
use swath_study::peers::Absent;
use swath_study::results::State;

/// The files of a case, and the state of the page cache.
pub(crate) struct FilesSetting<'b> {
    pub(crate) bench: &'b Bench,
    pub(crate) files: Rc<Grove>,
    pub(crate) state: State,
}

/// Reads with five bare calls a file, into one buffer for each thread.
pub(crate) const BARE: &str = "limit: bare calls, one buffer a thread";
/// Reads with five bare calls a file, into existing memory for all files.
pub(crate) const BARE_REUSED: &str = "limit: bare calls, reused arena";
/// Reads with five bare calls a file, into fresh memory.
const BARE_FRESH: &str = "limit: bare calls, fresh arena";
/// Reads with `std::fs::read` in each thread, and drops the bytes.
pub(crate) const STD_DROPPED: &str = "std::fs::read by each thread, dropped";
/// Reads with `std::fs::read` in each thread, and keeps all bytes.
pub(crate) const STD_KEPT: &str = "std::fs::read by each thread, kept";
/// Counts the lines of all files with ripgrep, its start included.
pub(crate) const RIPGREP: &str = "rg -c ''";

/// Returns the name of study B's task manager with this many threads.
pub(crate) fn manager_name(threads: usize) -> String {
    format!("study B's task manager, {threads}")
}

impl FilesSetting<'_> {
    /// See [`BARE`], [`BARE_REUSED`] and [`BARE_FRESH`].
    pub(crate) fn bare(&self) -> Result<[Entrant; 3]> {
        let (workers, len) = (self.bench.workers, self.files.len());
        let calls = Rc::new(Bare::of(&self.files.paths).context("cannot look the files up")?);
        let again = Rc::clone(&calls);
        let fresh = move |_: &Grove| {
            let mut pages = Pages::map(len)?;
            // Small pages serve where huge pages are forbidden.
            let _ = pages.advise_huge();
            again.into_arena(&mut pages[..len], workers)?;
            Ok(pages)
        };
        Ok([
            self.files.dropped(BARE, self.state, move |_| Ok(calls.through_buffers(workers)?)),
            self.files.bare(&self.bench.stage, BARE_REUSED, self.state, workers)?,
            self.files.kept(BARE_FRESH, self.state, len, fresh, move |pages| {
                Outcome::of(&pages[..len], workers)
            }),
        ])
    }

    /// See [`STD_DROPPED`].
    pub(crate) fn std_dropped(&self) -> Entrant {
        let workers = self.bench.workers;
        self.files.dropped(STD_DROPPED, self.state, move |files| {
            Ok(plain::read_and_drop(&files.paths, workers)?)
        })
    }

    /// See [`STD_KEPT`].
    pub(crate) fn std_kept(&self) -> Entrant {
        let workers = self.bench.workers;
        let read = move |files: &Grove| Ok(plain::read_all(&files.paths, workers)?);
        let own = self.files.len();
        self.files.kept(STD_KEPT, self.state, own, read, |files| of_files(files))
    }

    /// See [`manager_name`].
    pub(crate) fn manager(&self, threads: usize) -> Entrant {
        let read = |path: &Path| std::fs::read(path);
        self.files.managed(&manager_name(threads), self.state, threads, read)
    }

    /// See [`RIPGREP`].
    pub(crate) fn ripgrep(&self) -> Result<Entrant, Absent> {
        let ripgrep = self.bench.ripgrep(RIPGREP)?;
        let entrant = self.files.entrant(RIPGREP, self.state, 0, move |files, meter| {
            let counted = ripgrep.count_lines_below(&files.folder)?;
            // The CPU time is that of another process.
            meter.took(counted.seconds);
            Ok(Outcome { bytes: files.made.bytes, checksum: counted.lines })
        });
        Ok(entrant.giving(self.files.made.lines))
    }
}

/// Reads all files through memory for a few of them.
pub(crate) const STREAMED: &str = "swath::ingest, streamed";
/// Reads all files into memory that was used before.
pub(crate) const REUSED: &str = "swath::ingest, reused arena";
/// Reads all files with the defaults: 64 MiB or more go into fresh memory; less goes into memory that
/// the process kept from the first call.
pub(crate) const FRESH: &str = "swath::ingest";

/// Returns the name of [`FilesSetting::at_depth`].
pub(crate) fn depth_name(depth: u32) -> String {
    format!("swath::ingest, 2 workers, {depth} in flight")
}

/// Ways of Swath.
impl FilesSetting<'_> {
    /// See [`STREAMED`].
    pub(crate) fn streamed(&self) -> Entrant {
        self.files.dropped(STREAMED, self.state, |files| {
            let mut glance = Glance::default();
            IngestOptions::new().stream(Files::paths(&files.paths), |part| {
                glance.add(part.bytes);
                Ok::<(), Error>(())
            })?;
            Ok(glance)
        })
    }

    /// See [`REUSED`]. The arena cannot be overwritten between runs, but the order of workers decides the
    /// place of a file in it, so bytes of the previous run would give a wrong result.
    pub(crate) fn reused(&self) -> Entrant {
        // The run before the first round touches the pages of the arena.
        self.with(REUSED, IngestOptions::new())
    }

    /// Reads with `options` into memory that was used before.
    pub(crate) fn with(&self, name: &str, options: IngestOptions) -> Entrant {
        self.files.ingested(name, self.state, 0, options.with_arena(Arena::new()))
    }

    /// See [`FRESH`].
    pub(crate) fn fresh(&self) -> Entrant {
        self.files.ingested(FRESH, self.state, self.files.len(), IngestOptions::new())
    }

    /// Reads with two threads at most and `depth` files in flight.
    pub(crate) fn at_depth(&self, depth: u32) -> Entrant {
        let read = ReadOptions::new().with_workers(2).with_queue_depth(depth as usize);
        self.beside_its_own_pages(&depth_name(depth), IngestOptions::new().with_read(read))
    }

    /// Reads as [`at_depth`](Self::at_depth) at the default depth; the ring also opens the files.
    pub(crate) fn by_ring(&self) -> Entrant {
        let options = IngestOptions::new()
            .with_read(ReadOptions::new().with_workers(2))
            .with_opened_by(OpenedBy::Ring);
        self.beside_its_own_pages("swath::ingest, 2 workers, opened by the ring", options)
    }

    fn beside_its_own_pages(&self, name: &str, options: IngestOptions) -> Entrant {
        let options = options.with_arena(Arena::new());
        self.files.ingested(name, self.state, self.files.len(), options)
    }
}
