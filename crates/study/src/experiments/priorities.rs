//! Study A: loading by priority, with barriers between batches and with a window of classes.

mod claims;

use std::fs::File;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use swath::classes::{ClassPlan, LoadedPlan};
use swath::{BufferPool, ReadOptions};

use super::loading::UNREAD;
use super::shape::{chart, metric, states};
use crate::barrier::{self, Batches};
use crate::experiment::{
    Entrant, Entrants, Experiment, Input, Meter, Outcome, Scale, SharedPages, Stage, Study,
};
use crate::limits;
use crate::results::{Chart, Measure, State};
use crate::workload::Kind;

const ALONE: &str = "batch after batch, one thread";
const BARRIER: &str = "barrier between batches";
const WINDOW: &str = "swath, a window of classes";
const PLAIN: &str = "swath, without classes";

const MB: u64 = 1_000_000;

/// What the study has.
const STUDY: Scale = Scale {
    study: "1.3 GB in up to 100,000 chunks, up to 1,000 priorities and 16 threads",
    other: "",
    minutes: 8,
};

/// What is held where something else is varied.
fn usual(stage: &Stage) -> Cut {
    Cut {
        chunks: stage.pick(10_000, 10_000, 100_000),
        classes: 500,
        threads: stage.pick(8, 8, 16),
    }
}

/// By threads.
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

/// By the range of priorities.
pub(super) const CLASSES: Experiment = Experiment {
    id: "a-priorities-range",
    figure: "time by range of priorities",
    claims: claims::RANGE,
    scale: Scale { minutes: 5, ..STUDY },
    charts: || charts_by("priorities"),
    entrants: |stage| {
        let classes = stage.pick(vec![10, 50], vec![100, 500, 1000], vec![100, 500, 1000]);
        let usual = usual(stage);
        by(stage, classes.into_iter().map(|classes| (classes, Cut { classes, ..usual })))
    },
    ..THREADS
};

/// By the number of chunks.
pub(super) const CHUNKS: Experiment = Experiment {
    id: "a-priorities-chunks",
    figure: "time by number of chunks, 500 priorities",
    claims: claims::CHUNKS,
    scale: Scale { minutes: 7, ..STUDY },
    charts: || charts_by("chunks"),
    entrants: |stage| {
        let chunks =
            stage.pick(vec![1000], vec![5000, 50_000], vec![5000, 10_000, 50_000, 100_000]);
        let usual = usual(stage);
        by(stage, chunks.into_iter().map(|chunks| (chunks, Cut { chunks, ..usual })))
    },
    ..THREADS
};

/// By both: a curve over the range of priorities for each number of threads.
pub(super) const FAMILY: Experiment = Experiment {
    id: "a-priorities-family",
    figure: "time by range of priorities, a curve for each number of threads",
    claims: claims::FAMILY,
    scale: Scale { minutes: 6, ..STUDY },
    charts: || {
        vec![
            chart("time by priorities", "priorities", Measure::Seconds).log_x(),
            chart("voluntary context switches", "priorities", metric("voluntary_switches", ""))
                .log_x()
                .log_y(),
        ]
    },
    entrants: family,
    ..THREADS
};

fn family(stage: &Stage) -> Result<Entrants> {
    let field = Field::new(stage)?;
    let threads = stage.pick(vec![2], vec![2, 8], vec![1, 2, 4, 8, 16]);
    let classes = stage.pick(vec![10, 50], vec![100, 1000], vec![100, 500, 1000]);
    let mut entrants = Entrants::default();
    for &state in states(stage) {
        for &threads in &threads {
            for &classes in &classes {
                let cut = Cut { threads, classes, ..usual(stage) };
                entrants.here.push(field.barrier(&curve(threads), classes as f64, state, cut));
            }
        }
    }
    Ok(entrants)
}

/// The series of so many threads.
fn curve(threads: usize) -> String {
    format!("barrier, threads: {threads}")
}

fn charts_by(x: &str) -> Vec<Chart> {
    let first = metric("first_seconds", "");
    vec![
        chart(&format!("time by {x}"), x, Measure::Seconds).log_x(),
        chart("time until the first class is there", x, first).log_x().log_y(),
        chart("voluntary context switches", x, metric("voluntary_switches", "")).log_x(),
    ]
}

/// How a file is cut, and by how many threads it is read.
#[derive(Clone, Copy)]
struct Cut {
    chunks: usize,
    classes: usize,
    threads: usize,
}

/// What all share.
struct Field {
    input: Rc<Input>,
    pages: SharedPages,
    pool: BufferPool,
    workers: usize,
}

fn by(stage: &Stage, cuts: impl Iterator<Item = (usize, Cut)>) -> Result<Entrants> {
    let field = Field::new(stage)?;
    let cuts: Vec<(usize, Cut)> = cuts.collect();
    let mut entrants = Entrants::default();
    for &state in states(stage) {
        for &(x, cut) in &cuts {
            let x = x as f64;
            entrants.here.push(field.barrier(ALONE, x, state, Cut { threads: 1, ..cut }));
            entrants.here.push(field.barrier(BARRIER, x, state, cut));
            entrants.here.push(field.window(WINDOW, x, state, cut)?);
            entrants.here.push(field.plain(PLAIN, x, state, cut));
        }
    }
    Ok(entrants)
}

impl Field {
    fn new(stage: &Stage) -> Result<Rc<Self>> {
        let input = stage.file(Kind::Letters, stage.pick(MB / 2, 32 * MB, 1300 * MB))?;
        let pages = stage.pages(input.len())?;
        // The pool keeps whole huge pages.
        let pool = BufferPool::new(input.len() + (4 << 20));
        Ok(Rc::new(Self { input, pages, pool, workers: stage.workers() }))
    }

    fn entrant(
        self: &Rc<Self>,
        series: &str,
        x: f64,
        state: State,
        work: impl FnMut(&mut Meter) -> Result<u64> + 'static,
    ) -> Entrant {
        let (made, mut work, before) = (self.input.made, work, Rc::clone(self));
        let expected = Outcome { bytes: made.bytes, checksum: made.sum };
        let work = move |meter: &mut Meter| Ok(Outcome { checksum: work(meter)?, ..expected });
        Entrant::new(series, x, state, expected, work).with_before(move || {
            let len = before.input.len();
            limits::fill(&mut before.pages.borrow_mut()[..len], UNREAD, before.workers);
            // The memory that Swath will get is touched, and holds nothing of the file.
            let options = ReadOptions::new().with_pool(before.pool.clone());
            let mut buffer = options.read(before.input.path.as_path())?.buffer;
            limits::fill(&mut buffer, UNREAD, before.workers);
            drop(buffer);
            before.input.bring(state)
        })
    }

    /// The study's way; the class that is needed first lies in the middle of the file.
    fn barrier(self: &Rc<Self>, series: &str, x: f64, state: State, cut: Cut) -> Entrant {
        let here = Rc::clone(self);
        self.entrant(series, x, state, move |meter| {
            let file = File::open(&here.input.path)?;
            let mut pages = here.pages.borrow_mut();
            let target = &mut pages[..here.input.len()];
            let batches = Batches {
                chunks: cut.chunks,
                classes: cut.classes,
                first: cut.classes / 2,
                workers: cut.threads,
            };
            let loaded = meter.measure(|| barrier::load(&file, target, batches))??;
            // Cutting and sharing out is not part of the study's time.
            meter.took(loaded.total.as_secs_f64());
            let first = loaded.classes.first().context("there is a class")?;
            meter.note("first_seconds", first.as_secs_f64());
            Ok(limits::memory_sum(target, here.workers))
        })
    }

    fn window(
        self: &Rc<Self>,
        series: &str,
        x: f64,
        state: State,
        cut: Cut,
    ) -> Result<Entrant> {
        let (here, classes) = (Rc::clone(self), u32::try_from(cut.classes)?);
        let options = ReadOptions::new().with_pool(self.pool.clone()).with_workers(cut.threads);
        Ok(self.entrant(series, x, state, move |meter| {
            let path = here.input.path.as_path();
            let plan = || {
                ClassPlan::by_position(here.input.made.bytes, cut.chunks as u64, classes)
                    .with_classes(|_, at| (at + classes - classes / 2) % classes)
            };
            let loaded: LoadedPlan = meter
                .measure(|| anyhow::Ok(options.read_prioritised(path, plan())?.finish()?))??;
            let report = &loaded.report;
            ensure!(report.max_skew <= report.window, "the window did not hold: {report:?}");
            let first = report.elapsed(0).context("the plan has this class")?;
            meter.note("first_seconds", first.as_secs_f64());
            Ok(limits::memory_sum(loaded.buffer(), here.workers))
        }))
    }

    fn plain(self: &Rc<Self>, series: &str, x: f64, state: State, cut: Cut) -> Entrant {
        let here = Rc::clone(self);
        let options = ReadOptions::new().with_pool(self.pool.clone()).with_workers(cut.threads);
        self.entrant(series, x, state, move |meter| {
            let loaded = meter.measure(|| options.read(here.input.path.as_path()))??;
            Ok(limits::memory_sum(&loaded.buffer, here.workers))
        })
    }
}
