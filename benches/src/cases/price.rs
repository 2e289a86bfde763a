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
use swath_study::harness::timed;
use swath_study::peers::PythonParse;
use swath_study::pricing::{Form, Pricing};

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
        let pricing = Pricing::new(Form::Lines).with_workers(1);
        let output = OrderedOptions::new()
            .with_output(OutputOptions::new().with_durability(Durability::None))
            .ordered(&priced)?;
        pricing.price(&text.input.path, output)?;
        byte_sum(&priced)?
    };
    let of = |name, form, workers| {
        let priced = priced.clone();
        text.contestant(bench, name, sum, move |path| run(path, &priced, form, workers))
    };
    let mut contestants = vec![
        of(FUSED, Form::Swath, bench.workers),
        of(ONE, Form::Swath, 1),
        of(STUDY, Form::Bulk, bench.workers),
        of(SERIAL, Form::Lines, bench.workers),
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

/// Prices as the library does; counted, and the bytes of the output added up.
pub(super) fn priced(from: &Path, to: &Path, workers: usize) -> Result<Parsed> {
    run(from, to, Form::Swath, workers)
}

fn run(from: &Path, to: &Path, form: Form, workers: usize) -> Result<Parsed> {
    let pricing = Pricing::new(form).with_workers(workers);
    let output = OrderedOptions::new()
        .with_output(OutputOptions::new().with_durability(Durability::None))
        .ordered(to)?;
    let (done, timing) = timed(|| pricing.price(from, output))?;
    let done = done?;
    ensure!(done.off == 0, "{} prices are not the reference's", done.off);
    let sum = byte_sum(to)?;
    fs::remove_file(to)?;
    Ok(Parsed { timing, values: done.contracts, sum })
}

fn byte_sum(path: &Path) -> Result<u64> {
    Ok(ReadOptions::new().sum(path)?.value)
}
