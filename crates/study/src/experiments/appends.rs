//! Study E: what threads that fork write, in serial order or in none.

use std::fs;
use std::path::PathBuf;
use std::rc::Rc;

use anyhow::{Context, Result};

use super::shape::{chart, metric, powers_of_two};
use crate::cache;
use crate::experiment::{
    Claim, Entrant, Entrants, Experiment, Meter, Outcome, Stage, Study, all_of,
};
use crate::forks::{BUFFER, Leave, Trees};
use crate::results::{Chart, Finding, Key, Measure, Selected, State};
use crate::stats::Bound;

const NOTHING: &str = "without I/O";
const SERIAL: &str = "serial writer";
const OWN_FILES: &str = "each thread its own file";
const OWN_FILES_BUFFERED: &str = "each thread its own file, buffered";
const ONE_FILE: &str = "one shared file, to its end";
const ONE_FILE_PLACES: &str = "one shared file, at known places";
const SEGMENTS: &str = "swath, segments";
const PLAIN: &str = "swath, one plain file";

/// Each call writes the study's 10 KB.
const CALL: usize = 10 << 10;

/// By threads.
pub(super) const TREE: Experiment = Experiment {
    id: "e-fib",
    study: Study::E,
    figure: "time and speed-up of fib by threads, each call writing 10 KB: without I/O, in serial \
             order, in files without order",
    claim: "Serial-append costs little: it is about as fast as threads that write files of their own \
            in no order.",
    least_rounds: 5,
    charts: || {
        let mut charts = charts_of(SERIAL);
        charts.extend([
            chart("forks", "threads", metric("forks", "")).log_x(),
            chart("steals", "threads", metric("steals", "")).log_x(),
            chart("parallelism, work over span", "threads", metric("parallelism", "")).log_x(),
            chart("extents of the output", "threads", metric("extents", "")).log_x(),
        ]);
        charts
    },
    entrants: |stage| {
        let ways = [
            (NOTHING, Leave::Nowhere),
            (SERIAL, Leave::Serial { buffer: BUFFER }),
            (OWN_FILES_BUFFERED, Leave::OwnFiles { buffer: BUFFER }),
            (SEGMENTS, Leave::Segments { checksums: true }),
            (PLAIN, Leave::Plain),
        ];
        by_threads(stage, &ways)
    },
    judge: judge_tree,
};

/// One file or many.
pub(super) const FILES: Experiment = Experiment {
    id: "e-files",
    study: Study::E,
    figure: "time to write the same bytes to one shared file, to a file a thread, and by one thread",
    claim: "Threads that write one shared file get in each other's way; separate files are faster.",
    least_rounds: 5,
    charts: || charts_of(SERIAL),
    entrants: |stage| {
        let ways = [
            (SERIAL, Leave::Serial { buffer: BUFFER }),
            (ONE_FILE, Leave::OneFile),
            (ONE_FILE_PLACES, Leave::OneFileAtPlaces),
            (OWN_FILES, Leave::OwnFiles { buffer: 0 }),
            (SEGMENTS, Leave::Segments { checksums: false }),
            (PLAIN, Leave::Plain),
        ];
        by_threads(stage, &ways)
    },
    judge: judge_files,
};

fn charts_of(serial: &str) -> Vec<Chart> {
    let over_serial = Measure::SpeedUp { series: serial.to_owned(), x: Some(1.0) };
    vec![
        chart("time by threads", "threads", Measure::Seconds).log_x(),
        chart("speed-up over the serial writer", "threads", over_serial).log_x(),
        chart("bandwidth", "threads", Measure::Rate).log_x(),
        chart("voluntary context switches", "threads", metric("voluntary_switches", ""))
            .log_x(),
    ]
}

/// A tree, and the folder that it is left in.
struct Written {
    trees: Trees,
    folder: PathBuf,
}

impl Written {
    fn entrant(self: &Rc<Self>, (series, how): (&str, Leave), threads: usize) -> Entrant {
        let (here, before) = (Rc::clone(self), Rc::clone(self));
        let (bytes, checksum) = self.trees.expected();
        let expected = Outcome { bytes, checksum };
        let work = move |meter: &mut Meter| {
            let left = meter.measure(|| here.trees.leave(&here.folder, how))??;
            if let Some(left) = left {
                meter.note("forks", left.forks as f64);
                meter.note("steals", left.steals as f64);
                meter.note("extents", left.extents as f64);
                meter.note("parallelism", here.trees.fib().parallelism());
            }
            let (bytes, checksum) = match how {
                Leave::Nowhere => here.trees.expected(),
                _ => here.trees.check(&here.folder)?,
            };
            fs::remove_dir_all(&here.folder)?;
            Ok(Outcome { bytes, checksum })
        };
        let place = (series, threads as f64, State::None);
        Entrant::new(place, expected, work).with_before(move || {
            let _ = fs::remove_dir_all(&before.folder);
            fs::create_dir_all(&before.folder)?;
            // What the last one wrote must not be written back meanwhile.
            rustix::fs::sync();
            let room = usize::try_from(before.trees.expected().0).unwrap_or(usize::MAX);
            cache::touch_memory(room.saturating_mul(2)).context("cannot touch memory")
        })
    }
}

fn by_threads(stage: &Stage, ways: &[(&'static str, Leave)]) -> Result<Entrants> {
    let most = stage.pick(2, 2 * stage.workers().min(4), 8.max(stage.workers().min(32)));
    let mut entrants = Entrants::default();
    for threads in powers_of_two(most) {
        let trees = Trees::new(stage.pick(8, 16, 21), CALL, threads)?;
        let written = Rc::new(Written { trees, folder: stage.output("tree") });
        for &way in ways {
            // One thread is one thread.
            if threads == 1 || !matches!(way.1, Leave::Serial { .. }) {
                entrants.here.push(written.entrant(way, threads));
            }
        }
    }
    Ok(entrants)
}

fn key(series: &str, x: f64) -> Key<'_> {
    Key { series, x, state: State::None }
}

/// The fastest of a series.
fn best<'s>(runs: &Selected<'_>, series: &'s str) -> Key<'s> {
    key(series, runs.best(series, State::None).unwrap_or(1.0))
}

fn judge_tree(runs: &Selected<'_>) -> Finding {
    let (bare, ordered) = (best(runs, OWN_FILES_BUFFERED), best(runs, SEGMENTS));
    let plain = best(runs, PLAIN);
    let what = |ordered: Key<'_>| {
        let (own, theirs) = (ordered.x, bare.x);
        format!(
            "{} ({own} threads) against files without order ({theirs}), as fast as",
            ordered.series
        )
    };
    let claims = [
        Claim::new(what(ordered), runs.speed_up(ordered, bare), Bound::AtLeast(0.9)),
        Claim::new(
            "and as the serial writer",
            runs.speed_up(ordered, key(SERIAL, 1.0)),
            Bound::AtLeast(1.0),
        ),
    ];
    let mut finding = all_of(&claims);
    if let Some(plain) = runs.speed_up(plain, bare) {
        finding.because += &format!("; one plain file {plain}");
    }
    finding.with_limit(runs.speed_up(ordered, bare))
}

fn judge_files(runs: &Selected<'_>) -> Finding {
    let threads = runs.places(ONE_FILE, State::None).into_iter().filter(|&x| x > 1.0);
    let timed = threads.filter_map(|x| Some((x, runs.time(key(ONE_FILE, x))?.estimate)));
    let several = timed.min_by(|left, right| left.1.total_cmp(&right.1)).map_or(2.0, |it| it.0);
    let own = key(OWN_FILES, several);
    let claims = [ONE_FILE, ONE_FILE_PLACES].map(|series| {
        Claim::new(
            format!("{several} threads, own files against {series}, as fast as"),
            runs.speed_up(own, key(series, several)),
            Bound::AtLeast(1.1),
        )
    });
    let mut finding = all_of(&claims);
    if let Some(serial) = runs.speed_up(own, key(SERIAL, 1.0)) {
        finding.because += &format!("; against the serial writer {serial}");
    }
    finding
}
