//! Study A: a file, with memory from half its size to many times its size.
//!
//! The kernel kills a process beyond its memory limit, so the limit is set for a child: the command, which
//! sums the file twice.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use swath_os::ending;
use swath_os::usage::usage_of_children;

use super::loading::THREADS;
use super::shape::{chart, metric};
use crate::experiment::{Claim, Experiment, Point, Scale, all_of, told};
use crate::measure::{Entrants, Input, Meter, Outcome, Stage};
use crate::memory_limit::MemoryLimit;
use crate::peers::Absent;
use crate::results::{Finding, Key, Measure, Selected, SpeedUp, State};
use crate::workload::FileContent;
use swath_profile::stats::Bound;

/// The ways, with two threads: the readahead of all threads must fit into the limit.
const WAYS: [(&str, &[&str]); 4] = [
    (
        CHUNKS,
        &["--engine", "pool", "--workers", "2", "--chunk-size", "1KiB", "--page-cache", "keep"],
    ),
    (MAPPED, &["--engine", "map", "--workers", "2"]),
    (KEEPING, &["--workers", "2", "--page-cache", "keep"]),
    (SWATH, &["--workers", "2"]),
];

const CHUNKS: &str = "chunks of 1,024 bytes";
const MAPPED: &str = "memory map";
const KEEPING: &str = "swath, through the page cache";
const SWATH: &str = "swath";

/// Memory limits in percent of the file; the study has 400 and 1600.
const SHARES: [u32; 4] = [50, 200, 400, 1600];
const HALF: f64 = 50.0;
const ALL: f64 = 200.0;
const ENOUGH: f64 = 400.0;
const MOST: f64 = 1600.0;

/// Bytes of memory that a process needs beside the file.
const ROOM: u64 = 32 << 20;

/// Varies the memory limit.
pub(super) const MEMORY: Experiment = Experiment {
    id: "a-memory",
    figure: "time, major faults and swapping of a second pass over a file, by a limit of memory",
    claims: &[
        Claim::new("a-memory", |runs, state| all_of(runs, &[with_more(runs, state)])),
        Claim::new("a-memory-swaps", judge_swaps),
        Claim::new("a-memory-map", judge_constrained),
        Claim::new("a-memory-less", tell_less),
    ],
    scale: Scale {
        study: "500 MB, in 2, 4 and 8 GB",
        other: "512 MiB, and limits of half of it to 16 times as much",
        minutes: 5,
    },
    charts: || {
        let x = "memory, % of the file";
        vec![
            chart("time of the second pass", x, Measure::Seconds).log_x().log_y(),
            chart("major page faults", x, metric("major_faults")).log_x(),
            chart("pages swapped, by the whole machine", x, metric("swapped_pages")).log_x(),
            chart("voluntary context switches", x, metric("voluntary_switches")).log_x(),
        ]
    },
    entrants,
    ..THREADS
};

fn entrants(stage: &Stage) -> Result<Entrants> {
    let mut entrants = Entrants::default();
    let absent = |why: String| Entrants {
        absent: vec![Absent::new("a limit of memory", why)],
        ..Entrants::default()
    };
    let Some(program) = stage.program() else {
        return Ok(absent("only the command can limit a process of its own".to_owned()));
    };
    if let Err(error) = MemoryLimit::new(1 << 30).and_then(|limit| limit.enter().map(drop)) {
        return Ok(absent(error.to_string()));
    }
    if let Some(why) = stage.never_cold() {
        return Ok(absent(why.to_owned()));
    }
    let size: u64 = stage.pick(1 << 20, 128 << 20, 512 << 20);
    let input = stage.file(FileContent::Letters, size)?;
    for share in SHARES {
        for (series, words) in WAYS {
            let work = Passes {
                program: program.to_owned(),
                words,
                input: Rc::clone(&input),
                limit: size * u64::from(share) / 100 + ROOM,
            };
            // Cold: the first pass must read all of it inside the limit.
            let entrant =
                input.entrant(series, State::Cold, move |_, meter| work.measure(meter));
            entrants.here.push(entrant.at(f64::from(share), State::None));
        }
    }
    Ok(entrants)
}

/// Two sums of a file, each in its own process, under the same limit.
struct Passes {
    program: PathBuf,
    words: &'static [&'static str],
    input: Rc<Input>,
    limit: u64,
}

/// The output of the command.
#[derive(Deserialize)]
struct Summed {
    sum: u64,
    bytes: u64,
    elapsed_s: f64,
}

impl Passes {
    fn measure(&self, meter: &mut Meter) -> Result<Outcome> {
        let limit = MemoryLimit::new(self.limit)?;
        summed(self.start(&limit)?)?;
        let (before, swapped) = (usage_of_children()?, swapped_pages());
        let second = meter.measure(|| summed(self.start(&limit)?))??;
        let used = usage_of_children()?.since(&before);
        // The command's time excludes the start and the end of the process.
        meter.took(second.elapsed_s);
        meter.used_by(&used);
        if let (Some(before), Some(after)) = (swapped, swapped_pages()) {
            meter.note("swapped_pages", after.saturating_sub(before) as f64);
        }
        Ok(Outcome { bytes: second.bytes, checksum: second.sum })
    }

    /// Starts the child inside the limit, which this process enters and leaves.
    fn start(&self, limit: &MemoryLimit) -> Result<Child> {
        let mut command = Command::new(&self.program);
        command.args(["sum", "--json"]).args(self.words).arg(&self.input.path);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let _inside = limit.enter()?;
        ending::spawn(&mut command)
            .with_context(|| format!("cannot start {}", self.program.display()))
    }
}

fn summed(child: Child) -> Result<Summed> {
    let output = child.wait_with_output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("under the limit: {}: {}", output.status, said.trim());
    }
    serde_json::from_slice(&output.stdout)
        .context("cannot understand the output of the command")
}

/// Returns the pages swapped in and out since the machine started.
fn swapped_pages() -> Option<u64> {
    let text = std::fs::read_to_string(Path::new("/proc/vmstat")).ok()?;
    let count = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line?.trim().parse::<u64>().ok()
    };
    Some(count("pswpin ")? + count("pswpout ")?)
}

/// Returns the key of a series at a share of the file.
fn key(series: &str, x: f64, state: State) -> Key<'_> {
    Key { series, x, state }
}

/// Compares more memory with less, both larger than the file.
fn with_more(runs: &Selected<'_>, state: State) -> Point {
    let ratio = runs.speed_up(key(CHUNKS, MOST, state), key(CHUNKS, ENOUGH, state));
    let sentence =
        "with 16 times the file, a second pass by chunks is {} as fast as with 4 times";
    Point::new(sentence, ratio, Bound::AtLeast(1.05))
}

fn judge_swaps(runs: &Selected<'_>, state: State) -> Finding {
    const SWAPPED: &str = "swapped_pages";
    let places = [ENOUGH, MOST].map(|x| key(CHUNKS, x, state));
    let swapped = runs.count_ratio(SWAPPED, places[1], places[0]);
    let has_swapped = runs.metric(places[0], SWAPPED).iter().any(|&pages| pages > 0.0);
    let fewer = match has_swapped {
        true => Point::new("it swaps {} as many pages", swapped, Bound::AtMost(0.9)),
        false => Point::elsewhere("no page was swapped with 4 times the file"),
    };
    all_of(runs, &[with_more(runs, state), fewer])
}

fn judge_constrained(runs: &Selected<'_>, state: State) -> Finding {
    let gain = |x| SpeedUp { key: key(MAPPED, x, state), other: key(CHUNKS, x, state) };
    let grown = runs.growth(gain(HALF), gain(ALL));
    let sentence =
        "with room for half of the file, the map gains {} what it gains with room for twice";
    all_of(runs, &[Point::new(sentence, grown, Bound::AtLeast(1.1))])
}

fn tell_less(runs: &Selected<'_>, state: State) -> Finding {
    told(&[CHUNKS, MAPPED].map(|series| {
        let ratio = runs.speed_up(key(series, ALL, state), key(series, HALF, state));
        let sentence =
            format!("{series}: with room for twice the file {{}} as fast as with half");
        Point::told(sentence, ratio)
    }))
}
