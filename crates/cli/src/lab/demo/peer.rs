//! `std::fs::read`: what most programs call today.

use std::rc::Rc;

use anyhow::Result;
use swath_study::measure::Meter;
use swath_study::results::State;

use super::row::{About, DemoRow, Limit, Line};
use super::stage::Stage;

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let (is_peer, line) = (true, Some(Line::Warm));
    let warm = About { is_peer, line, ..About::read("std::fs::read") };
    let (state, limit, line) = (State::Cold, Limit::DirectRead, Some(Line::Cold));
    let cold = About { state, limit, line, ..warm };
    Ok([warm, cold].map(|about| DemoRow::new(stage, about, run)).into())
}

fn run(stage: &Stage, meter: &mut Meter) -> Result<bool> {
    Ok(meter.measure(|| std::fs::read(&stage.path))?? == stage.bytes)
}
