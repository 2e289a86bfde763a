//! Many files, and ways to read them.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result};
use swath::ingest::{Files, IngestOptions, Ingested};

use crate::cache::{self, ColdBy};
use crate::limits;
use crate::many::bare::Bare;
use crate::many::manager::manage;
use crate::many::tree::{Tree, TreeFiles, make};
use crate::many::{Glance, plain};
use crate::measure::{Entrant, Meter, Outcome, Stage, UNREAD};
use crate::results::State;

/// Files in folders, removed when dropped.
pub struct Grove {
    /// The folder of the files.
    pub folder: PathBuf,
    /// The paths of all files.
    pub paths: Vec<PathBuf>,
    /// Counts and sums of the files.
    pub made: TreeFiles,
    /// The expected result of reads that do not keep the bytes.
    pub glance: Glance,
    cold_by: ColdBy,
}

impl Grove {
    /// Makes the files of `tree` in the folder `name`.
    ///
    /// # Errors
    ///
    /// If they cannot be written, or read back.
    pub fn new(stage: &Stage, name: &str, tree: &Tree) -> Result<Rc<Self>> {
        let folder = stage.output(name);
        // A killed process may have left the folder.
        let _ = fs::remove_dir_all(&folder);
        let made = make(tree, &folder, 0)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let paths = tree.paths(&folder);
        let glance = plain::read_and_drop(&paths, 1).context("cannot read the files back")?;
        // No writeback may run during a measurement, and warm files have been read once. Where files cannot
        // be dropped from the page cache, cold runs report it.
        let _ = cache::make_all_cold(&paths, stage.cold_by);
        Ok(Rc::new(Self { folder, paths, made, glance, cold_by: stage.cold_by }))
    }

    /// Returns the bytes of all files.
    ///
    /// # Panics
    ///
    /// If they do not fit into the address space.
    pub fn len(&self) -> usize {
        usize::try_from(self.made.bytes).expect("they were made on this machine")
    }

    /// Returns whether the files have no bytes.
    pub fn is_empty(&self) -> bool {
        self.made.bytes == 0
    }

    /// Brings all files into a state, then touches as much memory as the run (`own` bytes) and the page
    /// cache will take.
    fn prepare(&self, state: State, own: usize) -> Result<()> {
        let cached = match state {
            State::Warm => cache::make_all_warm(&self.paths).map(|()| 0)?,
            State::Cold => {
                cache::make_all_cold(&self.paths, self.cold_by).map(|()| self.len())?
            }
            State::None => 0,
        };
        match own + cached {
            0 => Ok(()),
            len => cache::touch_memory(len).context("cannot touch memory"),
        }
    }

    /// Returns an entrant that uses all files and takes `own` bytes of memory.
    pub fn entrant(
        self: &Rc<Self>,
        series: impl Into<String>,
        state: State,
        own: usize,
        mut work: impl FnMut(&Self, &mut Meter) -> Result<Outcome> + 'static,
    ) -> Entrant {
        let (here, before) = (Rc::clone(self), Rc::clone(self));
        let expected = Outcome { bytes: self.made.bytes, checksum: self.made.sum };
        Entrant::new(series, expected, move |meter| work(&here, meter))
            .at(0.0, state)
            .with_before(move || before.prepare(state, own))
    }

    /// Returns an entrant that times reads without keeping the bytes.
    pub fn dropped(
        self: &Rc<Self>,
        series: &str,
        state: State,
        read: impl Fn(&Self) -> Result<Glance> + 'static,
    ) -> Entrant {
        let entrant = self.entrant(series, state, 0, move |grove, meter| {
            let Glance { bytes, sum, .. } = meter.measure(|| read(grove))??;
            Ok(Outcome { bytes, checksum: sum })
        });
        entrant.giving(self.glance.sum)
    }

    /// Returns an entrant that times reads into `own` bytes of new memory. `look` sums them afterwards; the
    /// drop is not timed.
    pub fn kept<M>(
        self: &Rc<Self>,
        series: &str,
        state: State,
        own: usize,
        read: impl Fn(&Self) -> Result<M> + 'static,
        look: impl Fn(&M) -> Outcome + 'static,
    ) -> Entrant {
        self.entrant(series, state, own, move |grove, meter| {
            Ok(look(&meter.watch(|| read(grove))??))
        })
    }

    /// Returns study B's task manager with this many threads, one file a task.
    pub fn managed(
        self: &Rc<Self>,
        series: &str,
        state: State,
        threads: usize,
        read: ReadOne,
    ) -> Entrant {
        let read = move |grove: &Self| Ok(manage(&grove.paths, threads, read)?);
        self.kept(series, state, self.len(), read, |files| of_files(files))
    }

    /// Returns Swath with options, into their arena or into `own` bytes of new memory.
    pub fn ingested(
        self: &Rc<Self>,
        series: &str,
        state: State,
        own: usize,
        options: IngestOptions,
    ) -> Entrant {
        let read = move |grove: &Self| Ok(options.ingest(Files::paths(&grove.paths))?);
        self.kept(series, state, own, read, of_ingested)
    }

    /// Returns the bare calls with this many threads, into existing memory; names are looked up before.
    ///
    /// # Errors
    ///
    /// If the files cannot be found, or there is no memory for them.
    pub fn bare(
        self: &Rc<Self>,
        stage: &Stage,
        series: &str,
        state: State,
        workers: usize,
    ) -> Result<Entrant> {
        let bare = Bare::of(&self.paths).context("cannot look the files up")?;
        let pages = stage.pages(bare.bytes())?;
        Ok(self.entrant(series, state, 0, move |_, meter| {
            let mut pages = pages.borrow_mut();
            let arena = &mut pages[..bare.bytes()];
            limits::fill(arena, UNREAD, workers);
            meter.watch(|| bare.into_arena(arena, workers))??;
            Ok(Outcome::of(arena, workers))
        }))
    }
}

impl Drop for Grove {
    fn drop(&mut self) {
        // The next run replaces files that stay, or the parent folder is removed with them.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Returns the number of bytes in files, and their sum.
pub fn of_files(files: &[Vec<u8>]) -> Outcome {
    files.iter().map(|file| Outcome::of(file, 1)).sum()
}

/// Returns the number of bytes that Swath has read from files, and their sum.
pub fn of_ingested(ingested: &Ingested) -> Outcome {
    ingested.iter().map(|entry| Outcome::of(entry.bytes, 1)).sum()
}

/// Reads one file for study B's task manager.
pub type ReadOne = fn(&Path) -> std::io::Result<Vec<u8>>;
