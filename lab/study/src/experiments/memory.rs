//! Study A: a file that does not fit into memory.
//!
//! Beyond a memory limit the kernel kills, so the limit is for a process of its own: the command, which
//! sums the file twice.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use swath_os::ending;
use swath_os::usage::usage_of_children;

use super::loading::THREADS;
use super::shape::{chart, metric, read};
use crate::experiment::{Experiment, Point, Scale, all_of};
use crate::measure::{Entrants, Input, Meter, Outcome, Stage};
use crate::memory_limit::MemoryLimit;
use crate::peers::Absent;
use crate::results::{Finding, Key, Measure, Selected, State};
use crate::workload::Kind;
use swath_profile::stats::Bound;

/// Two threads: each has as much in flight as the kernel reads ahead of it, and all of that
/// must fit.
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

/// The memory of a process beside the file.
const ROOM: u64 = 32 << 20;

/// By memory.
pub(super) const MEMORY: Experiment = Experiment {
    id: "a-memory",
    figure: "time, major faults and swapping of a second pass over a file, by a limit of memory",
    claims: &[read(
        "a-memory",
        "With less memory than the file has, going through it again is slower.",
        "§5.1 to 5.6",
        "With room for all of the file, a second pass is at least 1.2 × as fast as with half of it, \
         by chunks and by a map.",
        judge,
    )],
    scale: Scale {
        study: "a file larger than the memory",
        other: "512 MiB and a limit of half as much, so that it can run beside others",
        minutes: 3,
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
    let input = stage.file(Kind::Letters, size)?;
    for share in [50, 100, 200] {
        for (series, words) in WAYS {
            let work = Passes {
                program: program.to_owned(),
                words,
                input: Rc::clone(&input),
                limit: size * share / 100 + ROOM,
            };
            // The first pass must read all of it, inside the limit.
            let entrant =
                input.entrant(series, State::Cold, move |_, meter| work.measure(meter));
            entrants.here.push(entrant.at(share as f64, State::None));
        }
    }
    Ok(entrants)
}

/// Two sums of a file, each by a process of its own, under the same limit.
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
        // Without the start and the end of the process.
        meter.took(second.elapsed_s);
        meter.used_by(&used);
        if let (Some(before), Some(after)) = (swapped, swapped_pages()) {
            meter.note("swapped_pages", after.saturating_sub(before) as f64);
        }
        Ok(Outcome { bytes: second.bytes, checksum: second.sum })
    }

    /// The child begins inside the limit, and stays; this process enters and leaves it.
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

/// Pages that went to the swap and came from it since the machine started.
fn swapped_pages() -> Option<u64> {
    let text = std::fs::read_to_string(Path::new("/proc/vmstat")).ok()?;
    let count = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line?.trim().parse::<u64>().ok()
    };
    Some(count("pswpin ")? + count("pswpout ")?)
}

fn judge(runs: &Selected<'_>, state: State) -> Finding {
    let points = [CHUNKS, MAPPED].map(|series| {
        let key = |x| Key { series, x, state };
        let places = runs.places(series, state);
        let (least, most) = (places.first().copied(), places.last().copied());
        let ratio =
            least.zip(most).and_then(|(least, most)| runs.speed_up(key(most), key(least)));
        let sentence = format!(
            "{series}: with room for all of it {{}} as fast as with {} % of it",
            least.unwrap_or(0.0)
        );
        Point::new(sentence, ratio, Bound::AtLeast(1.2))
    });
    all_of(runs, &points)
}
