//! What a newcomer knows: `std::fs::read`.

use std::rc::Rc;

use anyhow::Result;
use swath_study::measure::Meter;
use swath_study::results::State;

use super::rounds::Row;
use super::stage::Stage;
use super::{About, Limit};

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<Row>> {
    let warm = About { is_peer: true, ..About::warm("read", "std::fs::read", "fresh buffer") };
    let cold = About { state: State::Cold, limit: Limit::DirectRead, ..warm };
    Ok([warm, cold].map(|about| Row::new(stage, about, run)).into())
}

fn run(stage: &Stage, meter: &mut Meter) -> Result<bool> {
    Ok(meter.measure(|| std::fs::read(&stage.path))?? == stage.bytes)
}
