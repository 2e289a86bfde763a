//! `swath study --list`: the experiments, what the studies say, and the rules.

use anyhow::Result;
use serde::Serialize;
use swath_study::experiment::Experiment;
use swath_study::results::Source;

use super::table;
use crate::command::Outcome;
use crate::output::{print, print_json};

/// An experiment for programs.
#[derive(Serialize)]
struct Listed<'e> {
    id: &'e str,
    study: &'e str,
    figure: &'e str,
    claims: Vec<Said<'e>>,
    full: String,
    full_minutes: u32,
}

#[derive(Serialize)]
struct Said<'e> {
    id: &'e str,
    source: &'e Source,
    rule: &'e str,
}

impl<'e> Listed<'e> {
    fn of(one: &'e Experiment) -> Self {
        let claims = one.claims.iter().map(|claim| Said {
            id: claim.id,
            source: &claim.source,
            rule: claim.rule,
        });
        Self {
            id: one.id,
            study: one.study.letter(),
            figure: one.figure,
            claims: claims.collect(),
            full: one.scale.sentence(true),
            full_minutes: one.scale.minutes,
        }
    }
}

pub(super) fn run(chosen: &[&'static Experiment], is_json: bool) -> Result<Outcome> {
    if is_json {
        print_json(&chosen.iter().map(|&one| Listed::of(one)).collect::<Vec<_>>())?;
        return Ok(Outcome::Done);
    }
    let mut table = table(["experiment", "what is measured", "what the study says", "rule"]);
    for one in chosen {
        let mut names = (one.id, one.figure);
        for claim in one.claims {
            let words = claim.source.to_string();
            table.add_row([names.0, names.1, words.as_str(), claim.rule]);
            names = ("", "");
        }
    }
    print(format!("{table}\n"))?;
    Ok(Outcome::Done)
}
