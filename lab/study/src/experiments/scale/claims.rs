//! The questions, and the numbers that answer them. Nothing is judged: simulated results follow from
//! assumptions.

use super::names::{
    CASES, COMMITS, FIXED, HEDGED, HERE, LATES, PULLED, RATIO, RESTARTED, SERIES, SHARED,
    STORAGES, VERBS as VERB_NAMES, busy, hedge_series, measured_series, predicted_series,
    size_series,
};
use crate::experiment::{Claim, Point, told};
use crate::results::{Finding, Key, Selected, State};
use crate::scale::OutputForm;
use crate::scale::cores::{BUSY, SHARED as SHARED_BY_CORES};
use swath_profile::stats::median;

pub(super) const COSTS: &[Claim] = &[
    Claim::new("s-costs", |runs, state| {
        let all = [
            ("a segment", "segment_seconds"),
            ("a durable segment", "synced_segment_seconds"),
            ("to list a name", "names_seconds"),
            ("to list and look at a name", "list_seconds"),
            ("the commit as segments, each", "commit_seconds"),
            ("the commit as a file, each", "file_commit_seconds"),
        ];
        costs(runs, state, &all, |seconds| format!("{:.1} µs", seconds * 1e6))
    }),
    Claim::new("s-costs-bytes", |runs, state| {
        let all = [
            ("a part reads", "read_bytes_per_s"),
            ("a part writes", "write_bytes_per_s"),
            ("the commit copies and syncs", "place_bytes_per_s"),
        ];
        costs(runs, state, &all, |rate| format!("{:.2} GB/s", rate / 1e9))
    }),
];

/// Reports the medians of metrics at each number of names.
fn costs(
    runs: &Selected<'_>,
    state: State,
    metrics: &[(&str, &str)],
    text: fn(f64) -> String,
) -> Finding {
    let sentences = metrics.iter().map(|(what, name)| {
        let found = |x| {
            let found = median(&runs.metric(Key { series: HERE, x, state }, name))?;
            Some(text(found))
        };
        format!("{what}: {}", along(runs.places(HERE, state), "names", found))
    });
    words(sentences)
}

/// Formats the number found at each place, as in `2.0, 3.1 with 10, 100 workers`.
fn along(places: Vec<f64>, what: &str, found: impl Fn(f64) -> Option<String>) -> String {
    let all = places.into_iter().filter_map(|x| Some((found(x)?, x.to_string())));
    let (found, places): (Vec<String>, Vec<String>) = all.unzip();
    if found.is_empty() {
        return "not measured".to_owned();
    }
    format!("{} with {} {what}", found.join(", "), places.join(", "))
}

fn words(sentences: impl Iterator<Item = String>) -> Finding {
    told(&sentences.map(Point::words).collect::<Vec<_>>())
}

/// The ratios that count as near.
const NEAR: std::ops::RangeInclusive<f64> = 0.8..=1.2;

pub(super) const CLUSTER: &[Claim] = &[Claim::new("s-cluster", |runs, state| {
    let ratio = |series, x| median(&runs.metric(Key { series, x, state }, RATIO));
    let all = SERIES.iter().flat_map(|(series, _)| {
        runs.places(series, state).into_iter().filter_map(|x| ratio(series, x))
    });
    let all: Vec<f64> = all.collect();
    let near = all.iter().filter(|ratio| NEAR.contains(ratio)).count();
    let counted = format!("{near} of {} medians are within 20 %", all.len());
    let cases = CASES.iter().enumerate().map(|(place, case)| {
        let of = SERIES.iter().filter_map(|(series, _)| {
            Some(format!("{:.2} × with {series}", ratio(series, place as f64)?))
        });
        format!("{case}: simulated over measured {}", of.collect::<Vec<_>>().join(", "))
    });
    words(std::iter::once(counted).chain(cases))
})];

pub(super) const PULL: &[Claim] = &[
    Claim::new("s-pull", |runs, state| {
        let times = faster(runs, state, PULLED, FIXED, "workers");
        words(std::iter::once(format!("pull is as fast as fixed shares: {times}")))
    }),
    Claim::new("s-pull-hedge", |runs, state| {
        let times = faster(runs, state, HEDGED, PULLED, "workers");
        let extra = shares(runs, state, HEDGED, "extra_share", "workers");
        let sentences = [
            format!("hedging is as fast as pull alone: {times}"),
            format!("done twice: {extra}"),
        ];
        words(sentences.into_iter())
    }),
];

/// Formats the speed of a series as a multiple of another's, at each place.
fn faster(runs: &Selected<'_>, state: State, series: &str, other: &str, what: &str) -> String {
    along(runs.places(series, state), what, |x| {
        let [key, other] = [series, other].map(|series| Key { series, x, state });
        Some(format!("{:.2} ×", runs.speed_up(key, other)?.estimate))
    })
}

/// Formats a share at each place of a series.
fn shares(runs: &Selected<'_>, state: State, series: &str, name: &str, what: &str) -> String {
    along(runs.places(series, state), what, |x| percent(runs, Key { series, x, state }, name))
}

fn percent(runs: &Selected<'_>, key: Key<'_>, name: &str) -> Option<String> {
    Some(format!("{:.1} %", 100.0 * median(&runs.metric(key, name))?))
}

pub(super) const HEDGE: &[Claim] = &[Claim::new("s-hedge", |runs, state| {
    let sentences = LATES.into_iter().flat_map(|late| {
        let series = hedge_series(late);
        let times = faster(runs, state, &series, PULLED, "times slower");
        let extra = shares(runs, state, &series, "extra_share", "times slower");
        [format!("{series} is as fast as pull: {times}"), format!("done twice: {extra}")]
    });
    words(sentences)
})];

/// The share of time lost to one resource below which workers are not held up.
const HELD_UP: f64 = 0.1;

pub(super) const STORAGE: &[Claim] = &[Claim::new("s-storage", |runs, state| {
    let sentences = STORAGES.into_iter().map(|series| {
        let at = along(runs.places(series, state), "workers", |x| {
            let key = Key { series, x, state };
            let computing = percent(runs, key, "computing_share")?;
            let (what, share) = holds_up(runs, key)?;
            let what = if share < HELD_UP { "nothing" } else { what };
            Some(format!("{what} ({computing} computing)"))
        });
        format!("{series}: held up by {at}")
    });
    words(sentences)
})];

/// Returns the resource that workers wait for most, and its share of their time.
fn holds_up(runs: &Selected<'_>, key: Key<'_>) -> Option<(&'static str, f64)> {
    let held = SHARED
        .into_iter()
        .filter_map(|(what, name, _)| Some((what, median(&runs.metric(key, name))?)));
    held.max_by(|left, right| left.1.total_cmp(&right.1))
}

pub(super) const SIZE: &[Claim] = &[Claim::new("s-size", |runs, state| {
    let mut sentences = Vec::new();
    for workers in [10, 100, 1_000, 10_000] {
        for fails in [false, true] {
            let series = size_series(workers, fails);
            let Some(best) = runs.best(&series, state) else { continue };
            let time = |x| median(&runs.seconds(Key { series: &series, x, state }));
            let least = time(best).unwrap_or(f64::NAN);
            let times = along(runs.places(&series, state), "parts", |x| {
                Some(format!("{:.2} ×", time(x)? / least))
            });
            sentences.push(format!("{series}: {least:.0} s with {best} parts; {times}"));
        }
    }
    words(sentences.into_iter())
})];

pub(super) const COMMIT: &[Claim] = &[
    Claim::new("s-commit", |runs, state| {
        commit_times(runs, state, &ways(|it| it == OutputForm::Segments))
    }),
    Claim::new("s-commit-file", |runs, state| {
        commit_times(runs, state, &ways(|it| it != OutputForm::Segments))
    }),
    Claim::new("s-commit-restart", |runs, state| commit_times(runs, state, &[RESTARTED])),
];

fn ways(is_one: fn(OutputForm) -> bool) -> Vec<&'static str> {
    COMMITS.iter().filter(|way| is_one(way.output)).map(|way| way.name).collect()
}

fn commit_times(runs: &Selected<'_>, state: State, names: &[&str]) -> Finding {
    let storages = [HERE, "file server", "parallel file system"];
    let sentences = storages.into_iter().flat_map(|storage| {
        names.iter().map(move |name| {
            let series = format!("{storage}: {name}");
            let times = along(runs.places(&series, state), "parts", |x| {
                Some(duration(median(&runs.seconds(Key { series: &series, x, state }))?))
            });
            format!("{series}: {times}")
        })
    });
    words(sentences)
}

pub(super) const VERBS: &[Claim] = &[
    Claim::new("s-verbs", |runs, state| {
        let all = VERB_NAMES
            .into_iter()
            .flat_map(|verb| [false, true].map(|on_server| predicted_series(verb, on_server)));
        words(all.map(|series| {
            let times = along(runs.places(&series, state), "cores", |x| {
                let key = Key { series: &series, x, state };
                Some(format!("{:.1}", median(&runs.metric(key, "speed_up"))?))
            });
            format!("{series}: {times}; first, {}", ends_growth(runs, &series, state))
        }))
    }),
    Claim::new("s-verbs-check", |runs, state| {
        words(VERB_NAMES.into_iter().map(|verb| {
            let series = measured_series(verb);
            let ratio = along(runs.places(&series, state), "workers", |x| {
                let key = Key { series: &series, x, state };
                Some(format!("{:.2} ×", median(&runs.metric(key, RATIO))?))
            });
            format!("{verb}: predicted over measured {ratio}")
        }))
    }),
];

/// Returns the first shared resource that is busy most of the time, and the number of cores where it
/// begins.
fn ends_growth(runs: &Selected<'_>, series: &str, state: State) -> String {
    let found = runs.places(series, state).into_iter().find_map(|x| {
        let share = |what: &&str| {
            let key = Key { series, x, state };
            median(&runs.metric(key, &busy(what))).is_some_and(|share| share >= BUSY)
        };
        // One core is its own bottleneck.
        let what = SHARED_BY_CORES.into_iter().find(share).filter(|_| x > 1.0)?;
        Some(format!("the {what}, from {x} cores on"))
    });
    found.unwrap_or_else(|| "nothing but cores".to_owned())
}

/// Formats seconds in a suitable unit.
fn duration(seconds: f64) -> String {
    match seconds {
        it if it < 1.0 => format!("{:.1} ms", it * 1e3),
        it if it < 600.0 => format!("{it:.1} s"),
        it => format!("{:.0} min", it / 60.0),
    }
}
