//! `scan`: sums and counts, without keeping a byte.

use std::rc::Rc;

use anyhow::Result;
use swath::ReadOptions;
use swath_study::fields::file::FileScan;
use swath_study::results::State;

use super::row::{About, DemoRow, Limit};
use super::stage::Stage;

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let of = |way| About {
        memory: None,
        limit: Limit::MemorySum,
        ..About::warm("scan", "auto", way)
    };
    let cold = About { state: State::Cold, limit: Limit::DirectRead, ..of("byte sum") };
    let all = [
        (of("byte sum"), FileScan::SumMapped),
        (of("newline count"), FileScan::NewlinesMapped),
        (cold, FileScan::SumMapped),
    ];
    let row = |(about, scan): (About, FileScan)| {
        let file = stage.file.at(0.0, about.state);
        DemoRow::of(about, file.scanned(about.way, scan, ReadOptions::new()))
    };
    Ok(all.map(row).into())
}
