//! `swath read --classes`: by priority, and when each class was there.

use std::time::Duration;

use anyhow::Result;
use serde::Serialize;
use swath::Buffer;
use swath_study::stats;

use super::Outcome;
use super::read::verify;
use crate::args::classes::Cut;
use crate::args::verbs;
use crate::output::{print, print_json};
use crate::profile::Profiles;
use crate::progress::Bar;
use crate::report::{PathJson, ReportJson, bytes_per_s, counted, details, headline, time_text};

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

/// One run.
#[derive(Serialize)]
struct RunJson {
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
    report: ReportJson,
}

pub(super) fn run(args: &verbs::Read, cut: Cut) -> Result<Outcome> {
    let (mut runs, mut verified) = (Vec::new(), None);
    for index in 1..=args.repeat {
        let loaded = by_class(args, cut)?;
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
    bytes: Buffer,
    json: RunJson,
    text: String,
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
        classes_text(&times, report.window, report.max_skew),
        details(&report.read).trim_start(),
    );
    let [first, median, last] = first_median_last(&times).map(|time| time.as_secs_f64());
    let json = RunJson {
        elapsed_s: report.read.elapsed.as_secs_f64(),
        bytes: report.read.bytes,
        first_class_s: first,
        median_class_s: median,
        last_class_s: last,
        class_elapsed_s: times.iter().map(Duration::as_secs_f64).collect(),
        window: report.window,
        max_skew: report.max_skew,
        report: (&report.read).into(),
    };
    Ok(Loaded { bytes: loaded.into_buffer(), json, text })
}

/// The first, the median and the last time.
fn first_median_last(times: &[Duration]) -> [Duration; 3] {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at = |index: usize| sorted.get(index).copied().unwrap_or_default();
    [at(0), at(sorted.len() / 2), at(sorted.len().saturating_sub(1))]
}

fn classes_text(times: &[Duration], window: usize, max_skew: usize) -> String {
    let [first, median, last] = first_median_last(times).map(time_text);
    let count = counted(times.len() as u64, "class").replace("classs", "classes");
    format!(
        "  {count}: first after {first}, median {median}, last {last}; \
         at most {max_skew} in flight, window {window}\n"
    )
}
