//! Reads by priority, and what they are compared with, as contestants: all into memory whose pages
//! exist.

use crate::bench::{Bench, Input, Residency, SharedPages};
use crate::contestants::timing::UNREAD;
use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::rc::Rc;
use std::time::Duration;
use swath::classes::{ClassPlan, LoadedPlan};
use swath::{BufferPool, ReadOptions};
use swath_study::barrier::{self, Batches};
use swath_study::harness::{Contestant, Timing, Work, timed};
use swath_study::limits;

/// How a file is cut; its classes are needed from the middle on, then from the front.
#[derive(Clone, Copy)]
pub(crate) struct Cut {
    pub(crate) chunks: usize,
    pub(crate) classes: u32,
}

impl Cut {
    /// The class at `position` in the file is this one.
    fn class(self, position: u32) -> u32 {
        (position + self.classes - self.middle()) % self.classes
    }

    /// Where the class that is needed first lies.
    fn middle(self) -> u32 {
        self.classes / 2
    }

    fn plan(self, input: &Input) -> ClassPlan {
        ClassPlan::by_position(input.made.bytes, self.chunks as u64, self.classes)
    }
}

/// The chunks of a class, in the file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spread {
    /// Side by side.
    Near,
    /// Over the whole file.
    Far,
}

/// What is timed of a read by classes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// All of it is there.
    Whole,
    /// The first class is.
    First,
    /// That class is, but everything is read in the order of the file.
    FirstInFileOrder,
}

/// What all contestants share.
pub(crate) struct Field<'b> {
    pub(crate) bench: &'b Bench,
    pub(crate) input: &'b Input,
    pub(crate) cut: Cut,
    pub(crate) workers: usize,
    pub(crate) pool: BufferPool,
}

impl<'b> Field<'b> {
    fn options(&self) -> ReadOptions {
        ReadOptions::new().with_pool(self.pool.clone()).with_workers(self.workers)
    }

    fn contestant(&self, name: &str, run: impl FnMut() -> Result<Work> + 'b) -> Contestant<'b> {
        let (bench, input, options) = (self.bench, self.input, self.options());
        Contestant::new(name, input.expected(1), run).with_before(move || {
            bench.bring(input, Residency::Warm)?;
            // The memory that the run will get is touched, and holds nothing of the file.
            let mut buffer = options.read(input.path.as_path())?.buffer;
            limits::fill(&mut buffer, UNREAD, bench.workers);
            Ok(())
        })
    }

    /// Reads without classes.
    pub(crate) fn plain(&self, name: &str) -> Contestant<'b> {
        let (bench, input, options) = (self.bench, self.input, self.options());
        self.contestant(name, move || {
            let (loaded, timing) = timed(|| options.read(input.path.as_path()))?;
            let buffer = loaded?.buffer;
            let sum = limits::memory_sum(&buffer, bench.workers);
            Ok(Work::new(buffer.len() as u64, sum).with_timing(timing))
        })
    }

    /// Reads by classes.
    pub(crate) fn classes(
        &self,
        name: &str,
        window: usize,
        spread: Spread,
        until: Until,
    ) -> Contestant<'b> {
        let (bench, input, cut, options) = (self.bench, self.input, self.cut, self.options());
        self.contestant(name, move || {
            let plan = || match (spread, until) {
                (_, Until::FirstInFileOrder) => cut.plan(input),
                (Spread::Near, _) => cut.plan(input).with_classes(|_, at| cut.class(at)),
                (Spread::Far, _) => cut.plan(input).with_classes(|chunk, _| {
                    u32::try_from(chunk % cut.classes as usize).unwrap_or_default()
                }),
            };
            let (loaded, whole) = timed(|| {
                let plan = plan().with_window(window);
                anyhow::Ok(options.read_prioritised(input.path.as_path(), plan)?.finish()?)
            })?;
            let loaded: LoadedPlan = loaded?;
            let report = &loaded.report;
            ensure!(report.max_skew <= report.window, "the window did not hold: {report:?}");
            let at = |class: u32| report.elapsed(class).context("the plan has this class");
            let timing = match until {
                Until::Whole => whole,
                Until::First => until_then(at(0)?, whole),
                Until::FirstInFileOrder => until_then(at(cut.middle())?, whole),
            };
            let sum = limits::memory_sum(loaded.buffer(), bench.workers);
            Ok(Work::new(loaded.buffer().len() as u64, sum).with_timing(timing))
        })
    }

    /// Study A's way.
    pub(crate) fn barrier(
        &self,
        name: &str,
        pages: &SharedPages,
        workers: usize,
    ) -> Result<Contestant<'b>> {
        let (bench, input, cut) = (self.bench, self.input, self.cut);
        let (file, pages) = (File::open(&input.path)?, Rc::clone(pages));
        let first = usize::try_from(cut.middle())?;
        let classes = usize::try_from(cut.classes)?;
        Ok(self.contestant(name, move || {
            let mut pages = pages.borrow_mut();
            let target = &mut pages[..input.len()];
            limits::fill(target, UNREAD, bench.workers);
            let batches = Batches { chunks: cut.chunks, classes, first, workers };
            let (loaded, timing) = timed(|| barrier::load(&file, target, batches))?;
            let timing = Timing { seconds: loaded?.total.as_secs_f64(), ..timing };
            let sum = limits::memory_sum(target, bench.workers);
            Ok(Work::new(input.made.bytes, sum).with_timing(timing))
        }))
    }
}

fn until_then(elapsed: Duration, whole: Timing) -> Timing {
    Timing { seconds: elapsed.as_secs_f64(), ..whole }
}
