//! The inputs, the peers and the amount of work, which all cases share.

use crate::args::Args;
use anyhow::{Context, Result};
use std::cell::RefCell;
use std::fs;
use std::rc::Rc;
use swath_os::machine;
use swath_study::fields::file::FileField;
use swath_study::measure::{Counting, Extent, Rounds, Stage, memory_for};
use swath_study::peers::{Absent, Python, Ripgrep};
use swath_study::results::State;
use swath_study::workload::FileContent;

/// Memory needed, as a multiple of the largest file: two destinations, a fresh buffer, the page
/// cache, and the memory that Python keeps.
const MEMORY_FACTOR: u64 = 6;

/// The sizes of input files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Small,
    Medium,
    Large,
    /// The size of study A's file, for priorities.
    Study,
}

impl Size {
    /// Returns the length in bytes, and a label.
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

    /// Returns the label.
    pub(crate) fn label(self, quick: bool) -> &'static str {
        self.bytes(quick).1
    }

    /// Returns the repetitions in one timed run: 1,000 small reads of 3 µs take 3 ms.
    pub(crate) fn repeats(self) -> u64 {
        if self == Self::Small { 1000 } else { 1 }
    }
}

/// The settings, inputs and peers of all cases.
pub(crate) struct Bench {
    pub(crate) quick: bool,
    pub(crate) rounds: Rounds,
    pub(crate) workers: usize,
    pub(crate) stage: Stage,
    pub(crate) python: Result<Rc<RefCell<Python>>, Absent>,
    pub(crate) ripgrep: Result<Rc<Ripgrep>, Absent>,
}

impl Bench {
    /// Starts the peers and makes the folder for the inputs.
    pub(crate) fn prepare(args: &Args) -> Result<Self> {
        fs::create_dir_all(&args.data)
            .with_context(|| format!("cannot make {}", args.data.display()))?;
        let extent = if args.quick { Extent::Smoke } else { Extent::Full };
        Ok(Self {
            quick: args.quick,
            rounds: rounds(args.rounds(), args.seed),
            workers: machine::usable_cpus(),
            stage: Stage::new(&args.data, extent, args.seed),
            python: Python::start().map(RefCell::new).map(Rc::new),
            ripgrep: Ripgrep::find().map(Rc::new),
        })
    }

    /// Makes a file of random bytes.
    pub(crate) fn bytes(&self, size: Size, state: State) -> Result<FileField> {
        let file = self.input(FileContent::Bytes, size)?.at(0.0, state);
        Ok(file.times(size.repeats()))
    }

    /// Makes a file of lines of numbers.
    pub(crate) fn numbers(&self, size: Size) -> Result<FileField> {
        self.input(FileContent::CsvNumbers, size)
    }

    pub(crate) fn input(&self, kind: FileContent, size: Size) -> Result<FileField> {
        let (bytes, label) = size.bytes(self.quick);
        memory_for(bytes * MEMORY_FACTOR)?;
        eprintln!("making {kind:?} of {label}");
        Ok(FileField::of(&self.stage, &self.stage.file(kind, bytes)?))
    }

    /// Returns the number of bytes that the control sums.
    pub(crate) fn control_len(&self) -> usize {
        usize::try_from(Size::Medium.bytes(self.quick).0).unwrap_or(usize::MAX)
    }

    /// Returns `quick` in a smoke test, else `measured`.
    pub(crate) fn pick<T>(&self, measured: T, quick: T) -> T {
        if self.quick { quick } else { measured }
    }

    /// Returns Python, or the reason why `name` is absent.
    pub(crate) fn python(&self, name: &str) -> Result<Rc<RefCell<Python>>, Absent> {
        self.python.clone().map_err(|absent| Absent::new(name, absent.reason))
    }

    /// Returns ripgrep, or the reason why `name` is absent.
    pub(crate) fn ripgrep(&self, name: &str) -> Result<Rc<Ripgrep>, Absent> {
        self.ripgrep.clone().map_err(|absent| Absent::new(name, absent.reason))
    }
}

/// Counts time alone: the goals of cases are about time.
pub(crate) fn rounds(count: usize, seed: u64) -> Rounds {
    Rounds { count, seed, folder: 0, counting: Counting::Time }
}
