//! Option contracts to prices, end to end: study C's experiment.

use crate::bench::Bench;
use crate::case::{Case, Goal};
use crate::cases::graph::peers;
use crate::contestants::control;
use crate::contestants::text::{Parsed, Text};
use anyhow::{Result, ensure};
use std::fs;
use std::path::Path;
use swath::append::OrderedOptions;
use swath::sink::Durability;
use swath::{OutputOptions, ReadOptions};
use swath_formats::options::{PriceOptions, Way};
use swath_study::harness::timed;
use swath_study::peers::PythonParse;

const FUSED: &str = "swath price";
const STUDY: &str = "study C's optimised form";
const SERIAL: &str = "line by line";
const ONE: &str = "swath price, one worker";

const POLARS: PythonParse =
    PythonParse { name: "polars read + write, no pricing", word: "polars_prices" };

/// Compares the three ways, and polars, which does not price.
pub(super) fn build<'b>(bench: &'b Bench, text: &'b Text) -> Result<Case<'b>> {
    let priced = bench.output("prices");
    let sum = {
        let options = PriceOptions::new()
            .with_way(Way::Serial)
            .with_read(ReadOptions::new().with_workers(1));
        let output = OrderedOptions::new()
            .with_output(OutputOptions::new().with_durability(Durability::None))
            .ordered(&priced)?;
        options.price(text.input.path.as_path(), output)?;
        byte_sum(&priced)?
    };
    let of = |name, way, workers| {
        let priced = priced.clone();
        text.contestant(bench, name, sum, move |path| run(path, &priced, (way, workers)))
    };
    let mut contestants = vec![
        of(FUSED, Way::Fused, bench.workers),
        of(ONE, Way::Fused, 1),
        of(STUDY, Way::Study, bench.workers),
        of(SERIAL, Way::Serial, bench.workers),
    ];
    let absent = peers(bench, text, &mut contestants, &[POLARS]);
    contestants.push(control::memory(bench));
    let goals = vec![
        Goal::speed(FUSED, 8.0, &[SERIAL]),
        Goal::speed(FUSED, 2.0, &[STUDY]),
        Goal::speed(FUSED, 3.0, &[POLARS.name]),
    ];
    Ok(Case { contestants, absent, goals })
}

/// Prices by the fused way; counted, and the bytes of the output added up.
pub(super) fn priced(from: &Path, to: &Path, workers: usize) -> Result<Parsed> {
    run(from, to, (Way::Fused, workers))
}

fn run(from: &Path, to: &Path, (way, workers): (Way, usize)) -> Result<Parsed> {
    let options =
        PriceOptions::new().with_way(way).with_read(ReadOptions::new().with_workers(workers));
    let output = OrderedOptions::new()
        .with_output(OutputOptions::new().with_durability(Durability::None))
        .ordered(to)?;
    let (done, timing) = timed(|| options.price(from, output))?;
    let done = done?;
    ensure!(done.off == 0, "{} prices are not the reference's", done.off);
    let sum = byte_sum(to)?;
    fs::remove_file(to)?;
    Ok(Parsed { timing, values: done.contracts, sum })
}

fn byte_sum(path: &Path) -> Result<u64> {
    Ok(ReadOptions::new().sum(path)?.value)
}
