//! Ways to read one file: the machine's limits, Swath in its settings, and its peers.
//!
//! Each times its reads alone. Its destination is overwritten first, so that the checksum afterwards
//! is of the bytes of this run and not of the previous one.

use crate::bench::{Bench, Size};
use anyhow::{Context, Result};
use std::fs::File;
use std::ops::{Add, Deref};
use std::path::Path;
use std::rc::Rc;
use swath::{Block, BufferPool, ReadOptions, Scanned};
use swath_study::cache;
use swath_study::fields::sums;
use swath_study::limits::{self, Schedule};
use swath_study::measure::{Entrant, Input, Meter, Outcome, SharedPages, UNREAD};
use swath_study::peers::{self, Absent, PythonWay};
use swath_study::results::State;

/// How much of an input is in the page cache before each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Residency {
    Warm,
    Cold,
    Half,
}

/// A file in a state, and memory to read it into.
pub(crate) struct FileSetting<'b> {
    pub(crate) bench: &'b Bench,
    pub(crate) input: Rc<Input>,
    pages: SharedPages,
    residency: Residency,
    /// Reads in one timed run.
    pub(crate) repeats: u64,
}

impl<'b> FileSetting<'b> {
    /// A file of random bytes.
    pub(crate) fn bytes(bench: &'b Bench, size: Size, residency: Residency) -> Result<Self> {
        Self::of(bench, bench.bytes(size)?, residency).map(|it| it.times(size.repeats()))
    }

    pub(crate) fn of(bench: &'b Bench, input: Rc<Input>, residency: Residency) -> Result<Self> {
        let pages = bench.stage.pages(input.len())?;
        Ok(Self { bench, input, pages, residency, repeats: 1 })
    }

    /// With this many reads in one timed run.
    pub(crate) fn times(self, repeats: u64) -> Self {
        Self { repeats, ..self }
    }

    fn state(&self) -> State {
        match self.residency {
            Residency::Warm => State::Warm,
            Residency::Cold => State::Cold,
            Residency::Half => State::None,
        }
    }

    /// Then touches as much memory as the run will take: its own allocations, and the page cache for a
    /// file that is not in it.
    fn prepared(&self, mut entrant: Entrant, own: usize) -> Entrant {
        if self.residency == Residency::Half {
            // Half of a tiny file has to do with smaller windows.
            let window_size = self.bench.pick(cache::WINDOW_SIZE, 4 << 20);
            let input = Rc::clone(&self.input);
            entrant = entrant
                .with_before(move || cache::make_half_resident(&input.path, window_size));
        }
        let cached = if self.residency == Residency::Warm { 0 } else { self.input.len() };
        match own + cached {
            0 => entrant,
            len => entrant
                .with_before(move || cache::touch_memory(len).context("cannot touch memory")),
        }
    }

    /// An entrant that takes `own` bytes of memory.
    fn entrant(
        &self,
        name: &str,
        own: usize,
        work: impl FnMut(&Input, &mut Meter) -> Result<Outcome> + 'static,
    ) -> Entrant {
        self.prepared(self.input.entrant(name, self.state(), work), own)
    }

    /// Times reads into pages that exist.
    pub(crate) fn reusing(
        &self,
        name: &str,
        mut read: impl FnMut(&mut [u8]) -> Result<()> + 'static,
    ) -> Entrant {
        let repeats = self.repeats;
        let load = move |target: &mut [u8], meter: &mut Meter| {
            meter.measure(|| (0..repeats).try_for_each(|_| read(target)))?
        };
        let entrant = self.input.filling(&self.pages, name, self.state(), load);
        self.prepared(entrant, 0).times(repeats)
    }

    /// Times reads that bring fresh memory of their own.
    pub(crate) fn fresh<M: Deref<Target = [u8]>>(
        &self,
        name: &str,
        read: impl FnMut(&Path) -> Result<M> + 'static,
    ) -> Entrant {
        self.bringing(name, self.input.len(), read)
    }

    /// Times reads that bring their memory, `own` bytes of it fresh. Dropping the last is not timed.
    fn bringing<M: Deref<Target = [u8]>>(
        &self,
        name: &str,
        own: usize,
        mut read: impl FnMut(&Path) -> Result<M> + 'static,
    ) -> Entrant {
        let (repeats, workers) = (self.repeats, self.bench.workers);
        let work = move |input: &Input, meter: &mut Meter| {
            let last = meter.measure(|| {
                (1..repeats).try_for_each(|_| read(&input.path).map(drop))?;
                read(&input.path)
            })??;
            Ok(Outcome::of(&last, workers))
        };
        self.entrant(name, own, work).times(repeats)
    }

    /// Times work that goes through all of it without keeping it.
    fn passing(
        &self,
        name: &str,
        mut pass: impl FnMut(&Path) -> Result<Outcome> + 'static,
    ) -> Entrant {
        self.entrant(name, 0, move |input, meter| meter.measure(|| pass(&input.path))?)
    }
}

/// Reads in flight; the best direct read is one of these.
pub(crate) const DEPTHS: [usize; 2] = [8, 16];

/// Threads; the best buffered cold read is one of these.
pub(crate) const THREADS: [usize; 4] = [1, 2, 4, 8];

/// Opens, reads and closes with five bare calls.
pub(crate) const BARE: &str = "limit: five bare calls";

/// Returns the name of [`FileSetting::pread`] as a rival.
pub(crate) fn pread_name(workers: usize, schedule: Schedule) -> String {
    let schedule = match schedule {
        Schedule::Static => "static",
        Schedule::Dynamic => "dynamic",
    };
    format!("limit: pread {workers} {schedule}")
}

/// Returns the name of [`FileSetting::direct`] as a rival.
pub(crate) fn direct_name(depth: usize) -> String {
    format!("limit: O_DIRECT {depth}")
}

/// The machine's limits.
impl FileSetting<'_> {
    /// Reads through the page cache into pages that exist, 1 MiB at a time.
    pub(crate) fn pread(&self, workers: usize, schedule: Schedule) -> Result<Entrant> {
        let file = File::open(&self.input.path)?;
        Ok(self.reusing(&pread_name(workers, schedule), move |target| {
            Ok(limits::pread(&file, target, workers, schedule)?)
        }))
    }

    /// Reads past the page cache into pages that exist, `depth` reads of 1 MiB in flight.
    pub(crate) fn direct(&self, depth: usize) -> Result<Entrant> {
        let file = File::open(&self.input.path)?;
        Ok(self.reusing(&direct_name(depth), move |target| {
            Ok(limits::direct(&file, target, depth)?)
        }))
    }

    /// See [`BARE`].
    pub(crate) fn bare(&self) -> Entrant {
        let path = self.input.path.clone();
        self.reusing(BARE, move |target| Ok(limits::bare_read(&path, target).map(drop)?))
    }
}

/// The one call that needs no settings.
pub(crate) const PLAIN_READ: &str = "swath::read";
/// Sums through the reader that reads ahead.
pub(crate) const READER: &str = "swath::reader";

/// Swath.
impl FileSetting<'_> {
    /// Reads into pages that exist.
    pub(crate) fn read_into(&self, name: &str, options: ReadOptions) -> Entrant {
        let path = self.input.path.clone();
        self.reusing(name, move |target| {
            Ok(options.read_into(path.as_path(), target).map(drop)?)
        })
    }

    /// Reads into a buffer that a pool hands out again and again.
    pub(crate) fn pooled(&self, name: &str) -> Entrant {
        // The pool keeps whole huge pages.
        let pool = BufferPool::new(self.input.len() + (4 << 20));
        let options = ReadOptions::new().with_pool(pool);
        let (again, input) = (options.clone(), Rc::clone(&self.input));
        let workers = self.bench.workers;
        let entrant = self.bringing(name, 0, move |path| Ok(options.read(path)?.buffer));
        // As the others' destinations, the pool's memory is touched right before it is used.
        entrant.with_before(move || {
            let mut buffer = again.read(input.path.as_path())?.buffer;
            limits::fill(&mut buffer, UNREAD, workers);
            Ok(())
        })
    }

    /// Reads into a buffer of its own: the pool that reads share by default keeps small ones.
    pub(crate) fn unpooled(&self, name: &str, options: ReadOptions) -> Entrant {
        let options = options.with_pool(BufferPool::new(0));
        self.fresh(name, move |path| Ok(options.read(path)?.buffer))
    }

    /// See [`PLAIN_READ`].
    pub(crate) fn plain_read(&self) -> Entrant {
        self.fresh(PLAIN_READ, |path| Ok(swath::read(path)?))
    }

    /// See [`READER`].
    pub(crate) fn reader(&self) -> Entrant {
        self.passing(READER, |path| {
            let reader = ReadOptions::new().reader(path)?;
            let (bytes, checksum) = peers::sum_reader(reader)?;
            Ok(Outcome { bytes, checksum })
        })
    }

    /// Sums or counts without keeping; opening and guarding is part of the work.
    pub(crate) fn scanned(&self, name: &str, scan: Scan, options: ReadOptions) -> Entrant {
        let made = self.input.made;
        let checksum = match scan {
            Scan::NewlinesMapped | Scan::Records => made.lines,
            Scan::Sum | Scan::SumMapped => made.sum,
        };
        let pass = move |path: &Path| {
            let scanned = scan.run(&options, path)?;
            Ok(Outcome { bytes: scanned.report.bytes, checksum: scanned.value })
        };
        self.passing(name, pass).giving(checksum)
    }
}

/// The computation of a scan, and how it gets the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scan {
    /// The sum, through small buffers.
    Sum,
    /// The sum, through a guarded map.
    SumMapped,
    /// The number of line ends, through a guarded map.
    NewlinesMapped,
    /// The number of line ends, in the blocks of a verb that hands out whole lines.
    Records,
}

impl Scan {
    pub(crate) fn run(self, options: &ReadOptions, path: &Path) -> Result<Scanned<u64>> {
        match self {
            Self::Sum => Ok(options.sum(path)?),
            Self::SumMapped => sums::mapped(options, path),
            Self::NewlinesMapped => sums::newlines_mapped(options, path),
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

/// Reads with the standard library, into a vector.
pub(crate) const STD: &str = "std::fs::read";
/// Sums through the standard library's buffered reader.
pub(crate) const BUF_READER: &str = "std::io::BufReader 1 MiB";
/// Counts lines with ripgrep, its start included.
pub(crate) const RIPGREP: &str = "rg --mmap -c ''";

/// The usual tools.
impl FileSetting<'_> {
    /// See [`STD`].
    pub(crate) fn std_read(&self) -> Entrant {
        self.fresh(STD, |path| Ok(std::fs::read(path)?))
    }

    /// See [`BUF_READER`].
    pub(crate) fn buf_reader(&self) -> Entrant {
        self.passing(BUF_READER, |path| {
            let (bytes, checksum) = peers::sum_buffered(path)?;
            Ok(Outcome { bytes, checksum })
        })
    }

    /// Loads with Python, by its own clock.
    pub(crate) fn python(&self, load: PythonWay) -> Result<Entrant, Absent> {
        let python = self.bench.python(load.name)?;
        Ok(self.entrant(load.name, self.input.len(), move |input, meter| {
            Ok(python.borrow_mut().ask(load, &input.path)?.told(meter))
        }))
    }

    /// See [`RIPGREP`].
    pub(crate) fn ripgrep(&self) -> Result<Entrant, Absent> {
        let ripgrep = self.bench.ripgrep(RIPGREP)?;
        let entrant = self.entrant(RIPGREP, 0, move |input, meter| {
            let counted = ripgrep.count_lines(&input.path)?;
            // Its CPU time is another process's.
            meter.took(counted.seconds);
            Ok(Outcome { checksum: counted.lines, ..input.expected() })
        });
        Ok(entrant.giving(self.input.made.lines))
    }
}
