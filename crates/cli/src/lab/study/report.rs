//! `swath study report`: judges a study again, and rewrites its page and summary.

use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::Result;
use clap::{Args, ValueHint};
use serde::Serialize;
use swath_study::results::{Counts, Results};
use swath_study::session::{FILE, PAGE, SUMMARY, begin, judged_anew, load, report};

use crate::args::{ForceFlag, OutFlag, input, path};
use crate::command::target::{exists, needs_file};
use crate::command::{Command, Outcome};
use crate::failure::Refused;
use crate::input::Input;
use crate::output::{tell, wrote_all};
use crate::report::{ReportName, object};
use crate::same_file::is_same_file;

/// `swath study report`
#[derive(Debug, Args)]
pub struct Report {
    /// The folder of the study, which has study.json or study.json.zst
    #[arg(value_name = "IN", value_parser = path(), value_hint = ValueHint::DirPath)]
    pub study: PathBuf,

    /// The folder for study.json, report.html and summary.md [default: that of the study, where they
    /// are replaced]
    #[arg(value_name = "OUT", value_parser = input(), value_hint = ValueHint::DirPath)]
    pub to: Option<Input>,

    /// The word OUT as a flag.
    #[command(flatten)]
    pub flag: OutFlag,

    /// Whether they may exist.
    #[command(flatten)]
    pub existing: ForceFlag,

    /// Print JSON, with units in its keys: the claims, the rules and the verdicts
    #[arg(long)]
    pub json: bool,
}

impl Command for Report {
    fn run(&self) -> Result<Outcome> {
        let hint = "name the output folder of `swath study`";
        let error = match fs::metadata(&self.study) {
            Ok(facts) if facts.is_dir() => None,
            Ok(_) => Some(io::ErrorKind::NotADirectory.into()),
            Err(error) => Some(error),
        };
        if let Some(error) = error {
            let what = format!("cannot report on {}", self.study.shown());
            return Err(Refused::new(what, hint).with_source(error).into());
        }
        let results = load(&self.study).map_err(|error| Refused::hinted(error, hint))?;
        let results = judged_anew(results);
        let out = self.folder()?;
        let folder = begin(out)
            .map_err(|error| Refused::hinted(error, "choose another folder with -o"))?;
        report(&results, &folder)?;
        let (summary, page) = (out.join(SUMMARY), out.join(PAGE));
        let counts = Counts::of(&results);
        let text = format!("{counts}\n{}\n{}\n", summary.shown(), page.shown());
        wrote_all([&summary, &page], tell(self.json, &json(&results), text))?;
        Ok(Outcome::Done)
    }
}

impl Report {
    /// Returns the folder for the files. In a folder other than the study's, --force is needed to
    /// replace them.
    fn folder(&self) -> Result<&Path> {
        let out = match self.flag.or(&self.to) {
            Some(Input::Path(path)) => path,
            Some(Input::Stdin) => return Err(needs_file("study report").into()),
            None => &self.study,
        };
        if is_same_file(out, &self.study) || self.existing.force {
            return Ok(out);
        }
        match [FILE, PAGE, SUMMARY].map(|name| out.join(name)).iter().find(|it| it.exists()) {
            Some(path) => Err(exists(path).into()),
            None => Ok(out),
        }
    }
}

/// Returns the report, for programs.
fn json(results: &Results) -> impl Serialize {
    let judged = results.experiments.iter();
    let judged =
        judged.map(|one| object! { id: &one.id, noise: one.noise, claims: &one.claims });
    object! {
        counts: Counts::of(results).to_string(),
        experiments: judged.collect::<Vec<_>>(),
    }
}
