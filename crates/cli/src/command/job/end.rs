//! `swath job commit`, `abort` and `sweep`: the end of a job.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::{Args, ValueHint};
use swath::job::{CommittedJob, Form, Plan};
use swath::sink::HardLinks;
use swath::{Operation, OutputOptions, Reason};

use super::FolderArg;
use crate::args::{Files, TimelineArgs, parse_duration, path, words};
use crate::command::{Command, Outcome};
use crate::failure::{Refused, describe_error};
use crate::output::{complain, left_out, tell, wrote};
use crate::progress::Bar;
use crate::report::{PathJson, ReportName, bytes_per_s, counted, object, size_text, time_text};

/// `swath job commit`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath job commit out.txt.job-5f3a9c0e
  swath job commit --keep \"$folder\"        (swath job commit \"$folder\" removes it later)")]
pub struct Commit {
    /// Which job.
    #[command(flatten)]
    pub folder: FolderArg,

    /// Keep the folder of the job, which then records the commit
    #[arg(long)]
    pub keep: bool,

    /// If the target exists and has other hard links: refuse, or replace this name only
    #[arg(long, value_name = "HOW", value_parser = words(HardLinks::WORDS), default_value = "refuse")]
    pub hard_links: HardLinks,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,

    /// The recording of a timeline.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

impl Command for Commit {
    fn run(&self) -> Result<Outcome> {
        let start = Instant::now();
        let (watch, bar) = Bar::watch(!self.json);
        let mut output = OutputOptions::new()
            .with_hard_links(self.hard_links)
            .with_timeline(self.timeline.handle());
        if let Some(watch) = watch {
            output = output.with_progress(watch);
        }
        let plan = Plan::open_with(&self.folder.folder, output)?;
        let done = match plan.outcome()? {
            // The segments have been removed.
            Some(_) => Vec::new(),
            None => plan.done()?,
        };
        let committed = plan.commit(&done).map_err(|error| explained(error, &plan))?;
        drop(bar);
        let outcome = self.remove(&plan);
        wrote(plan.target(), self.report(&plan, &committed, start.elapsed()))?;
        Ok(outcome)
    }

    fn timeline(&self) -> Option<Files<'_>> {
        Some(Files::beside(&self.timeline).folder(&self.folder.folder))
    }
}

impl Commit {
    /// Removes the folder, which is no longer needed. If that fails, the output is still valid.
    fn remove(&self, plan: &Plan) -> Outcome {
        if self.keep || plan.form() == Form::Segments {
            return Outcome::Done;
        }
        match plan.remove() {
            Ok(()) => Outcome::Done,
            Err(error) => {
                let target = plan.target().shown();
                complain(format!("wrote {target}, but {}", describe_error(&error)));
                Outcome::Differs
            }
        }
    }

    fn report(&self, plan: &Plan, committed: &CommittedJob, elapsed: Duration) -> Result<()> {
        let CommittedJob { bytes, crc32c, parts, cloned, copied, .. } = *committed;
        let json = object! {
            #[serde(flatten)]
            path: PathJson::from(plan.target()),
            form: plan.form().to_string(),
            bytes,
            crc32c: format!("{crc32c:08x}"),
            parts,
            cloned_bytes: cloned,
            copied_bytes: copied,
            elapsed_s: elapsed.as_secs_f64(),
            bytes_per_s: bytes_per_s(bytes, elapsed),
        };
        let text = format!(
            "{}: {} of {}, in {}\n",
            plan.target().shown(),
            size_text(bytes),
            counted(parts, "part"),
            time_text(elapsed)
        );
        tell(self.json, &json, text)
    }
}

/// Adds a hint for the command line to an error of the commit.
fn explained(error: swath::Error, plan: &Plan) -> anyhow::Error {
    let hint = match (error.reason(), error.io_kind()) {
        (Reason::Invalid, _) if error.operation() == Operation::Commit => {
            "run `swath job run FOLDER --missing -- COMMAND`, then commit again"
        }
        (Reason::Corrupt | Reason::Truncated, _) if error.path().starts_with(plan.folder()) => {
            "run this part again, then commit again: its newest attempt counts"
        }
        (_, ErrorKind::AlreadyExists) if error.path() == plan.target() => {
            "move it away and commit again, or plan the job with --force"
        }
        _ => return error.into(),
    };
    let own = format!("; try: {}", error.what_to_try());
    let text = swath::machine::in_one_line(&error, "");
    Refused::new(text.strip_suffix(&own).unwrap_or(&text), hint).into()
}

/// `swath job abort`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath job abort out.txt.job-5f3a9c0e")]
pub struct Abort {
    /// Which job.
    #[command(flatten)]
    pub folder: FolderArg,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,
}

impl Command for Abort {
    fn run(&self) -> Result<Outcome> {
        let plan = self.folder.open()?;
        if plan.outcome()?.is_some() {
            let what = format!("cannot abort {}: it is committed", plan.folder().shown());
            return Err(match plan.form() {
                Form::Segments => {
                    Refused::new(what, "remove the output with `rm -r`, if it is not needed")
                }
                _ => Refused::new(what, "run `swath job commit` again to remove its folder"),
            }
            .into());
        }
        plan.abort()?;
        let folder = plan.folder();
        let json = object! { #[serde(flatten)] path: PathJson::from(folder) };
        left_out(tell(self.json, &json, format!("{}: removed\n", folder.shown())))
            .with_context(|| format!("removed {}, but cannot report it", folder.shown()))?;
        Ok(Outcome::Done)
    }
}

/// `swath job sweep`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath job sweep --older-than 7d /data/results")]
pub struct Sweep {
    /// The folder that has the folders of jobs
    #[arg(value_name = "FOLDER", value_parser = path(), value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,

    /// Remove those in which nothing has changed for this long: 90s, 30min, 12h, 7d or 2w
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub older_than: Duration,

    /// Print a line of JSON for each folder that was removed
    #[arg(long)]
    pub json: bool,
}

impl Command for Sweep {
    fn run(&self) -> Result<Outcome> {
        refuse_job(&self.folder)?;
        let swept = swath::job::sweep(&self.folder, self.older_than)?;
        let mut printed = Ok(());
        for it in &swept.removed {
            let json = object! {
                #[serde(flatten)]
                path: PathJson::from(&it.folder),
                was_committed: it.was_committed,
            };
            let text = format!("{}: removed\n", it.folder.shown());
            // All folders have been removed, even if this cannot be printed.
            printed = printed.and(tell(self.json, &json, text));
        }
        left_out(printed).with_context(|| {
            let removed = counted(swept.removed.len() as u64, "folder");
            format!("removed {removed} of jobs, but cannot report it")
        })?;
        if swept.removed.is_empty() && swept.failed.is_empty() && !self.json {
            complain(format!("note: no folder was removed from {}", self.folder.shown()));
        }
        let mut failed = swept.failed;
        let last = if swept.removed.is_empty() { failed.pop() } else { None };
        failed.iter().for_each(|error| complain(describe_error(error)));
        match last {
            Some(error) => Err(error.into()),
            None if failed.is_empty() => Ok(Outcome::Done),
            None => Ok(Outcome::Differs),
        }
    }
}

/// Refuses the folder of a job itself, in which there is nothing to sweep.
fn refuse_job(folder: &Path) -> Result<(), Refused> {
    if !folder.join("JOB").is_file() {
        return Ok(());
    }
    let what = format!("cannot sweep {}: it is the folder of a job", folder.shown());
    Err(Refused::new(what, "name the folder that it is in, or run `swath job abort`"))
}
