//! What all cases share: inputs, peers, a control, and the state of the page cache.

use crate::args::Args;
use anyhow::{Context, Result, ensure};
use std::cell::RefCell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use swath_os::advise::{FileAdvice, advise_file};
use swath_os::machine;
use swath_os::memory::Pages;
use swath_study::cache::{self, ColdBy};
use swath_study::harness::{Expected, Rounds};
use swath_study::limits;
use swath_study::peers::{Absent, Python, Ripgrep};
use swath_study::workload::{Generated, Kind, Recipe, generate};

/// Memory that several contestants read into, one at a time.
pub(crate) type SharedPages = Rc<RefCell<Pages>>;

/// Times the size of the largest file that its cases hold in memory together: two
/// destinations, a fresh buffer, the page cache, and what Python keeps.
const MEMORY_FACTOR: u64 = 6;

/// Repetitions of a small read in one timed run: at 3 µs each, 3 ms.
const SMALL_REPEATS: u64 = 1000;

/// The sizes of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Small,
    Medium,
    Large,
    /// Study A's, for priorities.
    Study,
}

impl Size {
    /// Bytes, and how people call it.
    fn bytes(self, quick: bool) -> (u64, &'static str) {
        match (self, quick) {
            (Self::Small, _) => (8 << 10, "8KiB"),
            (Self::Medium, false) => (64 << 20, "64MiB"),
            (Self::Medium, true) => (1 << 20, "1MiB"),
            (Self::Large, false) => (2 << 30, "2GiB"),
            (Self::Large, true) => (8 << 20, "8MiB"),
            (Self::Study, false) => (1_300_000_000, "1.3GB"),
            (Self::Study, true) => (4 << 20, "4MiB"),
        }
    }

    /// Returns how people call it.
    pub(crate) fn label(self, quick: bool) -> &'static str {
        self.bytes(quick).1
    }
}

/// One file to read. Removed when dropped.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) made: Generated,
    /// Reads in one timed run.
    pub(crate) repeats: u64,
}

impl Input {
    fn generate(folder: &Path, recipe: Recipe, label: &str) -> Result<Self> {
        let (word, repeats) = match (recipe.kind, label) {
            (Kind::CsvNumbers, _) => ("numbers", 1),
            (_, "8KiB") => ("bytes", SMALL_REPEATS),
            _ => ("bytes", 1),
        };
        let path = folder.join(format!("{word}-{label}"));
        eprintln!("making {}", path.display());
        let made = generate(recipe, &path, 0)
            .with_context(|| format!("cannot make {}", path.display()))?;
        let input = Self { path, made, repeats };
        input.settle()?;
        Ok(input)
    }

    /// Brings it to the device and out of the page cache.
    pub(crate) fn settle(&self) -> Result<()> {
        // Writing back must not run beside the first measurements.
        let file = File::open(&self.path)?;
        file.sync_all()?;
        // Warm means that somebody read it: a read leaves larger pages in the cache than a write,
        // and a map of them is a fifth faster.
        Ok(advise_file(&file, 0, 0, FileAdvice::DontNeed)?)
    }

    /// Returns the length in bytes.
    pub(crate) fn len(&self) -> usize {
        usize::try_from(self.made.bytes).expect("inputs fit into memory")
    }

    /// Returns what `repeats` reads of the whole file give.
    pub(crate) fn expected(&self, repeats: u64) -> Expected {
        Expected { bytes: self.made.bytes * repeats, checksum: self.made.sum }
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        // A file that stays is replaced by the next run.
        let _ = fs::remove_file(&self.path);
    }
}

/// What the page cache holds of an input before each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Residency {
    Warm,
    Cold,
    Half,
}

/// Everything that cases need.
pub(crate) struct Bench {
    pub(crate) quick: bool,
    pub(crate) rounds: Rounds,
    pub(crate) workers: usize,
    pub(crate) cold_by: ColdBy,
    pub(crate) python: Result<RefCell<Python>, Absent>,
    pub(crate) ripgrep: Result<Ripgrep, Absent>,
    /// For the control, and for nobody else.
    pub(crate) control_pages: SharedPages,
    folder: PathBuf,
    seed: u64,
}

impl Bench {
    /// Starts the peers and makes the folder for the inputs.
    pub(crate) fn prepare(args: &Args) -> Result<Self> {
        fs::create_dir_all(&args.data)
            .with_context(|| format!("cannot make {}", args.data.display()))?;
        let workers = machine::usable_cpus();
        let control_size = Size::Medium.bytes(args.quick).0;
        let control_len = usize::try_from(control_size)?;
        Ok(Self {
            quick: args.quick,
            rounds: Rounds { count: args.rounds(), seed: args.seed },
            workers,
            cold_by: ColdBy::available(),
            python: Python::start().map(RefCell::new),
            ripgrep: Ripgrep::find(),
            control_pages: shared_pages(control_len, workers)?,
            folder: args.data.clone(),
            seed: args.seed,
        })
    }

    /// Makes a file of random bytes.
    pub(crate) fn bytes(&self, size: Size) -> Result<Input> {
        self.input(Kind::Bytes, size)
    }

    /// Makes a file of lines of numbers.
    pub(crate) fn numbers(&self, size: Size) -> Result<Input> {
        self.input(Kind::CsvNumbers, size)
    }

    fn input(&self, kind: Kind, size: Size) -> Result<Input> {
        let (bytes, label) = size.bytes(self.quick);
        let needed = bytes * MEMORY_FACTOR;
        let total = machine::memory_total()?;
        ensure!(total >= needed, "this needs {needed} bytes of memory, there are {total}");
        Input::generate(&self.folder, Recipe { kind, size: bytes, seed: self.seed }, label)
    }

    /// Maps memory to read `input` into, all of it there.
    pub(crate) fn pages_for(&self, input: &Input) -> Result<SharedPages> {
        shared_pages(input.len(), self.workers)
    }

    /// Where inputs and outputs are.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Names a folder beside the inputs, for what contestants write. Whoever writes makes it.
    pub(crate) fn output(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Brings the page cache into a state, and checks it.
    pub(crate) fn bring(&self, input: &Input, residency: Residency) -> Result<()> {
        // Half of a tiny file has to do with smaller windows.
        let window_size = if self.quick { 4 << 20 } else { cache::WINDOW_SIZE };
        match residency {
            Residency::Warm => cache::make_warm(&input.path),
            Residency::Cold => cache::make_cold(&input.path, self.cold_by),
            Residency::Half => cache::make_half_resident(&input.path, window_size),
        }
    }
}

fn shared_pages(len: usize, workers: usize) -> Result<SharedPages> {
    let pages = limits::touched_pages(len, workers)
        .with_context(|| format!("cannot have {len} bytes of memory"))?;
    Ok(Rc::new(RefCell::new(pages)))
}
