//! Study A: loading by priority, with barriers between batches and with a window of classes.

use std::fs::File;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use swath::{BufferPool, ClassPlan, LoadedPlan, ReadOptions};

use super::loading::UNREAD;
use super::shape::{chart, metric};
use crate::barrier::{self, Batches};
use crate::experiment::{
    Claim, Entrant, Entrants, Experiment, Input, Meter, Outcome, SharedPages, Stage, Study,
    all_of,
};
use crate::limits;
use crate::results::{Chart, Finding, Key, Measure, Selected, State};
use crate::stats::{Bound, Interval};
use crate::workload::Kind;

const ALONE: &str = "batch after batch, one thread";
const BARRIER: &str = "barrier between batches";
const WINDOW: &str = "swath, a window of classes";
const PLAIN: &str = "swath, without classes";

const MB: u64 = 1_000_000;

/// What the study holds where it varies something else.
const USUAL: Cut = Cut { chunks: 10_000, classes: 500, threads: 8 };

/// By threads.
pub(super) const THREADS: Experiment = Experiment {
    id: "a-priorities-threads",
    study: Study::A,
    figure: "time by threads with priorities, 500 of them, 10,000 chunks",
    claim: "Threads that load batch after batch, by priority, are faster than one thread.",
    least_rounds: 5,
    charts: || charts_by("threads"),
    entrants: |stage| {
        let threads = stage.pick(vec![1, 2], vec![1, 2, 8], vec![1, 2, 4, 8, 16, 32]);
        by(stage, threads.into_iter().map(|threads| (threads, Cut { threads, ..USUAL })))
    },
    judge: judge_threads,
};

/// By the range of priorities.
pub(super) const CLASSES: Experiment = Experiment {
    id: "a-priorities-range",
    figure: "time by range of priorities, 8 threads, 10,000 chunks",
    claim: "However many priorities there are, loading takes the same time.",
    charts: || charts_by("priorities"),
    entrants: |stage| {
        let classes = stage.pick(vec![10, 50], vec![100, 1000], vec![100, 500, 1000]);
        by(stage, classes.into_iter().map(|classes| (classes, Cut { classes, ..USUAL })))
    },
    judge: judge_range,
    ..THREADS
};

/// By the number of chunks.
pub(super) const CHUNKS: Experiment = Experiment {
    id: "a-priorities-chunks",
    figure: "time by number of chunks, 8 threads, 500 priorities",
    claim: "However many chunks a file is cut into, loading by priority takes the same time.",
    charts: || charts_by("chunks"),
    entrants: |stage| {
        let chunks =
            stage.pick(vec![1000], vec![5000, 50_000], vec![5000, 10_000, 50_000, 100_000]);
        by(stage, chunks.into_iter().map(|chunks| (chunks, Cut { chunks, ..USUAL })))
    },
    ..CLASSES
};

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
    let size = stage.pick(MB / 2, 32 * MB, 250 * MB);
    let input = stage.file(Kind::Letters, size)?;
    let pages = stage.pages(input.len())?;
    // The pool keeps whole huge pages.
    let pool = BufferPool::new(input.len() + (4 << 20));
    let field = Rc::new(Field { input, pages, pool, workers: stage.workers() });
    let mut entrants = Entrants::default();
    for (x, cut) in cuts {
        let x = x as f64;
        entrants.here.push(field.barrier((ALONE, x), Cut { threads: 1, ..cut }));
        entrants.here.push(field.barrier((BARRIER, x), cut));
        entrants.here.push(field.window((WINDOW, x), cut)?);
        entrants.here.push(field.plain((PLAIN, x), cut));
    }
    Ok(entrants)
}

impl Field {
    fn entrant(
        self: &Rc<Self>,
        (series, x): (&str, f64),
        work: impl FnMut(&mut Meter) -> Result<u64> + 'static,
    ) -> Entrant {
        let (made, mut work, before) = (self.input.made, work, Rc::clone(self));
        let expected = Outcome { bytes: made.bytes, checksum: made.sum };
        let work = move |meter: &mut Meter| Ok(Outcome { checksum: work(meter)?, ..expected });
        Entrant::new((series, x, State::Warm), expected, work).with_before(move || {
            before.input.bring(State::Warm)?;
            let len = before.input.len();
            limits::fill(&mut before.pages.borrow_mut()[..len], UNREAD, before.workers);
            // The memory that Swath will get is touched, and holds nothing of the file.
            let options = ReadOptions::new().with_pool(before.pool.clone());
            let mut buffer = options.read(before.input.path.as_path())?.buffer;
            limits::fill(&mut buffer, UNREAD, before.workers);
            Ok(())
        })
    }

    /// The study's way; the class that is needed first lies in the middle of the file.
    fn barrier(self: &Rc<Self>, place: (&str, f64), cut: Cut) -> Entrant {
        let here = Rc::clone(self);
        self.entrant(place, move |meter| {
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

    fn window(self: &Rc<Self>, place: (&str, f64), cut: Cut) -> Result<Entrant> {
        let (here, classes) = (Rc::clone(self), u32::try_from(cut.classes)?);
        let options = ReadOptions::new().with_pool(self.pool.clone()).with_workers(cut.threads);
        Ok(self.entrant(place, move |meter| {
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

    fn plain(self: &Rc<Self>, place: (&str, f64), cut: Cut) -> Entrant {
        let here = Rc::clone(self);
        let options = ReadOptions::new().with_pool(self.pool.clone()).with_workers(cut.threads);
        self.entrant(place, move |meter| {
            let loaded = meter.measure(|| options.read(here.input.path.as_path()))??;
            Ok(limits::memory_sum(&loaded.buffer, here.workers))
        })
    }
}

fn key(series: &str, x: f64) -> Key<'_> {
    Key { series, x, state: State::Warm }
}

fn judge_threads(runs: &Selected<'_>) -> Finding {
    let places = runs.places(BARRIER, State::Warm).into_iter().filter(|&x| x <= 8.0);
    let most = places.fold(1.0, f64::max);
    let claim = Claim::new(
        format!("{most} threads with barriers against one, as fast as"),
        runs.speed_up(key(BARRIER, most), key(ALONE, most)),
        Bound::AtLeast(1.1),
    );
    with_window(all_of(&[claim]), runs, most)
}

/// The largest number of classes or chunks against the smallest.
fn judge_range(runs: &Selected<'_>) -> Finding {
    let places = runs.places(BARRIER, State::Warm);
    let (Some(&least), Some(&most)) = (places.first(), places.last()) else {
        return Finding::default();
    };
    let claim = Claim::new(
        format!("{most} against {least}, as fast as"),
        runs.speed_up(key(BARRIER, most), key(BARRIER, least)),
        Bound::AtLeast(0.9),
    );
    with_window(all_of(&[claim]), runs, most)
}

/// Adds what Swath makes of the same, and how much classes cost it.
fn with_window(mut finding: Finding, runs: &Selected<'_>, x: f64) -> Finding {
    let text = |ratio: Option<Interval>| {
        ratio.map_or_else(|| "not measured".to_owned(), |ratio| ratio.to_string())
    };
    finding.because += &format!(
        "; at {x}, swath's window against barriers {}, and against no classes at all {}",
        text(runs.speed_up(key(WINDOW, x), key(BARRIER, x))),
        text(runs.speed_up(key(WINDOW, x), key(PLAIN, x))),
    );
    finding
}
