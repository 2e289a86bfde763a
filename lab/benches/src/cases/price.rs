//! Option contracts to prices, end to end: study C's experiment.

use crate::bench::Bench;
use crate::cases::graph::python;
use crate::contestants::text::Text;
use anyhow::Result;
use std::rc::Rc;
use swath_study::fields::contracts::Contracts;
use swath_study::measure::{Entrants, Goal};
use swath_study::peers::PythonWay;
use swath_study::pricing::Form;
use swath_study::results::State;

const FUSED: &str = "swath price";
const STUDY: &str = "study C's optimised form";
const SERIAL: &str = "line by line";
const ONE: &str = "swath price, one worker";

const POLARS: PythonWay = python("polars read + write, no pricing", "polars_prices");

/// The contracts of a text.
pub(super) fn contracts(bench: &Bench, text: &Text) -> Result<Rc<Contracts>> {
    Contracts::of(&bench.stage, Rc::clone(&text.input), text.found.values)
}

/// Compares the three ways, and polars, which does not price.
pub(super) fn build(bench: &Bench, text: &Text) -> Result<Entrants> {
    let contracts = contracts(bench, text)?;
    let workers = bench.workers;
    let here = [
        (FUSED, Form::Swath, workers),
        (ONE, Form::Swath, 1),
        (STUDY, Form::Bulk, workers),
        (SERIAL, Form::Lines, workers),
    ];
    let here =
        here.map(|(name, form, workers)| contracts.entrant(name, form, workers, State::Warm));
    let goals = [
        Goal::speed(FUSED, 8.0, &[SERIAL]),
        Goal::speed(FUSED, 2.0, &[STUDY]),
        Goal::speed(FUSED, 3.0, &[POLARS.name]),
    ];
    Ok(text.beside(bench, Entrants::new(here, goals), &[POLARS]))
}
