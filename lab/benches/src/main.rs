//! Measures Swath against the limits of this machine and the tools that people use today.
//!
//! ```text
//! args ─→ bench ─→ cases: entrants + goals ─→ the frame's rounds ─→ record: DIR/*.md, raw.csv
//!         inputs,         limits, peers, swath     (study: measure)
//!         peers
//! ```
//!
//! A case is an experiment with goals: ways to do the same work, and how they are compared. A record is
//! complete: it includes missed goals, absent peers and failed cases.

mod args;
mod before_after;
mod bench;
mod beside;
mod case;
mod cases;
mod child;
mod contestants;
mod load;
mod python;
mod record;

use crate::args::{Args, Other};
use crate::bench::Bench;
use crate::contestants::consumer;
use crate::record::Folder;
use anyhow::Result;
use clap::Parser;
use std::time::Instant;

fn main() -> Result<()> {
    let args = Args::parse();
    match &args.other {
        Some(Other::BeforeAfter(wish)) => before_after::record(wish),
        Some(Other::Beside(wish)) => beside::record(wish),
        Some(Other::MeasureMemory { what, path, workers }) => {
            consumer::measure(*what, path, *workers)
        }
        Some(Other::MeasureProgram { output, words }) => child::measure(output, words),
        Some(Other::ReadFiles { reader, folder }) => consumer::read_files(*reader, folder),
        Some(Other::Compress { format, path, output, workers }) => {
            contestants::compress::compress(format, path, output, *workers)
        }
        Some(Other::Python { out, rounds }) => python::record(out, *rounds),
        None => record_all(&args),
    }
}

/// Runs each chosen case and writes the record.
fn record_all(args: &Args) -> Result<()> {
    let chosen = cases::chosen(args)?;
    let start = Instant::now();
    let bench = Bench::prepare(args)?;
    let mut folder = Folder::create(args, &bench)?;
    for (index, entry) in chosen.iter().enumerate() {
        let (id, elapsed) = (entry.id(&bench), start.elapsed().as_secs());
        eprintln!("[{}/{}] {id} ({elapsed} s so far)", index + 1, chosen.len());
        folder.run(&id, || entry.run(&bench))?;
    }
    folder.end()
}
