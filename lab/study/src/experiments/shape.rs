//! Shared by the charts of several experiments.

use crate::measure::Stage;
use crate::results::{Chart, Finding, Holds, Key, Measure, Selected, State};
use swath_profile::stats::{Interval, median};

/// A chart with a plain axis.
pub(super) fn chart(title: &str, x: &str, y: Measure) -> Chart {
    let (title, x) = (title.to_owned(), x.to_owned());
    Chart { title, x, x_log: false, x_names: Vec::new(), y, y_log: false }
}

impl Chart {
    /// With logarithmic x.
    pub(super) fn log_x(self) -> Self {
        Self { x_log: true, ..self }
    }

    /// With logarithmic y.
    pub(super) fn log_y(self) -> Self {
        Self { y_log: true, ..self }
    }
}

/// Charts over one logarithmic axis: their titles, and what they show.
pub(super) fn charts<const N: usize>(x: &str, all: [(&str, Measure); N]) -> Vec<Chart> {
    all.map(|(title, y)| chart(title, x, y).log_x()).into()
}

/// Charts over places that have names.
pub(super) fn named_charts<const N: usize>(
    x: &str,
    names: &[&str],
    all: [(&str, Measure); N],
) -> Vec<Chart> {
    let x_names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    all.map(|(title, y)| Chart { x_names: x_names.clone(), ..chart(title, x, y) }).into()
}

/// A metric of the runs.
pub(super) fn metric(name: &str) -> Measure {
    Measure::Metric { name: name.to_owned(), unit: String::new() }
}

/// How many times as fast as a series: at one place, or at the same.
pub(super) fn over(series: &str, x: Option<f64>) -> Measure {
    Measure::SpeedUp { series: series.to_owned(), x }
}

/// The processors at work over the time of the runs with this many threads.
pub(super) fn busy(title: &str, threads: f64) -> Chart {
    let y = Measure::Course { name: "busy".into(), unit: "processors".into(), x: threads };
    chart(title, "% of the time", y)
}

/// 1, 2, 4 … up to `most`, and `most` itself.
pub(super) fn powers_of_two(most: usize) -> Vec<usize> {
    let mut all: Vec<usize> = std::iter::successors(Some(1), |&count| Some(2 * count))
        .take_while(|&x| x < most)
        .collect();
    all.push(most.max(1));
    all
}

/// A series at its fastest place; at 0, which is not a place, if it did not run.
pub(super) fn fastest<'s>(runs: &Selected<'_>, series: &'s str, state: State) -> Key<'s> {
    fastest_of(runs, series, state, |_| true)
}

/// A series at its fastest place among those that `is_meant` accepts.
pub(super) fn fastest_of<'s>(
    runs: &Selected<'_>,
    series: &'s str,
    state: State,
    is_meant: impl Fn(f64) -> bool,
) -> Key<'s> {
    let best = runs.best_of(series, state, is_meant);
    Key { series, x: best.unwrap_or_default(), state }
}

/// A series as a share of a limit, each at its fastest place.
pub(super) fn of_limit(
    runs: &Selected<'_>,
    series: &str,
    limit: &str,
    state: State,
) -> Option<Interval> {
    runs.speed_up(fastest(runs, series, state), fastest(runs, limit, state))
}

/// Warm and, where there is time for it, cold.
pub(super) fn states(stage: &Stage) -> &'static [State] {
    stage.pick(&[State::Warm], &[State::Warm], &[State::Warm, State::Cold])
}

/// The cost of the threads of a series, by their number.
pub(super) fn switches_by_threads(runs: &Selected<'_>, series: &str, state: State) -> Finding {
    let keys = runs.places(series, state).into_iter().map(|x| {
        let name = if x == 1.0 { "1 thread".to_owned() } else { format!("{x} threads") };
        (name, Key { series, x, state })
    });
    voluntary_switches(runs, &keys.collect::<Vec<_>>())
}

/// The medians of the context switches that threads made to wait, reported without a verdict.
pub(super) fn voluntary_switches(runs: &Selected<'_>, places: &[(String, Key<'_>)]) -> Finding {
    let whole = |count: f64| format!("{count:.0}");
    medians(runs, "Voluntary context switches", "voluntary_switches", places, whole)
}

/// The medians of a metric, each with its name, reported without a verdict.
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
