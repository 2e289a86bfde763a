//! `swath study report`: a study judged anew, and its page and summary made again.

use std::path::PathBuf;
use std::{fs, io};

use anyhow::Result;
use clap::{Args, ValueHint};
use serde::Serialize;
use swath_study::results::{Counts, Results};
use swath_study::session::{PAGE, SUMMARY, judged_anew, load, report};

use crate::command::{Command, Outcome};
use crate::failure::Refused;
use crate::output::tell;
use crate::report::object;

/// `swath study report`
#[derive(Debug, Args)]
pub struct Report {
    /// The folder of the study; its study.json, report.html and summary.md are replaced. It may have
    /// been kept as study.json.zst
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub study: PathBuf,

    /// Leave them in another folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,

    /// Print JSON: the claims, the rules and the verdicts
    #[arg(long)]
    pub json: bool,
}

impl Command for Report {
    fn run(&self) -> Result<Outcome> {
        if !self.study.is_dir() {
            let what = format!("cannot report on {}", self.study.display());
            let refused = Refused::new(what, "the folder that swath study left");
            return Err(refused.with_source(io::ErrorKind::NotADirectory.into()).into());
        }
        let hint = "the folder that swath study left";
        let results = load(&self.study).map_err(|error| Refused::hinted(error, hint))?;
        let results = judged_anew(results);
        let out = self.out.as_ref().unwrap_or(&self.study);
        fs::create_dir_all(out).map_err(|error| {
            let what = format!("cannot leave a report in {}", out.display());
            Refused::new(what, "another --out").with_source(error)
        })?;
        report(&results, out)?;
        let (summary, page) = (out.join(SUMMARY), out.join(PAGE));
        let counts = Counts::of(&results);
        let text = format!("{counts}\n{}\n{}\n", summary.display(), page.display());
        tell(self.json, &json(&results), text)?;
        Ok(Outcome::Done)
    }
}

/// What is printed for programs.
fn json(results: &Results) -> impl Serialize {
    let judged = results.experiments.iter();
    let judged =
        judged.map(|one| object! { id: &one.id, noise: one.noise, claims: &one.claims });
    object! {
        counts: Counts::of(results).to_string(),
        experiments: judged.collect::<Vec<_>>(),
    }
}
