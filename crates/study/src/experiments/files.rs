//! Study B: many files by many threads.

mod claims;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result};
use swath::ingest::{Arena, Files, IngestOptions};

use super::shape::{chart, metric, states};
use crate::cache::ColdBy;
use crate::experiment::{Entrant, Entrants, Experiment, Meter, Outcome, Scale, Stage, Study};
use crate::limits;
use crate::many::bare::Bare;
use crate::many::lines::read_by_lines;
use crate::many::manager::manage;
use crate::many::residency;
use crate::many::tree::{Made, Spread, Tree, make};
use crate::results::{Chart, Measure, State};

const MANAGER: &str = "task manager";
const LINES: &str = "task manager, line by line";
const SWATH: &str = "swath";
/// Names looked up beforehand; nothing but the calls, into memory that is there.
const LIMIT: &str = "limit: bare calls";
/// Trials of the study.
const TRIALS: usize = 20;

/// Its small files.
pub(super) const SMALL: Experiment = Experiment {
    id: "b-small",
    study: Study::B,
    figure: "time to load 500 files of 10 kB by threads, 20 trials",
    claims: claims::SMALL,
    scale: Scale {
        study: "500 files of 10 kB, 1 to 64 and 500 threads",
        other: "",
        minutes: 2,
    },
    least_rounds: TRIALS,
    charts: charts_by_threads,
    entrants: |stage| {
        by_threads(stage, stage.pick(20, 500, 500), stage.pick(1000, 10_000, 10_000))
    },
};

/// Its files of a megabyte.
pub(super) const MEDIUM: Experiment = Experiment {
    id: "b-medium",
    figure: "time to load 124 files of 1 MB by threads, 20 trials",
    claims: claims::MEDIUM,
    scale: Scale { study: "124 files of 1 MB", other: "", minutes: 2 },
    entrants: |stage| {
        by_threads(stage, stage.pick(4, 16, 124), stage.pick(9000, 1_000_000, 1_000_000))
    },
    ..SMALL
};

/// Its large files.
pub(super) const LARGE: Experiment = Experiment {
    id: "b-large",
    figure: "time to load 31 files of 3.6 MB by threads, 20 trials",
    claims: claims::LARGE,
    scale: Scale { study: "31 files of 3.6 MB", other: "", minutes: 2 },
    entrants: |stage| {
        by_threads(stage, stage.pick(2, 4, 31), stage.pick(9000, 3_600_000, 3_600_000))
    },
    ..SMALL
};

/// Those that it gave up on.
pub(super) const HUGE: Experiment = Experiment {
    id: "b-huge",
    figure: "time to load the 18 MB files that it gave up on",
    claims: claims::HUGE,
    scale: Scale { study: "none: it gave up on 18 MB", other: "12 files of 18 MB", minutes: 3 },
    entrants: |stage| {
        by_threads(stage, stage.pick(1, 2, 12), stage.pick(9000, 18_000_000, 18_000_000))
    },
    ..SMALL
};

/// Where its trouble with large files comes from.
pub(super) const BY_LINES: Experiment = Experiment {
    id: "b-lines",
    study: Study::B,
    figure: "time for the same bytes in files of different sizes, read as the study reads",
    claims: claims::BY_LINES,
    scale: Scale {
        study: "5 MB to 124 MB, in files of 10 kB to 3.6 MB",
        other: "1 MB in all, in files of up to 500 kB: its way takes the square of a file's length",
        minutes: 1,
    },
    least_rounds: 5,
    charts: || {
        vec![chart("time for the same bytes", "kB a file", Measure::Seconds).log_x().log_y()]
    },
    entrants: by_lines,
};

fn charts_by_threads() -> Vec<Chart> {
    let busy = |threads: f64| {
        let y = Measure::Course { name: "busy".into(), unit: "processors".into(), x: threads };
        chart(&format!("processors at work over time, threads: {threads}"), "% of the time", y)
    };
    vec![
        chart("time by threads", "threads", Measure::Seconds).log_x(),
        chart("processor seconds", "threads", metric("cpu_seconds", "")).log_x(),
        chart(
            "how late a timer of 1 ms fires at most",
            "threads",
            metric("late_most_seconds", ""),
        )
        .log_x(),
        chart(
            "how late it fires half of the times",
            "threads",
            metric("late_median_seconds", ""),
        )
        .log_x(),
        busy(1.0),
        busy(8.0),
    ]
}

/// Files in folders. Removed when dropped.
struct Grove {
    folder: PathBuf,
    paths: Vec<PathBuf>,
    made: Made,
    cold_by: ColdBy,
}

impl Grove {
    fn new(stage: &Stage, files: u64, size: u64) -> Result<Rc<Self>> {
        let folder = stage.output(&format!("tree-{files}-{size}"));
        let tree = Tree { files, size, spread: Spread::Even, seed: stage.seed() };
        let made = make(&tree, &folder, 0)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let (paths, cold_by) = (tree.paths(&folder), stage.cold_by());
        let grove = Self { folder, paths, made, cold_by };
        // Writing back must not run beside what is measured.
        let _ = residency::make_all_cold(&grove.paths, cold_by);
        Ok(Rc::new(grove))
    }

    fn bring(&self, state: State) -> Result<()> {
        match state {
            State::Warm => residency::make_all_warm(&self.paths),
            State::Cold => residency::make_all_cold(&self.paths, self.cold_by),
            State::None => Ok(()),
        }
    }

    fn expected(&self) -> Outcome {
        Outcome { bytes: self.made.bytes, checksum: self.made.sum }
    }

    /// Reads with so many threads, one file a task.
    fn managed(
        self: &Rc<Self>,
        series: &str,
        x: f64,
        state: State,
        threads: usize,
        read: fn(&Path) -> io::Result<Vec<u8>>,
    ) -> Entrant {
        let (here, before) = (Rc::clone(self), Rc::clone(self));
        let work = move |meter: &mut Meter| {
            let read = || manage(&here.paths, threads, read);
            let sums = meter.watch(read)??;
            let sums = sums.iter().map(|file| (file.len() as u64, limits::memory_sum(file, 1)));
            Ok(sums.fold(Outcome::default(), |all, (bytes, sum)| Outcome {
                bytes: all.bytes + bytes,
                checksum: all.checksum + sum,
            }))
        };
        Entrant::new(series, x, state, self.expected(), work)
            .with_before(move || before.bring(state))
    }

    fn swath(self: &Rc<Self>, series: &str, x: f64, state: State) -> Entrant {
        let (here, before) = (Rc::clone(self), Rc::clone(self));
        let options = IngestOptions::new().with_arena(Arena::new());
        let work = move |meter: &mut Meter| {
            let read = || options.ingest(Files::paths(&here.paths));
            let ingested = meter.watch(read)??;
            Ok(ingested.iter().fold(Outcome::default(), |all, entry| Outcome {
                bytes: all.bytes + entry.bytes.len() as u64,
                checksum: all.checksum + limits::memory_sum(entry.bytes, 1),
            }))
        };
        Entrant::new(series, x, state, self.expected(), work)
            .with_before(move || before.bring(state))
    }

    /// The calls themselves, from the page cache, by as many threads as there are cores.
    fn limit(self: &Rc<Self>, stage: &Stage) -> Result<Entrant> {
        let (here, before) = (Rc::clone(self), Rc::clone(self));
        let (bare, workers) = (Bare::of(&self.paths)?, stage.workers());
        let pages = stage.pages(bare.bytes())?;
        let work = move |meter: &mut Meter| {
            let mut pages = pages.borrow_mut();
            let arena = &mut pages[..bare.bytes()];
            meter.watch(|| bare.into_arena(arena, workers))??;
            let checksum = limits::memory_sum(arena, 1);
            Ok(Outcome { checksum, ..here.expected() })
        };
        let entrant = Entrant::new(LIMIT, workers as f64, State::Warm, self.expected(), work);
        Ok(entrant.with_before(move || before.bring(State::Warm)))
    }
}

impl Drop for Grove {
    fn drop(&mut self) {
        // The folder around it goes, too.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn by_threads(stage: &Stage, files: u64, size: u64) -> Result<Entrants> {
    let grove = Grove::new(stage, files, size)?;
    let threads: &[u32] =
        stage.pick(&[1, 2], &[1, 2, 8, 64], &[1, 2, 4, 8, 16, 32, 64, 128, 256, 500]);
    // The study's peak is at as many as the processor has.
    let mut threads = threads.to_vec();
    threads.extend(u32::try_from(stage.workers()));
    threads.sort_unstable();
    threads.dedup();
    let mut entrants = Entrants::default();
    for &state in states(stage) {
        for &count in &threads {
            let x = f64::from(count);
            let read = |path: &Path| fs::read(path);
            entrants.here.push(grove.managed(MANAGER, x, state, count as usize, read));
        }
        entrants.here.push(grove.swath(SWATH, 1.0, state));
    }
    entrants.here.push(grove.limit(stage)?);
    Ok(entrants)
}

fn by_lines(stage: &Stage) -> Result<Entrants> {
    let all = stage.pick(40_000, 1_000_000, 1_000_000);
    let sizes: &[u64] =
        stage.pick(&[10_000], &[10_000, 100_000, 500_000], &[10_000, 100_000, 500_000]);
    let mut entrants = Entrants::default();
    for &size in sizes {
        let grove = Grove::new(stage, all / size, size)?;
        let x = size as f64 / 1e3;
        for &state in states(stage) {
            let by_lines = |path: &Path| Ok(read_by_lines(path)?.into_bytes());
            entrants.here.push(grove.managed(LINES, x, state, 1, by_lines));
            entrants.here.push(grove.managed(MANAGER, x, state, 1, |path| fs::read(path)));
            entrants.here.push(grove.swath(SWATH, x, state));
        }
    }
    Ok(entrants)
}
