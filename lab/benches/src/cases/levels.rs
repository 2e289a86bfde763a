//! Runs the same work with a limit on the vector level, as on processors with narrower vectors.

use crate::bench::Bench;
use crate::contestants::text::ours;
use anyhow::Result;
use swath_simd::{Level, limit_level};
use swath_study::fields::contracts::Contracts;
use swath_study::fields::text::{TextField, coordinates, rows, table};
use swath_study::measure::{Entrant, Entrants, Goal};
use swath_study::peers::Absent;
use swath_study::pricing::Form;
use swath_study::results::State;

/// The required share of the speed with AVX-512.
const SHARE: f64 = 0.70;

pub(super) fn build_coo(bench: &Bench, text: &TextField) -> Result<Entrants> {
    Ok(levels(|name| ours(bench, text, name, coordinates)))
}

pub(super) fn build_csr(bench: &Bench, text: &TextField) -> Result<Entrants> {
    Ok(levels(|name| ours(bench, text, name, rows)))
}

pub(super) fn build_table(bench: &Bench, text: &TextField) -> Result<Entrants> {
    Ok(levels(|name| ours(bench, text, name, table)))
}

pub(super) fn build_price(bench: &Bench) -> Result<Entrants> {
    let contracts = Contracts::new(&bench.stage, bench.pick(2_500_000, 10_000))?;
    Ok(levels(|name| contracts.entrant(name, Form::Swath, bench.workers, State::Warm)))
}

/// Returns an entrant for each level that the processor has.
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
