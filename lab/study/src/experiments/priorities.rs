//! Study A: loading by priority, with barriers between batches and with a window of classes.

mod claims;

use anyhow::Result;
use swath::ReadOptions;

use super::shape::{chart, metric, states};
use crate::experiment::{Experiment, Scale, Study};
use crate::fields::classes::{Cut, Until, barrier, window};
use crate::fields::file::{FileField, FileMemory};
use crate::measure::{Entrants, Stage};
use crate::results::{Chart, Measure};

const ALONE: &str = "batch after batch, one thread";
const BARRIER: &str = "barrier between batches";
const WINDOW: &str = "swath, a window of classes";
const PLAIN: &str = "swath, without classes";

const MB: u64 = 1_000_000;

/// The study's sizes.
const STUDY: Scale = Scale {
    study: "1.3 GB in up to 100,000 chunks, up to 1,000 priorities and 16 threads",
    other: "",
    minutes: 8,
};

/// Returns the values of the parameters that are not varied.
fn usual(stage: &Stage) -> Cut {
    Cut {
        chunks: stage.pick(10_000, 10_000, 100_000),
        classes: 500,
        threads: stage.pick(8, 8, 16),
    }
}

/// Varies the number of threads.
pub(super) const THREADS: Experiment = Experiment {
    id: "a-priorities-threads",
    study: Study::A,
    figure: "time by threads with 500 priorities",
    claims: claims::THREADS,
    scale: Scale { minutes: 10, ..STUDY },
    least_rounds: 5,
    charts: || charts_by("threads"),
    entrants: |stage| {
        let threads = stage.pick(vec![1, 2], vec![1, 2, 8], vec![1, 2, 4, 8, 16, 32]);
        let usual = usual(stage);
        by(stage, threads.into_iter().map(|threads| (threads, Cut { threads, ..usual })))
    },
};

/// Varies the range of priorities.
pub(super) const CLASSES: Experiment = Experiment {
    id: "a-priorities-range",
    figure: "time by range of priorities",
    claims: claims::RANGE,
    scale: Scale { minutes: 5, ..STUDY },
    charts: || charts_by("priorities"),
    entrants: |stage| {
        let classes = stage.pick([10, 20, 50], RANGES, RANGES);
        let usual = usual(stage);
        by(
            stage,
            classes.into_iter().map(|classes| (classes as usize, Cut { classes, ..usual })),
        )
    },
    ..THREADS
};

/// Varies the number of chunks, with a curve for each range of priorities.
pub(super) const CHUNKS: Experiment = Experiment {
    id: "a-priorities-chunks",
    figure: "time by number of chunks, a curve for each range of priorities",
    claims: claims::CHUNKS,
    scale: Scale { minutes: 7, ..STUDY },
    charts: || charts_by("chunks"),
    entrants: by_chunks,
    ..THREADS
};

/// Varies the range of priorities, with a curve for each number of threads.
pub(super) const FAMILY: Experiment = Experiment {
    id: "a-priorities-family",
    figure: "time by range of priorities, a curve for each number of threads",
    claims: claims::FAMILY,
    scale: Scale { minutes: 6, ..STUDY },
    charts: || {
        let switches = metric("voluntary_switches");
        vec![
            chart("time by priorities", "priorities", Measure::Seconds).log_x(),
            chart("voluntary context switches", "priorities", switches).log_x().log_y(),
        ]
    },
    entrants: family,
    ..THREADS
};

fn family(stage: &Stage) -> Result<Entrants> {
    let field = field(stage)?;
    let threads = stage.pick(vec![2], vec![2, 8], vec![1, 2, 4, 8, 16]);
    let classes = stage.pick(vec![10, 50], vec![100, 1000], vec![100, 500, 1000]);
    let mut entrants = Entrants::default();
    for &state in states(stage) {
        for &threads in &threads {
            for &classes in &classes {
                let cut = Cut { threads, classes, ..usual(stage) };
                let field = field.at(f64::from(classes), state);
                entrants.here.push(barrier(&field, &curve(threads), cut));
            }
        }
    }
    Ok(entrants)
}

fn by_chunks(stage: &Stage) -> Result<Entrants> {
    let field = field(stage)?;
    let chunks =
        stage.pick(vec![1000, 2000], vec![5000, 50_000], vec![5000, 10_000, 50_000, 100_000]);
    let mut entrants = Entrants::default();
    for &state in states(stage) {
        for &chunks in &chunks {
            let field = field.at(chunks as f64, state);
            let cut = Cut { chunks, ..usual(stage) };
            for classes in stage.pick([10, 20, 50], RANGES, RANGES) {
                let cut = Cut { classes, ..cut };
                entrants.here.push(barrier(&field, &range(classes), cut));
            }
            entrants.here.push(window(&field, WINDOW, Until::Whole, cut));
        }
    }
    Ok(entrants)
}

/// The study's ranges of priorities.
const RANGES: [u32; 3] = [100, 500, 1000];

/// Returns the name of the series with this many priorities.
fn range(classes: u32) -> String {
    format!("barrier, priorities: {classes}")
}

/// Returns the name of the series with this many threads.
fn curve(threads: usize) -> String {
    format!("barrier, threads: {threads}")
}

fn charts_by(x: &str) -> Vec<Chart> {
    let first = metric("first_seconds");
    vec![
        chart(&format!("time by {x}"), x, Measure::Seconds).log_x(),
        chart("time until the first class is there", x, first).log_x().log_y(),
        chart("voluntary context switches", x, metric("voluntary_switches")).log_x(),
    ]
}

fn field(stage: &Stage) -> Result<FileField> {
    FileField::letters(stage, stage.pick(MB / 2, 32 * MB, 1300 * MB), 1)
}

fn by(stage: &Stage, cuts: impl Iterator<Item = (usize, Cut)>) -> Result<Entrants> {
    let field = field(stage)?;
    let cuts: Vec<(usize, Cut)> = cuts.collect();
    let mut entrants = Entrants::default();
    for &state in states(stage) {
        for &(x, cut) in &cuts {
            let field = field.at(x as f64, state);
            let plain = ReadOptions::new().with_workers(cut.threads);
            entrants.here.extend([
                barrier(&field, ALONE, Cut { threads: 1, ..cut }),
                barrier(&field, BARRIER, cut),
                window(&field, WINDOW, Until::Whole, cut),
                field.read(PLAIN, FileMemory::Reused, plain),
            ]);
        }
    }
    Ok(entrants)
}
