//! `swath price`: contracts in, prices out.

use std::path::Path;

use anyhow::Result;
use serde::Serialize;
use swath_formats::contracts::{Priced, TOLERANCE};

use super::Outcome;
use super::target::{Target, note_all};
use crate::args::price::Price;
use crate::output::complain;
use crate::profile::Profiles;
use crate::progress::Bar;
use crate::report::{PathJson, counted, size_text, texts, time_text};

#[derive(Serialize)]
struct Json {
    #[serde(flatten)]
    path: PathJson,
    source: PathJson,
    contracts: u64,
    workers: usize,
    bytes_in: u64,
    bytes_out: u64,
    elapsed_s: f64,
    contracts_per_s: f64,
    /// Summed over the threads that were at work.
    read_s: f64,
    compute_s: f64,
    write_s: f64,
    /// Of 1.
    read_share: f64,
    compute_share: f64,
    write_share: f64,
    /// Prices that differ from the file's own by the tolerance or more.
    off: u64,
    tolerance: f64,
    largest_difference: f64,
    fallbacks: Vec<String>,
}

pub(super) fn run(args: &Price) -> Result<Outcome> {
    let named = |path: &Path| path.file_name().map(|_| path.with_extension("prices"));
    let target = Target::choose(&args.from, Some(&args.to), named)?;
    let read = Profiles::new(args.profile).apply(args.output.read_options(), &args.from);
    let (read, bar) = Bar::attach(read, !args.output.json);
    let options = args.options(read);
    let output = target.begin(&args.output, &args.from)?;
    let priced = options.price(args.from.source()?, output)?;
    drop(bar);
    note_all(&args.from, &priced.fallbacks);
    target.report(&args.output, &json(&target, args, &priced), &text(&target, &priced))?;
    if !args.check || priced.off == 0 {
        return Ok(Outcome::Done);
    }
    let (from, off) = (&args.from, counted(priced.off, "price"));
    complain(format!("{from}: {off} of {} off by {TOLERANCE} or more", priced.contracts));
    Ok(Outcome::Differs)
}

/// Contracts in a second.
fn speed(priced: &Priced) -> f64 {
    priced.contracts as f64 / priced.elapsed.as_secs_f64().max(1e-9)
}

fn json(target: &Target, args: &Price, priced: &Priced) -> Json {
    let [read_share, compute_share, write_share] = priced.phases.shares();
    Json {
        path: target.label().as_os_str().into(),
        source: args.from.label().into(),
        contracts: priced.contracts,
        workers: priced.workers,
        bytes_in: priced.bytes_in,
        bytes_out: priced.bytes_out,
        elapsed_s: priced.elapsed.as_secs_f64(),
        contracts_per_s: speed(priced),
        read_s: priced.phases.read.as_secs_f64(),
        compute_s: priced.phases.compute.as_secs_f64(),
        write_s: priced.phases.write.as_secs_f64(),
        read_share,
        compute_share,
        write_share,
        off: priced.off,
        tolerance: TOLERANCE,
        largest_difference: priced.largest_difference,
        fallbacks: texts(&priced.fallbacks),
    }
}

fn text(target: &Target, priced: &Priced) -> String {
    let [read, compute, write] = priced.phases.shares().map(|share| share * 100.0);
    format!(
        "{}: {} from {}, in {}, {:.2} M contracts/s\n  \
         {}: read {read:.0} %, compute {compute:.0} %, write {write:.0} %\n  \
         largest difference from the file's own prices {:.1e}, {} off by {TOLERANCE} or more\n",
        Path::new(&target.label()).display(),
        counted(priced.contracts, "price"),
        size_text(priced.bytes_in),
        time_text(priced.elapsed),
        speed(priced) / 1e6,
        counted(priced.workers as u64, "worker"),
        priced.largest_difference,
        priced.off,
    )
}
