//! `swath read --classes`: by priority, and when each class was there.

use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde::Serialize;
use swath::{Buffer, ReadOptions};
use swath_study::barrier::{self, Batches};
use swath_study::stats;

use super::Outcome;
use super::read::verify;
use crate::args::classes::Cut;
use crate::args::verbs;
use crate::failure::Refused;
use crate::output::{print, print_json};
use crate::profile::Profiles;
use crate::progress::Bar;
use crate::report::{
    PathJson, ReportJson, bytes_per_s, counted, details, headline, size_text, time_text,
};

/// That the baseline lists, and has an own slice for.
const MOST_CHUNKS: u64 = 10_000_000;

#[derive(Serialize)]
struct Json {
    #[serde(flatten)]
    path: PathJson,
    chunks: u64,
    classes: u32,
    runs: Vec<RunJson>,
    median_elapsed_s: f64,
    median_bytes_per_s: f64,
    /// `null`: nobody asked.
    verified: Option<bool>,
}

/// One run: of classes, or of study A's batches.
#[derive(Serialize)]
struct RunJson {
    /// `classes`, or `barrier`.
    way: &'static str,
    elapsed_s: f64,
    bytes: u64,
    first_class_s: f64,
    median_class_s: f64,
    last_class_s: f64,
    /// Each class, by its number.
    class_elapsed_s: Vec<f64>,
    /// Classes that might be in flight.
    window: usize,
    /// The most that were.
    max_skew: usize,
    /// `null`: the barrier has none.
    report: Option<ReportJson>,
}

pub(super) fn run(args: &verbs::Read, cut: Cut) -> Result<Outcome> {
    let (mut runs, mut verified) = (Vec::new(), None);
    for index in 1..=args.repeat {
        let loaded =
            if args.classes.barrier { batches(args, cut)? } else { by_class(args, cut)? };
        if !args.json {
            let number = if args.repeat > 1 { format!(" run {index}") } else { String::new() };
            print(format!("{}{number}: {}", args.path, loaded.text))?;
        }
        if args.verify {
            verified = Some(verified.unwrap_or(true) & verify(args, &loaded.bytes)?);
        }
        runs.push(loaded.json);
    }
    let times: Vec<f64> = runs.iter().map(|run| run.elapsed_s).collect();
    let median = Duration::from_secs_f64(stats::median(&times).unwrap_or_default());
    let bytes = runs.last().map_or(0, |run| run.bytes);
    let speed = bytes_per_s(bytes, median);
    if args.json {
        let Cut { chunks, classes } = cut;
        let (median_elapsed_s, median_bytes_per_s) = (median.as_secs_f64(), speed);
        let path = args.path.label().into();
        print_json(&Json {
            path,
            chunks,
            classes,
            runs,
            median_elapsed_s,
            median_bytes_per_s,
            verified,
        })?;
    } else {
        if args.repeat > 1 {
            let speed = speed / 1e9;
            print(format!(
                "median of {}: {}, {speed:.2} GB/s\n",
                args.repeat,
                time_text(median)
            ))?;
        }
        if verified == Some(true) {
            print(format!("verified: a serial read gives the same {bytes} bytes\n"))?;
        }
    }
    Ok(if verified == Some(false) { Outcome::Differs } else { Outcome::Done })
}

/// What came of one run.
struct Loaded {
    bytes: Bytes,
    json: RunJson,
    text: String,
}

enum Bytes {
    Ours(Buffer),
    Study(Vec<u8>),
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Ours(buffer) => buffer,
            Self::Study(bytes) => bytes,
        }
    }
}

fn by_class(args: &verbs::Read, cut: Cut) -> Result<Loaded> {
    let profiles = Profiles::new(args.how.flow.profile);
    let options = profiles.apply(args.how.options(), &args.path);
    let (options, _bar) = Bar::attach(options, !args.json);
    let plan = args.classes.plan(cut);
    let reading = options.read_prioritised(profiles.source(&args.copies, &args.path)?, plan)?;
    let loaded = reading.finish()?;
    let report = loaded.report.clone();
    let times: Vec<_> = report.classes.iter().map(|time| time.elapsed).collect();
    let text = format!(
        "{}\n{}  {}",
        headline(&report.read),
        classes_text(&times, (report.window, report.max_skew)),
        details(&report.read).trim_start(),
    );
    let json = RunJson {
        report: Some((&report.read).into()),
        ..run_json("classes", &times, (report.window, report.max_skew))
    };
    let json = RunJson {
        elapsed_s: report.read.elapsed.as_secs_f64(),
        bytes: report.read.bytes,
        ..json
    };
    Ok(Loaded { bytes: Bytes::Ours(loaded.into_buffer()), json, text })
}

/// Study A's way. It knows threads, and nothing else that can be said about a read.
fn batches(args: &verbs::Read, cut: Cut) -> Result<Loaded> {
    // Everything that can be said shows in how options print.
    let said = format!("{:?}", args.how.options());
    let plain = format!("{:?}", ReadOptions::new().with_workers(args.how.flow.workers));
    ensure!(
        said == plain && !args.copies.is_used(),
        Refused::new(
            "cannot read otherwise than study A did with --barrier",
            "--workers and --verify alone, or no --barrier"
        )
    );
    let what = format!("cannot read {}", args.path);
    let failed = |error| Refused::new(what.clone(), "name a file").with_source(error);
    let start = Instant::now();
    let file = args.path.open().map_err(failed)?;
    let facts = file.metadata().map_err(failed)?;
    ensure!(facts.is_file(), Refused::new(what.clone(), "--barrier needs a regular file"));
    // The kernel's own files say that they are empty.
    let behind = file.read_at(&mut [0], facts.len()).map_err(failed)?;
    ensure!(behind == 0, Refused::new(what, "--barrier needs a file that says how long it is"));
    let mut bytes = Vec::new();
    let len = usize::try_from(facts.len())?;
    ensure!(
        bytes.try_reserve_exact(len).is_ok(),
        Refused::new(
            format!("cannot have {} of memory", size_text(facts.len())),
            "a smaller file"
        )
    );
    bytes.resize(len, 0);
    let workers = match args.how.flow.workers {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        workers => workers,
    };
    ensure!(
        cut.chunks.min(facts.len()) <= MOST_CHUNKS,
        Refused::new(format!("cannot list {} chunks", cut.chunks), "--chunks 100000")
    );
    let (chunks, classes) = (usize::try_from(cut.chunks)?, usize::try_from(cut.classes)?);
    let setting = Batches { chunks, classes, first: 0, workers };
    let loaded = barrier::load(&file, &mut bytes, setting).map_err(failed)?;
    let elapsed = start.elapsed();
    let speed = bytes_per_s(facts.len(), elapsed) / 1e9;
    let text = format!(
        "{} in {}, {speed:.2} GB/s\n{}  study A's barriers, {}\n",
        size_text(facts.len()),
        time_text(elapsed),
        classes_text(&loaded.classes, (1, 1)),
        counted(workers as u64, "thread"),
    );
    let json = run_json("barrier", &loaded.classes, (1, 1));
    let json = RunJson { elapsed_s: elapsed.as_secs_f64(), bytes: facts.len(), ..json };
    Ok(Loaded { bytes: Bytes::Study(bytes), json, text })
}

/// The first, the median and the last time.
fn first_median_last(times: &[Duration]) -> [Duration; 3] {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at = |index: usize| sorted.get(index).copied().unwrap_or_default();
    [at(0), at(sorted.len() / 2), at(sorted.len().saturating_sub(1))]
}

fn classes_text(times: &[Duration], (window, max_skew): (usize, usize)) -> String {
    let [first, median, last] = first_median_last(times).map(time_text);
    let count = counted(times.len() as u64, "class").replace("classs", "classes");
    format!(
        "  {count}: first after {first}, median {median}, last {last}; \
         at most {max_skew} in flight, window {window}\n"
    )
}

fn run_json(
    way: &'static str,
    times: &[Duration],
    (window, max_skew): (usize, usize),
) -> RunJson {
    let [first, median, last] = first_median_last(times).map(|time| time.as_secs_f64());
    RunJson {
        way,
        elapsed_s: last,
        bytes: 0,
        first_class_s: first,
        median_class_s: median,
        last_class_s: last,
        class_elapsed_s: times.iter().map(Duration::as_secs_f64).collect(),
        window,
        max_skew,
        report: None,
    }
}
