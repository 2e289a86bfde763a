//! Many files, read in several ways.

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

/// Files in folders. Removed when dropped.
pub struct Grove {
    /// The folder of the files.
    pub folder: PathBuf,
    /// All of them.
    pub paths: Vec<PathBuf>,
    /// The contents of the files.
    pub made: TreeFiles,
    /// The result of reads that do not keep the bytes.
    pub glance: Glance,
    cold_by: ColdBy,
}

impl Grove {
    /// Makes them in a folder of that name.
    ///
    /// # Errors
    ///
    /// If they cannot be written, or read back.
    pub fn new(stage: &Stage, name: &str, tree: &Tree) -> Result<Rc<Self>> {
        let folder = stage.output(name);
        // Left by a process that was killed.
        let _ = fs::remove_dir_all(&folder);
        let made = make(tree, &folder, 0)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let paths = tree.paths(&folder);
        let glance = plain::read_and_drop(&paths, 1).context("cannot read the files back")?;
        // Writing back must not run during a measurement, and warm files have been read once. Where files
        // do not leave the page cache, cold runs say so.
        let _ = cache::make_all_cold(&paths, stage.cold_by);
        Ok(Rc::new(Self { folder, paths, made, glance, cold_by: stage.cold_by }))
    }

    /// Bytes of all files.
    ///
    /// # Panics
    ///
    /// If they do not fit into the address space.
    pub fn len(&self) -> usize {
        usize::try_from(self.made.bytes).expect("they were made on this machine")
    }

    /// Whether there is nothing in them.
    pub fn is_empty(&self) -> bool {
        self.made.bytes == 0
    }

    /// Brings all files into a state, and then touches as much memory as the run, which takes
    /// `own`, and the page cache will take.
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

    /// An entrant that uses all of them, and takes `own` bytes of memory for it.
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

    /// Times reads whose bytes are not kept.
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

    /// Times reads that bring `own` bytes of memory; `look` sums them afterwards. Dropping what was read is
    /// not timed.
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

    /// Study B's task manager with this many threads, one file a task.
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

    /// Swath, with options that bring an arena or take memory of their own.
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

    /// The bare calls with this many threads, into existing memory; names were looked up before.
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
        // Files that stay are replaced by the next run, or removed with the folder around them.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The bytes of files, and their sum.
pub fn of_files(files: &[Vec<u8>]) -> Outcome {
    files.iter().map(|file| Outcome::of(file, 1)).sum()
}

/// The bytes of files that Swath has read, and their sum.
pub fn of_ingested(ingested: &Ingested) -> Outcome {
    ingested.iter().map(|entry| Outcome::of(entry.bytes, 1)).sum()
}

/// Study B's reading of a file.
pub type ReadOne = fn(&Path) -> std::io::Result<Vec<u8>>;
