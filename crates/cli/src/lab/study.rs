//! `swath study`: repeats the measurements of the five studies on this machine.

mod compare;
mod fib;
mod list;
mod report;
mod worker;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Subcommand, ValueHint};
use indicatif::ProgressBar;
use rayon::ThreadPool;
use swath::CancelToken;
use swath_study::experiment::{Experiment, Extent};
use swath_study::experiments::{ALL, chosen};
use swath_study::results::{
    Claimed, Counts, Finding, Measured, Progress, QUICK, Results, State,
};
use swath_study::session::{FILE, PAGE, SessionSettings, SessionStep, run as measure};

use self::compare::Compare;
use self::fib::Fib;
use self::report::Report;
use self::worker::Worker;
use crate::args::{Files, Named, path, whole};
use crate::command::{Command, Outcome};
use crate::failure::Refused;
use crate::lab::demo::choose_folder;
use crate::output::{complain, tell, wrote};
use crate::progress::steps;
use crate::report::{ReportName, lines};
use crate::signal::stop_on_signal;

/// `swath study`
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  swath study
  swath study --list
  swath study --only a-threads,b --data /mnt/fast --data /mnt/large
  swath study --only auto          `auto` beside each engine fixed by hand
  swath study --only s             jobs of many processes, simulated up to 10,000 workers
  swath study --only s-verbs       verbs on many cores: predicted to 64, with the first bottleneck
  swath study --full -o here && swath study --full -o here --resume
  swath study compare before/study.json after/study.json
  swath study report before
  swath study fib 23 --bytes 10KiB -o fib.bin

Ctrl-C finishes the current run and keeps the finished experiments; a second Ctrl-C ends it at once.

Exit status: 0 all is done; 1 an experiment failed or was stopped, the others are kept; 2 not done,
or nothing could be measured: then nothing is left."
)]
pub struct Study {
    /// Another action than measuring
    #[command(subcommand)]
    pub with: Option<With>,

    /// Small files and few points: all experiments in a few minutes (the default)
    #[arg(long)]
    pub quick: bool,

    /// As large as the studies, except where --list --json says what differs and why; prints how long
    /// it takes, about two and a quarter hours for all experiments on two cores
    #[arg(long, conflicts_with = "quick")]
    pub full: bool,

    /// Files of a few kilobytes and a single round, which decides nothing: to see it run
    #[arg(long, hide = true, conflicts_with_all = ["quick", "full"])]
    pub smoke: bool,

    /// Only these experiments, or all of a study by its letter
    #[arg(long, value_name = "ID,..", value_delimiter = ',')]
    #[arg(value_parser = Named(|| ALL.iter().map(|one| one.id).collect()), hide_possible_values = true)]
    pub only: Vec<String>,

    /// Where to measure, in a hidden folder that is removed at the end; repeat it for several devices or
    /// file systems in one report [default: the folder for temporary files, or the current folder if
    /// that one is in memory]
    #[arg(long, value_name = "DIR", value_parser = path(), value_hint = ValueHint::DirPath)]
    pub data: Vec<PathBuf>,

    /// The folder for report.html, study.json, summary.md and a table for each experiment; a study that
    /// is already there is an error without --resume
    #[arg(long, short, alias = "out", value_name = "DIR", value_parser = path(), value_hint = ValueHint::DirPath, default_value = "swath-study")]
    pub output: PathBuf,

    /// Continue a study that was stopped, if it had the same settings
    #[arg(long)]
    pub resume: bool,

    /// Seed for the order of the runs and the contents of the files
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=u64::MAX), default_value_t = 1)]
    pub seed: u64,

    /// Print the experiments, the claims of the studies and the rules, and measure nothing
    #[arg(long)]
    pub list: bool,

    /// Print the reason for each verdict
    #[arg(long, short)]
    pub verbose: bool,

    /// Print JSON, with units in its keys: the contents of study.json, or the list
    #[arg(long)]
    pub json: bool,
}

/// The actions other than measuring.
#[derive(Debug, Subcommand)]
pub enum With {
    /// Run study E's benchmark: a Fibonacci tree whose every call writes
    Fib(Fib),
    /// Compare two studies: of two machines, two folders or two versions
    Compare(Compare),
    /// Judge a study again by the rules of this version, and rewrite its page and summary
    Report(Report),
    /// Do the parts that a study hands to it, line by line
    #[command(hide = true)]
    Worker(Worker),
}

impl Command for Study {
    fn run(&self) -> Result<Outcome> {
        if let Some(with) = &self.with {
            return with.command().run();
        }
        let chosen = chosen(&self.only).map_err(|word| {
            let what = format!("there is no experiment {word:?}");
            Refused::new(what, "run `swath study --list` for their names")
        })?;
        if self.list {
            return list::run(&chosen, self.json);
        }
        let mut data = self.data.clone();
        if data.is_empty() {
            let (folder, notes) = choose_folder();
            notes.iter().for_each(complain);
            data.push(folder);
        }
        refuse(&data)?;
        let settings = SessionSettings {
            extent: self.extent(),
            chosen,
            data,
            out: self.output.clone(),
            resume: self.resume,
            seed: self.seed,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program: std::env::current_exe().ok(),
        };
        let study = self.output.join(FILE);
        if study.exists() && !self.resume {
            let what = format!("cannot write {}: it exists", study.shown());
            let hint = "pass --resume to continue that study, or choose another folder with -o";
            return Err(Refused::new(what, hint).into());
        }
        let cancel = CancelToken::new();
        stop_on_signal(&cancel);
        if settings.extent == Extent::Full {
            announce(&settings.chosen);
        }
        let bar = steps(!self.json, "{bar:30} {msg} {eta} left");
        let results = measure(&settings, &cancel, &mut |step| show(&bar, step));
        bar.finish_and_clear();
        let results =
            results.map_err(|error| Refused::hinted(error, "choose another folder with -o"))?;
        if !results.has_runs() {
            return Err(nothing(&results, cancel.is_cancelled()).into());
        }
        let page = self.output.join(PAGE);
        for one in &results.experiments {
            if let Progress::Failed(why) | Progress::Skipped(why) = &one.state {
                complain(format!("note: {} was not measured: {why}", one.id));
            }
        }
        let text = text(&results, &page.shown(), self.verbose);
        wrote(&page, tell(self.json, &results, text))?;
        let is_done = |id: &str| {
            results.experiments.iter().any(|one| one.id == id && one.state == Progress::Done)
        };
        let is_whole = settings.chosen.iter().all(|one| is_done(one.id));
        if cancel.is_cancelled() {
            complain("stopped: what was finished is kept; try: continue with --resume");
        }
        Ok(if is_whole { Outcome::Done } else { Outcome::Differs })
    }

    fn timeline(&self) -> Option<Files<'_>> {
        self.with.as_ref()?.command().timeline()
    }
}

impl With {
    fn command(&self) -> &dyn Command {
        match self {
            Self::Fib(it) => it,
            Self::Compare(it) => it,
            Self::Report(it) => it,
            Self::Worker(it) => it,
        }
    }
}

impl Study {
    /// Returns the extent of the study.
    pub fn extent(&self) -> Extent {
        match (self.smoke, self.full) {
            (true, _) => Extent::Smoke,
            (_, true) => Extent::Full,
            _ => Extent::Quick,
        }
    }
}

/// Returns the error of a study without a single run, which writes nothing.
fn nothing(results: &Results, is_stopped: bool) -> Refused {
    if is_stopped {
        return Refused::new("stopped before anything was measured", "start the study again");
    }
    let whys =
        results.experiments.iter().map(|one| format!("{}: {}", one.id, one.not_judged()));
    let what =
        format!("cannot measure any experiment: {}", whys.collect::<Vec<_>>().join("; "));
    Refused::new(what, "name other experiments with --only, or another folder with --data")
}

/// Prints how a full study differs from the studies, and how long it takes.
fn announce(chosen: &[&Experiment]) {
    for one in chosen.iter().filter(|one| !one.scale.other.is_empty()) {
        complain(format!("{}: {}", one.id, one.scale.sentence(true)));
    }
    let minutes: u32 = chosen.iter().map(|one| one.scale.minutes).sum();
    complain(format!(
        "everything else is as large as in the studies; it takes about {} h {} min on two cores and \
         a disk of 2 GB/s",
        minutes / 60,
        minutes % 60
    ));
}

/// Refuses folders in which nothing can be measured, and a folder that is named twice.
fn refuse(data: &[PathBuf]) -> Result<()> {
    let mut seen = Vec::new();
    for folder in data {
        let what = || format!("cannot measure in {}", folder.shown());
        let hint = "name an existing folder that you can write to with --data";
        let refused = |error| Refused::new(what(), hint).with_source(error);
        let known = folder.canonicalize().map_err(refused)?;
        // Fails before anything is measured.
        tempfile::tempfile_in(&known).map_err(refused)?;
        if seen.contains(&known) {
            let what = format!("{}: it is given twice", what());
            return Err(Refused::new(what, "pass --data once for each folder").into());
        }
        seen.push(known);
    }
    Ok(())
}

/// Shows the progress. Experiments take about equally long, so each counts the same.
fn show(bar: &ProgressBar, step: SessionStep) {
    let whole = 1000;
    let ((number, count), (run, runs)) = (step.experiment, step.run);
    bar.set_length(count as u64 * whole);
    let within = if runs == 0 { 0 } else { run as u64 * whole / runs as u64 };
    bar.set_position(number as u64 * whole + within);
    bar.set_message(format!("{} ({} of {count})", step.id, number + 1));
}

/// Returns the threads of commands that fork and join; 0 is one for each core. Also returns a note if
/// there are fewer.
fn pool(workers: usize) -> Result<(ThreadPool, Vec<String>)> {
    let built = swath_study::threads::pool(workers);
    let (pool, instead) = built
        .context("cannot start the threads; try: lower --workers, or raise `ulimit -u`")?;
    Ok((pool, instead.into_iter().collect()))
}

/// Returns the limits and a line for each verdict, with its reason if `is_verbose`.
fn text(results: &Results, left: &str, is_verbose: bool) -> String {
    let mut rows: Vec<[String; 5]> = Vec::new();
    for one in &results.experiments {
        one.claims.iter().for_each(|claim| rows.extend(verdicts(one, claim)));
    }
    let limits = results.limits.iter();
    let limits: Vec<_> = limits
        .map(|limit| {
            [limit.name.clone(), format!("{:.1} {}", limit.value.estimate, limit.unit)]
        })
        .collect();
    let shown = if is_verbose { 5 } else { 4 };
    let rows: Vec<&[String]> = rows.iter().map(|row| &row[..shown]).collect();
    let limits: Vec<&[String]> = limits.iter().map(|row| &row[..]).collect();
    let mut text = lines(&["limit", "value"], &limits);
    text += &lines(&["claim", "files", "here", "control", "because"][..shown], &rows);
    text += &format!("{} ({})\n", Counts::of(results), results.method.words());
    if results.method.is_quick() {
        text += &format!("{QUICK}\n");
    }
    text + left + "\n"
}

/// Returns the claim, the files, the verdict, the control and the reason of each verdict.
fn verdicts(one: &Measured, claim: &Claimed) -> Vec<[String; 5]> {
    let row = |files: &str, here: &str, noise: String, because: String| {
        let because = format!("{}: {because}", claim.source);
        [claim.id.clone(), files.to_owned(), here.to_owned(), noise, because]
    };
    if claim.verdicts.is_empty() {
        let here = match one.state {
            Progress::Failed(_) => "failed",
            Progress::Skipped(_) => "skipped",
            Progress::Stopped => "stopped",
            Progress::Done => "not judged",
        };
        let files = State::None.files();
        return vec![row(files, here, String::from("–"), one.not_judged())];
    }
    let of_finding = |Finding { state, verdict, because, .. }: &Finding| {
        let here = if one.state == Progress::Stopped { "stopped" } else { verdict.word() };
        row(state.files(), here, one.noise_words(), because.clone())
    };
    claim.verdicts.iter().map(of_finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        study: Study,
    }

    #[test]
    fn one_extent_is_chosen_and_quick_is_the_usual_one() {
        let extent = |words: &[&str]| {
            let words = ["only"].iter().chain(words);
            Only::try_parse_from(words).map(|only| only.study.extent()).ok()
        };
        assert_eq!(extent(&[]), Some(Extent::Quick));
        assert_eq!(extent(&["--quick"]), Some(Extent::Quick));
        assert_eq!(extent(&["--full"]), Some(Extent::Full));
        assert_eq!(extent(&["--smoke"]), Some(Extent::Smoke));
        assert_eq!(extent(&["--full", "--quick"]), None);
    }

    #[test]
    fn two_studies_are_compared_and_nothing_is_measured_beside() {
        let parsed = |words: &[&str]| {
            Only::try_parse_from(["only"].iter().chain(words)).map(|only| only.study.with)
        };
        let with = parsed(&["compare", "a", "b"]).expect("two studies");
        assert!(matches!(with, Some(With::Compare(Compare { json: false, .. }))));
        assert!(
            parsed(&["compare", "a"]).is_err()
                && parsed(&["--full", "compare", "a", "b"]).is_err()
        );
    }

    #[test]
    fn experiments_and_folders_are_lists() {
        let words = ["only", "--only", "a,b-small", "--data", "x", "--data", "y"];
        let study = Only::try_parse_from(words).expect("lists").study;
        assert_eq!(study.only, ["a", "b-small"]);
        assert_eq!(study.data, [PathBuf::from("x"), PathBuf::from("y")]);
    }
}
