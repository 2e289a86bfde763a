//! Measures the few settings that matter for one file system, in some seconds.
//!
//! ```text
//! folder → Place: a file, small files, the possible kinds of reads
//!            │
//! Setting × its values → Duel: screened, confirmed, guarded → Profile, and why
//! ```
//!
//! Every contestant is `auto` with a profile, so the measured reads are those of later programs. The
//! current settings compete with the same settings with one change. A default stays unless another value
//! is clearly faster, twice, and nothing else becomes slower. An accepted value is part of the current
//! settings when the next setting is measured. Every run reads all bytes, and the first run of each kind
//! also checks their sum.
//!
//! No file remains, and after a cancellation there is no profile.

mod case;
mod clock;
mod duel;
mod place;
mod runs;
mod setting;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use swath::{CancelToken, Profile};

pub use clock::TuneStep;
pub use duel::Because;
pub use setting::SettingFinding;

use clock::BudgetClock;
use duel::{DuelEntrant, DuelRun, decide};
use place::TunePlace;
use setting::{SETTINGS, Setting};

/// The folder to measure, the time budget and the seed.
#[derive(Clone, Debug)]
pub struct TuneSettings {
    /// A folder of the file system to measure. A hidden folder is made in it, and removed.
    pub folder: PathBuf,
    /// The time budget; a run that has begun is finished.
    pub budget: Duration,
    /// The seed of the order of runs and of the files.
    pub seed: u64,
}

/// The result of a tuning.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    /// The new profile; it has no name yet.
    pub profile: Profile,
    /// Every setting, in the order in which they were measured.
    pub found: Vec<SettingFinding>,
    /// Settings that could not be measured here, and why.
    pub notes: Vec<String>,
    /// The length of the file that was read, in bytes.
    pub file_bytes: u64,
    /// The elapsed time.
    pub elapsed: Duration,
    /// Whether it was cancelled: then the findings are not a profile.
    pub is_stopped: bool,
}

impl Tuned {
    /// Returns whether the time was too short to compare anything: then the profile is empty.
    pub fn had_no_time(&self) -> bool {
        self.found.iter().any(is_open) && self.found.iter().all(|one| one.ratio.is_none())
    }
}

/// Measures the settings; `watch` is called for each run.
///
/// It takes at most 96 MiB and some small files on the file system, at most an eighth of its free space,
/// and as much memory.
///
/// # Errors
///
/// If no file can be made in the folder, or nothing can be read back. Errors of one setting are in its
/// finding.
pub fn run(
    settings: &TuneSettings,
    cancel: &CancelToken,
    watch: &mut dyn FnMut(TuneStep),
) -> Result<Tuned> {
    let clock = BudgetClock { began: Instant::now(), budget: settings.budget };
    watch(clock.step("making a file"));
    let mut tuned = Tuned {
        profile: Profile::default(),
        found: Vec::new(),
        notes: Vec::new(),
        file_bytes: 0,
        elapsed: Duration::ZERO,
        is_stopped: false,
    };
    let place = match TunePlace::make(&settings.folder, clock, settings.seed, cancel) {
        Err(_) if cancel.is_cancelled() => {
            return Ok(Tuned { elapsed: clock.elapsed(), is_stopped: true, ..tuned });
        }
        place => place?,
    };
    tuned.notes = place.notes.clone();
    tuned.file_bytes = place.len();
    tuned.found = SETTINGS.each_ref().map(|setting| setting.open(&place)).to_vec();
    // Settings that had too little time get the unused time of others.
    for _ in 0..2 {
        let open: Vec<usize> =
            (0..SETTINGS.len()).filter(|&index| is_open(&tuned.found[index])).collect();
        for (done, &index) in open.iter().enumerate() {
            let until = clock.until(open.len() - done);
            let setting = &SETTINGS[index];
            let mut turns =
                SettingTurns { place: &place, setting, clock, until, cancel, watch };
            tuned.found[index] = turns.measure(&mut tuned.profile, settings.seed);
        }
    }
    drop(place);
    tuned.is_stopped = cancel.is_cancelled();
    tuned.elapsed = clock.elapsed();
    Ok(tuned)
}

/// Returns whether a setting remains to be measured.
fn is_open(found: &SettingFinding) -> bool {
    found.taken.is_none() && found.because == Because::NoTime.word()
}

/// The runs of one setting.
struct SettingTurns<'t> {
    place: &'t TunePlace,
    setting: &'t Setting,
    clock: BudgetClock,
    until: Instant,
    cancel: &'t CancelToken,
    watch: &'t mut dyn FnMut(TuneStep),
}

impl SettingTurns<'_> {
    /// Measures the setting, step by step, until a step is not taken.
    fn measure(&mut self, profile: &mut Profile, seed: u64) -> SettingFinding {
        let setting = self.setting;
        let mut last = setting.kept(Because::NoneFaster.word().to_owned(), None);
        for step in (setting.steps)(self.place.cores()) {
            let before = profile.clone();
            let mut longest = Duration::ZERO;
            let mut run = |case, entrant| {
                let now = Instant::now();
                if self.cancel.is_cancelled() || now + longest > self.until {
                    return Ok(DuelRun::Over);
                }
                (self.watch)(self.clock.step(setting.name));
                let profile = match entrant {
                    DuelEntrant::Now => before.clone(),
                    DuelEntrant::Value(value) => (setting.apply)(before.clone(), value),
                };
                let seconds = match self.place.seconds(case, profile, self.cancel) {
                    Err(_) if self.cancel.is_cancelled() => return Ok(DuelRun::Over),
                    seconds => seconds?,
                };
                longest = longest.max(now.elapsed());
                Ok(DuelRun::Took(seconds))
            };
            let decided = decide(&step.values, step.gain, &step.guards, seed, &mut run);
            let found = match decided {
                Ok(decided) => {
                    let taken = decided.value.map(setting.word);
                    let because = decided.because.word().to_owned();
                    if let Some(value) = decided.value {
                        *profile = (setting.apply)(before, value);
                    }
                    SettingFinding { taken, ..setting.kept(because, decided.ratio) }
                }
                Err(error) => setting.kept(format!("not measured: {error:#}"), None),
            };
            // If a step is not accepted, the result of the step before it stands.
            if found.taken.is_none() {
                return if last.taken.is_some() { last } else { found };
            }
            last = found;
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn folder() -> tempfile::TempDir {
        let program = std::env::current_exe().expect("a test has a program");
        let parent = program.parent().expect("which is in a folder");
        tempfile::tempdir_in(parent).expect("a folder")
    }

    fn settings(folder: &tempfile::TempDir, budget: Duration) -> TuneSettings {
        TuneSettings { folder: folder.path().to_owned(), budget, seed: 1 }
    }

    #[test]
    fn every_setting_is_accounted_for_and_nothing_is_left_behind() {
        let folder = folder();
        let mut steps = Vec::new();
        let budget = Duration::from_secs(2);
        let tuned = run(&settings(&folder, budget), &CancelToken::new(), &mut |step| {
            steps.push(step.what);
        })
        .expect("a folder that can be written");
        let names: Vec<&str> = tuned.found.iter().map(|found| found.setting).collect();
        assert_eq!(names, SETTINGS.each_ref().map(|setting| setting.name));
        let taken = tuned.found.iter().filter(|found| found.taken.is_some()).count();
        assert_eq!(taken == 0, tuned.profile.is_empty(), "{tuned:?}");
        assert!(tuned.found.iter().all(|found| !found.because.is_empty()));
        assert!(!tuned.is_stopped && tuned.file_bytes >= 1 << 20, "{tuned:?}");
        assert_eq!(steps[0], "making a file");
        assert!(steps.contains(&"warm-workers"), "{steps:?}");
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 0, "something is left");
    }

    #[test]
    fn a_cancelled_run_is_stopped_and_leaves_nothing() {
        for last in ["making a file", "warm-workers", "small-file"] {
            stopped_at(last);
        }
    }

    fn stopped_at(last: &str) {
        let folder = folder();
        let cancel = CancelToken::new();
        let within = cancel.clone();
        let mut stop = move |step: TuneStep| {
            if step.what == last {
                within.cancel();
            }
        };
        let tuned = run(&settings(&folder, Duration::from_secs(6)), &cancel, &mut stop)
            .expect("stopped, not failed");
        assert!(
            tuned.is_stopped
                && tuned.found.iter().all(|it| it.setting != last || it.taken.is_none()),
            "{tuned:?}"
        );
        assert!(tuned.elapsed < Duration::from_secs(60), "{tuned:?}");
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 0, "something is left");
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error_with_its_name() {
        let settings = TuneSettings {
            folder: PathBuf::from("/nowhere/at/all"),
            budget: Duration::from_secs(1),
            seed: 1,
        };
        let error = run(&settings, &CancelToken::new(), &mut |_| {}).expect_err("no folder");
        assert!(format!("{error:#}").contains("/nowhere/at/all"), "{error:#}");
    }
}
