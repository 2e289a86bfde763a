//! `swath study`: what the five studies measured, measured here.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use anyhow::Result;
use comfy_table::{ContentArrangement, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use swath::CancelToken;
use swath_study::experiment::{Experiment, Extent};
use swath_study::experiments::chosen;
use swath_study::results::{Claimed, Counts, Finding, Measured, Progress, Results, State};
use swath_study::session::{FILE, PAGE, Settings, Step, run as measure};

use super::Outcome;
use crate::args::study::{Study, With};
use crate::demo::choose_folder;
use crate::failure::Refused;
use crate::output::{complain, print, print_json, wrote};
use crate::signal::stop_on_signal;

mod compare;
mod fib;
mod list;
mod report;

pub(super) fn run(args: &Study) -> Result<Outcome> {
    match &args.with {
        Some(With::Fib(args)) => return fib::run(args),
        Some(With::Compare(compared)) => return compare::run(compared),
        Some(With::Report(reported)) => return report::run(reported),
        None => {}
    }
    let chosen = chosen(&args.only).map_err(|word| {
        Refused::new(format!("there is no experiment {word:?}"), "swath study --list")
    })?;
    if args.list {
        return list::run(&chosen, args.json);
    }
    let mut data = args.data.clone();
    if data.is_empty() {
        let (folder, notes) = choose_folder();
        notes.iter().for_each(complain);
        data.push(folder);
    }
    refuse(&data)?;
    let settings = Settings {
        extent: args.extent(),
        chosen,
        data,
        out: args.out.clone(),
        resume: args.resume,
        seed: args.seed,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        program: std::env::current_exe().ok(),
    };
    let study = args.out.join(FILE);
    if study.exists() && !args.resume {
        let what = format!("there is a study already: {}", study.display());
        return Err(Refused::new(what, "--resume to go on with it, or another --out").into());
    }
    let cancel = CancelToken::new();
    stop_on_signal(&cancel)?;
    if settings.extent == Extent::Full {
        announce(&settings.chosen);
    }
    let bar = Shown::new(!args.json);
    let results = measure(&settings, &cancel, &mut |step| bar.update(step));
    bar.clear();
    let results = results.map_err(|error| Refused::hinted(error, "another --out"))?;
    let page = args.out.join(PAGE);
    if args.json {
        wrote(&page, print_json(&results))?;
    } else {
        wrote(&page, print(text(&results, &page.display().to_string())))?;
    }
    let is_done = |id: &str| {
        results.experiments.iter().any(|one| one.id == id && one.state == Progress::Done)
    };
    let is_whole = settings.chosen.iter().all(|one| is_done(one.id));
    if cancel.is_cancelled() {
        complain("stopped: what was finished is kept; try: --resume");
    }
    Ok(if is_whole { Outcome::Done } else { Outcome::Differs })
}

/// What a full study is beside the studies, and how long it takes.
fn announce(chosen: &[&Experiment]) {
    for one in chosen.iter().filter(|one| !one.scale.other.is_empty()) {
        complain(format!("{}: {}", one.id, one.scale.sentence(true)));
    }
    let minutes: u32 = chosen.iter().map(|one| one.scale.minutes).sum();
    complain(format!(
        "all else is as large as in the studies; it takes about {} h {} min on two cores and a \
         disk of 2 GB/s",
        minutes / 60,
        minutes % 60
    ));
}

/// Folders in which nothing can be measured, or one that is named twice.
fn refuse(data: &[PathBuf]) -> Result<()> {
    let mut seen = Vec::new();
    for folder in data {
        let what = || format!("cannot measure in {}", folder.display());
        let hint = "--data with a folder that is there and can be written";
        let refused = |error| Refused::new(what(), hint).with_source(error);
        let known = folder.canonicalize().map_err(refused)?;
        // What cannot be written is refused now, not when all else was measured.
        tempfile::tempfile_in(&known).map_err(refused)?;
        if seen.contains(&known) {
            let what = format!("{}: it is given twice", what());
            return Err(Refused::new(what, "--data once for each folder").into());
        }
        seen.push(known);
    }
    Ok(())
}

/// How far it is, on a terminal.
struct Shown(Option<ProgressBar>);

impl Shown {
    fn new(wanted: bool) -> Self {
        if !wanted || !io::stderr().is_terminal() {
            return Self(None);
        }
        let bar = ProgressBar::new(1);
        let style = ProgressStyle::with_template("{bar:30} {msg} {eta} left");
        Self(Some(match style {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }))
    }

    fn update(&self, step: Step) {
        let Some(bar) = &self.0 else { return };
        // Experiments take about as long as each other: each counts the same.
        let whole = 1000;
        let ((number, count), (run, runs)) = (step.experiment, step.run);
        bar.set_length(count as u64 * whole);
        let within = if runs == 0 { 0 } else { run as u64 * whole / runs as u64 };
        bar.set_position(number as u64 * whole + within);
        bar.set_message(format!("{} ({} of {count})", step.id, number + 1));
    }

    fn clear(self) {
        if let Some(bar) = self.0 {
            bar.finish_and_clear();
        }
    }
}

fn table<const N: usize>(head: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(head);
    table
}

fn text(results: &Results, left: &str) -> String {
    let mut found = table(["claim", "files", "here", "control", "because"]);
    for one in &results.experiments {
        for claim in &one.claims {
            add_rows(&mut found, one, claim);
        }
    }
    let mut limits = table(["limit", "value"]);
    for limit in &results.limits {
        limits.add_row([
            limit.name.clone(),
            format!("{:.1} {}", limit.value.estimate, limit.unit),
        ]);
    }
    format!("{limits}\n{found}\n{}\n{left}\n", Counts::of(results))
}

fn add_rows(table: &mut Table, one: &Measured, claim: &Claimed) {
    let words = format!("{}: {}", claim.id, claim.source);
    let noise = one.noise_words();
    for Finding { state, verdict, because, .. } in &claim.verdicts {
        let here = if one.state == Progress::Stopped { "stopped" } else { verdict.words() };
        table.add_row([words.as_str(), state.files(), here, &noise, because]);
    }
    if claim.verdicts.is_empty() {
        let why = one.not_judged();
        let here = match one.state {
            Progress::Failed(_) => "failed",
            Progress::Skipped(_) => "skipped",
            Progress::Stopped => "stopped",
            Progress::Done => "not judged",
        };
        table.add_row([words.as_str(), State::None.files(), here, "–", &why]);
    }
}
