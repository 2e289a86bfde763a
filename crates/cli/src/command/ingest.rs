//! `swath ingest`: many files at once.
//!
//! Without a checksum all files go into memory, as with `read` one does; with one they pass through
//! a bounded amount of it.

mod checksums;
mod totals;

use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context, Result};
use swath::ingest::{Files, IngestOptions, IngestReport};

use self::checksums::checksums;
use self::totals::{Json, text, trouble};
use super::Outcome;
use crate::args::ingest::{FileHash, Ingest};
use crate::failure::describe_error;
use crate::output::{complain, print, print_json};
use crate::profile::Profiles;
use crate::progress::Bar;

pub(super) fn run(args: &Ingest) -> Result<Outcome> {
    let files = files(args)?;
    // Where the first path is, most of the files are.
    let first = args.paths.first().map(PathBuf::as_path);
    let read = Profiles::new(args.how.profile).apply_to_files(args.read_options(), first);
    let (read, bar) = Bar::attach(read, !args.json);
    let options = args.options(read);
    let report = match args.hash {
        Some(FileHash::Xxh3) => checksums(files, &options, args.json)?,
        None => load(files, &options)?,
    };
    drop(bar);
    show(args, &report)?;
    Ok(match (report.files, report.failed + report.skipped) {
        (_, 0) => Outcome::Done,
        (0, _) => Outcome::NotDone,
        _ => Outcome::Differs,
    })
}

/// The files that the words name: paths, then the list, then patterns.
fn files(args: &Ingest) -> Result<Files> {
    let mut files = Files::each(&args.paths);
    if let Some(list) = &args.list {
        let mut bytes = Vec::new();
        let read = list.open().and_then(|mut file| file.read_to_end(&mut bytes));
        read.with_context(|| format!("cannot read the list {list}"))?;
        files = files.and(Files::list(bytes, if args.null { 0 } else { b'\n' }));
    }
    Ok(args.glob.iter().fold(files, |files, pattern| files.and(Files::glob(pattern))))
}

/// Has all files in memory at one time.
fn load(files: Files, options: &IngestOptions) -> Result<IngestReport> {
    let ingested = options.ingest(files)?;
    for entry in ingested.iter() {
        if let Some(error) = entry.error {
            complain(describe_error(error));
        }
    }
    Ok(ingested.report().clone())
}

/// Says how it went: on standard output, or beside the checksums what they leave out.
fn show(args: &Ingest, report: &IngestReport) -> Result<()> {
    if args.json {
        return print_json(&Json::from(report));
    }
    if args.hash.is_none() {
        return Ok(print(text(report))?);
    }
    for line in trouble(report) {
        complain(line);
    }
    Ok(())
}
