//! What charts of several experiments have in common.

use crate::results::{Chart, Key, Measure, Selected, State};
use crate::stats::Interval;

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

/// A metric of the runs.
pub(super) fn metric(name: &str, unit: &str) -> Measure {
    Measure::Metric { name: name.to_owned(), unit: unit.to_owned() }
}

/// 1, 2, 4 … up to `most`, and `most` itself.
pub(super) fn powers_of_two(most: usize) -> Vec<usize> {
    let mut all: Vec<usize> = std::iter::successors(Some(1), |&count| Some(2 * count))
        .take_while(|&x| x < most)
        .collect();
    all.push(most.max(1));
    all
}

/// A series where it is fastest.
pub(super) fn fastest<'s>(
    runs: &Selected<'_>,
    series: &'s str,
    state: State,
) -> Option<Key<'s>> {
    Some(Key { series, x: runs.best(series, state)?, state })
}

/// How near a series came to a limit, each where it is fastest.
pub(super) fn of_limit(
    runs: &Selected<'_>,
    series: &str,
    limit: &str,
    state: State,
) -> Option<Interval> {
    runs.speed_up(fastest(runs, series, state)?, fastest(runs, limit, state)?)
}
