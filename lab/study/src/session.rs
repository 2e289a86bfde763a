//! Runs experiments one after the other and saves their results, even after a stop.
//!
//! ```text
//! folders × chosen experiments → rounds → Results ─┬─ study.json   after each experiment
//!                                                  ├─ ID.csv       one row a run
//!                                                  ├─ summary.md   at the end
//!                                                  └─ report.html  at the end
//! ```
//!
//! An experiment that cannot run here, or that fails, does not stop the other experiments.

mod csv;
mod folder;
mod limits;
mod timelines;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use swath::CancelToken;
use swath::append::ordered_to;
use swath_formats::compressed::{DecompressOptions, Format};

use crate::cache::ColdBy;
use crate::experiment::{Experiment, Places};
use crate::experiments;
use crate::facts::Facts;
use crate::measure::{self, CONTROL, Extent, Rounds, Stage, Stopped};
use crate::page;
use crate::results::{
    Folder, Key, Limit, Measured, Method, Progress, Results, Run, Selected, State,
};
use crate::summary;
use swath_os::hidden::Hidden;
use swath_os::locks::Mutex;
use swath_os::machine;
use swath_profile::stats::Summary;

pub use folder::{ResultsFolder, begin};

/// The settings of a session.
#[derive(Clone, Debug)]
pub struct SessionSettings {
    /// The amount of work.
    pub extent: Extent,
    /// The experiments.
    pub chosen: Vec<&'static Experiment>,
    /// The folders to measure in; at least one.
    pub data: Vec<PathBuf>,
    /// The folder of the results.
    pub out: PathBuf,
    /// Whether to continue an earlier study with the same settings.
    pub resume: bool,
    /// The seed of orders and contents.
    pub seed: u64,
    /// The version to record.
    pub version: String,
    /// The command, for entrants that need their own process; without it they are left out.
    pub program: Option<PathBuf>,
}

/// The progress of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionStep {
    /// The running experiment, or [`LIMITS`].
    pub id: &'static str,
    /// The index of the experiment, and the number of experiments.
    pub experiment: (usize, usize),
    /// The number of finished runs, and of all runs.
    pub run: (usize, usize),
}

/// The file of a study in its folder.
pub const FILE: &str = "study.json";
/// The compressed file of a study, as in records.
pub const KEPT: &str = "study.json.zst";
/// The page of a study.
pub const PAGE: &str = "report.html";
/// The tables of a study, for papers.
pub const SUMMARY: &str = "summary.md";
/// Bytes that the control sums.
const CONTROL_LEN: usize = 16 << 20;
/// The step before the experiments.
pub const LIMITS: &str = "limits";

/// Runs the limits and the experiments. The returned results are also in the folder of results, unless
/// they [have no run](Results::has_runs): then nothing is written, and a new folder is removed.
///
/// # Errors
///
/// If a folder cannot be used. Failures of an experiment are in its results.
pub fn run(
    settings: &SessionSettings,
    cancel: &CancelToken,
    watch: &mut dyn FnMut(SessionStep),
) -> Result<Results> {
    let made: Vec<PathBuf> =
        settings.out.ancestors().take_while(|it| !it.exists()).map(Path::to_owned).collect();
    let results = run_in(settings, cancel, watch);
    if !results.as_ref().is_ok_and(Results::has_runs) {
        // Removes empty folders only.
        made.iter().for_each(|folder| drop(fs::remove_dir(folder)));
    }
    results
}

fn run_in(
    settings: &SessionSettings,
    cancel: &CancelToken,
    watch: &mut dyn FnMut(SessionStep),
) -> Result<Results> {
    let folder = begin(&settings.out)?;
    let out = folder.path();
    let stages = settings
        .data
        .iter()
        .map(|data| SessionFolder::new(data, settings, cancel))
        .collect::<Result<Vec<_>>>()?;
    let mut results = beginning(settings);
    let before = if settings.resume { earlier(out, settings, &results)? } else { None };
    let known = match before {
        Some(before) => {
            results.limits = before.limits;
            results.timelines = before.timelines;
            before.experiments
        }
        None => Vec::new(),
    };
    if results.limits.is_empty() {
        results.limits = limits_of(&stages, cancel, &mut |run| {
            watch(SessionStep { id: LIMITS, experiment: (0, settings.chosen.len()), run });
        })?;
    }
    let is_going = |results: &Results| results.timelines.is_empty() && !cancel.is_cancelled();
    if let Some(place) = stages.first().filter(|_| is_going(&results)) {
        results.timelines = timelines::record(&place.stage)?;
    }
    // Finished experiments stay, and all that are not requested.
    let stays = |one: &Measured| {
        one.state == Progress::Done || settings.chosen.iter().all(|it| it.id != one.id)
    };
    results.experiments = known.into_iter().filter(stays).collect();
    for (number, &chosen) in settings.chosen.iter().enumerate() {
        if results.experiments.iter().any(|one| one.id == chosen.id) {
            continue;
        }
        if cancel.is_cancelled() {
            break;
        }
        let mut step = SessionStep {
            id: chosen.id,
            experiment: (number, settings.chosen.len()),
            run: (0, 0),
        };
        let mut told = |run: (usize, usize)| {
            step.run = run;
            watch(step);
        };
        let measured = measure(chosen, &stages, settings, cancel, &mut told);
        results.experiments.push(measured);
        results.experiments.sort_by_key(|one| place_of(&one.id));
        if results.has_runs() {
            keep(&results, chosen.id, out)?;
        }
    }
    if results.has_runs() {
        report(&results, &folder)?;
    }
    Ok(results)
}

/// Measures the limits of the machine and all folders. A stop before the end keeps none: the next run
/// measures them again.
fn limits_of(
    places: &[SessionFolder],
    cancel: &CancelToken,
    told: &mut dyn FnMut((usize, usize)),
) -> Result<Vec<Limit>> {
    let mut all = Vec::new();
    for (folder, place) in places.iter().enumerate() {
        let measured = limits::measure(&place.stage, folder, cancel, told);
        if cancel.is_cancelled() {
            return Ok(Vec::new());
        }
        all.extend(measured?);
    }
    Ok(all)
}

/// Writes `study.json`, the page and the summary to a folder.
///
/// # Errors
///
/// If a file cannot be written, or the path of the folder now leads elsewhere.
pub fn report(results: &Results, folder: &ResultsFolder) -> Result<()> {
    let out = folder.path();
    save(results, out)?;
    swath::write(out.join(SUMMARY), summary::render(results))?;
    swath::write(out.join(PAGE), page::render(results)?)?;
    folder.check_place()
}

/// Judges the results by the rules of this version; unknown experiments stay unchanged.
pub fn judged_anew(mut results: Results) -> Results {
    let folders: Vec<String> =
        results.folders.iter().map(|folder| folder.path.clone()).collect();
    let (seed, is_full) = (results.method.seed, results.method.extent == Extent::Full.word());
    let cores = results.cores();
    for one in &mut results.experiments {
        let Some(known) = experiments::ALL.iter().find(|known| known.id == one.id) else {
            continue;
        };
        let places = Places { folders: &folders, seed, noise: one.noise, cores };
        one.claims = known.judged(&one.runs, places);
        // Results without a scale are from an earlier version with other sizes.
        if !one.scale.is_empty() {
            one.scale = known.scale.sentence(is_full);
        }
    }
    results
}

/// Returns the index of an experiment; unknown ones come last.
fn place_of(id: &str) -> usize {
    experiments::ALL.iter().position(|one| one.id == id).unwrap_or(usize::MAX)
}

/// Writes the rows of an experiment and of others without a file, and the results.
fn keep(results: &Results, id: &str, out: &Path) -> Result<()> {
    for one in &results.experiments {
        let rows = out.join(format!("{}.csv", one.id));
        if one.id == id || !rows.exists() {
            csv::write(&rows, one)?;
        }
    }
    save(results, out)
}

/// Writes the results whole or not at all.
fn save(results: &Results, out: &Path) -> Result<()> {
    let text = serde_json::to_string(results).context("results are text")?;
    swath::write(out.join(FILE), text)?;
    Ok(())
}

/// Returns the file of the study at `path`: `path` itself, or the file in that folder, which may be
/// compressed.
pub fn file_of(path: &Path) -> PathBuf {
    let (plain, kept) = (path.join(FILE), path.join(KEPT));
    match path.is_dir() {
        true if !plain.exists() && kept.exists() => kept,
        true => plain,
        false => path.to_owned(),
    }
}

/// Reads the results from a folder or a file.
///
/// # Errors
///
/// If there are no results, or they cannot be parsed.
pub fn load(path: &Path) -> Result<Results> {
    let path = file_of(path);
    let text = text_of(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Results::parse(&text).with_context(|| format!("in {}", path.display()))
}

/// Reads the text of a file, decompressed if its first bytes show a compressed format.
fn text_of(path: &Path) -> Result<String> {
    // A pipe would wait for its other end.
    ensure!(fs::metadata(path)?.is_file(), "it is not a file");
    let bytes = fs::read(path)?;
    if Format::detect(&bytes).is_none() {
        return Ok(String::from_utf8(bytes)?);
    }
    let text = BoundedText { bytes: Arc::default(), most: LEAST_BOUND + 64 * bytes.len() };
    DecompressOptions::new().decompress(path, ordered_to(text.clone(), path))?;
    let bytes = std::mem::take(&mut *text.bytes.lock());
    Ok(String::from_utf8(bytes)?)
}

/// Bytes that the text of a compressed study may have, however short it is compressed.
const LEAST_BOUND: usize = 64 << 20;

/// The text of a compressed study, which comes from anywhere, up to a number of bytes.
#[derive(Clone)]
struct BoundedText {
    bytes: Arc<Mutex<Vec<u8>>>,
    most: usize,
}

impl Write for BoundedText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = self.bytes.lock();
        if text.len() + bytes.len() > self.most {
            return Err(io::Error::other("its text is too long for a study"));
        }
        text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the results of an earlier study with the same settings.
fn earlier(out: &Path, settings: &SessionSettings, now: &Results) -> Result<Option<Results>> {
    if !out.join(FILE).exists() {
        return Ok(None);
    }
    let before = load(out)?;
    let is_same = before.method == now.method
        && before.machine == now.machine
        && before.folders == now.folders;
    ensure!(
        is_same,
        "the study in {} is of another extent, seed, machine or folder",
        settings.out.display()
    );
    Ok(Some(before))
}

/// A folder, with a hidden folder in it that is removed at the end.
struct SessionFolder {
    stage: Stage,
    _folder: Hidden,
}

impl SessionFolder {
    fn new(data: &Path, settings: &SessionSettings, cancel: &CancelToken) -> Result<Self> {
        let folder = Hidden::make(data, ".swath-study")?;
        let stage = Stage::new(folder.path(), settings.extent, settings.seed)
            .with_program(settings.program.clone())
            .with_cancel(cancel.clone());
        Ok(Self { stage, _folder: folder })
    }
}

fn beginning(settings: &SessionSettings) -> Results {
    let facts = settings.data.iter().map(|data| Facts::collect(data)).collect::<Vec<_>>();
    let started =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let pair = |what: &str, value: String| (what.to_owned(), value);
    let machine = facts.first().map_or_else(Vec::new, |facts| {
        vec![
            pair("processor", facts.cpu.clone()),
            pair("cores", facts.cores.to_string()),
            pair(
                "memory",
                format!("{:.1} GiB", facts.memory_bytes as f64 / f64::from(1 << 30)),
            ),
            pair("kernel", facts.kernel.clone()),
            pair("huge pages", facts.huge_pages.clone()),
            pair(
                "hardware counters",
                measure::hardware().map_or_else(
                    |reason| format!("not available here ({reason})"),
                    |()| "available".to_owned(),
                ),
            ),
        ]
    });
    let folders = settings.data.iter().zip(&facts).map(|(path, facts)| Folder {
        path: path.display().to_string(),
        facts: vec![
            pair("file system", facts.file_system.clone()),
            pair("device", facts.device.clone()),
        ],
    });
    Results {
        version: settings.version.clone(),
        started,
        machine,
        method: Method {
            extent: settings.extent.word().to_owned(),
            rounds: rounds_of(settings.extent, 5),
            seed: settings.seed,
            cold_by: ColdBy::available().describe().to_owned(),
        },
        folders: folders.collect(),
        ..Results::default()
    }
}

/// Returns the rounds that count: at least as many as the experiment needs, and more in a full run.
fn rounds_of(extent: Extent, least: usize) -> usize {
    match extent {
        Extent::Smoke => 1,
        Extent::Quick => least,
        Extent::Full => least.max(9),
    }
}

fn measure(
    chosen: &'static Experiment,
    places: &[SessionFolder],
    settings: &SessionSettings,
    cancel: &CancelToken,
    told: &mut dyn FnMut((usize, usize)),
) -> Measured {
    let mut measured = Measured {
        id: chosen.id.to_owned(),
        study: chosen.study.word().to_owned(),
        figure: chosen.figure.to_owned(),
        scale: chosen.scale.sentence(settings.extent == Extent::Full),
        charts: (chosen.charts)(),
        state: Progress::Done,
        ..Measured::default()
    };
    let begun = Instant::now();
    for (folder, place) in places.iter().enumerate() {
        let count = rounds_of(settings.extent, chosen.least_rounds);
        let rounds = Rounds { count, seed: settings.seed, folder, ..Rounds::default() };
        let stopped = in_folder(chosen, &place.stage, rounds, cancel, &mut measured, told);
        place.stage.clear();
        match stopped {
            Ok(Stopped::No) => {}
            // The input could not be made.
            Err(error) if !cancel.is_cancelled() => {
                measured.state = Progress::Failed(format!("{error:#}"));
            }
            Ok(Stopped::Yes) | Err(_) => {
                measured.state = Progress::Stopped;
                break;
            }
        }
    }
    measured.noise = noise(&measured.runs, places.len());
    measured.runs.retain(|run| run.series != CONTROL);
    let folders: Vec<String> =
        settings.data.iter().map(|data| data.display().to_string()).collect();
    let judged = Places {
        folders: &folders,
        seed: settings.seed,
        noise: measured.noise,
        cores: machine::usable_cpus(),
    };
    measured.claims = chosen.judged(&measured.runs, judged);
    measured.wall_seconds = Some(begun.elapsed().as_secs_f64());
    measured
}

fn in_folder(
    chosen: &Experiment,
    stage: &Stage,
    rounds: Rounds,
    cancel: &CancelToken,
    measured: &mut Measured,
    told: &mut dyn FnMut((usize, usize)),
) -> Result<Stopped> {
    told((0, 0));
    let mut entrants = (chosen.entrants)(stage)?;
    if entrants.need(State::Cold)
        && let Some(why) = stage.never_cold()
    {
        entrants.without(State::Cold, why);
    }
    for absent in entrants.absent.drain(..) {
        let absent = (absent.peer, absent.reason);
        if !measured.absent.contains(&absent) {
            measured.absent.push(absent);
        }
    }
    entrants.here.push(measure::control(CONTROL_LEN, 1)?);
    let all = entrants.here.len() * rounds.count;
    let mut runs: Vec<Run> = Vec::new();
    let stopped = measure::run(&mut entrants.here, rounds, cancel, &mut |run| {
        runs.push(run);
        told((runs.len(), all));
    });
    measured.runs.append(&mut runs);
    stopped
}

/// Returns the spread of the control's times, as a share of their median, in the worst folder.
fn noise(runs: &[Run], folders: usize) -> Option<f64> {
    let key = Key { series: CONTROL, x: 0.0, state: State::None };
    let spreads = (0..folders).filter_map(|folder| {
        Some(Summary::of(&Selected::new(runs, folder, 1).seconds(key))?.spread())
    });
    spreads.max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests;
