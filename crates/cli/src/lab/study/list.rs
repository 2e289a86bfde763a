//! `swath study --list`: the experiments, the claims of the studies, and the rules.

use anyhow::Result;
use serde::Serialize;
use swath_study::experiment::Experiment;

use crate::command::Outcome;
use crate::output::tell;
use crate::report::{lines, object};

/// Returns an experiment, for programs.
fn listed(one: &Experiment) -> impl Serialize {
    let claims = one.claims.iter();
    let claims = claims
        .map(|claim| object! { id: claim.id, source: claim.source(), rule: claim.rule() });
    object! {
        id: one.id,
        study: one.study.word(),
        figure: one.figure,
        claims: claims.collect::<Vec<_>>(),
        full: one.scale.sentence(true),
        full_minutes: one.scale.minutes,
    }
}

pub(super) fn run(chosen: &[&'static Experiment], is_json: bool) -> Result<Outcome> {
    let rows = chosen.iter().flat_map(|one| {
        let row = |source: String, rule: &str| {
            [one.id.to_owned(), one.figure.to_owned(), source, rule.to_owned()]
        };
        one.claims.iter().map(move |claim| row(claim.source().to_string(), claim.rule()))
    });
    let heads = ["experiment", "what is measured", "what the study says", "rule"];
    let rows: Vec<_> = rows.collect();
    let rows: Vec<&[String]> = rows.iter().map(|row| &row[..]).collect();
    let json: Vec<_> = chosen.iter().map(|&one| listed(one)).collect();
    tell(is_json, &json, lines(&heads, &rows))?;
    Ok(Outcome::Done)
}
