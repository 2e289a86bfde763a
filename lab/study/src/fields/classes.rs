//! Reads by priority, and the reads that they are compared with: all into existing memory.

use std::fs::File;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use swath::classes::{ClassPlan, LoadedPlan};
use swath::{BufferPool, ReadOptions};

use crate::barrier::{self, Batches};
use crate::limits;
use crate::measure::{Entrant, Input, Meter, Outcome, SharedPages, Stage, UNREAD};
use crate::results::State;

/// How a file is cut, and how many threads read it; its classes are needed from the middle on, then
/// from the front.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// Chunks of the whole file.
    pub chunks: usize,
    /// Classes of the whole file.
    pub classes: u32,
    /// Threads; 0: Swath's own choice.
    pub threads: usize,
}

impl Cut {
    /// The offset of the first class.
    fn middle(self) -> u32 {
        self.classes / 2
    }

    fn plan(self, input: &Input) -> ClassPlan {
        let plan = ClassPlan::by_position(input.made.bytes, self.chunks as u64, self.classes);
        plan.with_classes(|_, position| {
            (position + self.classes - self.middle()) % self.classes
        })
    }
}

/// Shared by all entrants.
pub struct Field {
    input: Rc<Input>,
    pages: SharedPages,
    pool: BufferPool,
    workers: usize,
}

impl Field {
    /// Reads of one file.
    ///
    /// # Errors
    ///
    /// If there is no memory for it.
    pub fn new(stage: &Stage, input: &Rc<Input>) -> Result<Rc<Self>> {
        let pages = stage.pages(input.len())?;
        // The pool keeps whole huge pages.
        let pool = BufferPool::new(input.len() + (4 << 20));
        Ok(Rc::new(Self { input: Rc::clone(input), pages, pool, workers: stage.workers }))
    }

    fn options(&self, threads: usize) -> ReadOptions {
        ReadOptions::new().with_pool(self.pool.clone()).with_workers(threads)
    }

    fn entrant(
        self: &Rc<Self>,
        series: &str,
        state: State,
        work: impl FnMut(&Input, &mut Meter) -> Result<Outcome> + 'static,
    ) -> Entrant {
        let before = Rc::clone(self);
        self.input.entrant(series, State::None, work).at(0.0, state).with_before(move || {
            limits::fill(
                &mut before.pages.borrow_mut()[..before.input.len()],
                UNREAD,
                before.workers,
            );
            // The memory that Swath will get is touched, and holds nothing of the file.
            let mut buffer = before.options(0).read(before.input.path.as_path())?.buffer;
            limits::fill(&mut buffer, UNREAD, before.workers);
            drop(buffer);
            before.input.bring(state)
        })
    }

    /// Study A's way.
    pub fn barrier(self: &Rc<Self>, series: &str, state: State, cut: Cut) -> Entrant {
        let here = Rc::clone(self);
        self.entrant(series, state, move |input, meter| {
            let file = File::open(&input.path)?;
            let mut pages = here.pages.borrow_mut();
            let target = &mut pages[..input.len()];
            let batches = Batches {
                chunks: cut.chunks,
                classes: cut.classes as usize,
                first: cut.middle() as usize,
                workers: cut.threads,
            };
            let loaded = meter.measure(|| barrier::load(&file, target, batches))??;
            // Cutting and sharing out is not part of the study's time.
            meter.took(loaded.total.as_secs_f64());
            let first = loaded.classes.first().context("there is a class")?;
            meter.note("first_seconds", first.as_secs_f64());
            Ok(Outcome::of(target, here.workers))
        })
    }

    /// Swath's.
    pub fn window(self: &Rc<Self>, series: &str, state: State, cut: Cut) -> Entrant {
        let (options, workers) = (self.options(cut.threads), self.workers);
        self.entrant(series, state, move |input, meter| {
            let path = input.path.as_path();
            let read = || Ok(options.read_prioritised(path, cut.plan(input))?.finish()?);
            let loaded: Result<LoadedPlan> = meter.measure(read)?;
            let loaded = loaded?;
            let report = &loaded.report;
            ensure!(report.max_skew <= report.window, "the window did not hold: {report:?}");
            let first = report.elapsed(0).context("the plan has this class")?;
            meter.note("first_seconds", first.as_secs_f64());
            Ok(Outcome::of(loaded.buffer(), workers))
        })
    }

    /// Without classes.
    pub fn plain(self: &Rc<Self>, series: &str, state: State, threads: usize) -> Entrant {
        let (options, workers) = (self.options(threads), self.workers);
        self.entrant(series, state, move |input, meter| {
            let loaded = meter.measure(|| options.read(input.path.as_path()))??;
            Ok(Outcome::of(&loaded.buffer, workers))
        })
    }
}
