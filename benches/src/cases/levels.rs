//! What processors with narrower vectors would do: the same work with a limit on the level.

use crate::bench::Bench;
use crate::case::{Case, Goal};
use crate::cases::{graph, price, table};
use crate::contestants::control;
use crate::contestants::text::{Parsed, Text};
use anyhow::Result;
use std::path::Path;
use swath_simd::{Level, limit_level};
use swath_study::peers::Absent;

/// Of the speed with AVX-512.
const SHARE: f64 = 0.70;

pub(super) fn build_coo<'b>(bench: &'b Bench, text: &'b Text) -> Result<Case<'b>> {
    Ok(case(bench, text, graph::coordinates))
}

pub(super) fn build_csr<'b>(bench: &'b Bench, text: &'b Text) -> Result<Case<'b>> {
    Ok(case(bench, text, graph::rows))
}

pub(super) fn build_table<'b>(bench: &'b Bench, text: &'b Text) -> Result<Case<'b>> {
    Ok(case(bench, text, table::read))
}

pub(super) fn build_price<'b>(bench: &'b Bench, text: &'b Text) -> Result<Case<'b>> {
    let prices = bench.output("prices");
    Ok(case(bench, text, move |path, workers| {
        let done = price::priced(path, &prices, workers)?;
        // What is in the file is compared in the case of pricing.
        Ok(Parsed { sum: 0, ..done })
    }))
}

fn case<'b>(
    bench: &'b Bench,
    text: &'b Text,
    run: impl Fn(&Path, usize) -> Result<Parsed> + Clone + 'b,
) -> Case<'b> {
    let (mut contestants, mut absent) = (Vec::new(), Vec::new());
    for level in Level::ALL.into_iter().rev() {
        let name = level.to_string();
        if !level.available() {
            absent.push(Absent::new(&name, "this processor does not have it"));
            continue;
        }
        let run = run.clone();
        contestants.push(text.swath(bench, &name, move |path| {
            limit_level(level);
            let parsed = run(path, bench.workers);
            limit_level(Level::Avx512);
            parsed
        }));
    }
    contestants.push(control::memory(bench));
    let (wide, narrow) = (Level::Avx512.to_string(), Level::Avx2.to_string());
    Case { contestants, absent, goals: vec![Goal::speed(&narrow, SHARE, &[wide])] }
}
