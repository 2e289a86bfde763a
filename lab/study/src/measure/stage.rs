//! The stage of an experiment: a folder, files in it, memory, and the amount of work.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use swath::CancelToken;
use swath_os::advise::{FileAdvice, advise_file};
use swath_os::machine;
use swath_os::memory::Pages;
use swath_plan::words;

use super::{Entrant, Meter, Outcome};
use crate::cache::{self, ColdBy};
use crate::limits;
use crate::results::State;
use crate::workload::{FileContent, Generated, Recipe, generate};

/// The amount of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A few kilobytes: a test that everything runs.
    Smoke,
    /// All experiments within a few minutes on two cores and 1 GB.
    Quick,
    /// As large as the studies, or as each experiment's scale states.
    Full,
}

words!(Extent { Smoke = "smoke", Quick = "quick", Full = "full" });

/// The byte that fills memory before a run that must overwrite it.
pub const UNREAD: u8 = 0xEE;

/// A file made for measuring, removed when dropped.
#[derive(Debug)]
pub struct Input {
    /// The path of the file.
    pub path: PathBuf,
    /// Length, lines and sum of the file.
    pub made: Generated,
    cold_by: ColdBy,
}

impl Input {
    /// Returns the length in bytes.
    ///
    /// # Panics
    ///
    /// If the length exceeds the address space.
    pub fn len(&self) -> usize {
        usize::try_from(self.made.bytes).expect("it was made on this machine")
    }

    /// Returns whether the file is empty.
    pub fn is_empty(&self) -> bool {
        self.made.bytes == 0
    }

    /// Returns the outcome of reading the whole file.
    pub fn expected(&self) -> Outcome {
        Outcome { bytes: self.made.bytes, checksum: self.made.sum }
    }

    /// Returns an entrant that uses the file, which is brought into `state` before each run.
    pub fn entrant(
        self: &Rc<Self>,
        series: impl Into<String>,
        state: State,
        mut work: impl FnMut(&Self, &mut Meter) -> Result<Outcome> + 'static,
    ) -> Entrant {
        let (here, before) = (Rc::clone(self), Rc::clone(self));
        Entrant::new(series, self.expected(), move |meter| work(&here, meter))
            .at(0.0, state)
            .with_before(move || before.bring(state))
    }

    /// Returns an entrant that reads the file into memory, which is overwritten before each run.
    pub fn filling(
        self: &Rc<Self>,
        pages: &SharedPages,
        series: impl Into<String>,
        state: State,
        mut load: impl FnMut(&mut [u8], &mut Meter) -> Result<()> + 'static,
    ) -> Entrant {
        let (here, before) = (Rc::clone(pages), Rc::clone(pages));
        let (len, workers) = (self.len(), machine::usable_cpus());
        let work = move |_: &Self, meter: &mut Meter| {
            let mut pages = here.borrow_mut();
            load(&mut pages[..len], meter)?;
            Ok(Outcome::of(&pages[..len], workers))
        };
        self.entrant(series, state, work).with_before(move || {
            limits::fill(&mut before.borrow_mut()[..len], UNREAD, workers);
            Ok(())
        })
    }

    /// Brings the file into a state of the page cache, and checks it.
    ///
    /// # Errors
    ///
    /// If the state cannot be reached.
    pub fn bring(&self, state: State) -> Result<()> {
        match state {
            State::Warm => cache::make_warm(&self.path),
            State::Cold => cache::make_cold(&self.path, self.cold_by),
            State::None => Ok(()),
        }
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        // The folder is removed later.
        let _ = fs::remove_file(&self.path);
    }
}

/// Memory that several entrants read into, one at a time.
pub type SharedPages = Rc<RefCell<Pages>>;

/// A folder, files in it, memory, and the amount of work.
#[derive(Debug)]
pub struct Stage {
    folder: PathBuf,
    /// The amount of work.
    pub extent: Extent,
    /// The way to make files cold.
    pub cold_by: ColdBy,
    /// Processors that this process may use.
    pub workers: usize,
    /// The seed of all random choices.
    pub seed: u64,
    program: Option<PathBuf>,
    cancel: CancelToken,
    /// The reason why no file here can be made cold, once tried.
    cold: OnceCell<Option<String>>,
    inputs: RefCell<BTreeMap<String, Rc<Input>>>,
}

/// Memory that an experiment may take for each byte of its largest file.
const MEMORY_FACTOR: u64 = 4;

/// Checks that the machine has this much memory.
///
/// # Errors
///
/// If it has less.
pub fn memory_for(needed: u64) -> Result<()> {
    let total = machine::memory_total()?;
    ensure!(
        total >= needed,
        "this needs {needed} bytes of memory, and the machine has {total}"
    );
    Ok(())
}

impl Stage {
    /// Makes a stage whose files are all made in `folder`, which exists.
    pub fn new(folder: &Path, extent: Extent, seed: u64) -> Self {
        Self {
            folder: folder.to_owned(),
            extent,
            cold_by: ColdBy::available(),
            workers: machine::usable_cpus(),
            seed,
            program: None,
            cancel: CancelToken::new(),
            cold: OnceCell::new(),
            inputs: RefCell::default(),
        }
    }

    /// Sets the command, for entrants that need their own process.
    pub fn with_program(self, program: Option<PathBuf>) -> Self {
        Self { program, ..self }
    }

    /// Sets a token; after its cancellation no file is made.
    pub fn with_cancel(self, cancel: CancelToken) -> Self {
        Self { cancel, ..self }
    }

    /// Returns the command, if there is one.
    pub fn program(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    /// Returns one of three values, by the extent.
    pub fn pick<T>(&self, smoke: T, quick: T, full: T) -> T {
        match self.extent {
            Extent::Smoke => smoke,
            Extent::Quick => quick,
            Extent::Full => full,
        }
    }

    /// Returns the reason why files here cannot be cold, if they cannot: a file system in memory has no device
    /// to read from. Tried once, with a small file.
    pub fn never_cold(&self) -> Option<&str> {
        let why = || self.try_cold().err().map(|error| format!("{error:#}"));
        self.cold.get_or_init(why).as_deref()
    }

    fn try_cold(&self) -> Result<()> {
        let path = self.folder.join("cold");
        fs::write(&path, [1; 1 << 16])
            .with_context(|| format!("cannot write {}", path.display()))?;
        let tried = cache::make_cold(&path, self.cold_by);
        fs::remove_file(&path)?;
        tried
    }

    /// Returns the path for an output.
    pub fn output(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Makes a file of this kind and length; a second call returns the same file.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, or there is too little memory to work with it.
    pub fn file(&self, kind: FileContent, size: u64) -> Result<Rc<Input>> {
        self.named("", kind, size)
    }

    /// Makes copy `number` of such a file.
    ///
    /// # Errors
    ///
    /// As [`file`](Self::file).
    pub fn copy(&self, kind: FileContent, size: u64, number: usize) -> Result<Rc<Input>> {
        self.named(&format!("-{number}"), kind, size)
    }

    fn named(&self, end: &str, kind: FileContent, size: u64) -> Result<Rc<Input>> {
        let name = format!("{kind:?}-{size}{end}");
        let name = name.replace(|sign: char| !sign.is_ascii_alphanumeric(), "-");
        memory_for(size.saturating_mul(MEMORY_FACTOR))?;
        self.made(&name, |path| Ok(generate(Recipe { kind, size, seed: self.seed }, path, 0)?))
    }

    /// Makes a file with `make`; a second call with this name returns the same file.
    ///
    /// # Errors
    ///
    /// The error of `make`, with the path; if the file cannot be written back.
    pub fn made(
        &self,
        name: &str,
        make: impl FnOnce(&Path) -> Result<Generated>,
    ) -> Result<Rc<Input>> {
        if let Some(known) = self.inputs.borrow().get(name) {
            return Ok(Rc::clone(known));
        }
        ensure!(!self.cancel.is_cancelled(), "stopped before {name} was made");
        let path = self.folder.join(name);
        let made = make(&path).with_context(|| format!("cannot make {}", path.display()))?;
        let input = Rc::new(Input { path, made, cold_by: self.cold_by });
        // No writeback may run during a measurement, and a read caches larger pages than a write.
        let file = File::open(&input.path)?;
        file.sync_all()?;
        advise_file(&file, 0, 0, FileAdvice::DontNeed)?;
        self.inputs.borrow_mut().insert(name.to_owned(), Rc::clone(&input));
        Ok(input)
    }

    /// Forgets all files; files without other users are removed.
    pub fn clear(&self) {
        self.inputs.borrow_mut().clear();
    }

    /// Allocates and populates memory.
    ///
    /// # Errors
    ///
    /// If the memory cannot be allocated.
    pub fn pages(&self, len: usize) -> Result<SharedPages> {
        ensure!(!self.cancel.is_cancelled(), "stopped before memory was allocated");
        let pages = limits::touched_pages(len, self.workers)
            .with_context(|| format!("cannot allocate {len} bytes of memory"))?;
        Ok(Rc::new(RefCell::new(pages)))
    }
}
