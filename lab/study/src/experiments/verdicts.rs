//! Every rule on made-up runs: those that hold, those that do not, and those that stay open.

use std::collections::BTreeSet;

use super::ALL;
use crate::experiment::Places;
use crate::results::{Holds, Kind, Run, State};

/// A series, its place, and its seconds where the claim holds and where it does not.
type Times = (&'static str, f64, f64, f64);

const CASES: &[(&str, &[Times])] = &[
    ("a-threads", &[("sequential", 1.0, 2.0, 1.0), ("parallel chunks", 8.0, 1.0, 1.0)]),
    ("a-threads-large", &[("sequential", 1.0, 2.0, 1.0), ("parallel chunks", 8.0, 1.0, 1.0)]),
    ("a-threads-best", EIGHT),
    ("a-threads-large-best", EIGHT),
    (
        "a-file-size",
        &[
            ("sequential", 100.0, 1.0, 1.0),
            ("parallel chunks", 100.0, 1.0, 1.0),
            ("sequential", 750.0, 2.0, 0.5),
            ("parallel chunks", 750.0, 1.0, 1.0),
        ],
    ),
    (
        "a-chunk-size",
        &[
            ("parallel chunks", 512.0, 2.0, 1.0),
            ("parallel chunks", 1024.0, 1.0, 2.0),
            ("parallel chunks", 2048.0, 2.0, 1.0),
        ],
    ),
    ("a-copies", &[("two mirrors", 1.0, 2.0, 1.0), ("two mirrors", 4.0, 1.0, 2.0)]),
    (
        "a-copies-four",
        &[
            ("two mirrors", 3.0, 2.0, 1.0),
            ("two mirrors", 4.0, 1.0, 2.0),
            ("two mirrors", 6.0, 2.0, 1.0),
        ],
    ),
    (
        "a-engines",
        &[
            ("sequential", 0.0, 2.0, 2.0),
            ("parallel chunks", 1.0, 3.0, 3.0),
            ("two mirrors", 2.0, 3.0, 3.0),
            ("memory map, not read", 6.0, 1.0, 3.0),
        ],
    ),
    (
        "a-engines-copied",
        &[
            ("sequential", 0.0, 3.0, 3.0),
            ("parallel chunks", 1.0, 3.0, 3.0),
            ("two mirrors", 2.0, 2.0, 2.0),
            ("memory map", 3.0, 1.0, 3.0),
        ],
    ),
    ("a-cores", &[("parallel chunks", 1.0, 2.0, 1.0), ("parallel chunks", 2.0, 1.0, 1.0)]),
    (
        "a-memory",
        &[
            ("chunks of 1,024 bytes", 50.0, 2.0, 1.0),
            ("chunks of 1,024 bytes", 200.0, 1.0, 1.0),
            ("memory map", 50.0, 2.0, 1.0),
            ("memory map", 200.0, 1.0, 1.0),
        ],
    ),
    (
        "a-priorities-threads",
        &[
            ("batch after batch, one thread", 8.0, 2.0, 1.0),
            ("barrier between batches", 8.0, 1.0, 1.0),
        ],
    ),
    // More priorities take longer, as the study says.
    (
        "a-priorities-range",
        &[
            ("barrier between batches", 100.0, 1.0, 2.0),
            ("barrier between batches", 500.0, 1.5, 1.5),
            ("barrier between batches", 1000.0, 2.0, 1.0),
        ],
    ),
    (
        "a-priorities-family",
        &[
            ("barrier, threads: 2", 100.0, 1.0, 1.0),
            ("barrier, threads: 2", 1000.0, 2.0, 0.5),
            ("barrier, threads: 16", 100.0, 1.0, 1.0),
            ("barrier, threads: 16", 1000.0, 2.0, 2.0),
        ],
    ),
    (
        "a-priorities-chunks",
        &[
            ("barrier between batches", 5e3, 1.0, 2.0),
            ("barrier between batches", 1e5, 2.0, 1.0),
        ],
    ),
    (
        "a-priorities-chunks-linear",
        &[
            ("barrier between batches", 5e3, 2.0, 1.0),
            ("barrier between batches", 1e5, 1.0, 2.0),
        ],
    ),
    (
        "b-small",
        &[
            ("task manager", 1.0, 4.0, 4.0),
            ("task manager", 2.0, 1.0, 4.0),
            ("task manager", 500.0, 4.0, 1.0),
        ],
    ),
    ("b-medium", MANY),
    ("b-large", MANY),
    (
        "b-lines",
        &[
            ("task manager, line by line", 10.0, 1.0, 2.0),
            ("task manager, line by line", 500.0, 2.0, 1.0),
        ],
    ),
    ("b-lines-whole", &[("task manager", 10.0, 1.0, 2.0), ("task manager", 500.0, 2.0, 1.0)]),
    ("c-scaling", &[("line by line", 2.0, 2.0, 1.0), ("study C's form", 2.0, 1.0, 2.0)]),
    (
        "c-scaling-serial",
        &[
            ("line by line", 1.0, 4.0, 4.0),
            ("line by line", 2.0, 3.6, 3.0),
            ("study C's form", 1.0, 4.0, 4.0),
            ("study C's form", 2.0, 3.0, 3.6),
        ],
    ),
    (
        "d-advice",
        &[
            ("one thread", 0.0, 2.0, 1.0),
            ("one thread", 3.0, 1.0, 2.0),
            ("all cores", 0.0, 1.0, 1.0),
            ("all cores", 3.0, 1.0, 1.0),
        ],
    ),
    ("d-advice-parallel", &[("one thread", 3.0, 2.0, 1.0), ("all cores", 3.0, 1.0, 2.0)]),
    (
        "d-block-size",
        &[
            ("taken as they come", 262_144.0, 1.0, 2.0),
            ("taken as they come", 1_048_576.0, 2.0, 1.0),
        ],
    ),
    (
        "d-graph",
        &[
            ("sum through a map, one thread", 1.0, 1.0, 1.0),
            ("swath, to compressed rows, one thread", 1.0, 9.0, 1.0),
            ("sum through a map, all cores", 1.0, 1.0, 1.0),
            ("swath, to compressed rows", 1.0, 9.0, 1.0),
        ],
    ),
    (
        "e-fib",
        &[
            ("serial writer", 1.0, 2.0, 2.0),
            ("each thread its own file, buffered", 2.0, 1.0, 1.0),
            ("swath, segments", 2.0, 1.0, 3.0),
        ],
    ),
    (
        "e-files",
        &[
            ("each thread its own file", 2.0, 1.0, 2.0),
            ("one shared file, to its end", 2.0, 2.0, 1.0),
            ("one shared file, at known places", 2.0, 2.0, 1.0),
        ],
    ),
    (
        "e-append-orders",
        &[
            ("study E's append, linked list", 2.0, 1.0, 1.0),
            ("study E's append, skip list", 2.0, 1.0, 2.0),
        ],
    ),
    ("e-orders", &[("skip list", 3.0, 1.0, 1.0), ("linked list", 3.0, 50.0, 2.0)]),
];

const EIGHT: &[Times] =
    &[("parallel chunks", 2.0, 2.0, 1.0), ("parallel chunks", 8.0, 1.0, 2.0)];
const MANY: &[Times] = &[
    ("task manager", 1.0, 1.0, 4.0),
    ("task manager", 2.0, 1.0, 4.0),
    ("task manager", 8.0, 4.0, 1.0),
];

/// The number of cores, for the judges.
const CORES: [(&str, State); 2] =
    [("limit: bare calls", State::Warm), ("limit: memory", State::None)];

/// Nine rounds: `holds` selects the times of a claim that holds.
fn runs(times: &[Times], state: State, holds: impl Fn(usize) -> bool) -> Vec<Run> {
    let mut runs = Vec::new();
    for round in 0..9 {
        for &(series, x, held, failed) in times {
            let seconds = if holds(round) { held } else { failed };
            let metrics = [("cache_misses".to_owned(), seconds * 1e6)].into();
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

/// The verdict on `id`, and the state that it is of.
fn verdict(id: &str, runs: &[Run], noise: f64) -> (Holds, String) {
    let experiment = ALL
        .iter()
        .find(|one| one.claims.iter().any(|claim| claim.id == id))
        .unwrap_or_else(|| panic!("no claim is called {id}"));
    let folders = ["/data".to_owned()];
    let claims =
        experiment.judged(runs, Places { folders: &folders, seed: 1, noise: Some(noise) });
    let claim = claims.into_iter().find(|claim| claim.id == id).expect("judged");
    let [finding] = claim.verdicts.as_slice() else { panic!("{id}: one state was run") };
    (finding.verdict, finding.because.clone())
}

#[test]
fn every_rule_tells_what_holds_what_does_not_and_what_cannot_be_told() {
    for &(id, times) in CASES {
        let state = match id.starts_with("e-") || id == "a-memory" {
            true => State::None,
            false => State::Warm,
        };
        let judged = |noise, holds: &dyn Fn(usize) -> bool| {
            verdict(id, &runs(times, state, holds), noise)
        };
        for (expected, noise, holds) in [
            (Holds::Yes, 0.05, &(|_| true) as &dyn Fn(usize) -> bool),
            (Holds::No, 0.05, &|_| false),
            // The interval reaches from the one to the other.
            (Holds::Undecided, 0.05, &|round| round % 2 == 1),
            // Too noisy for any of these differences to mean anything.
            (Holds::Undecided, 9.0, &|_| true),
            (Holds::Undecided, 9.0, &|_| false),
        ] {
            let (found, because) = judged(noise, holds);
            assert_eq!(found, expected, "{id}, control {noise}: {because}");
            assert_eq!(because.contains("The control was spread"), noise > 1.0, "{because}");
        }
        let few: Vec<Run> =
            runs(times, state, |_| true).into_iter().filter(|run| run.round < 4).collect();
        assert_eq!(verdict(id, &few, 0.05).0, Holds::Undecided, "{id}: four rounds");
    }
}

#[test]
fn every_claim_has_made_up_runs_to_be_judged_by() {
    let claims = ALL.iter().flat_map(|one| one.claims);
    let (asked, judged): (Vec<_>, Vec<_>) =
        claims.partition(|claim| claim.source.kind == Kind::Asked);
    let judged: BTreeSet<&str> = judged.iter().map(|claim| claim.id).collect();
    assert_eq!(judged, CASES.iter().map(|case| case.0).collect());
    // A question has no verdict, whatever was measured.
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
    let (found, because) = verdict("b-huge", &runs, 0.05);
    assert_eq!(found, Holds::Told);
    assert!(because.contains("8 threads are 2.00 × [2.00, 2.00] as fast as one"), "{because}");
}
