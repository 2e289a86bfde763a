//! `scan`: sums and counts, without keeping a byte.

use std::path::Path;
use std::rc::Rc;

use anyhow::Result;
use swath::{ReadOptions, Scanned};
use swath_study::fields::sums::{mapped, newlines_mapped};
use swath_study::results::State;

use super::row::{About, DemoRow, Limit, TargetMemory};
use super::stage::Stage;

/// Runs over a file.
type ScanRun = fn(&ReadOptions, &Path) -> Result<Scanned<u64>>;

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let of = |way| About {
        memory: TargetMemory::None,
        limit: Limit::MemorySum,
        ..About::warm("scan", "auto", way)
    };
    let cold = About { state: State::Cold, limit: Limit::DirectRead, ..of("byte sum") };
    let (sum, lines) = (stage.made.sum, stage.made.lines);
    Ok(vec![
        row(stage, of("byte sum"), mapped, sum),
        row(stage, of("newline count"), newlines_mapped, lines),
        row(stage, cold, mapped, sum),
    ])
}

fn row(stage: &Rc<Stage>, about: About, scan: ScanRun, right: u64) -> DemoRow {
    DemoRow::new(stage, about, move |stage, meter| {
        let Scanned { value, report } =
            meter.measure(|| scan(&ReadOptions::new(), &stage.path))??;
        meter.fell_back(report.fallbacks);
        Ok(value == right && report.bytes == stage.bytes.len() as u64)
    })
}
