//! `swath tune`: measures what is fastest on a file system, and keeps it.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueHint};
use comfy_table::{ContentArrangement, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use swath::CancelToken;
use swath_profile::{Found, Kept, Key, Measured, Store};
use swath_study::page::date;
use swath_study::tune::{self, Settings, Step, Tuned};

use super::{Command, Outcome};
use crate::failure::Refused;
use crate::output::{complain, print, print_json, wrote};
use crate::report::{PathJson, object, size_text, time_text};
use crate::signal::stop_on_signal;

/// `swath tune`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath tune
  swath tune --path /mnt/fast --budget 60
  swath tune --path /mnt/fast --show
  swath tune --path /mnt/fast --clear
  swath read --no-profile data.bin        without what was measured

Exit status: 0 done; 1 there is no profile to show; 2 not done, also if it was stopped.")]
pub struct Tune {
    /// A folder of the file system; a hidden folder is made in it, and removed again
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, default_value = ".")]
    pub path: PathBuf,

    /// How many seconds it may take, all in all
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub budget: u64,

    /// Decides the order of the runs, and what is in the files
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Print the profile of the file system, and measure nothing; exit status 1 if there is none
    #[arg(long, conflicts_with_all = ["clear", "all"])]
    pub show: bool,

    /// Remove the profile of the file system, and measure nothing
    #[arg(long)]
    pub clear: bool,

    /// With --clear, the profiles of all file systems
    #[arg(long, requires = "clear")]
    pub all: bool,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,
}

impl Command for Tune {
    fn run(&self) -> Result<Outcome> {
        let store = Store::of_user().ok_or_else(|| {
            Refused::new(
                "cannot keep profiles: there is no home",
                "set HOME or XDG_CONFIG_HOME",
            )
        })?;
        if self.clear && self.all {
            return cleared(self, store.clear_all()?);
        }
        let folder = folder(&self.path)?;
        let key = Key::of(&folder)?;
        if self.clear {
            return cleared(self, store.clear(&key)?.into_iter().collect());
        }
        if self.show {
            return show(self, &store, &key);
        }
        // Not after all of it was measured.
        store.prepare()?;
        let tuned = measure(self, &folder)?;
        if tuned.is_stopped {
            complain("stopped: nothing is kept, and an earlier profile is as it was");
            return Ok(Outcome::NotDone);
        }
        if tuned.had_no_time() && store.path(&key).exists() {
            let what = format!(
                "cannot compare anything within {} s: the earlier profile stays as it was",
                self.budget
            );
            return Err(Refused::new(what, "--budget with more seconds").into());
        }
        let kept = Kept::new(key, &tuned.profile, tuned.found.iter().map(measured).collect());
        let path = store.save(&kept)?;
        if self.json {
            let json = Json {
                elapsed_s: Some(tuned.elapsed.as_secs_f64()),
                file_bytes: Some(tuned.file_bytes),
                notes: tuned.notes.clone(),
                ..json(&kept, &path, None)
            };
            wrote(&path, print_json(&json))?;
            return Ok(Outcome::Done);
        }
        tuned.notes.iter().for_each(|note| complain(format!("note: {note}")));
        wrote(&path, print(tuned_text(&kept, &tuned, &path)))?;
        Ok(Outcome::Done)
    }
}

impl Tune {
    /// How long it may take.
    pub fn budget(&self) -> Duration {
        Duration::from_secs(self.budget)
    }
}

/// What was measured, or is kept.
#[derive(Serialize)]
struct Json<'k> {
    /// The file of the profile.
    #[serde(flatten)]
    path: PathJson,
    name: String,
    /// Why it is not used, if it is not.
    unfit: Option<&'k str>,
    /// What a measurement took, if it was made now.
    #[serde(skip_serializing_if = "Option::is_none")]
    elapsed_s: Option<f64>,
    /// The length of the file that was read for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    file_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(flatten)]
    kept: &'k Kept,
}

/// The folder to measure in: of a file, that in which it is.
fn folder(path: &Path) -> Result<PathBuf> {
    let facts = std::fs::metadata(path).map_err(|error| {
        let text = format!("cannot measure in {}", path.display());
        Refused::new(text, "--path with a folder that is there").with_source(error)
    })?;
    Ok(match path.parent() {
        Some(parent) if !facts.is_dir() && parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) if !facts.is_dir() => parent.to_owned(),
        _ => path.to_owned(),
    })
}

fn measure(args: &Tune, folder: &Path) -> Result<Tuned> {
    let cancel = CancelToken::new();
    stop_on_signal(&cancel)?;
    let bar = Shown::new(args);
    let settings =
        Settings { folder: folder.to_owned(), budget: args.budget(), seed: args.seed };
    let tuned = tune::run(&settings, &cancel, &mut |step| bar.update(step));
    bar.clear();
    tuned.map_err(|error| {
        let hint = "--path with a folder of this file system that can be written";
        Refused::new(format!("{error:#}"), hint).into()
    })
}

fn measured(found: &tune::Found) -> Measured {
    let ratio = found.ratio.map(|ratio| [ratio.estimate, ratio.lower, ratio.upper]);
    // Not a number cannot be kept, and says nothing.
    let ratio = ratio.filter(|numbers| numbers.iter().all(|number| number.is_finite()));
    Measured {
        setting: found.setting.to_owned(),
        usual: found.usual.to_owned(),
        taken: found.taken.clone(),
        because: found.because.clone(),
        ratio,
    }
}

fn show(args: &Tune, store: &Store, key: &Key) -> Result<Outcome> {
    let Some(Found { kept, path, unfit }) = store.load(key)? else {
        if args.json {
            print_json(&serde_json::Value::Null)?;
        }
        let path = args.path.display();
        complain(format!("there is no profile for {key}; try: swath tune --path {path}"));
        return Ok(Outcome::Differs);
    };
    if args.json {
        print_json(&json(&kept, &path, unfit.as_deref()))?;
    } else {
        print(kept_text(&kept, &path))?;
    }
    if let Some(why) = &unfit {
        complain(format!("note: it is not used here: {why}; try: swath tune"));
    }
    Ok(Outcome::Done)
}

fn cleared(args: &Tune, paths: Vec<PathBuf>) -> Result<Outcome> {
    if args.json {
        print_json(&object! { cleared: paths.iter().map(PathJson::from).collect::<Vec<_>>() })?;
        return Ok(Outcome::Done);
    }
    if paths.is_empty() {
        complain("there was no profile to remove");
    }
    for path in paths {
        print(format!("removed {}\n", path.display()))?;
    }
    Ok(Outcome::Done)
}

fn json<'k>(kept: &'k Kept, path: &Path, unfit: Option<&'k str>) -> Json<'k> {
    Json {
        path: path.as_os_str().into(),
        name: kept.key.name(),
        unfit,
        elapsed_s: None,
        file_bytes: None,
        notes: Vec::new(),
        kept,
    }
}

fn tuned_text(kept: &Kept, tuned: &Tuned, path: &Path) -> String {
    let count = tuned.found.iter().filter(|found| found.taken.is_some()).count();
    let settings = if count == 1 { "setting is" } else { "settings are" };
    let (file, time) = (size_text(tuned.file_bytes), time_text(tuned.elapsed));
    format!(
        "{}\n{count} {settings} other than usual, after {time} with a file of {file}\n{}\n",
        table(kept),
        path.display()
    )
}

fn kept_text(kept: &Kept, path: &Path) -> String {
    let when = date(kept.measured_at_unix_s);
    format!("{}\nmeasured on {}, {when}\n{}\n", table(kept), kept.key, path.display())
}

fn table(kept: &Kept) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(["setting", "usual", "here", "best other / usual", "because"]);
    for one in &kept.measured {
        let ratio = one.ratio.map_or_else(String::new, |[estimate, lower, upper]| {
            format!("{estimate:.2} [{lower:.2}, {upper:.2}]")
        });
        let here = one.taken.as_deref().unwrap_or("as usual");
        table.add_row([&*one.setting, &*one.usual, here, &*ratio, &*one.because]);
    }
    table
}

/// How far it is, on a terminal.
struct Shown {
    bar: Option<ProgressBar>,
    budget: Duration,
}

impl Shown {
    fn new(args: &Tune) -> Self {
        let budget = args.budget();
        if args.json || !io::stderr().is_terminal() {
            return Self { bar: None, budget };
        }
        let bar = ProgressBar::new(millis(budget));
        let style = ProgressStyle::with_template("{bar:30} {msg}");
        let bar = match style {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        Self { bar: Some(bar), budget }
    }

    fn update(&self, step: Step) {
        let Some(bar) = &self.bar else { return };
        bar.set_position(millis(step.elapsed).min(millis(self.budget)));
        let left = self.budget.saturating_sub(step.elapsed).as_secs();
        bar.set_message(format!("{}, at most {left} s left", step.what));
    }

    fn clear(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        tune: Tune,
    }

    fn parsed(words: &[&str]) -> Result<Tune, clap::Error> {
        Only::try_parse_from(["only"].iter().chain(words)).map(|only| only.tune)
    }

    #[test]
    fn one_thing_is_done_at_a_time() {
        let plain = parsed(&[]).expect("nothing is required");
        assert_eq!((plain.path, plain.budget), (PathBuf::from("."), 20));
        assert!(parsed(&["--show", "--clear"]).is_err());
        assert!(parsed(&["--all"]).is_err() && parsed(&["--show", "--all"]).is_err());
        assert!(parsed(&["--clear", "--all"]).expect("all of them").all);
        for wrong in ["0", "-1", "3601", "soon"] {
            assert!(parsed(&["--budget", wrong]).is_err(), "{wrong}");
        }
    }
}
