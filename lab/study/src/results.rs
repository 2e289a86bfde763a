//! The results of a study: one row for each run, and the facts about them. `study.json` stores them.
//!
//! ```text
//! Results ─ machine, method, limits
//!    └─ Measured, one for each experiment ─ charts, absent, claims → findings
//!          └─ Run: folder, series, x, state, round → seconds, bytes, metrics
//! ```
//!
//! Fields that an older file lacks have defaults; a newer [`SCHEMA`] is an error.
//!
//! ```
//! use swath_study::results::{Results, SCHEMA};
//!
//! let results = Results::default();
//! let text = serde_json::to_string(&results)?;
//! assert_eq!(Results::parse(&text)?, results);
//! assert!(Results::parse(&text.replace(&format!("\"schema\":{SCHEMA}"), "\"schema\":99")).is_err());
//! # anyhow::Ok(())
//! ```

mod claimed;
mod select;
mod words;
mod written;

use claimed::counted;
pub use claimed::{Claimed, Counts, Finding, Holds, Source, WordsAuthor};
pub use select::{Key, LEAST_ROUNDS, Selected, SpeedUp};
pub use words::heading_of;

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use swath_plan::words;

use swath_profile::stats::Interval;

/// The version of the format that this program writes.
pub const SCHEMA: u32 = 2;

/// Everything that one study measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Swath's version, and the commit where it is known.
    pub version: String,
    /// The start of the study, in seconds since 1970.
    pub started: u64,
    /// Facts about the machine: `[name, value]`, in display order.
    pub machine: Vec<(String, String)>,
    /// The method of measurement.
    pub method: Method,
    /// The folders whose file systems were measured.
    pub folders: Vec<Folder>,
    /// The limits of the machine, measured in the same run.
    pub limits: Vec<Limit>,
    /// The experiments, in the order of the studies.
    pub experiments: Vec<Measured>,
    /// A small timeline for each engine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timelines: Vec<Timeline>,
}

impl Results {
    /// Returns the processors of the machine; 0 if unknown.
    pub fn cores(&self) -> usize {
        let fact = self.machine.iter().find(|(name, _)| name == "cores");
        fact.and_then(|(_, cores)| cores.parse().ok()).unwrap_or(0)
    }
}

/// The recorded spans of one run of one engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// The engine.
    pub name: String,
    /// The work, as in `32 MB, cold files`.
    pub what: String,
    /// The names of the lanes: workers, and slots of reads in flight.
    pub lanes: Vec<String>,
    /// The spans on the lanes, ordered by start.
    pub moments: Vec<Moment>,
}

/// One span on a lane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// The lane's number in [`Timeline::lanes`].
    pub lane: usize,
    /// The activity, as in `read`.
    pub activity: String,
    /// Seconds since the start of the first span.
    pub start: f64,
    /// The length in seconds.
    pub seconds: f64,
    /// Bytes.
    pub bytes: u64,
}

/// The method of measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Method {
    /// The words of the command line: `quick` or `full`.
    pub extent: String,
    /// Rounds that count.
    pub rounds: usize,
    /// The seed of the order within each round.
    pub seed: u64,
    /// The way to make files cold.
    pub cold_by: String,
}

/// The note on a quick run, shown with its verdicts.
pub const QUICK: &str = "A quick run: its files are smaller than the studies', and a full run \
    (`swath study --full`) may give other verdicts.";

impl Method {
    /// Returns whether files were smaller than in a full run.
    pub fn is_quick(&self) -> bool {
        self.extent == "quick"
    }

    /// Returns the extent and the rounds, as in `full, 9 rounds`.
    pub fn words(&self) -> String {
        let Self { extent, rounds, .. } = self;
        format!("{extent}, {}", counted(*rounds, ["round", "rounds"]))
    }
}

/// A folder whose file system and device were measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder {
    /// The path, as given.
    pub path: String,
    /// Facts about the folder: `[name, value]`.
    pub facts: Vec<(String, String)>,
}

/// A limit of the machine, or of one folder's device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// The name, as in `memory sum` or `random read, O_DIRECT`.
    pub name: String,
    /// The number of its folder in [`Results::folders`]; `None` for the machine.
    pub folder: Option<usize>,
    /// The median, with its interval.
    pub value: Interval,
    /// The unit, as in `GB/s` or `µs`.
    pub unit: String,
}

/// The results of one experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "written::Written")]
pub struct Measured {
    /// The id, as in `a-threads`.
    pub id: String,
    /// The study, `A` to `E`; `S` for jobs of many processes.
    pub study: String,
    /// The figure or table that it reproduces.
    pub figure: String,
    /// The size, compared with that of the study, in a sentence.
    pub scale: String,
    /// The study's claims and the findings.
    pub claims: Vec<Claimed>,
    /// The charts.
    pub charts: Vec<Chart>,
    /// The progress.
    pub state: Progress,
    /// The absent peers: `[name, reason]`.
    pub absent: Vec<(String, String)>,
    /// The spread of the control's times, as a share of their median.
    pub noise: Option<f64>,
    /// An upper bound of the spread, for files of schema 1 without a value.
    pub noise_below: Option<f64>,
    /// The elapsed seconds, including preparations and checks.
    pub wall_seconds: Option<f64>,
    /// The runs that count.
    pub runs: Vec<Run>,
}

/// The progress of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// The experiment is complete.
    Done,
    /// The experiment was stopped; finished rounds are kept.
    #[default]
    Stopped,
    /// The experiment cannot run here, for this reason.
    Skipped(String),
    /// The experiment failed, for this reason.
    Failed(String),
}

/// A chart of an experiment's runs: a line for each series and state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// The title, as in `time by threads`.
    pub title: String,
    /// The quantity of the horizontal axis, as in `threads`.
    pub x: String,
    /// Whether the horizontal axis is logarithmic.
    pub x_log: bool,
    /// The names of places 0, 1 …; if there are any, series are drawn as bars.
    pub x_names: Vec<String>,
    /// The quantity of the vertical axis.
    pub y: Measure,
    /// Whether the vertical axis is logarithmic.
    pub y_log: bool,
}

/// The number of a run that a chart shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Seconds on the clock.
    Seconds,
    /// Bytes a second, in GB/s.
    Rate,
    /// Speed-up over a series within the same round.
    SpeedUp {
        /// The reference series.
        series: String,
        /// The place of the reference; `None` for the same place.
        x: Option<f64>,
    },
    /// Speed-up over the same series at place 1, divided by the place: the parallel efficiency.
    Efficiency,
    /// One of [`Run::metrics`].
    Metric {
        /// Its name.
        name: String,
        /// Its unit, as in `MiB`.
        unit: String,
    },
    /// One of [`Run::courses`] of the runs at one place, over the time of a run in per cent.
    Course {
        /// Its name.
        name: String,
        /// Its unit.
        unit: String,
        /// The place.
        x: f64,
    },
}

/// The state of the page cache before a run.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The page cache holds all of the files.
    #[default]
    Warm,
    /// The page cache holds nothing of the files.
    Cold,
    /// No file is read.
    None,
}

/// One run that counts, with verified bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The folder's number in [`Results::folders`].
    pub folder: usize,
    /// The series that ran.
    pub series: String,
    /// The value of the varied parameter.
    pub x: f64,
    /// The state of the page cache.
    pub state: State,
    /// The round, from 0.
    pub round: usize,
    /// The place within the round, from 0.
    pub order: usize,
    /// Seconds on the clock.
    pub seconds: f64,
    /// Bytes read or written.
    pub bytes: u64,
    /// Other counts, by name: `cpu_seconds`, `voluntary_switches`, `involuntary_switches`, `minor_faults`,
    /// `major_faults`, `peak_bytes`, `cache_misses` …; counts that the machine lacks are absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, f64>,
    /// Courses over time, by name: a number for each of equal parts of the run, such as `busy`, the busy
    /// processors.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub courses: BTreeMap<String, Vec<f64>>,
}

words!(State { Warm = "warm", Cold = "cold", None = "none" });

impl Default for Results {
    fn default() -> Self {
        Self {
            schema: SCHEMA,
            version: String::new(),
            started: 0,
            machine: Vec::new(),
            method: Method::default(),
            folders: Vec::new(),
            limits: Vec::new(),
            experiments: Vec::new(),
            timelines: Vec::new(),
        }
    }
}

impl Results {
    /// Returns whether there is a run.
    pub fn has_runs(&self) -> bool {
        self.experiments.iter().any(|one| !one.runs.is_empty())
    }

    /// Parses the text of `study.json`.
    ///
    /// # Errors
    ///
    /// If it is not JSON of this format, or of a newer schema.
    pub fn parse(text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Head {
            schema: u32,
        }
        let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
        let what =
            if is_json { "this is not a study" } else { "this is damaged, or not a study" };
        let head: Head = serde_json::from_str(text).context(what)?;
        ensure!(
            head.schema <= SCHEMA,
            "this study has schema {}, and {SCHEMA} is the newest that is known here: update Swath",
            head.schema
        );
        let mut results: Self = serde_json::from_str(text).context("this study is damaged")?;
        results.schema = SCHEMA;
        let mut runs = results.experiments.iter().flat_map(|one| &one.runs);
        ensure!(
            runs.all(|run| run.seconds >= 0.0 && run.folder < results.folders.len().max(1)),
            "this study is damaged: it has a run of a time or a folder that cannot be"
        );
        Ok(results)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(estimate: f64) -> Interval {
        Interval { estimate, lower: estimate - 0.125, upper: estimate + 0.125 }
    }

    fn measured() -> Measured {
        Measured {
            id: "a-threads".into(),
            study: "A".into(),
            figure: "figure 1".into(),
            scale: "as large".into(),
            claims: vec![Claimed {
                id: "a-threads".into(),
                source: Source::quoted("more is more", "§1"),
                rule: "more is more than less".into(),
                verdicts: vec![Finding {
                    state: State::Cold,
                    verdict: Holds::No,
                    because: "1.5 [1.4, 1.6]".into(),
                    of_limit: Some(interval(0.75)),
                }],
            }],
            charts: Vec::new(),
            state: Progress::Skipped("no memory".into()),
            absent: vec![("map".into(), "not allowed".into())],
            noise: Some(0.125),
            noise_below: None,
            wall_seconds: Some(7.0),
            runs: Vec::new(),
        }
    }

    #[test]
    fn everything_comes_back_from_its_text() {
        let run = Run {
            series: "pool".into(),
            x: 4.0,
            state: State::Cold,
            seconds: 0.25,
            bytes: 1 << 30,
            metrics: [("major_faults".to_owned(), 7.0)].into(),
            courses: [("busy".to_owned(), vec![0.5, 2.0])].into(),
            ..Run::default()
        };
        let chart = |y| Chart {
            title: "speed-up".into(),
            x: "threads".into(),
            x_log: true,
            x_names: vec!["few".into()],
            y,
            y_log: false,
        };
        let measured = Measured {
            runs: vec![run.clone(), Run { round: 1, ..run }],
            charts: vec![
                chart(Measure::Efficiency),
                chart(Measure::SpeedUp { series: "serial".into(), x: None }),
                chart(Measure::Metric { name: "major_faults".into(), unit: "".into() }),
                chart(Measure::Course { name: "busy".into(), unit: "".into(), x: 8.0 }),
            ],
            ..measured()
        };
        let limit = Limit {
            name: "sum".into(),
            folder: None,
            value: interval(26.5),
            unit: "GB/s".into(),
        };
        let timelines = vec![Timeline {
            name: "ring".into(),
            what: "cold".into(),
            lanes: vec!["worker 0".into()],
            moments: vec![Moment {
                activity: "read".into(),
                seconds: 0.5,
                ..Moment::default()
            }],
        }];
        let results = Results {
            timelines,
            machine: vec![("cores".into(), "2".into())],
            folders: vec![Folder { path: "/data".into(), facts: Vec::new() }],
            limits: vec![limit],
            experiments: vec![measured],
            ..Results::default()
        };
        let text = serde_json::to_string_pretty(&results).expect("all of it is text");
        assert_eq!(Results::parse(&text).expect("written by us"), results);
    }

    #[test]
    fn what_is_something_else_is_an_error() {
        for text in ["", "{}", "[]", "{\"schema\": 1}", "{\"schema\": 1, \"runs\": 3}"] {
            assert!(Results::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_damaged_is_told_from_what_is_no_study() {
        let whole = || {
            let run = Run { seconds: 0.25, ..Run::default() };
            let one = Measured { runs: vec![run], ..measured() };
            Results { experiments: vec![one], ..Results::default() }
        };
        let text = serde_json::to_string(&whole()).expect("text");
        assert!(Results::parse(&text).is_ok());
        let why = |text: &str| Results::parse(text).expect_err("not whole").to_string();
        assert_eq!(why(&text[..text.len() / 2]), "this is damaged, or not a study");
        assert_eq!(why("{\"schema\": \"x\"}"), "this is not a study");
        assert_eq!(why("{\"schema\": 1}"), "this study is damaged");
        for (good, bad) in
            [("\"seconds\":0.25", "\"seconds\":-1.0"), ("\"folder\":0", "\"folder\":7")]
        {
            let bad = text.replace(good, bad);
            assert!(bad != text && why(&bad).contains("cannot be"), "{bad}");
        }
    }
}
