//! `swath study report`: a study judged anew, and its page and summary made again.

use std::fs;
use std::io;

use anyhow::Result;
use serde::Serialize;
use swath_study::results::{Claimed, Counts, Results};
use swath_study::session::{PAGE, SUMMARY, judged_anew, load, report};

use crate::args::study::Report;
use crate::command::Outcome;
use crate::failure::Refused;
use crate::output::{print, print_json};

/// What is printed for programs.
#[derive(Serialize)]
struct Json<'r> {
    counts: String,
    experiments: Vec<Judged<'r>>,
}

#[derive(Serialize)]
struct Judged<'r> {
    id: &'r str,
    noise: Option<f64>,
    claims: &'r [Claimed],
}

impl<'r> Json<'r> {
    fn of(results: &'r Results) -> Self {
        let judged = results.experiments.iter().map(|one| Judged {
            id: &one.id,
            noise: one.noise,
            claims: &one.claims,
        });
        Self { counts: Counts::of(results).to_string(), experiments: judged.collect() }
    }
}

pub(super) fn run(args: &Report) -> Result<Outcome> {
    if !args.study.is_dir() {
        let what = format!("cannot report on {}", args.study.display());
        let refused = Refused::new(what, "the folder that swath study left");
        return Err(refused.with_source(io::ErrorKind::NotADirectory.into()).into());
    }
    let hint = "the folder that swath study left";
    let results = load(&args.study).map_err(|error| Refused::hinted(error, hint))?;
    let results = judged_anew(results);
    let out = args.out.as_ref().unwrap_or(&args.study);
    fs::create_dir_all(out).map_err(|error| {
        let what = format!("cannot leave a report in {}", out.display());
        Refused::new(what, "another --out").with_source(error)
    })?;
    report(&results, out)?;
    if args.json {
        print_json(&Json::of(&results))?;
    } else {
        let (summary, page) = (out.join(SUMMARY), out.join(PAGE));
        let counts = Counts::of(&results);
        print(format!("{counts}\n{}\n{}\n", summary.display(), page.display()))?;
    }
    Ok(Outcome::Done)
}
