//! What a process of its own does with one file, while its memory is measured.

use crate::args::Consumer;
use crate::cases::{graph, table};
use crate::contestants::swath::Scan;
use crate::contestants::text::Parsed;
use crate::contestants::write::{self, Chunks, Writer};
use anyhow::{Context, Result};
use std::path::Path;
use std::time::Instant;
use swath::ReadOptions;
use swath_os::usage::{Usage, reset_peak_rss, usage};
use swath_study::limits;

/// Uses the file at `path` and prints bytes, sum, peak beyond the start, and times.
pub(crate) fn measure(what: Consumer, path: &Path, workers: usize) -> Result<()> {
    let chunks = Chunks::of(std::fs::metadata(path)?.len());
    reset_peak_rss().context("cannot reset the peak of memory")?;
    let before = usage()?;
    let start = Instant::now();
    let options = ReadOptions::new().with_workers(workers);
    let (bytes, sum, after) = match what {
        Consumer::Read => {
            let buffer = options.read(path)?.buffer;
            let after = usage()?;
            (buffer.len() as u64, limits::memory_sum(&buffer, workers), after)
        }
        Consumer::Scan => scanned(Scan::Sum, &options, path)?,
        Consumer::ScanMap => scanned(Scan::SumMapped, &options, path)?,
        Consumer::WriteOrdered => written(Writer::Ordered, &chunks, path, workers)?,
        Consumer::Coordinates => parsed(path, &graph::coordinates(path, workers)?)?,
        Consumer::Rows => parsed(path, &graph::rows(path, workers)?)?,
        Consumer::Table => parsed(path, &table::read(path, workers)?)?,
        Consumer::WriteOrderedDirect => written(Writer::OrderedDirect, &chunks, path, workers)?,
    };
    let seconds = start.elapsed().as_secs_f64();
    let peak = after.peak_rss.saturating_sub(before.peak_rss);
    let used = after.since(&before);
    let cpu_seconds = (used.user + used.system).as_secs_f64();
    println!("{bytes} {sum} {peak} {seconds} {cpu_seconds}");
    Ok(())
}

fn scanned(scan: Scan, options: &ReadOptions, path: &Path) -> Result<(u64, u64, Usage)> {
    let scanned = scan.run(options, path)?;
    Ok((scanned.report.bytes, scanned.value, usage()?))
}

/// What was parsed is gone by now; the peak is not.
fn parsed(path: &Path, parsed: &Parsed) -> Result<(u64, u64, Usage)> {
    Ok((std::fs::metadata(path)?.len(), parsed.sum, usage()?))
}

/// Writes as many bytes as the file at `path` has into a folder beside it; what the chunks are
/// made from is there already.
fn written(
    writer: Writer,
    chunks: &Chunks,
    path: &Path,
    workers: usize,
) -> Result<(u64, u64, Usage)> {
    let folder = path.with_extension("written");
    std::fs::create_dir_all(&folder)?;
    writer.write(chunks, &folder, workers)?;
    let after = usage()?;
    let (bytes, sum) = write::sum(&folder)?;
    std::fs::remove_dir_all(&folder)?;
    Ok((bytes, sum, after))
}
