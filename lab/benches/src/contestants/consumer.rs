//! The work of a child process: using one file, or reading many.

use crate::args::{Consumer, FilesReader};
use crate::child::{self, Told};
use crate::contestants::write::{self, Chunks, Writer};
use anyhow::{Context, Result};
use clap::ValueEnum;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use swath::ReadOptions;
use swath::ingest::{Files, IngestOptions, OpenedBy};
use swath_os::usage::{Usage, reset_peak_rss, usage};
use swath_study::fields::file::FileScan;
use swath_study::fields::grove::{of_files, of_ingested};
use swath_study::fields::text::{self, TextContent};
use swath_study::many::plain;
use swath_study::measure::{Meter, Outcome};

/// Starts a child process that uses the file at `path`.
pub(crate) fn start(what: Consumer, path: &Path, workers: usize) -> Result<Told> {
    let word = what.to_possible_value().context("every consumer has a word")?;
    let workers = workers.to_string();
    let words: [&OsStr; 4] =
        ["measure-memory".as_ref(), word.get_name().as_ref(), path.as_ref(), workers.as_ref()];
    child::start(&[], &words)
}

/// Uses the file at `path`; prints bytes, sum, peak memory beyond the start, and times.
pub(crate) fn measure(what: Consumer, path: &Path, workers: usize) -> Result<()> {
    let chunks = Chunks::of(fs::metadata(path)?.len());
    reset_peak_rss().context("cannot reset the peak of memory")?;
    let before = usage()?;
    let start = Instant::now();
    let options = ReadOptions::new().with_workers(workers);
    let mut meter = Meter::default();
    let (outcome, after) = match what {
        Consumer::Read => {
            let buffer = options.read(path)?.buffer;
            let after = usage()?;
            (Outcome::of(&buffer, workers), after)
        }
        Consumer::Scan => scanned(FileScan::Sum, &options, path)?,
        Consumer::ScanMap => scanned(FileScan::SumMapped, &options, path)?,
        Consumer::WriteOrdered => written(Writer::Ordered, &chunks, path, workers)?,
        Consumer::WriteOrderedDirect => written(Writer::OrderedDirect, &chunks, path, workers)?,
        Consumer::Coordinates => parsed(path, text::coordinates(path, workers, &mut meter)?)?,
        Consumer::Rows => parsed(path, text::rows(path, workers, &mut meter)?)?,
        Consumer::Table => parsed(path, text::table(path, workers, &mut meter)?)?,
    };
    let seconds = start.elapsed().as_secs_f64();
    let peak = after.peak_rss.saturating_sub(before.peak_rss);
    let Outcome { bytes, checksum } = outcome;
    let told = Told { bytes, checksum, seconds, ..Told::default() };
    told.with_usage(&after.since(&before), peak).print()
}

fn scanned(scan: FileScan, options: &ReadOptions, path: &Path) -> Result<(Outcome, Usage)> {
    let scanned = scan.run(options, path)?;
    Ok((Outcome { bytes: scanned.report.bytes, checksum: scanned.value }, usage()?))
}

/// Returns the outcome and the usage. The parsed values are freed by now; the peak includes them.
fn parsed(path: &Path, found: TextContent) -> Result<(Outcome, Usage)> {
    Ok((Outcome { bytes: fs::metadata(path)?.len(), checksum: found.sum }, usage()?))
}

/// Writes as many bytes as the file at `path` has to a folder beside it. The pattern of the chunks is
/// already in memory.
fn written(
    writer: Writer,
    chunks: &Chunks,
    path: &Path,
    workers: usize,
) -> Result<(Outcome, Usage)> {
    let folder = path.with_extension("written");
    fs::create_dir_all(&folder)?;
    writer.write(chunks, &folder, workers)?;
    let after = usage()?;
    Ok((write::take(&folder)?, after))
}

/// Reads all files below `folder`; prints bytes, their sum, and seconds.
pub(crate) fn read_files(reader: FilesReader, folder: &Path) -> Result<()> {
    let start = Instant::now();
    let (outcome, seconds) = match reader {
        FilesReader::Ingest | FilesReader::IngestByRing => {
            let by = match reader {
                FilesReader::IngestByRing => OpenedBy::Ring,
                _ => OpenedBy::Auto,
            };
            let options = IngestOptions::new().with_opened_by(by);
            let ingested = options.ingest(Files::folder(folder))?;
            (of_ingested(&ingested), start.elapsed())
        }
        FilesReader::Std => {
            let files = plain::read_all(&below(folder)?, 2)?;
            (of_files(&files), start.elapsed())
        }
    };
    let Outcome { bytes, checksum } = outcome;
    Told { bytes, checksum, seconds: seconds.as_secs_f64(), ..Told::default() }.print()
}

/// Returns the files in the folders of `folder`.
fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for inner in fs::read_dir(folder)? {
        for file in fs::read_dir(inner?.path())? {
            paths.push(file?.path());
        }
    }
    Ok(paths)
}
