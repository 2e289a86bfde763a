//! A synthetic study, as large as a full one; it depends on the seed alone.

use swath_plan::random::fraction;
use swath_profile::stats::Interval;
use swath_study::results::{
    Chart, Claimed, Finding, Folder, Holds, Limit, Measure, Measured, Method, Progress,
    Results, Run, Source, State,
};

const ROUNDS: usize = 7;
const SERIES: [&str; 6] = ["serial", "pool", "mirrored", "map", "ring", "ripgrep 15"];

/// The varied parameter of a synthetic experiment.
#[derive(Clone, Copy)]
enum Kind {
    Threads,
    ChunkSize,
    Names,
    /// One place only, without files.
    Alone,
}

/// Returns 30 experiments of the five studies in two folders, some of them cut short.
pub(crate) fn study(seed: u64) -> Results {
    let experiments: Vec<Measured> =
        (0..30).map(|index| experiment(seed.wrapping_add(index), index)).collect();
    Results {
        version: "0.1.0 (made up)".into(),
        started: 1_794_000_000,
        machine: facts(&[
            ("processor", "Made-up Processor 9000, 16 cores, 2 threads each, 3.2 GHz"),
            ("memory", "64 GiB"),
            ("kernel", "Linux 6.18.0"),
            ("hardware counters", "not available here"),
        ]),
        method: Method {
            extent: "full".into(),
            rounds: ROUNDS,
            seed,
            cold_by: "posix_fadvise, checked by cachestat".into(),
        },
        folders: vec![
            Folder {
                path: "/data".into(),
                facts: facts(&[("file system", "ext4"), ("device", "virtual disk, 200 GB")]),
            },
            Folder {
                path: "/mnt/a/much/longer/path/of/a/second/device".into(),
                facts: facts(&[("file system", "XFS"), ("device", "NVMe")]),
            },
        ],
        limits: limits(),
        experiments,
        ..Results::default()
    }
}

fn facts(facts: &[(&str, &str)]) -> Vec<(String, String)> {
    facts.iter().map(|(what, value)| ((*what).to_owned(), (*value).to_owned())).collect()
}

fn limits() -> Vec<Limit> {
    let limit = |name: &str, folder, estimate: f64, unit: &str| Limit {
        name: name.into(),
        folder,
        value: Interval { estimate, lower: estimate * 0.98, upper: estimate * 1.01 },
        unit: unit.into(),
    };
    vec![
        limit("memory sum", None, 26.4, "GB/s"),
        limit("memory copy", None, 11.2, "GB/s"),
        limit("system call", None, 0.071, "µs"),
        limit("read, O_DIRECT", Some(0), 2.41, "GB/s"),
        limit("random read, O_DIRECT", Some(0), 81.5, "µs"),
        limit("read, O_DIRECT", Some(1), 6.83, "GB/s"),
        limit("file create", Some(1), 12.25, "µs"),
    ]
}

fn experiment(seed: u64, index: u64) -> Measured {
    let kind = match index % 4 {
        0 => Kind::Threads,
        1 => Kind::ChunkSize,
        2 => Kind::Names,
        _ => Kind::Alone,
    };
    let state = match index {
        7 => Progress::Skipped("no memory cgroup may be made here".into()),
        11 => Progress::Failed("cannot write data.bin: No space left on device".into()),
        13 => Progress::Stopped,
        _ => Progress::Done,
    };
    let has_runs = matches!(state, Progress::Done | Progress::Stopped);
    let study = ["A", "B", "C", "D", "E"][usize::try_from(index / 6).expect("few")];
    Measured {
        id: format!("{}-{}", study.to_lowercase(), name(kind, index)),
        study: study.into(),
        figure: format!("figure {}", index % 6 + 1),
        scale: "As large as in the study: 750 MB.".into(),
        claims: vec![claimed(index, has_runs)],
        charts: charts(kind),
        absent: if index.is_multiple_of(5) {
            vec![("cache misses".into(), "hardware counters are not available here".into())]
        } else {
            Vec::new()
        },
        noise: has_runs.then_some(if index % 6 == 2 { 0.17 } else { 0.021 }),
        runs: if has_runs { runs(seed, kind) } else { Vec::new() },
        noise_below: None,
        wall_seconds: has_runs.then_some(97.5),
        state,
    }
}

fn claimed(index: u64, has_runs: bool) -> Claimed {
    let states = [State::Warm, State::Cold];
    let verdicts = states.map(|state| Finding { state, ..finding(index, has_runs) });
    Claimed {
        id: format!("made-up-{index}"),
        source: Source::quoted(
            "Reading one large file with a pool of threads is faster than reading it serially, up to \
             as many threads as there are cores",
            "§4.2",
        ),
        rule: "Eight threads are at least 1.1 × as fast as sequential loading.".into(),
        verdicts: if has_runs { verdicts.into() } else { Vec::new() },
    }
}

fn name(kind: Kind, index: u64) -> String {
    let what = match kind {
        Kind::Threads => "threads",
        Kind::ChunkSize => "chunk-size",
        Kind::Names => "orders",
        Kind::Alone => "alone",
    };
    format!("{what}-{index}")
}

fn finding(index: u64, has_runs: bool) -> Finding {
    if !has_runs {
        return Finding::default();
    }
    let verdict = match index % 3 {
        0 => Holds::Yes,
        1 => Holds::No,
        _ => Holds::Undecided,
    };
    let share = 0.97 - index as f64 / 60.0;
    Finding {
        state: State::Warm,
        verdict,
        because:
            "The pool is 3.21 [3.05, 3.40] times as fast as serial at 8 threads; 1 or less \
                  was to be seen if the claim did not hold."
                .into(),
        of_limit: (index % 4 != 3).then_some(Interval {
            estimate: share,
            lower: share - 0.03,
            upper: share + 0.02,
        }),
    }
}

fn charts(kind: Kind) -> Vec<Chart> {
    let chart = |title: &str, x: &str, x_log, y, y_log| Chart {
        title: title.into(),
        x: x.into(),
        x_log,
        x_names: Vec::new(),
        y,
        y_log,
    };
    let faults = || Measure::Metric { name: "major_faults".into(), unit: String::new() };
    match kind {
        Kind::Threads => vec![
            chart("Time by threads", "threads", true, Measure::Seconds, true),
            chart(
                "Speed-up by threads",
                "threads",
                false,
                Measure::SpeedUp { series: "serial".into(), x: None },
                false,
            ),
            chart("Major faults by threads", "threads", true, faults(), true),
        ],
        Kind::ChunkSize => vec![
            chart("Rate by chunk size", "chunk size, bytes", true, Measure::Rate, false),
            chart(
                "Peak memory by chunk size",
                "chunk size, bytes",
                true,
                Measure::Metric { name: "peak_bytes".into(), unit: "MiB".into() },
                false,
            ),
        ],
        Kind::Names => {
            let names =
                ["500 × 10 KB", "124 × 1 MB", "31 × 3.6 MB", "separate files, then joined"];
            let named = |y_log, y| Chart {
                x_names: names.map(str::to_owned).into(),
                ..chart("Time by kind of files", "files", false, y, y_log)
            };
            vec![named(false, Measure::Seconds), named(true, Measure::Seconds)]
        }
        Kind::Alone => vec![chart("Time", "files", false, Measure::Seconds, false)],
    }
}

fn runs(seed: u64, kind: Kind) -> Vec<Run> {
    let places: Vec<f64> = match kind {
        Kind::Threads => vec![1.0, 2.0, 4.0, 8.0, 16.0, 32.0],
        Kind::ChunkSize => (9..=24).step_by(2).map(|power| 2_f64.powi(power)).collect(),
        Kind::Names => vec![0.0, 1.0, 2.0, 3.0],
        Kind::Alone => vec![1.0],
    };
    let states = match kind {
        Kind::Alone => vec![State::None],
        _ => vec![State::Warm, State::Cold],
    };
    let mut runs = Vec::new();
    for folder in 0..2 {
        for state in &states {
            for round in 0..ROUNDS {
                for (order, series) in SERIES.iter().enumerate() {
                    for x in &places {
                        let at = Run {
                            folder,
                            series: (*series).into(),
                            x: *x,
                            state: *state,
                            round,
                            order,
                            ..Run::default()
                        };
                        runs.push(measured(at, seed, runs.len(), kind));
                    }
                }
            }
        }
    }
    runs
}

/// Returns `run` with synthetic numbers.
fn measured(run: Run, seed: u64, index: usize, kind: Kind) -> Run {
    let noise = 1.0 + 0.2 * fraction(seed, u64::try_from(index).expect("few"));
    let slow = if run.state == State::Cold { 6.0 } else { 1.0 };
    let own = run.order as f64;
    let shape = match kind {
        Kind::Threads => 0.15 + 1.0 / run.x.min(8.0 + own) + run.x / 300.0,
        Kind::ChunkSize => 0.5 + 2000.0 / run.x,
        Kind::Names => 1.0 + run.x,
        Kind::Alone => 1.0,
    };
    let seconds = 0.12 * slow * shape * noise * (1.6 - own / 5.0);
    let faults = if run.state == State::Cold { (own * 300.0 * run.x).round() } else { 0.0 };
    let metrics = [
        ("major_faults".to_owned(), faults),
        ("peak_bytes".to_owned(), 1e6 * (20.0 + own * 7.0 + noise)),
    ];
    Run { seconds, bytes: 750_000_000, metrics: metrics.into(), ..run }
}
