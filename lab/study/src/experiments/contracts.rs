//! Study C: reading, pricing and writing option contracts.

use anyhow::Result;

use super::limit::{MEMORY, memory};
use super::shape::{busy, charts, fastest, fastest_of, metric, over, powers_of_two, states};
use crate::experiment::{Claim, Experiment, Point, Scale, Study, all_of};
use crate::fields::contracts::Contracts;
use crate::measure::{Entrants, Stage};
use crate::pricing::Form;
use crate::results::{Chart, Finding, Key, Measure, Selected, State};
use swath_profile::stats::Bound;

const BEFORE: &str = "line by line";
const AFTER: &str = "study C's form";
const SWATH: &str = "swath";

const FORMS: [(&str, Form); 3] =
    [(BEFORE, Form::Lines), (AFTER, Form::Bulk), (SWATH, Form::Swath)];

/// Varies the number of threads.
pub(super) const SCALING: Experiment = Experiment {
    id: "c-scaling",
    study: Study::C,
    figure: "time, scaling and load of Black-Scholes by threads: line by line, in bulk, and Swath",
    claims: &[
        Claim::new("c-scaling", judge_speed),
        Claim::new("c-scaling-15", judge_fifteen),
        Claim::new("c-scaling-time", judge_time),
        Claim::new("c-scaling-amdahl", judge_amdahl),
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

/// The key of the limit; its place is the number of cores.
const LIMIT: Key<'_> = Key { series: MEMORY, x: 0.0, state: State::None };

/// Returns the number of processors: more threads do not add workers.
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
    let share = |series| runs.serial_share(series, state, cores);
    let serial = "the serial share in bulk is {} that of line by line";
    let ratio = runs.share_ratio(AFTER, BEFORE, state, cores);
    let mut points = vec![
        Point::new(sentence, compared(AFTER, BEFORE), Bound::AtLeast(1.1)),
        Point::told("swath is {} as fast as in bulk", compared(SWATH, AFTER)),
        Point::new(serial, ratio, Bound::AtMost(1.0)).apart(share(AFTER), share(BEFORE)),
    ];
    points.extend(FORMS.map(|(series, _)| {
        Point::told(format!("{series}, the serial share is {{}}"), share(series))
            .in_unit("of the time")
    }));
    let best = fastest(runs, SWATH, state);
    all_of(runs, &points).with_limit(runs.speed_up(best, Key { x: cores, ..LIMIT }))
}

fn judge_fifteen(runs: &Selected<'_>, state: State) -> Finding {
    let below = fastest_of(runs, BEFORE, state, |x| x <= 15.0);
    let above = fastest_of(runs, BEFORE, state, |x| x > 15.0);
    let sentence = format!("line by line, {} threads are {{}} as fast as {}", above.x, below.x);
    let point = Point::new(sentence, runs.speed_up(above, below), Bound::AtMost(1.05));
    all_of(runs, &[point.from_cores(runs, 16)])
}

fn judge_time(runs: &Selected<'_>, state: State) -> Finding {
    let most = Key { series: BEFORE, x: cores(runs), state };
    let points = [("reading", "read_share", 0.5), ("writing", "write_share", 0.1)].map(
        |(name, metric, least)| {
            let sentence = format!("with {} threads, {name} line by line takes {{}}", most.x);
            let share = runs.value(most, metric, 1.0);
            let point = Point::new(sentence, share, Bound::AtLeast(least));
            point.in_unit("of the time").from_cores(runs, 16)
        },
    );
    all_of(runs, &points)
}

fn judge_amdahl(runs: &Selected<'_>, state: State) -> Finding {
    let share = runs.serial_share(BEFORE, state, cores(runs));
    let sentence = "line by line, the serial share is {}";
    let point = Point::new(sentence, share, Bound::AtLeast(1.0 / 16.0)).in_unit("of the time");
    all_of(runs, &[point.from_cores(runs, 2)])
}
