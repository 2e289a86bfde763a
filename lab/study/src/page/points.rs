//! Computes the points of a chart from runs: for each series and place, a median and its quartiles.

use std::collections::HashMap;

use crate::results::{Chart, Measure, Run, State};
use swath_profile::stats::Summary;

/// A series at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ChartPoint {
    pub(super) x: f64,
    /// The median, or an estimate.
    pub(super) middle: f64,
    /// The lower quartile, or the lower end of an interval.
    pub(super) low: f64,
    /// The upper quartile, or the upper end of an interval.
    pub(super) high: f64,
    /// The number of runs; `None` for an estimate with its interval.
    pub(super) count: Option<usize>,
}

/// A series in one state.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SeriesLine {
    pub(super) series: String,
    pub(super) slot: u8,
    /// The points by place, smallest first; at least one.
    pub(super) points: Vec<ChartPoint>,
}

/// The content of one drawing: a chart, in one folder, with one state of the page cache.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct View {
    pub(super) folder: usize,
    /// The state; `Warm` and `Cold` also show series that have no state.
    pub(super) state: State,
    /// Whether the chart also has the other state, so that a switch is useful.
    pub(super) has_both: bool,
    pub(super) lines: Vec<SeriesLine>,
}

impl View {
    pub(super) fn points(&self) -> impl Iterator<Item = &ChartPoint> {
        self.lines.iter().flat_map(|line| &line.points)
    }
}

/// Returns the drawings of a chart, by folder, warm before cold; none if no run has a number.
pub(super) fn views(chart: &Chart, runs: &[Run], slots: &[(&str, u8)]) -> Vec<View> {
    let valued = Valued::new(&chart.y, runs).all();
    let mut folders: Vec<usize> = valued.iter().map(|one| one.run.folder).collect();
    folders.sort_unstable();
    folders.dedup();
    let mut views = Vec::new();
    for folder in folders {
        let here: Vec<Value<'_>> =
            valued.iter().filter(|one| one.run.folder == folder).copied().collect();
        let has = |state| here.iter().any(|one| one.run.state == state);
        let has_both = has(State::Warm) && has(State::Cold);
        let shown = match (has(State::Warm), has(State::Cold)) {
            (true, true) => vec![State::Warm, State::Cold],
            (true, false) => vec![State::Warm],
            (false, true) => vec![State::Cold],
            (false, false) => vec![State::None],
        };
        for state in shown {
            let is_shown = |run: &Run| run.state == state || run.state == State::None;
            let shown: Vec<Value<'_>> =
                here.iter().filter(|one| is_shown(one.run)).copied().collect();
            views.push(View { folder, state, has_both, lines: lines(&shown, slots) });
        }
    }
    views
}

fn lines(values: &[Value<'_>], slots: &[(&str, u8)]) -> Vec<SeriesLine> {
    let mut lines = Vec::new();
    for (series, slot) in slots {
        let mut own: Vec<(f64, f64)> = values
            .iter()
            .filter(|one| one.run.series == *series)
            .map(|one| (one.x, one.y))
            .collect();
        own.sort_by(|left, right| left.0.total_cmp(&right.0));
        let points: Vec<ChartPoint> =
            own.chunk_by(|left, right| left.0 == right.0).filter_map(point).collect();
        if !points.is_empty() {
            lines.push(SeriesLine { series: (*series).to_owned(), slot: *slot, points });
        }
    }
    lines
}

/// Returns the point of the values at one place.
fn point(placed: &[(f64, f64)]) -> Option<ChartPoint> {
    let (x, _) = *placed.first()?;
    let values: Vec<f64> = placed.iter().map(|(_, value)| *value).collect();
    let Summary { lower_quartile: low, median: middle, upper_quartile: high, .. } =
        Summary::of(&values)?;
    Some(ChartPoint { x, middle, low, high, count: Some(values.len()) })
}

/// A run, its place, and its number.
#[derive(Clone, Copy)]
struct Value<'r> {
    run: &'r Run,
    x: f64,
    y: f64,
}

/// Runs and their numbers.
struct Valued<'r> {
    measure: &'r Measure,
    runs: &'r [Run],
    /// Seconds of the runs that a ratio may refer to.
    beside: HashMap<Beside<'r>, f64>,
}

/// The key of a run: folder, series, bits of the place, state, round.
type Beside<'r> = (usize, &'r str, u64, State, usize);

impl<'r> Valued<'r> {
    fn new(measure: &'r Measure, runs: &'r [Run]) -> Self {
        let beside = match measure {
            Measure::SpeedUp { .. } | Measure::Efficiency => {
                runs.iter().map(|run| (key(run, &run.series, run.x), run.seconds)).collect()
            }
            _ => HashMap::new(),
        };
        Self { measure, runs, beside }
    }

    /// Returns the runs that have a number, at a finite place.
    fn all(&self) -> Vec<Value<'r>> {
        let mut all = Vec::new();
        for run in self.runs {
            match self.measure {
                Measure::Course { name, x, .. } if run.x.total_cmp(x).is_eq() => {
                    all.extend(over_time(run, name));
                }
                Measure::Course { .. } => {}
                _ => all.extend(self.value(run).map(|y| Value { run, x: run.x, y })),
            }
        }
        all.retain(|one| one.x.is_finite() && one.y.is_finite());
        all
    }

    fn value(&self, run: &'r Run) -> Option<f64> {
        match self.measure {
            Measure::Seconds => Some(run.seconds),
            Measure::Rate => Some(run.bytes as f64 / run.seconds / 1e9),
            Measure::SpeedUp { series, x } => {
                let other = self.beside.get(&key(run, series, x.unwrap_or(run.x)))?;
                Some(other / run.seconds)
            }
            Measure::Efficiency => {
                let alone = self.beside.get(&key(run, &run.series, 1.0))?;
                Some(alone / run.seconds / run.x)
            }
            Measure::Metric { name, .. } => run.metrics.get(name).copied(),
            Measure::Course { .. } => None,
        }
    }
}

/// Returns the values of a course, each at the middle of its part, in per cent of the time.
fn over_time<'r>(run: &'r Run, name: &str) -> impl Iterator<Item = Value<'r>> {
    let course = run.courses.get(name).map(Vec::as_slice).unwrap_or_default();
    let part = 100.0 / course.len() as f64;
    let placed = course.iter().enumerate();
    placed.map(move |(index, &y)| Value { run, x: (index as f64 + 0.5) * part, y })
}

fn key<'r>(run: &Run, series: &'r str, x: f64) -> Beside<'r> {
    (run.folder, series, x.to_bits(), run.state, run.round)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::tests::{chart, run};

    const SLOTS: [(&str, u8); 2] = [("serial", 0), ("pool", 1)];

    fn both() -> Vec<Run> {
        let mut runs = Vec::new();
        for (round, drift) in [(0, 1.0), (1, 2.0), (2, 3.0)] {
            runs.push(run("serial", 1.0, round, 8.0 * drift));
            runs.push(run("pool", 4.0, round, 2.0 * drift));
            runs.push(run("pool", 1.0, round, 4.0 * drift));
        }
        runs
    }

    fn drawn(measure: Measure, runs: &[Run]) -> Vec<View> {
        views(&chart(measure), runs, &SLOTS)
    }

    #[test]
    fn each_series_has_a_point_for_each_place_in_order() {
        let views = drawn(Measure::Seconds, &both());
        assert_eq!(views.len(), 1);
        let pool = &views[0].lines[1];
        let found: Vec<(f64, f64, Option<usize>)> =
            pool.points.iter().map(|at| (at.x, at.middle, at.count)).collect();
        assert_eq!(found, [(1.0, 8.0, Some(3)), (4.0, 4.0, Some(3))]);
        assert_eq!((pool.points[1].low, pool.points[1].high), (3.0, 5.0));
    }

    #[test]
    fn speed_up_and_efficiency_compare_within_a_round() {
        let speed = Measure::SpeedUp { series: "serial".into(), x: Some(1.0) };
        let views = drawn(speed, &both());
        let at = views[0].lines[1].points[1];
        assert_eq!((at.x, at.low, at.middle, at.high), (4.0, 4.0, 4.0, 4.0));
        let same_place = Measure::SpeedUp { series: "serial".into(), x: None };
        let views = drawn(same_place, &both());
        assert_eq!(views[0].lines[1].points.len(), 1, "serial is at 1 only");
        let views = drawn(Measure::Efficiency, &both());
        assert_eq!(views[0].lines[1].points[1].middle, 0.5);
    }

    #[test]
    fn warm_and_cold_are_two_views_and_what_has_no_state_is_in_both() {
        let mut runs = both();
        runs.push(Run { state: State::Cold, ..run("pool", 4.0, 0, 9.0) });
        runs.push(Run { state: State::None, ..run("serial", 4.0, 0, 9.0) });
        runs.push(Run { folder: 1, state: State::Cold, ..run("pool", 4.0, 0, 9.0) });
        let views = drawn(Measure::Seconds, &runs);
        let seen: Vec<(usize, State, bool, usize)> = views
            .iter()
            .map(|view| (view.folder, view.state, view.has_both, view.points().count()))
            .collect();
        assert_eq!(
            seen,
            [(0, State::Warm, true, 4), (0, State::Cold, true, 2), (1, State::Cold, false, 1)]
        );
    }

    #[test]
    fn a_course_has_a_point_for_each_part_of_the_time_at_its_place() {
        let with = |x, round, busy: [f64; 4]| Run {
            courses: [("busy".to_owned(), busy.to_vec())].into(),
            ..run("pool", x, round, 1.0)
        };
        let runs = [
            with(4.0, 0, [1.0, 2.0, 3.0, 0.0]),
            with(4.0, 1, [3.0, 2.0, 5.0, 0.0]),
            with(8.0, 0, [9.0; 4]),
        ];
        let measure = Measure::Course { name: "busy".into(), unit: "".into(), x: 4.0 };
        let views = drawn(measure, &runs);
        let found: Vec<(f64, f64)> =
            views[0].lines[0].points.iter().map(|at| (at.x, at.middle)).collect();
        assert_eq!(found, [(12.5, 2.0), (37.5, 2.0), (62.5, 4.0), (87.5, 0.0)]);
    }

    #[test]
    fn what_has_no_number_is_left_out() {
        let runs = [
            Run { bytes: 7, ..run("pool", 1.0, 0, 0.0) },
            run("pool", f64::NAN, 0, 1.0),
            run("pool", 2.0, 0, f64::INFINITY),
        ];
        assert_eq!(drawn(Measure::Rate, &runs[..2]), []);
        assert_eq!(drawn(Measure::Seconds, &runs[1..]), []);
        let metric = Measure::Metric { name: "cache_misses".into(), unit: String::new() };
        assert_eq!(drawn(metric, &both()), []);
        assert_eq!(drawn(Measure::Seconds, &[]), []);
    }
}
