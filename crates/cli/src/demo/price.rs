//! `price`: an eighth of the input's size in option contracts, priced in study C's three ways.

use std::fs;
use std::path::Path;
use std::time::Instant;
use swath::OutputOptions;

use anyhow::Result;
use swath::append::{Ordered, OrderedOptions};
use swath::sink::Durability;
use swath_study::pricing::{Form, Pricing};
use swath_study::workload::contracts;

use super::stage::Stage;
use super::{Limit, Memory, Row, Run, State};

const FORMS: [(&str, &str, Form); 3] = [
    ("serial", "line by line, as PARSEC does", Form::Lines),
    ("study", "study C's bulk read and write", Form::Bulk),
    ("fused", "block by block, all workers", Form::Swath),
];

/// The text is so many times shorter than the input.
const SHARE: u64 = 8;
/// Bytes of a line, more or less.
const LINE: u64 = 63;

pub(super) fn rows(stage: &Stage) -> Result<Vec<Row>> {
    let path = stage.path.with_file_name("contracts");
    let count = (stage.made.bytes / SHARE / LINE).max(1);
    let made = contracts::generate(count, 1, stage.workers, unsynced(&path)?)?;
    let row = |(engine, way, how): (&'static str, &'static str, Form)| Row {
        capability: "price",
        engine,
        way,
        state: State::New,
        memory: Memory::None,
        limit: Limit::Computing,
        is_peer: how == Form::Lines,
        bytes: Some(made.bytes),
        run: Box::new(move |stage| run(stage, how, count)),
    };
    Ok(FORMS.into_iter().map(row).collect())
}

fn run(stage: &Stage, form: Form, count: u64) -> Result<Run> {
    let beside = |name: &str| stage.path.with_file_name(name);
    let (contracts, prices) = (beside("contracts"), beside("prices"));
    let output = unsynced(&prices)?;
    let start = Instant::now();
    let priced = Pricing::new(form).price(&contracts, output)?;
    let elapsed = start.elapsed();
    let text = fs::read(&prices)?;
    let lines = text.iter().map(|&byte| u64::from(byte == b'\n')).sum::<u64>();
    fs::remove_file(prices)?;
    // Each contract comes with its right price.
    let is_right = priced.off == 0 && priced.contracts == count && lines == count + 1;
    Ok(Run { elapsed, is_right, fallbacks: priced.fallbacks })
}

fn unsynced(path: &Path) -> Result<Ordered> {
    Ok(OrderedOptions::new()
        .with_output(OutputOptions::new().with_durability(Durability::None))
        .ordered(path)?)
}
