//! `price`: an eighth of the input's size in option contracts, priced in three ways of study C.

use std::fs;
use std::rc::Rc;

use anyhow::Result;
use swath_study::fields::contracts::unsynced;
use swath_study::measure::Meter;
use swath_study::pricing::{Form, Pricing};
use swath_study::results::State;
use swath_study::workload::contracts;

use super::row::{About, DemoRow, Limit, TargetMemory};
use super::stage::Stage;

const FORMS: [(&str, &str, Form); 3] = [
    ("serial", "line by line, as PARSEC does", Form::Lines),
    ("study C", "bulk read and write", Form::Bulk),
    ("fused", "block by block, all workers", Form::Swath),
];

/// The text is this many times shorter than the input.
const SHARE: u64 = 8;
/// Bytes of a line, more or less.
const LINE: u64 = 63;

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let path = stage.path.with_file_name("contracts");
    let count = (stage.made.bytes / SHARE / LINE).max(1);
    let made = contracts::generate(count, 1, stage.workers, unsynced(&path)?)?;
    let row = |(engine, way, form): (&'static str, &'static str, Form)| {
        let about = About {
            state: State::None,
            memory: TargetMemory::None,
            limit: Limit::Computing,
            is_peer: form == Form::Lines,
            bytes: Some(made.bytes),
            ..About::warm("price", engine, way)
        };
        DemoRow::new(stage, about, move |stage, meter| run(stage, form, count, meter))
    };
    Ok(FORMS.into_iter().map(row).collect())
}

fn run(stage: &Stage, form: Form, count: u64, meter: &mut Meter) -> Result<bool> {
    let beside = |name: &str| stage.path.with_file_name(name);
    let (contracts, prices) = (beside("contracts"), beside("prices"));
    let output = unsynced(&prices)?;
    let priced = meter.measure(|| Pricing::new(form).price(&contracts, output))??;
    meter.fell_back(priced.fallbacks);
    let text = fs::read(&prices)?;
    let lines = text.iter().map(|&byte| u64::from(byte == b'\n')).sum::<u64>();
    fs::remove_file(prices)?;
    // Each contract comes with its right price.
    Ok(priced.off == 0 && priced.contracts == count && lines == count + 1)
}
