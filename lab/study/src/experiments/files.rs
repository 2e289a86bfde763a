//! Study B: reading many files with many threads.

mod claims;

use std::fs;
use std::path::Path;
use std::rc::Rc;

use anyhow::Result;
use swath::ingest::{Arena, IngestOptions};

use super::shape::{busy, chart, charts, metric, states};
use crate::experiment::{Experiment, Scale, Study};
use crate::fields::grove::Grove;
use crate::many::lines::read_by_lines;
use crate::many::tree::{Spread, Tree};
use crate::measure::{Entrant, Entrants, Stage};
use crate::results::{Chart, Measure, State};

const MANAGER: &str = "task manager";
const LINES: &str = "task manager, line by line";
const SWATH: &str = "swath";
/// Reads with bare calls into existing memory; names are looked up before.
const LIMIT: &str = "limit: bare calls";
/// The number of trials in the study.
const TRIALS: usize = 20;

/// The study's small files.
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
        let size = stage.pick(1000, 10_000, 10_000);
        by_threads(stage, stage.pick(20, 500, 500), size)
    },
};

/// The study's files of a megabyte.
pub(super) const MEDIUM: Experiment = Experiment {
    id: "b-medium",
    figure: "time to load 124 files of 1 MB by threads",
    claims: claims::MEDIUM,
    scale: Scale { study: "124 files of 1 MB, one trial", other: "20 trials", minutes: 2 },
    entrants: |stage| by_threads(stage, stage.pick(4, 16, 124), large(stage, 1_000_000)),
    ..SMALL
};

/// The study's large files.
pub(super) const LARGE: Experiment = Experiment {
    id: "b-large",
    figure: "time to load 31 files of 3.6 MB by threads",
    claims: claims::LARGE,
    scale: Scale { study: "31 files of 3.6 MB, one trial", other: "20 trials", minutes: 2 },
    entrants: |stage| by_threads(stage, stage.pick(2, 4, 31), large(stage, 3_600_000)),
    ..SMALL
};

/// The files that were too large for the study.
pub(super) const HUGE: Experiment = Experiment {
    id: "b-huge",
    figure: "time to load the 18 MB files that it gave up on",
    claims: claims::HUGE,
    scale: Scale { study: "none: it gave up on 18 MB", other: "12 files of 18 MB", minutes: 3 },
    entrants: |stage| by_threads(stage, stage.pick(1, 2, 12), large(stage, 18_000_000)),
    ..SMALL
};

/// Returns the study's size of a file, or a small one for smoke tests.
fn large(stage: &Stage, size: u64) -> u64 {
    stage.pick(9000, size, size)
}

/// The cause of the study's trouble with large files: reading line by line.
pub(super) const BY_LINES: Experiment = Experiment {
    id: "b-lines",
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
    ..SMALL
};

fn charts_by_threads() -> Vec<Chart> {
    let all = [
        ("time by threads", Measure::Seconds),
        ("processor seconds", metric("cpu_seconds")),
        ("how late a timer of 1 ms fires at most", metric("late_most_seconds")),
        ("how late it fires half of the times", metric("late_median_seconds")),
    ];
    let mut all = charts("threads", all);
    all.extend([1.0, 8.0].map(|threads| {
        busy(&format!("processors at work over time, threads: {threads}"), threads)
    }));
    all
}

fn grove(stage: &Stage, files: u64, size: u64) -> Result<Rc<Grove>> {
    let tree = Tree { files, size, spread: Spread::Even, seed: stage.seed };
    Grove::new(stage, &format!("tree-{files}-{size}"), &tree)
}

fn swath(grove: &Rc<Grove>, x: f64, state: State) -> Entrant {
    let options = IngestOptions::new().with_arena(Arena::new());
    grove.ingested(SWATH, state, 0, options).at(x, state)
}

fn by_threads(stage: &Stage, files: u64, size: u64) -> Result<Entrants> {
    let grove = grove(stage, files, size)?;
    let threads: &[u32] =
        stage.pick(&[1, 2], &[1, 2, 8, 64], &[1, 2, 4, 8, 16, 32, 64, 128, 256, 500]);
    // The study's peak is at the number of processors.
    let mut threads = threads.to_vec();
    threads.extend(u32::try_from(stage.workers));
    threads.sort_unstable();
    threads.dedup();
    let mut entrants = Entrants::default();
    for &state in states(stage) {
        for &count in &threads {
            let x = f64::from(count);
            let read = |path: &Path| fs::read(path);
            let entrant = grove.managed(MANAGER, state, count as usize, read);
            entrants.here.push(entrant.at(x, state));
        }
        entrants.here.push(swath(&grove, 1.0, state));
    }
    let workers = stage.workers;
    let bare = grove.bare(stage, LIMIT, State::Warm, workers)?;
    entrants.here.push(bare.at(workers as f64, State::Warm));
    Ok(entrants)
}

fn by_lines(stage: &Stage) -> Result<Entrants> {
    let all = stage.pick(40_000, 1_000_000, 1_000_000);
    let sizes: &[u64] = &[10_000, 100_000, 500_000][..stage.pick(1, 3, 3)];
    let mut entrants = Entrants::default();
    for &size in sizes {
        let grove = grove(stage, all / size, size)?;
        let x = size as f64 / 1e3;
        for &state in states(stage) {
            let by_lines = |path: &Path| Ok(read_by_lines(path)?.into_bytes());
            let lines = grove.managed(LINES, state, 1, by_lines);
            let whole = grove.managed(MANAGER, state, 1, |path| fs::read(path));
            entrants.here.extend([lines, whole].map(|entrant| entrant.at(x, state)));
            entrants.here.push(swath(&grove, x, state));
        }
    }
    Ok(entrants)
}
