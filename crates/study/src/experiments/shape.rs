//! What charts of several experiments have in common.

use crate::experiment::Claim;
use crate::measure::Stage;
use crate::results::{Chart, Finding, Holds, Key, Measure, Selected, Source, State};
use crate::stats::{Interval, median};

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

/// Warm and, where there is time for it, cold.
pub(super) fn states(stage: &Stage) -> &'static [State] {
    stage.pick(&[State::Warm], &[State::Warm], &[State::Warm, State::Cold])
}

/// What a study says, as we read it.
pub(super) const fn read(
    id: &'static str,
    words: &'static str,
    section: &'static str,
    rule: &'static str,
    judge: fn(&Selected<'_>, State) -> Finding,
) -> Claim {
    Claim { id, source: Source::read(words, section), rule, judge }
}

/// What a study says, in its own words.
pub(super) const fn quoted(
    id: &'static str,
    words: &'static str,
    section: &'static str,
    rule: &'static str,
    judge: fn(&Selected<'_>, State) -> Finding,
) -> Claim {
    Claim { id, source: Source::quoted(words, section), rule, judge }
}

/// What is measured although no claim is judged by it.
pub(super) const fn asked(
    id: &'static str,
    words: &'static str,
    judge: fn(&Selected<'_>, State) -> Finding,
) -> Claim {
    let rule = "None: the numbers are told, and nothing is judged by them.";
    Claim { id, source: Source::asked(words), rule, judge }
}

/// So many threads, in words.
pub(super) fn threads(count: f64) -> String {
    if count == 1.0 { "1 thread".to_owned() } else { format!("{count} threads") }
}

/// The medians of the context switches that threads made to wait, told without a verdict.
pub(super) fn voluntary_switches(runs: &Selected<'_>, places: &[(String, Key<'_>)]) -> Finding {
    let whole = |count: f64| format!("{count:.0}");
    medians(runs, "Voluntary context switches", "voluntary_switches", places, whole)
}

/// The medians of a metric, each with its name, told without a verdict.
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
