//! Processors with narrower vectors: the same work with a limit on the level.

use crate::bench::Bench;
use crate::contestants::text::{self, Text};
use anyhow::Result;
use std::path::Path;
use std::rc::Rc;
use swath_simd::{Level, limit_level};
use swath_study::fields::contracts::Contracts;
use swath_study::fields::graph::{self, GraphContent};
use swath_study::measure::{Entrant, Entrants, Goal, Meter};
use swath_study::peers::Absent;
use swath_study::pricing::Form;
use swath_study::results::State;

/// The share of the speed with AVX-512.
const SHARE: f64 = 0.70;

type Parse = fn(&Path, usize, &mut Meter) -> Result<GraphContent>;

pub(super) fn build_coo(bench: &Bench, text: &Text) -> Result<Entrants> {
    Ok(parsed(bench, text, graph::coordinates))
}

pub(super) fn build_csr(bench: &Bench, text: &Text) -> Result<Entrants> {
    Ok(parsed(bench, text, graph::rows))
}

pub(super) fn build_table(bench: &Bench, text: &Text) -> Result<Entrants> {
    Ok(parsed(bench, text, text::table))
}

fn parsed(bench: &Bench, text: &Text, parse: Parse) -> Entrants {
    let workers = bench.workers;
    levels(|name| text.entrant(name, move |path, meter| parse(path, workers, meter)))
}

pub(super) fn build_price(bench: &Bench, text: &Text) -> Result<Entrants> {
    let input = Rc::clone(&text.input);
    let contracts = Contracts::of(&bench.stage, input, text.found.values)?;
    Ok(levels(|name| contracts.entrant(name, Form::Swath, bench.workers, State::Warm)))
}

/// An entrant for each level that the processor has.
fn levels(entrant: impl Fn(&str) -> Entrant) -> Entrants {
    let limited = |level: Level| {
        let name = level.to_string();
        if !level.available() {
            return Err(Absent::new(&name, "this processor does not have it"));
        }
        let limit = |level| {
            move || {
                limit_level(level);
                Ok(())
            }
        };
        Ok(entrant(&name).with_before(limit(level)).with_after(limit(Level::Avx512)))
    };
    let (wide, narrow) = (Level::Avx512.to_string(), Level::Avx2.to_string());
    let mut entrants = Entrants::new([], [Goal::speed(&narrow, SHARE, &[wide])]);
    Level::ALL.into_iter().rev().for_each(|level| entrants.add(limited(level)));
    entrants
}
