//! Reads by priority, and the reads that they are compared with; all into existing memory.

use std::fs::File;

use anyhow::{Context, ensure};
use swath::ReadOptions;
use swath::classes::{ClassPlan, LoadedPlan};
use swath_os::machine;

use super::file::FileField;
use crate::barrier::{self, Batches};
use crate::measure::{Entrant, Input, Outcome};

/// The division of a file, and the number of threads. The classes from the middle of the file come
/// first, then those from the front.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// Chunks of the whole file.
    pub chunks: usize,
    /// Classes of the whole file.
    pub classes: u32,
    /// Threads; 0 lets Swath choose.
    pub threads: usize,
}

impl Cut {
    /// Returns the class that is read first.
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

/// Returns an entrant that reads as study A does.
pub fn barrier(file: &FileField, series: &str, cut: Cut) -> Entrant {
    let path = file.input.path.clone();
    file.filling(series, move |target, meter| {
        let file = File::open(&path)?;
        let batches = Batches {
            chunks: cut.chunks,
            classes: cut.classes as usize,
            first: cut.middle() as usize,
            workers: cut.threads,
        };
        let loaded = meter.measure(|| barrier::load(&file, target, batches))??;
        // The study's time does not include the division of the file.
        meter.took(loaded.total.as_secs_f64());
        let first = loaded.classes.first().context("there is a class")?;
        meter.note("first_seconds", first.as_secs_f64());
        Ok(())
    })
}

/// The end of the timed part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The first class is read.
    First,
    /// The whole file is read.
    Whole,
}

/// Returns an entrant that reads with Swath.
pub fn window(file: &FileField, series: &str, until: Until, cut: Cut) -> Entrant {
    let options = file.reading(ReadOptions::new().with_workers(cut.threads));
    file.pooling(series, move |input, meter| {
        let path = input.path.as_path();
        let reading = meter.measure(|| options.read_prioritised(path, cut.plan(input)))??;
        let loaded: LoadedPlan = match until {
            Until::First => {
                meter.measure(|| reading.wait(0).map(drop))??;
                reading.finish()?
            }
            Until::Whole => meter.measure(|| reading.finish())??,
        };
        let report = &loaded.report;
        ensure!(report.max_skew <= report.window, "the window did not hold: {report:?}");
        let first = report.elapsed(0).context("the plan has this class")?;
        meter.note("first_seconds", first.as_secs_f64());
        meter.fell_back(report.read.fallbacks.clone());
        Ok(Outcome::of(loaded.buffer(), machine::usable_cpus()))
    })
}
