//! `swath tune`: measures the fastest settings for a file system, and saves them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueHint};
use comfy_table::Table;
use indicatif::ProgressBar;
use serde::Serialize;
use swath::CancelToken;
use swath_profile::{Found, Kept, Key, Measured, Store};
use swath_study::page::date;
use swath_study::tune::{self, TuneSettings, TuneStep, Tuned};

use crate::args::{path, whole};
use crate::command::{Command, Outcome};
use crate::failure::Refused;
use crate::output::{complain, harmless, left_out, tell, wrote};
use crate::progress::steps;
use crate::report::{PathJson, ReportName, object, size_text, table, time_text};
use crate::signal::stop_on_signal;

/// `swath tune`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath tune
  swath tune --path /mnt/fast --budget 60
  swath tune --path /mnt/fast --show
  swath tune --path /mnt/fast --clear
  swath read --no-profile data.bin        without the profile

Exit status: 0 done; 1 there is no profile to show; 2 not done, or stopped.")]
pub struct Tune {
    /// A folder on the file system; a hidden folder is made in it, and removed at the end
    #[arg(long, value_name = "DIR", value_parser = path(), value_hint = ValueHint::DirPath, default_value = ".")]
    pub path: PathBuf,

    /// How many seconds it may take in total
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = whole::<u64>(1..=3600))]
    pub budget: u64,

    /// Seed for the order of the runs and the contents of the files
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=u64::MAX), default_value_t = 1)]
    pub seed: u64,

    /// Print the profile of the file system, and measure nothing; exit status 1 if it has none
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
                "cannot save profiles: there is no home folder",
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
        // Fails before anything is measured.
        store.prepare()?;
        let tuned = measure(self, &folder)?;
        if tuned.is_stopped {
            complain("stopped: nothing is saved, and an earlier profile is unchanged");
            return Ok(Outcome::NotDone);
        }
        if tuned.had_no_time() && store.load_measured(&key)?.is_some() {
            let what = format!(
                "cannot compare anything within {} s: the earlier profile is unchanged",
                self.budget
            );
            return Err(Refused::new(what, "raise --budget").into());
        }
        let kept = Kept::new(key, &tuned.profile, tuned.found.iter().map(measured).collect());
        let path = store.save(&kept)?;
        if !self.json {
            tuned.notes.iter().for_each(|note| complain(format!("note: {note}")));
        }
        let json = json(&kept, &path, None, Some(&tuned));
        wrote(&path, tell(self.json, &json, tuned_text(&kept, &tuned, &path)))?;
        Ok(Outcome::Done)
    }
}

impl Tune {
    /// Returns the time that it may take.
    pub fn budget(&self) -> Duration {
        Duration::from_secs(self.budget)
    }
}

/// Returns the folder to measure in; for a file, the folder that it is in.
fn folder(path: &Path) -> Result<PathBuf> {
    let facts = std::fs::metadata(path).map_err(|error| {
        let text = format!("cannot measure in {}", path.shown());
        Refused::new(text, "name an existing folder with --path").with_source(error)
    })?;
    Ok(match path.parent() {
        Some(parent) if !facts.is_dir() && parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) if !facts.is_dir() => parent.to_owned(),
        _ => path.to_owned(),
    })
}

fn measure(args: &Tune, folder: &Path) -> Result<Tuned> {
    let cancel = CancelToken::new();
    stop_on_signal(&cancel);
    let (bar, budget) = (steps(!args.json, "{bar:30} {msg}"), args.budget());
    let settings = TuneSettings { folder: folder.to_owned(), budget, seed: args.seed };
    let tuned = tune::run(&settings, &cancel, &mut |step| progress(&bar, budget, step));
    bar.finish_and_clear();
    tuned.map_err(|error| {
        let hint = "name a folder of this file system that you can write to with --path";
        Refused::new(format!("{error:#}"), hint).into()
    })
}

fn measured(found: &tune::SettingFinding) -> Measured {
    let ratio = found.ratio.map(|ratio| [ratio.estimate, ratio.lower, ratio.upper]);
    // A ratio that is not a number cannot be saved.
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
    let Some(Found { kept, path, unfit }) = store.load_measured(key)? else {
        if args.json {
            tell(true, &serde_json::Value::Null, "")?;
        }
        let path = args.path.shown();
        complain(format!("there is no profile for {key}; try: run `swath tune --path {path}`"));
        return Ok(Outcome::Differs);
    };
    let json = json(&kept, &path, unfit.as_deref(), None);
    tell(args.json, &json, harmless(&kept_text(&kept, &path)))?;
    if let Some(why) = &unfit {
        complain(format!("note: it is not used here: {why}; try: run `swath tune`"));
    }
    Ok(Outcome::Done)
}

fn cleared(args: &Tune, paths: Vec<PathBuf>) -> Result<Outcome> {
    if paths.is_empty() && !args.json {
        complain("there was no profile to remove");
    }
    let json = object! { cleared: paths.iter().map(PathJson::from).collect::<Vec<_>>() };
    let removed = paths.iter().map(|path| format!("removed {}\n", path.shown()));
    left_out(tell(args.json, &json, removed.collect::<String>()))?;
    Ok(Outcome::Done)
}

/// Returns the profile and its file, the reason if it is not used, and the cost of the measurement
/// if it was done now.
fn json<'k>(
    kept: &'k Kept,
    path: &Path,
    unfit: Option<&'k str>,
    tuned: Option<&'k Tuned>,
) -> impl Serialize + use<'k> {
    let notes = tuned.map(|tuned| &tuned.notes).filter(|notes| !notes.is_empty());
    let took = |tuned: &Tuned| {
        object! { elapsed_s: tuned.elapsed.as_secs_f64(), file_bytes: tuned.file_bytes }
    };
    object! {
        #[serde(flatten)]
        path: PathJson::from(path.as_os_str()),
        name: kept.key.name(),
        unfit,
        #[serde(flatten)]
        took: tuned.map(took),
        #[serde(flatten)]
        notes: notes.map(|notes| object! { notes }),
        #[serde(flatten)]
        kept,
    }
}

fn tuned_text(kept: &Kept, tuned: &Tuned, path: &Path) -> String {
    let count = tuned.found.iter().filter(|found| found.taken.is_some()).count();
    let found = match count {
        0 => String::from("nothing was clearly faster, and the defaults stay,"),
        1 => String::from("1 setting is other than usual,"),
        _ => format!("{count} settings are other than usual,"),
    };
    let (file, time) = (size_text(tuned.file_bytes), time_text(tuned.elapsed));
    format!("{}\n{found} after {time} with a file of {file}\n{}\n", shown(kept), path.shown())
}

fn kept_text(kept: &Kept, path: &Path) -> String {
    let when = date(kept.measured_at_unix_s);
    format!("{}\nmeasured on {}, {when}\n{}\n", shown(kept), kept.key, path.shown())
}

fn shown(kept: &Kept) -> Table {
    let mut table = table(["setting", "usual", "here", "best other / usual", "because"]);
    for one in &kept.measured {
        let ratio = one.ratio.map_or_else(String::new, |[estimate, lower, upper]| {
            format!("{estimate:.2} [{lower:.2}, {upper:.2}]")
        });
        let here = one.taken.as_deref().unwrap_or("as usual");
        table.add_row([&*one.setting, &*one.usual, here, &*ratio, &*one.because]);
    }
    table
}

/// Shows how much of the time has passed.
fn progress(bar: &ProgressBar, budget: Duration, step: TuneStep) {
    bar.set_length(millis(budget));
    bar.set_position(millis(step.elapsed).min(millis(budget)));
    let left = budget.saturating_sub(step.elapsed).as_secs();
    bar.set_message(format!("{}, at most {left} s left", step.what));
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
