//! `std::fs::read`: what most programs call today.

use std::rc::Rc;

use anyhow::Result;
use swath_study::results::State;

use super::row::{About, DemoRow, Limit, Line};
use super::stage::Stage;

const STD: &str = "std::fs::read";

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let (is_peer, line) = (true, Some(Line::Warm));
    let warm = About { is_peer, line, ..About::read(STD) };
    let (state, limit, line) = (State::Cold, Limit::DirectRead, Some(Line::Cold));
    let cold = About { state, limit, line, ..warm };
    let row = |about: About| DemoRow::of(about, stage.file.at(0.0, about.state).std_read(STD));
    Ok([warm, cold].map(row).into())
}
