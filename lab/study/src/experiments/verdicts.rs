//! Tests every rule on synthetic runs: claims that hold, claims that do not, and undecided ones.

use std::collections::BTreeSet;

use super::ALL;
use crate::experiment::Places;
use crate::results::{Holds, Run, State, WordsAuthor};

/// A series, its place, and its seconds if the claim holds and if it does not.
type Times = (&'static str, f64, f64, f64);

/// One claim a line, with its runs: `claim | series @ place: seconds, seconds | …`.
const CASES: &str = include_str!("verdicts.txt");

fn cases() -> impl Iterator<Item = (&'static str, Vec<Times>)> {
    let times = |text: &'static str| -> Option<Times> {
        let (series, numbers) = text.split_once(" @ ")?;
        let (x, seconds) = numbers.split_once(": ")?;
        let (held, failed) = seconds.split_once(", ")?;
        Some((series, x.parse().ok()?, held.parse().ok()?, failed.parse().ok()?))
    };
    CASES.lines().map(move |line| {
        let mut cells = line.split(" | ");
        let id = cells.next().expect("a claim");
        (id, cells.map(|text| times(text).expect("three numbers")).collect())
    })
}

/// Claims about other devices.
const ELSEWHERE: [&str; 2] = ["b-medium-array", "b-medium-disk"];

/// The metrics of a run of one second.
const COUNTED: [(&str, f64); 9] = [
    ("l1_load_misses", 1e6),
    ("voluntary_switches", 1e6),
    ("minor_faults", 1e6),
    ("swapped_pages", 1e6),
    ("late_most_seconds", 1.0),
    ("peak_bytes", 1.0),
    ("read_share", 1.0),
    ("write_share", 1.0),
    ("parallelism", 1e2),
];

/// Series whose place is the number of cores.
const CORES: [(&str, State); 2] =
    [("limit: bare calls", State::Warm), ("limit: memory", State::None)];

/// Returns nine rounds; in a round that `holds` accepts, the times are those of a claim that holds.
fn runs(times: &[Times], state: State, holds: impl Fn(usize) -> bool) -> Vec<Run> {
    let mut runs = Vec::new();
    for round in 0..9 {
        for &(series, x, held, failed) in times {
            let seconds = if holds(round) { held } else { failed };
            let metrics =
                COUNTED.map(|(name, scale)| (name.to_owned(), seconds * scale)).into();
            let series = series.to_owned();
            runs.push(Run { series, x, state, round, seconds, metrics, ..Run::default() });
        }
        runs.extend(CORES.map(|(series, state)| {
            let series = series.to_owned();
            Run { series, x: 2.0, state, round, seconds: 1.0, ..Run::default() }
        }));
    }
    runs
}

/// Returns the verdict on claim `id`, and the reason.
fn verdict(id: &str, runs: &[Run], noise: f64, cores: usize) -> (Holds, String) {
    let experiment = ALL
        .iter()
        .find(|one| one.claims.iter().any(|claim| claim.id == id))
        .unwrap_or_else(|| panic!("no claim is called {id}"));
    let folders = ["/data".to_owned()];
    let places = Places { folders: &folders, seed: 1, noise: Some(noise), cores };
    let claims = experiment.judged(runs, places);
    let claim = claims.into_iter().find(|claim| claim.id == id).expect("judged");
    let [finding] = claim.verdicts.as_slice() else { panic!("{id}: one state was run") };
    (finding.verdict, finding.because.clone())
}

fn state_of(id: &str) -> State {
    match id.starts_with("e-") || id.starts_with("a-memory") {
        true => State::None,
        false => State::Warm,
    }
}

#[test]
fn a_machine_without_what_a_claim_needs_cannot_ask_it() {
    // A claim that holds on sixteen processors holds on fewer, or cannot be asked there.
    let on = |cores| {
        cases().filter_map(move |(id, times)| {
            let held = verdict(id, &runs(&times, state_of(id), |_| true), 0.05, cores);
            assert_ne!(held.0, Holds::No, "{id}: {}", held.1);
            (held.0 == Holds::NotHere).then_some(id)
        })
    };
    let cannot: Vec<&str> = on(2).collect();
    assert_eq!(
        cannot,
        [
            "a-threads",
            "a-threads-speed-up",
            "a-threads-large",
            "c-scaling-15",
            "c-scaling-time"
        ]
    );
    assert!(on(1).count() > 12);
    // A claim without readable counters, or about another kind of device, cannot be asked either.
    let bare = |id| {
        let times = cases().find(|case| case.0 == id || case.0 == "b-medium").map(|it| it.1);
        let mut runs = runs(&times.expect("a case"), State::Warm, |_| true);
        runs.iter_mut().for_each(|run| run.metrics.clear());
        verdict(id, &runs, 0.05, 16).0
    };
    for id in ["a-chunk-size", "a-chunk-size-time"].into_iter().chain(ELSEWHERE) {
        assert_eq!(bare(id), Holds::NotHere, "{id}");
    }
}

#[test]
fn every_rule_tells_what_holds_what_does_not_and_what_cannot_be_told() {
    for (id, times) in cases() {
        let state = state_of(id);
        let judged = |noise, holds: &dyn Fn(usize) -> bool| {
            verdict(id, &runs(&times, state, holds), noise, 16)
        };
        for (expected, noise, holds) in [
            (Holds::Yes, 0.05, &(|_| true) as &dyn Fn(usize) -> bool),
            (Holds::No, 0.05, &|_| false),
            // The interval covers both times.
            (Holds::Undecided, 0.05, &|round| round % 2 == 1),
            // Too noisy for any of these differences.
            (Holds::Undecided, 9.0, &|_| true),
            (Holds::Undecided, 9.0, &|_| false),
        ] {
            let (found, because) = judged(noise, holds);
            assert_eq!(found, expected, "{id}, control {noise}: {because}");
            assert_eq!(because.contains("The control was spread"), noise > 1.0, "{because}");
        }
        let few: Vec<Run> =
            runs(&times, state, |_| true).into_iter().filter(|run| run.round < 4).collect();
        assert_eq!(verdict(id, &few, 0.05, 16).0, Holds::Undecided, "{id}: four rounds");
    }
}

#[test]
fn every_claim_has_made_up_runs_to_be_judged_by() {
    let claims = ALL.iter().flat_map(|one| one.claims);
    let (asked, judged): (Vec<_>, Vec<_>) =
        claims.partition(|claim| claim.source().kind == WordsAuthor::Asked);
    let judged: BTreeSet<&str> = judged.iter().map(|claim| claim.id).collect();
    assert_eq!(judged, cases().map(|case| case.0).chain(ELSEWHERE).collect());
    // A question never has a verdict.
    for claim in asked {
        let nothing = crate::results::Selected::new(&[], 0, 1);
        assert_eq!((claim.judge)(&nothing, State::Warm).verdict, Holds::Told, "{}", claim.id);
    }
}

#[test]
fn eighteen_megabytes_are_told_and_not_judged() {
    let runs = runs(
        &[("task manager", 1.0, 2.0, 2.0), ("task manager", 8.0, 1.0, 1.0)],
        State::Warm,
        |_| true,
    );
    let (found, because) = verdict("b-huge", &runs, 0.05, 2);
    assert_eq!(found, Holds::Told);
    assert!(because.contains("8 threads are 2.00 × [2.00, 2.00] as fast as one"), "{because}");
}
