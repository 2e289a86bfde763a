//! `swath study --list`: the experiments, the claims of the studies, and the rules.

use anyhow::Result;
use serde::Serialize;
use swath_study::experiment::Experiment;

use crate::command::Outcome;
use crate::output::tell;
use crate::report::{object, table};

/// Returns an experiment, for programs.
fn listed(one: &Experiment) -> impl Serialize {
    let claims = one.claims.iter();
    let claims =
        claims.map(|claim| object! { id: claim.id, source: &claim.source, rule: claim.rule });
    object! {
        id: one.id,
        study: one.study.letter(),
        figure: one.figure,
        claims: claims.collect::<Vec<_>>(),
        full: one.scale.sentence(true),
        full_minutes: one.scale.minutes,
    }
}

pub(super) fn run(chosen: &[&'static Experiment], is_json: bool) -> Result<Outcome> {
    let mut table = table(["experiment", "what is measured", "what the study says", "rule"]);
    for one in chosen {
        let mut names = (one.id, one.figure);
        for claim in one.claims {
            let words = claim.source.to_string();
            table.add_row([names.0, names.1, words.as_str(), claim.rule]);
            names = ("", "");
        }
    }
    let json: Vec<_> = chosen.iter().map(|&one| listed(one)).collect();
    tell(is_json, &json, format!("{table}\n"))?;
    Ok(Outcome::Done)
}
