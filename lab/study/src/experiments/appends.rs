//! Study E: the output of threads that fork, in serial order or without an order.

use anyhow::Result;

use super::shape::{charts, metric, over, powers_of_two};
use crate::experiment::{Claim, Experiment, Point, Scale, Study, all_of, told};
use crate::fields::forked::Forked;
use crate::forks::{BUFFER, Leave, SharedOrder};
use crate::measure::{Entrants, Stage};
use crate::results::{Chart, Finding, Key, Measure, Selected, State};
use swath_profile::stats::Bound;

const NOTHING: &str = "without I/O";
const SERIAL: &str = "serial writer";
const OWN_FILES: &str = "each thread its own file";
const OWN_FILES_BUFFERED: &str = "each thread its own file, buffered";
const ONE_FILE: &str = "one shared file, to its end";
const ONE_FILE_PLACES: &str = "one shared file, at known places";
const SEGMENTS: &str = "swath, segments";
const PLAIN: &str = "swath, one plain file";
const LIST: &str = "study E's append, linked list";
const SKIP: &str = "study E's append, skip list";

/// Varies the number of threads.
pub(super) const TREE: Experiment = Experiment {
    id: "e-fib",
    study: Study::E,
    figure: "time and speed-up of fib by threads, each call writing 10 KB: without I/O, in serial \
             order, in files without order",
    claims: &[
        Claim::new("e-fib", judge_linear),
        Claim::new("e-fib-overhead", |runs, _| {
            let (own, bare) = (best(runs, SKIP), best(runs, OWN_FILES_BUFFERED));
            let sentence = "E's own scheme is {} as fast as files without order";
            all_of(runs, &[Point::new(sentence, runs.speed_up(own, bare), Bound::AtLeast(0.9))])
        }),
        Claim::new("e-fib-parallelism", |runs, _| {
            let parallelism = runs.value(best(runs, SEGMENTS), "parallelism", 1.0);
            let point = Point::new("work over span is {}", parallelism, Bound::AtLeast(150.0));
            all_of(runs, &[point.in_unit("")])
        }),
        Claim::new("e-fib-swath", tell_tree),
    ],
    scale: FIB,
    least_rounds: 5,
    charts: || {
        let own = [
            ("forks", metric("forks")),
            ("steals", metric("steals")),
            ("parallelism, work over span", metric("parallelism")),
            ("extents of the output", metric("extents")),
        ];
        charts_with(own)
    },
    entrants: |stage| {
        let ways = [
            (NOTHING, Leave::Nowhere),
            (SERIAL, Leave::Serial { buffer: BUFFER }),
            (OWN_FILES_BUFFERED, Leave::OwnFiles { buffer: BUFFER }),
            (SKIP, Leave::StudyE(SharedOrder::Skip)),
            (SEGMENTS, Leave::Segments { checksums: true }),
            (PLAIN, Leave::Plain),
        ];
        by_threads(stage, &ways)
    },
};

/// Compares one file with many.
pub(super) const FILES: Experiment = Experiment {
    id: "e-files",
    figure: "time to write the same bytes to one shared file, to a file a thread, and by one thread",
    claims: &[
        Claim::new("e-files", judge_files),
        Claim::new("e-files-places", |runs, state| {
            let several = runs.best_of(ONE_FILE_PLACES, state, |x| x > 1.0).unwrap_or(2.0);
            let ratio = runs.speed_up(key(ONE_FILE_PLACES, several), key(ONE_FILE_PLACES, 1.0));
            let sentence = format!("{several} threads at known places are {{}} as fast as one");
            all_of(runs, &[Point::new(sentence, ratio, Bound::AtMost(1.1)).from_cores(runs, 2)])
        }),
        Claim::new("e-files-only", judge_only),
        Claim::new("e-files-best", |runs, _| {
            let own = best(runs, OWN_FILES);
            let points = [SERIAL, ONE_FILE, ONE_FILE_PLACES, SEGMENTS, PLAIN].map(|series| {
                let ratio = runs.speed_up(own, best(runs, series));
                let sentence = format!("they are {{}} as fast as {series}");
                Point::new(sentence, ratio, Bound::AtLeast(0.95))
            });
            all_of(runs, &points)
        }),
    ],
    charts: || charts_with([]),
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
    ..TREE
};

/// Compares the structures that keep the order.
pub(super) const ORDERS: Experiment = Experiment {
    id: "e-append-orders",
    figure: "figure 6: time of fib by threads, each call appending 10 KB, with a linked list and with \
             a skip list that keep the order",
    claims: &[
        Claim::new("e-append-orders", judge_orders),
        Claim::new("e-append-orders-scale", |runs, _| all_of(runs, &[linear(runs, SKIP)])),
    ],
    scale: Scale { minutes: 11, ..FIB },
    charts: || {
        charts_with([("steals", metric("steals")), ("nodes of the order", metric("extents"))])
    },
    entrants: |stage| {
        let ways = [
            (SERIAL, Leave::Serial { buffer: BUFFER }),
            (LIST, Leave::StudyE(SharedOrder::List)),
            (SKIP, Leave::StudyE(SharedOrder::Skip)),
            (SEGMENTS, Leave::Segments { checksums: false }),
        ];
        by_threads(stage, &ways)
    },
    ..TREE
};

const FIB: Scale =
    Scale { study: "fib(25), 10 KB a call, 2 GB and more", other: "", minutes: 15 };

/// Returns the charts of all experiments of this file, then `more`.
fn charts_with<const N: usize>(more: [(&str, Measure); N]) -> Vec<Chart> {
    let all = [
        ("time by threads", Measure::Seconds),
        ("speed-up over the serial writer", over(SERIAL, Some(1.0))),
        ("bandwidth", Measure::Rate),
        ("voluntary context switches", metric("voluntary_switches")),
    ];
    [charts("threads", all), charts("threads", more)].concat()
}

fn by_threads(stage: &Stage, ways: &[(&'static str, Leave)]) -> Result<Entrants> {
    let most = stage.pick(2, 2 * stage.workers.min(4), 8.max(stage.workers.min(32)));
    let mut entrants = Entrants::default();
    for threads in powers_of_two(most) {
        let forked = Forked::new(stage, stage.pick(8, 16, 25), threads)?;
        for &(series, how) in ways {
            // The serial writer has one thread.
            if threads == 1 || !matches!(how, Leave::Serial { .. }) {
                let entrant = forked.entrant(series, how);
                entrants.here.push(entrant.at(threads as f64, State::None));
            }
        }
    }
    Ok(entrants)
}

fn key(series: &str, x: f64) -> Key<'_> {
    Key { series, x, state: State::None }
}

/// Returns the key of the fastest place of a series.
fn best<'s>(runs: &Selected<'_>, series: &'s str) -> Key<'s> {
    key(series, runs.best(series, State::None).unwrap_or(1.0))
}

/// Requires a nearly linear speed-up with as many threads as processors.
fn linear(runs: &Selected<'_>, series: &str) -> Point {
    let cores = runs.cores() as f64;
    let places = runs.places(series, State::None).into_iter();
    let most = places.filter(|&x| x <= cores).fold(1.0, f64::max);
    let ratio = runs.speed_up(key(series, most), key(series, 1.0)).filter(|_| most > 1.0);
    let sentence = format!("{series}: {most} threads are {{}} as fast as one");
    Point::new(sentence, ratio, Bound::AtLeast(0.8 * most)).from_cores(runs, 2)
}

fn judge_linear(runs: &Selected<'_>, _: State) -> Finding {
    all_of(runs, &[linear(runs, NOTHING), linear(runs, SKIP)])
}

fn tell_tree(runs: &Selected<'_>, _: State) -> Finding {
    let (bare, ordered) = (best(runs, OWN_FILES_BUFFERED), best(runs, SEGMENTS));
    let points = [
        Point::told(
            format!(
                "{} by {} threads are {{}} as fast as files without order by {}",
                ordered.series, ordered.x, bare.x
            ),
            runs.speed_up(ordered, bare),
        ),
        Point::told(
            "they are {} as fast as the serial writer",
            runs.speed_up(ordered, key(SERIAL, 1.0)),
        ),
        Point::told(
            "and {} as fast as E's own scheme",
            runs.speed_up(ordered, best(runs, SKIP)),
        ),
        Point::told(
            "one plain file is {} as fast as files without order",
            runs.speed_up(best(runs, PLAIN), bare),
        ),
    ];
    told(&points).with_limit(runs.speed_up(ordered, bare))
}

fn judge_only(runs: &Selected<'_>, _: State) -> Finding {
    let serial = key(SERIAL, 1.0);
    let beside = |series, bound| {
        let way = best(runs, series);
        let sentence =
            format!("{series} by {} threads: {{}} as fast as the serial writer", way.x);
        Point::new(sentence, runs.speed_up(way, serial), bound).from_cores(runs, 2)
    };
    let points = [
        beside(OWN_FILES, Bound::AtLeast(1.1)),
        beside(ONE_FILE, Bound::AtMost(1.1)),
        beside(ONE_FILE_PLACES, Bound::AtMost(1.1)),
        beside(PLAIN, Bound::AtMost(1.1)),
    ];
    all_of(runs, &points)
}

fn judge_files(runs: &Selected<'_>, state: State) -> Finding {
    let several = runs.best_of(ONE_FILE, state, |x| x > 1.0).unwrap_or(2.0);
    let own = key(OWN_FILES, several);
    let mut points: Vec<Point> = [ONE_FILE, ONE_FILE_PLACES]
        .map(|series| {
            Point::new(
                format!(
                    "{several} threads with files of their own are {{}} as fast as {series}"
                ),
                runs.speed_up(own, key(series, several)),
                Bound::AtLeast(1.1),
            )
        })
        .into();
    let serial = runs.speed_up(own, key(SERIAL, 1.0));
    points.push(Point::told("they are {} as fast as the serial writer", serial));
    all_of(runs, &points)
}

fn judge_orders(runs: &Selected<'_>, _: State) -> Finding {
    let (list, skip) = (best(runs, LIST), best(runs, SKIP));
    let sentence = format!(
        "with a skip list ({} threads) the program is {{}} as fast as with a linked list ({})",
        skip.x, list.x
    );
    let points = [
        Point::new(sentence, runs.speed_up(skip, list), Bound::AtLeast(0.9)),
        Point::told(
            "swath's segments are {} as fast as the skip list",
            runs.speed_up(best(runs, SEGMENTS), skip),
        ),
    ];
    all_of(runs, &points)
}
