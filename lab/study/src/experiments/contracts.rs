//! Study C: option contracts, read, priced and written.

use anyhow::Result;

use super::limit::{MEMORY, memory};
use super::shape::{busy, charts, fastest, metric, over, powers_of_two, read, states};
use crate::experiment::{Experiment, Point, Scale, Study, all_of};
use crate::fields::contracts::Contracts;
use crate::measure::{Entrants, Stage};
use crate::pricing::Form;
use crate::results::{Chart, Finding, Key, Measure, Selected, State};
use swath_profile::stats::{Bound, Interval};

const BEFORE: &str = "line by line";
const AFTER: &str = "study C's form";
const SWATH: &str = "swath";

const FORMS: [(&str, Form); 3] =
    [(BEFORE, Form::Lines), (AFTER, Form::Bulk), (SWATH, Form::Swath)];

/// By threads.
pub(super) const SCALING: Experiment = Experiment {
    id: "c-scaling",
    study: Study::C,
    figure: "time, scaling and load of Black-Scholes by threads: line by line, in bulk, and Swath",
    claims: &[
        read(
            "c-scaling",
            "Read in bulk, parsed and formatted by all threads and written in bulk, the whole \
                 program is faster than line by line.",
            "",
            "With as many threads as cores it is at least 1.1 × as fast as line by line.",
            judge_speed,
        ),
        read(
            "c-scaling-serial",
            "Less of the program is serial in bulk than line by line.",
            "",
            "By Amdahl's law, fitted in each round to the times up to as many threads as cores, its \
             serial share is smaller; shares whose intervals overlap decide nothing.",
            judge_share,
        ),
    ],
    scale: Scale { study: "2.5 million contracts", other: "4 million contracts", minutes: 11 },
    least_rounds: 5,
    charts: charts_by_threads,
    entrants: by_threads,
};

fn charts_by_threads() -> Vec<Chart> {
    let first = [
        ("time by threads", Measure::Seconds),
        ("speed-up over line by line with one thread", over(BEFORE, Some(1.0))),
        ("efficiency", Measure::Efficiency),
        ("bandwidth", Measure::Rate),
    ];
    let shares = [
        ("share of the time: reading and parsing", metric("read_share")),
        ("share of the time: computing", metric("compute_share")),
        ("share of the time: formatting and writing", metric("write_share")),
    ];
    let load = |threads| busy(&format!("load over time, {}", counted(threads)), threads);
    let mut all = charts("threads", first);
    all.extend([1.0, 2.0].map(load));
    all.extend(charts("threads", shares));
    all
}

fn counted(threads: f64) -> String {
    if threads > 1.0 { format!("{threads} threads") } else { "one thread".to_owned() }
}

fn by_threads(stage: &Stage) -> Result<Entrants> {
    let contracts = Contracts::new(stage, stage.pick(2_000, 300_000, 4_000_000))?;
    let most = stage.pick(2, 2 * stage.workers.min(8), 4 * stage.workers.min(8));
    let mut entrants = Entrants::default();
    for &state in states(stage) {
        for threads in powers_of_two(most) {
            for (series, form) in FORMS {
                let entrant = contracts.entrant(series, form, threads, state);
                entrants.here.push(entrant.at(threads as f64, state));
            }
        }
    }
    entrants.here.push(memory(stage, &contracts.input, stage.workers as f64, State::None)?);
    Ok(entrants)
}

/// The limit of all entrants; its place is the number of cores.
const LIMIT: Key<'_> = Key { series: MEMORY, x: 0.0, state: State::None };

/// More threads than processors do not add workers.
fn cores(runs: &Selected<'_>) -> f64 {
    runs.places(LIMIT.series, LIMIT.state).first().copied().unwrap_or(1.0)
}

fn judge_speed(runs: &Selected<'_>, state: State) -> Finding {
    let cores = cores(runs);
    let most =
        runs.places(AFTER, state).into_iter().filter(|&x| x <= cores).fold(1.0, f64::max);
    let compared = |series, other| {
        let key = |series| Key { series, x: most, state };
        runs.speed_up(key(series), key(other))
    };
    let sentence =
        format!("with {} the program in bulk is {{}} as fast as line by line", counted(most));
    let points = [
        Point::new(sentence, compared(AFTER, BEFORE), Bound::AtLeast(1.1)),
        Point::told("swath is {} as fast as in bulk", compared(SWATH, AFTER)),
    ];
    let best = fastest(runs, SWATH, state);
    all_of(runs, &points).with_limit(runs.speed_up(best, Key { x: cores, ..LIMIT }))
}

fn judge_share(runs: &Selected<'_>, state: State) -> Finding {
    let cores = cores(runs);
    let share = |series| runs.serial_share(series, state, cores);
    let told = |name: &str, series| {
        let text = share(series).map_or_else(
            || "not measured".to_owned(),
            |Interval { estimate, lower, upper }| {
                format!("{estimate:.2} [{lower:.2}, {upper:.2}]")
            },
        );
        Point::words(format!("of the time {name} {text} is serial"))
    };
    let ratio = runs.share_ratio(AFTER, BEFORE, state, cores);
    let points = [
        Point::new(
            "the serial share in bulk is {} that of line by line",
            ratio,
            Bound::AtMost(1.0),
        )
        .apart(share(AFTER), share(BEFORE)),
        told("line by line", BEFORE),
        told("in bulk", AFTER),
        told("swath", SWATH),
    ];
    all_of(runs, &points)
}
