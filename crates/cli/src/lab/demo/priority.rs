//! `read --classes`: the time to the first class, and to the whole file.
//!
//! The first class lies in the middle of the file. Study A's barriers are measured beside it.

use std::fs::File;
use std::rc::Rc;

use anyhow::{Context, Result};
use swath::classes::{ChunkBytes, ClassPlan};
use swath::{BufferPool, ReadOptions};
use swath_study::barrier::{self, Batches};
use swath_study::measure::Meter;

use super::row::{About, DemoRow};
use super::stage::Stage;

/// Bytes of a class, as in the study: 1.3 GB in 1,000 of them.
const CLASS_SIZE: u64 = 1_300_000;
const CLASSES: u64 = 1000;
/// Chunks of a class.
const CHUNKS: u64 = 100;

/// The end of the time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    First,
    Whole,
}

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let classes = (stage.made.bytes / CLASS_SIZE).clamp(2, CLASSES);
    let classes = u32::try_from(classes)?;
    let about = |engine, way| About::warm("classes", engine, way);
    // How soon, not how fast.
    let first = About { bytes: Some(0), ..about("window", "first class, from mid-file") };
    let by_class = |about, until| {
        DemoRow::new(stage, about, move |stage, meter| {
            run_classes(stage, classes, until, meter)
        })
    };
    Ok(vec![
        by_class(first, Until::First),
        by_class(about("window", "all classes"), Until::Whole),
        DemoRow::new(stage, about("barrier", "all classes"), move |stage, meter| {
            run_barrier(stage, classes, meter)
        }),
    ])
}

fn run_classes(stage: &Stage, classes: u32, until: Until, meter: &mut Meter) -> Result<bool> {
    let middle = classes / 2;
    let chunks = u64::from(classes) * CHUNKS;
    let plan = ClassPlan::by_position(stage.made.bytes, chunks, classes)
        .with_classes(|_, position| (position + classes - middle) % classes);
    let options = ReadOptions::new().with_pool(BufferPool::new(0));
    let is_expected = |chunk: ChunkBytes<'_>| {
        let range =
            usize::try_from(chunk.range.start).ok()?..usize::try_from(chunk.range.end).ok()?;
        Some(chunk.bytes == stage.bytes.get(range)?)
    };
    let reading = meter.measure(|| options.read_prioritised(&stage.path, plan))??;
    let first = meter.measure(|| reading.wait(0))??;
    let mut is_right = true;
    let loaded = match until {
        Until::First => {
            is_right = first.chunks().all(|chunk| is_expected(chunk) == Some(true));
            reading.finish()?
        }
        Until::Whole => meter.measure(|| reading.finish())??,
    };
    is_right &= loaded.buffer()[..] == stage.bytes[..];
    meter.fell_back(loaded.report.read.fallbacks.clone());
    Ok(is_right && loaded.report.max_skew <= loaded.report.window)
}

fn run_barrier(stage: &Stage, classes: u32, meter: &mut Meter) -> Result<bool> {
    let classes = usize::try_from(classes)?;
    let (chunks, first) = (classes * usize::try_from(CHUNKS)?, classes / 2);
    let batches = Batches { chunks, classes, first, workers: stage.workers };
    let bytes = meter.measure(|| {
        let file = File::open(&stage.path).context("the input is there")?;
        let mut bytes = vec![0; stage.bytes.len()];
        barrier::load(&file, &mut bytes, batches)?;
        anyhow::Ok(bytes)
    })??;
    Ok(bytes == stage.bytes)
}
