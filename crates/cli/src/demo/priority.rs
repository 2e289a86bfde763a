//! `read --classes`: when what is needed first is there, and when the whole is.
//!
//! The first class lies in the middle of the file. Beside it study A's barriers.

use std::fs::File;
use std::time::Instant;

use anyhow::{Context, Result};
use swath::classes::ClassPlan;
use swath::{BufferPool, ReadOptions};
use swath_study::barrier::{self, Batches};

use super::stage::Stage;
use super::{Limit, Memory, Row, Run, State};

/// Bytes of a class, as in the study: 1.3 GB in 1,000 of them.
const CLASS_SIZE: u64 = 1_300_000;
const CLASSES: u64 = 1000;
/// Chunks of a class.
const CHUNKS: u64 = 100;

/// What is timed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    First,
    Whole,
}

pub(super) fn rows(stage: &Stage) -> Result<Vec<Row>> {
    let classes = (stage.made.bytes / CLASS_SIZE).clamp(2, CLASSES);
    let class = stage.made.bytes / classes;
    let classes = u32::try_from(classes)?;
    let row = |way, engine, bytes, run| Row {
        capability: "classes",
        engine,
        way,
        state: State::Warm,
        memory: Memory::Fresh,
        limit: Limit::Copy,
        is_peer: false,
        bytes,
        run,
    };
    let by_class = move |until| -> Box<super::Work> {
        Box::new(move |stage| run_classes(stage, classes, until))
    };
    Ok(vec![
        row("first class, from mid-file", "window", Some(class), by_class(Until::First)),
        row("all classes", "window", None, by_class(Until::Whole)),
        row("all classes", "barrier", None, Box::new(move |stage| run_barrier(stage, classes))),
    ])
}

fn run_classes(stage: &Stage, classes: u32, until: Until) -> Result<Run> {
    let middle = classes / 2;
    let chunks = u64::from(classes) * CHUNKS;
    let plan = ClassPlan::by_position(stage.made.bytes, chunks, classes)
        .with_classes(|_, position| (position + classes - middle) % classes);
    let options = ReadOptions::new().with_pool(BufferPool::new(0));
    let start = Instant::now();
    let reading = options.read_prioritised(&stage.path, plan)?;
    let first = reading.wait(0)?;
    let mut elapsed = start.elapsed();
    let is_expected = |chunk: swath::classes::ChunkBytes<'_>| {
        let range =
            usize::try_from(chunk.range.start).ok()?..usize::try_from(chunk.range.end).ok()?;
        Some(chunk.bytes == stage.bytes.get(range)?)
    };
    let mut is_right = true;
    if until == Until::First {
        is_right = first.chunks().all(|chunk| is_expected(chunk) == Some(true));
    }
    let loaded = reading.finish()?;
    if until == Until::Whole {
        elapsed = start.elapsed();
    }
    is_right &= loaded.buffer()[..] == stage.bytes[..];
    is_right &= loaded.report.max_skew <= loaded.report.window;
    Ok(Run { elapsed, is_right, fallbacks: loaded.report.read.fallbacks.clone() })
}

fn run_barrier(stage: &Stage, classes: u32) -> Result<Run> {
    let classes = usize::try_from(classes)?;
    let (chunks, first) = (classes * usize::try_from(CHUNKS)?, classes / 2);
    let start = Instant::now();
    let file = File::open(&stage.path).context("the input is there")?;
    let mut bytes = vec![0; stage.bytes.len()];
    let batches = Batches { chunks, classes, first, workers: stage.workers };
    barrier::load(&file, &mut bytes, batches)?;
    let elapsed = start.elapsed();
    Ok(Run { elapsed, is_right: bytes == stage.bytes, fallbacks: Vec::new() })
}
