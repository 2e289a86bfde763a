//! One file, in a state: the machine's limits, Swath in its settings, and the usual ways to read it.
//!
//! Each entrant times its reads alone. Its target is overwritten before each run, so that the checksum
//! is that of this run's bytes. Before a run that takes new memory, its own or the page cache's, as much
//! memory is touched.

use std::cell::RefCell;
use std::fs::File;
use std::io::BufReader;
use std::ops::{Add, Deref};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result};
use swath::maps::Guard;
use swath::{Block, BufferPool, Loaded, ReadOptions, Scanned, Source};
use swath_os::memory::Pages;

use super::sums::{mapped, newlines_mapped};
use crate::cache;
use crate::limits::{self, Schedule};
use crate::measure::{Entrant, Input, Meter, Outcome, SharedPages, Stage, UNREAD};
use crate::peers::{PythonWay, Ripgrep, SharedPython, sum_reader};
use crate::results::State;
use crate::workload::FileContent;

/// Memory that is allocated before the first run that reads into it.
type LazyPages = Rc<RefCell<Option<Pages>>>;

/// A file and its copies, the place and state of their entrants, and the memory that they read into.
#[derive(Clone)]
pub struct FileField {
    /// The file.
    pub input: Rc<Input>,
    copies: Vec<Rc<Input>>,
    target: LazyPages,
    /// Memory that successive reads reuse.
    pool: BufferPool,
    workers: usize,
    place: (f64, State),
    repeats: u64,
}

/// The computation of a scan, and its way to the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileScan {
    /// The sum, through small buffers.
    Sum,
    /// The sum, through a guarded map.
    SumMapped,
    /// The number of line ends, through a guarded map.
    NewlinesMapped,
    /// The number of line ends, in blocks of whole lines.
    Records,
}

impl FileScan {
    /// Scans the file at `path`; the work includes opening and guarding it.
    ///
    /// # Errors
    ///
    /// If it cannot be read or mapped.
    pub fn run(self, options: &ReadOptions, path: &Path) -> Result<Scanned<u64>> {
        match self {
            Self::Sum => Ok(options.sum(path)?),
            Self::SumMapped => mapped(options, path),
            Self::NewlinesMapped => newlines_mapped(options, path),
            Self::Records => {
                let count =
                    |block: Block<'_>| anyhow::Ok(swath_simd::count(block.bytes, b'\n'));
                let Scanned { value, report } =
                    options.records(path).map_reduce(count, Add::add)?;
                Ok(Scanned { value: value.unwrap_or(0), report })
            }
        }
    }
}

/// Files, states and places.
impl FileField {
    /// Wraps a file, warm, at place 0.
    pub fn of(stage: &Stage, input: &Rc<Input>) -> Self {
        Self {
            input: Rc::clone(input),
            copies: Vec::new(),
            target: Rc::default(),
            // The pool keeps whole huge pages.
            pool: BufferPool::new(input.len() + (4 << 20)),
            workers: stage.workers,
            place: (0.0, State::Warm),
            repeats: 1,
        }
    }

    /// Makes `count` equal files of letters.
    ///
    /// # Errors
    ///
    /// As [`Stage::file`].
    pub fn letters(stage: &Stage, size: u64, count: usize) -> Result<Self> {
        let input = stage.file(FileContent::Letters, size)?;
        let copy = |number| stage.copy(FileContent::Letters, size, number);
        let copies = (1..count).map(copy).collect::<Result<_>>()?;
        Ok(Self { copies, ..Self::of(stage, &input) })
    }

    /// Returns the same files at a place, in a state.
    pub fn at(&self, x: f64, state: State) -> Self {
        Self { place: (x, state), ..self.clone() }
    }

    /// Sets the number of reads in one timed run.
    pub fn times(self, repeats: u64) -> Self {
        Self { repeats, ..self }
    }

    /// Keeps `count` files, including the first.
    pub fn with_files(&self, count: usize) -> Self {
        Self { copies: self.copies[..count - 1].to_vec(), ..self.clone() }
    }

    /// Returns the paths of all files.
    pub fn paths(&self) -> Vec<PathBuf> {
        let all = std::iter::once(&self.input).chain(&self.copies);
        all.map(|input| input.path.clone()).collect()
    }

    /// Adds the last preparation: it sets the state after others that may read the file, and touches memory.
    fn prepared(&self, entrant: Entrant, own: usize) -> Entrant {
        let (here, (x, state)) = (self.clone(), self.place);
        let room = own + if state == State::Cold { self.input.len() } else { 0 };
        entrant.at(x, state).with_before(move || {
            here.input.bring(state)?;
            here.copies.iter().try_for_each(|copy| copy.bring(state))?;
            match room {
                0 => Ok(()),
                len => cache::touch_memory(len).context("cannot touch memory"),
            }
        })
    }

    /// Returns an entrant that uses the file and takes `own` bytes of memory.
    pub fn entrant(
        &self,
        series: &str,
        own: usize,
        work: impl FnMut(&Input, &mut Meter) -> Result<Outcome> + 'static,
    ) -> Entrant {
        self.prepared(self.input.entrant(series, State::None, work), own)
    }

    /// Returns an entrant that fills existing memory, and times the parts that count.
    pub fn filling(
        &self,
        series: &str,
        mut fill: impl FnMut(&mut [u8], &mut Meter) -> Result<()> + 'static,
    ) -> Entrant {
        let (here, before) = (Rc::clone(&self.target), Rc::clone(&self.target));
        let (len, workers) = (self.input.len(), self.workers);
        let work = move |_: &Input, meter: &mut Meter| {
            let mut pages = here.borrow_mut();
            let target = &mut pages.as_mut().context("there is memory")?[..len];
            fill(target, meter)?;
            Ok(Outcome::of(target, workers))
        };
        let entrant = self.input.entrant(series, State::None, work).with_before(move || {
            let mut pages = before.borrow_mut();
            let pages = match &mut *pages {
                Some(pages) => pages,
                none => none.insert(
                    limits::touched_pages(len, workers)
                        .with_context(|| format!("cannot allocate {len} bytes of memory"))?,
                ),
            };
            limits::fill(&mut pages[..len], UNREAD, workers);
            Ok(())
        });
        self.prepared(entrant, 0)
    }

    /// Returns an entrant that times reads into existing memory.
    pub fn reusing(
        &self,
        series: &str,
        mut read: impl FnMut(&mut [u8]) -> Result<()> + 'static,
    ) -> Entrant {
        let repeats = self.repeats;
        let fill = move |target: &mut [u8], meter: &mut Meter| {
            meter.count(|| (0..repeats).try_for_each(|_| read(target)))?
        };
        self.filling(series, fill).times(repeats)
    }

    /// Returns an entrant that times reads into new memory. The last drop is not timed.
    pub fn fresh<M: Deref<Target = [u8]>>(
        &self,
        series: &str,
        mut read: impl FnMut(&Path) -> Result<M> + 'static,
    ) -> Entrant {
        let (repeats, workers) = (self.repeats, self.workers);
        let work = move |input: &Input, meter: &mut Meter| {
            let last = meter.count(|| {
                (1..repeats).try_for_each(|_| read(&input.path).map(drop))?;
                read(&input.path)
            })??;
            Ok(Outcome::of(&last, workers))
        };
        self.entrant(series, self.input.len(), work).times(repeats)
    }

    /// Returns an entrant that times a pass over the file without keeping its bytes.
    pub fn passing(
        &self,
        series: &str,
        mut pass: impl FnMut(&Path) -> Result<Outcome> + 'static,
    ) -> Entrant {
        self.entrant(series, 0, move |input, meter| meter.count(|| pass(&input.path))?)
    }
}

/// The machine's limits.
impl FileField {
    /// Reads through the page cache into existing memory, 1 MiB at a time.
    pub fn pread(&self, series: &str, workers: usize, schedule: Schedule) -> Entrant {
        let path = self.input.path.clone();
        self.reusing(series, move |target| {
            Ok(limits::pread(&File::open(&path)?, target, workers, schedule)?)
        })
    }

    /// Reads past the page cache into existing memory, with `depth` reads of 1 MiB in flight.
    pub fn direct(&self, series: &str, depth: usize) -> Entrant {
        let path = self.input.path.clone();
        self.reusing(series, move |target| {
            Ok(limits::direct(&File::open(&path)?, target, depth)?)
        })
    }

    /// Copies the bytes from memory into existing memory.
    pub fn copied(&self, series: &str, source: &SharedPages) -> Entrant {
        let (source, workers) = (Rc::clone(source), self.workers);
        self.reusing(series, move |target| {
            limits::copy(&source.borrow()[..target.len()], target, workers);
            Ok(())
        })
    }

    /// Opens, reads and closes with five bare calls.
    pub fn bare(&self, series: &str) -> Entrant {
        let path = self.input.path.clone();
        self.reusing(series, move |target| Ok(limits::bare_read(&path, target).map(drop)?))
    }
}

/// The memory that a read of Swath fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileMemory {
    /// New memory from the kernel.
    Fresh,
    /// Memory that was read into before.
    Reused,
    /// Memory that the process may have kept.
    Default,
}

/// Reads a file with options.
type ReadWay = fn(&ReadOptions, &Path) -> Result<Loaded>;

/// Ways of Swath.
impl FileField {
    /// Reads into existing memory.
    pub fn read_into(&self, series: &str, options: ReadOptions) -> Entrant {
        let path = self.input.path.clone();
        self.reusing(series, move |target| {
            Ok(options.read_into(path.as_path(), target).map(drop)?)
        })
    }

    /// Reads all files, as mirrors, into existing memory.
    pub fn read_mirrored(&self, series: &str) -> Entrant {
        let paths = self.paths();
        self.reusing(series, move |target| {
            ReadOptions::new().read_into(Source::mirrored(&paths), target)?;
            Ok(())
        })
    }

    /// Reads into a buffer.
    pub fn read(&self, series: &str, memory: FileMemory, options: ReadOptions) -> Entrant {
        self.read_by(series, memory, options, |options, path| Ok(options.read(path)?))
    }

    /// Copies a guarded map into a buffer; the work includes mapping it.
    pub fn read_mapped(
        &self,
        series: &str,
        memory: FileMemory,
        options: ReadOptions,
    ) -> Entrant {
        self.read_by(series, memory, options, |options, path| {
            Ok(options.read_mapped(Guard::install(&File::open(path)?, path)?, path)?)
        })
    }

    fn read_by(
        &self,
        series: &str,
        memory: FileMemory,
        options: ReadOptions,
        read: ReadWay,
    ) -> Entrant {
        let (options, own) = match memory {
            FileMemory::Reused => (self.reading(options), 0),
            FileMemory::Fresh => (options.with_pool(BufferPool::new(0)), self.input.len()),
            FileMemory::Default => (options, self.input.len()),
        };
        let (repeats, workers) = (self.repeats, self.workers);
        let work = move |input: &Input, meter: &mut Meter| {
            let Loaded { mut buffer, report } = meter.count(|| {
                (1..repeats).try_for_each(|_| read(&options, &input.path).map(drop))?;
                read(&options, &input.path)
            })??;
            meter.fell_back(report.fallbacks);
            let outcome = Outcome::of(&buffer, workers);
            // The next run that gets this memory must not find the right bytes in it.
            limits::fill(&mut buffer, UNREAD, workers);
            Ok(outcome)
        };
        match memory {
            FileMemory::Reused => self.pooling(series, work).times(repeats),
            _ => self.entrant(series, own, work).times(repeats),
        }
    }

    /// Returns options for reads into memory that [`pooling`](Self::pooling) has touched.
    pub fn reading(&self, options: ReadOptions) -> ReadOptions {
        options.with_pool(self.pool.clone())
    }

    /// Returns an entrant that reads into the pool, whose memory is touched directly before.
    pub fn pooling(
        &self,
        series: &str,
        work: impl FnMut(&Input, &mut Meter) -> Result<Outcome> + 'static,
    ) -> Entrant {
        let (before, options) = (self.clone(), self.reading(ReadOptions::new()));
        let entrant = self.input.entrant(series, State::None, work).with_before(move || {
            let mut buffer = options.read(before.input.path.as_path())?.buffer;
            limits::fill(&mut buffer, UNREAD, before.workers);
            Ok(())
        });
        self.prepared(entrant, 0)
    }

    /// Sums through the reader, which reads ahead.
    pub fn reader(&self, series: &str) -> Entrant {
        self.passing(series, |path| Ok(sum_reader(ReadOptions::new().reader(path)?)?))
    }

    /// Sums or counts without keeping the bytes; the work includes opening and guarding the file.
    pub fn scanned(&self, series: &str, scan: FileScan, options: ReadOptions) -> Entrant {
        let made = self.input.made;
        let checksum = match scan {
            FileScan::NewlinesMapped | FileScan::Records => made.lines,
            FileScan::Sum | FileScan::SumMapped => made.sum,
        };
        let work = move |input: &Input, meter: &mut Meter| {
            let scanned = meter.count(|| scan.run(&options, &input.path))??;
            meter.fell_back(scanned.report.fallbacks);
            Ok(Outcome { bytes: scanned.report.bytes, checksum: scanned.value })
        };
        self.entrant(series, 0, work).giving(checksum)
    }
}

/// The usual tools.
impl FileField {
    /// Reads with the standard library, into a vector.
    pub fn std_read(&self, series: &str) -> Entrant {
        self.fresh(series, |path| Ok(std::fs::read(path)?))
    }

    /// Sums through the standard library's buffered reader, with a buffer of this many bytes.
    pub fn buf_reader(&self, series: &str, buffer: usize) -> Entrant {
        self.passing(series, move |path| {
            Ok(sum_reader(BufReader::with_capacity(buffer, File::open(path)?))?)
        })
    }

    /// Loads with Python, timed by Python's clock.
    pub fn python(&self, python: SharedPython, way: PythonWay) -> Entrant {
        self.entrant(way.name, self.input.len(), move |input, meter| {
            Ok(python.borrow_mut().ask(way, &input.path)?.told(meter))
        })
    }

    /// Counts lines with ripgrep, its start included.
    pub fn ripgrep(&self, series: &str, ripgrep: Rc<Ripgrep>) -> Entrant {
        let entrant = self.entrant(series, 0, move |input, meter| {
            let counted = ripgrep.count_lines(&input.path)?;
            // The CPU time is that of another process.
            meter.took(counted.seconds);
            Ok(Outcome { checksum: counted.lines, ..input.expected() })
        });
        entrant.giving(self.input.made.lines)
    }
}
