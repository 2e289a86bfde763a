//! Charts, keys and findings that several experiments share.

use crate::measure::Stage;
use crate::results::{Chart, Finding, Holds, Key, Measure, Selected, State};
use swath_profile::stats::{Interval, median};

/// Returns a chart with linear axes.
pub(super) fn chart(title: &str, x: &str, y: Measure) -> Chart {
    let (title, x) = (title.to_owned(), x.to_owned());
    Chart { title, x, x_log: false, x_names: Vec::new(), y, y_log: false }
}

impl Chart {
    /// Makes the x axis logarithmic.
    pub(super) fn log_x(self) -> Self {
        Self { x_log: true, ..self }
    }

    /// Makes the y axis logarithmic.
    pub(super) fn log_y(self) -> Self {
        Self { y_log: true, ..self }
    }
}

/// Returns charts over one logarithmic axis, from titles and measures.
pub(super) fn charts<const N: usize>(x: &str, all: [(&str, Measure); N]) -> Vec<Chart> {
    all.map(|(title, y)| chart(title, x, y).log_x()).into()
}

/// Returns charts over places with names.
pub(super) fn named_charts<const N: usize>(
    x: &str,
    names: &[&str],
    all: [(&str, Measure); N],
) -> Vec<Chart> {
    let x_names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    all.map(|(title, y)| Chart { x_names: x_names.clone(), ..chart(title, x, y) }).into()
}

/// Returns the measure of a metric without a unit.
pub(super) fn metric(name: &str) -> Measure {
    Measure::Metric { name: name.to_owned(), unit: String::new() }
}

/// Returns the measure of the speed-up over a series, at place `x` or at the same place.
pub(super) fn over(series: &str, x: Option<f64>) -> Measure {
    Measure::SpeedUp { series: series.to_owned(), x }
}

/// Returns a chart of the busy processors during the runs with this many threads.
pub(super) fn busy(title: &str, threads: f64) -> Chart {
    let y = Measure::Course { name: "busy".into(), unit: "processors".into(), x: threads };
    chart(title, "% of the time", y)
}

/// Returns 1, 2, 4 … below `most`, then `most`.
pub(super) fn powers_of_two(most: usize) -> Vec<usize> {
    let mut all: Vec<usize> = std::iter::successors(Some(1), |&count| Some(2 * count))
        .take_while(|&x| x < most)
        .collect();
    all.push(most.max(1));
    all
}

/// Returns the key of a series at its fastest place; at 0, which is not a place, if it did not run.
pub(super) fn fastest<'s>(runs: &Selected<'_>, series: &'s str, state: State) -> Key<'s> {
    fastest_of(runs, series, state, |_| true)
}

/// Returns the key of a series at its fastest place among those that `is_meant` accepts.
pub(super) fn fastest_of<'s>(
    runs: &Selected<'_>,
    series: &'s str,
    state: State,
    is_meant: impl Fn(f64) -> bool,
) -> Key<'s> {
    let best = runs.best_of(series, state, is_meant);
    Key { series, x: best.unwrap_or_default(), state }
}

/// Returns the speed of a series as a share of a limit, each at its fastest place.
pub(super) fn of_limit(
    runs: &Selected<'_>,
    series: &str,
    limit: &str,
    state: State,
) -> Option<Interval> {
    runs.speed_up(fastest(runs, series, state), fastest(runs, limit, state))
}

/// Returns the states to measure: warm, and cold in a full run.
pub(super) fn states(stage: &Stage) -> &'static [State] {
    stage.pick(&[State::Warm], &[State::Warm], &[State::Warm, State::Cold])
}

/// Reports the voluntary context switches of a series by number of threads.
pub(super) fn switches_by_threads(runs: &Selected<'_>, series: &str, state: State) -> Finding {
    let keys = runs.places(series, state).into_iter().map(|x| {
        let name = if x == 1.0 { "1 thread".to_owned() } else { format!("{x} threads") };
        (name, Key { series, x, state })
    });
    voluntary_switches(runs, &keys.collect::<Vec<_>>())
}

/// Reports the medians of voluntary context switches without a verdict.
pub(super) fn voluntary_switches(runs: &Selected<'_>, places: &[(String, Key<'_>)]) -> Finding {
    let whole = |count: f64| format!("{count:.0}");
    medians(runs, "Voluntary context switches", "voluntary_switches", places, whole)
}

/// Reports the medians of a metric, each with the name of its place, without a verdict.
pub(super) fn medians(
    runs: &Selected<'_>,
    what: &str,
    name: &str,
    places: &[(String, Key<'_>)],
    unit: impl Fn(f64) -> String,
) -> Finding {
    let told = places.iter().map(|(place, key)| {
        let counted = median(&runs.metric(*key, name));
        format!("{} with {place}", counted.map_or_else(|| "not counted".to_owned(), &unit))
    });
    let because = format!("{what}: {}", told.collect::<Vec<_>>().join(", "));
    Finding { verdict: Holds::Told, because, ..Finding::default() }
}
