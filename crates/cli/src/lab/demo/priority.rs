//! `read --classes`: the time to the first class, and to the whole file.
//!
//! The first class lies in the middle of the file. Study A's barriers are measured beside it.

use std::rc::Rc;

use anyhow::Result;
use swath_study::fields::classes::{Cut, Until, barrier, window};
use swath_study::fields::file::FileMemory;

use super::row::{About, DemoRow};
use super::stage::Stage;

/// Bytes of a class, as in the study: 1.3 GB in 1,000 of them.
const CLASS_SIZE: u64 = 1_300_000;
const CLASSES: u64 = 1000;
/// Chunks of a class.
const CHUNKS: u64 = 100;

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let classes = (stage.size() / CLASS_SIZE).clamp(2, CLASSES);
    let chunks = usize::try_from(classes * CHUNKS)?;
    let cut = Cut { chunks, classes: u32::try_from(classes)?, threads: 0 };
    let about = |engine, way| About {
        memory: Some(FileMemory::Reused),
        ..About::warm("classes", engine, way)
    };
    // How soon, not how fast.
    let first = About { bytes: Some(0), ..about("window", "first class, from mid-file") };
    let all = "all classes";
    let studied = Cut { threads: stage.inputs.workers, ..cut };
    Ok(vec![
        DemoRow::of(first, window(&stage.file, first.way, Until::First, cut)),
        DemoRow::of(about("window", all), window(&stage.file, all, Until::Whole, cut)),
        DemoRow::of(about("barrier", all), barrier(&stage.file, all, studied)),
    ])
}
