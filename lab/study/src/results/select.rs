//! Selects runs, and compares them round by round.

use std::collections::BTreeMap;

use super::{Run, State};
use swath_profile::stats::{
    Interval, NOISY_SPREAD, median, median_interval, paired_ratio, serial_share,
};

/// The least number of rounds that decide anything.
pub const LEAST_ROUNDS: usize = 5;

/// A series at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key<'k> {
    /// The series.
    pub series: &'k str,
    /// The place.
    pub x: f64,
    /// The state of the page cache.
    pub state: State,
}

/// A number for each round.
type ByRound = BTreeMap<usize, f64>;

/// A speed-up: `key` compared with `other`.
#[derive(Clone, Copy, Debug)]
pub struct SpeedUp<'k> {
    /// The series that should be faster.
    pub key: Key<'k>,
    /// The series that it is compared with.
    pub other: Key<'k>,
}

/// The runs of one experiment in one folder.
#[derive(Clone, Copy, Debug)]
pub struct Selected<'r> {
    runs: &'r [Run],
    folder: usize,
    seed: u64,
    noise: Option<f64>,
    cores: usize,
}

impl<'r> Selected<'r> {
    /// Selects the runs in a folder. `seed` is that of the intervals.
    pub fn new(runs: &'r [Run], folder: usize, seed: u64) -> Self {
        Self { runs, folder, seed, noise: None, cores: 0 }
    }

    /// Sets the spread of the control's times, as a share of their median.
    pub fn with_noise(self, noise: Option<f64>) -> Self {
        Self { noise, ..self }
    }

    /// Sets the processors of the machine; 0 if unknown.
    pub fn with_cores(self, cores: usize) -> Self {
        Self { cores, ..self }
    }

    /// Returns the processors of the machine; 0 if unknown.
    pub fn cores(&self) -> usize {
        self.cores
    }

    /// Returns the spread by which intervals are widened: 0 with a calm control.
    pub fn noise(&self) -> f64 {
        let spread = self.noise.filter(|spread| spread.is_finite() && *spread > NOISY_SPREAD);
        spread.unwrap_or(0.0)
    }

    /// Iterates over the selected runs.
    pub fn runs(&self) -> impl Iterator<Item = &'r Run> + use<'r> {
        let folder = self.folder;
        self.runs.iter().filter(move |run| run.folder == folder)
    }

    fn of(&self, key: Key<'_>) -> Vec<&'r Run> {
        let is_meant = |run: &&Run| {
            run.series == key.series
                && run.state == key.state
                && run.x.total_cmp(&key.x).is_eq()
        };
        let mut found: Vec<&Run> = self.runs().filter(is_meant).collect();
        found.sort_by_key(|run| run.round);
        found
    }

    /// Returns the key of a series that has one place.
    pub fn key_of<'k>(&self, series: &'k str) -> Key<'k> {
        let run = self.runs().find(|run| run.series == series);
        let (x, state) = run.map_or((0.0, State::None), |run| (run.x, run.state));
        Key { series, x, state }
    }

    /// Returns the one of `series` with the lowest median time, if any ran; each has one place.
    pub fn fastest<'n>(&self, series: &'n [String]) -> Option<&'n str> {
        let timed = series.iter().filter_map(|name| {
            Some((name.as_str(), median(&self.seconds(self.key_of(name)))?))
        });
        timed.min_by(|left, right| left.1.total_cmp(&right.1)).map(|(name, _)| name)
    }

    /// Returns the seconds by round.
    pub fn seconds(&self, key: Key<'_>) -> Vec<f64> {
        self.of(key).into_iter().map(|run| run.seconds).collect()
    }

    /// Returns a metric by round, where it was counted.
    pub fn metric(&self, key: Key<'_>, name: &str) -> Vec<f64> {
        self.of(key).into_iter().filter_map(|run| run.metrics.get(name).copied()).collect()
    }

    /// Returns the median of the seconds, with its interval.
    pub fn time(&self, key: Key<'_>) -> Option<Interval> {
        median_interval(&self.seconds(key), self.seed)
    }

    /// Returns the speed-up of `key` over `other`, compared within each round that has both; `None` for
    /// fewer than [`LEAST_ROUNDS`] such rounds.
    pub fn speed_up(&self, key: Key<'_>, other: Key<'_>) -> Option<Interval> {
        self.ratio(&self.times(other), &self.times(key))
    }

    /// Returns the ratio of two speed-ups, both compared within each round; `None` as for
    /// [`speed_up`](Self::speed_up).
    pub fn growth(&self, now: SpeedUp<'_>, before: SpeedUp<'_>) -> Option<Interval> {
        let faster = |SpeedUp { key, other }: SpeedUp<'_>| -> ByRound {
            let theirs = self.times(other);
            let own = self.times(key).into_iter();
            own.filter_map(|(round, own)| Some((round, theirs.get(&round)? / own))).collect()
        };
        self.ratio(&faster(now), &faster(before))
    }

    /// Returns the ratio of a metric of `key` to that of `other`, compared as [`speed_up`](Self::speed_up)
    /// does; `None` also if it was not counted, or is 0.
    pub fn metric_ratio(&self, name: &str, key: Key<'_>, other: Key<'_>) -> Option<Interval> {
        let counted = |key| {
            self.by_round(key, |run| run.metrics.get(name).copied().filter(|&it| it > 0.0))
        };
        self.ratio(&counted(key), &counted(other))
    }

    /// Returns the ratio as [`metric_ratio`](Self::metric_ratio) does, with one added to each count, for
    /// counts that may be 0.
    pub fn count_ratio(&self, name: &str, key: Key<'_>, other: Key<'_>) -> Option<Interval> {
        let counted =
            |key| self.by_round(key, |run| Some(run.metrics.get(name).copied()? + 1.0));
        self.ratio(&counted(key), &counted(other))
    }

    /// Returns the median of a metric divided by `unit`, with its interval; `None` as for
    /// [`speed_up`](Self::speed_up), or if it was not counted.
    pub fn value(&self, key: Key<'_>, name: &str, unit: f64) -> Option<Interval> {
        let counted: Vec<f64> = self.metric(key, name).iter().map(|it| it / unit).collect();
        if counted.len() < LEAST_ROUNDS {
            return None;
        }
        median_interval(&counted, self.seed)
    }

    /// Returns the bytes that one run of `key` loads.
    pub fn bytes(&self, key: Key<'_>) -> f64 {
        self.of(key).first().map_or(0.0, |run| run.bytes as f64)
    }

    /// Returns whether any run counted a metric.
    pub fn has(&self, name: &str) -> bool {
        self.runs().any(|run| run.metrics.contains_key(name))
    }

    /// Returns the ratio of the time at a place to the linear interpolation between two others, all within a
    /// round; `None` as for [`speed_up`](Self::speed_up).
    pub fn off_the_line(&self, key: Key<'_>, least: f64, most: f64) -> Option<Interval> {
        let at = |x| self.times(Key { x, ..key });
        let last = at(most);
        let line = at(least).into_iter().filter_map(|(round, from)| {
            let to = last.get(&round)?;
            Some((round, from + (to - from) * (key.x - least) / (most - least)))
        });
        self.ratio(&at(key.x), &line.collect())
    }

    /// Returns a number of each run, by round.
    fn by_round(&self, key: Key<'_>, said: impl Fn(&Run) -> Option<f64>) -> ByRound {
        self.of(key).into_iter().filter_map(|run| Some((run.round, said(run)?))).collect()
    }

    fn times(&self, key: Key<'_>) -> ByRound {
        self.by_round(key, |run| Some(run.seconds))
    }

    /// Returns the ratio of two numbers over the rounds that have both.
    fn ratio(&self, own: &ByRound, theirs: &ByRound) -> Option<Interval> {
        let pairs = own.iter().filter_map(|(round, own)| Some((*own, *theirs.get(round)?)));
        let (own, theirs): (Vec<f64>, Vec<f64>) = pairs.unzip();
        if own.len() < LEAST_ROUNDS {
            return None;
        }
        paired_ratio(&own, &theirs, self.seed)
    }

    /// Returns the serial share of a series by Amdahl's law, fitted in each round to its times at the places
    /// up to `most`, which are numbers of workers; `None` as for [`speed_up`](Self::speed_up), or with fewer
    /// than two such places.
    pub fn serial_share(&self, series: &str, state: State, most: f64) -> Option<Interval> {
        let shares: Vec<f64> = self.shares(series, state, most).into_values().collect();
        if shares.len() < LEAST_ROUNDS {
            return None;
        }
        median_interval(&shares, self.seed)
    }

    /// Returns the ratio of the serial shares of two series, compared within each round that has both; a share
    /// below a hundredth counts as a hundredth.
    pub fn share_ratio(
        &self,
        series: &str,
        other: &str,
        state: State,
        most: f64,
    ) -> Option<Interval> {
        let counted = |series| -> ByRound {
            let shares = self.shares(series, state, most).into_iter();
            shares.map(|(round, share)| (round, share.max(0.01))).collect()
        };
        self.ratio(&counted(series), &counted(other))
    }

    fn shares(&self, series: &str, state: State, most: f64) -> ByRound {
        let mut rounds: BTreeMap<usize, Vec<(f64, f64)>> = BTreeMap::new();
        let is_meant = |run: &&Run| run.series == series && run.state == state && run.x <= most;
        for run in self.runs().filter(is_meant) {
            rounds.entry(run.round).or_default().push((run.x, run.seconds));
        }
        let fitted = |(round, times): (usize, Vec<_>)| Some((round, serial_share(&times)?));
        rounds.into_iter().filter_map(fitted).collect()
    }

    /// Returns the places of a series in a state, smallest first.
    pub fn places(&self, series: &str, state: State) -> Vec<f64> {
        let mut places: Vec<f64> = self
            .runs()
            .filter(|run| run.series == series && run.state == state)
            .map(|run| run.x)
            .collect();
        places.sort_unstable_by(f64::total_cmp);
        places.dedup();
        places
    }

    /// Returns the place with the lowest median time of a series.
    pub fn best(&self, series: &str, state: State) -> Option<f64> {
        self.best_of(series, state, |_| true)
    }

    /// Returns the best place of a series among those that `is_meant` accepts.
    pub fn best_of(
        &self,
        series: &str,
        state: State,
        is_meant: impl Fn(f64) -> bool,
    ) -> Option<f64> {
        let median = |x| median(&self.seconds(Key { series, x, state }));
        let places = self.places(series, state).into_iter().filter(|&x| is_meant(x));
        let timed = places.filter_map(|x| Some((x, median(x)?)));
        timed.min_by(|left, right| left.1.total_cmp(&right.1)).map(|(x, _)| x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(series: &str, x: f64, round: usize, seconds: f64) -> Run {
        Run { series: series.into(), x, round, seconds, ..Run::default() }
    }

    fn key(series: &str, x: f64) -> Key<'_> {
        Key { series, x, state: State::Warm }
    }

    #[test]
    fn series_meet_within_the_rounds_that_both_have() {
        let mut runs = Vec::new();
        for round in 0..9 {
            // The machine becomes slower from round to round.
            let drift = 1.0 + 0.5 * f64::from(u8::try_from(round).expect("few"));
            runs.push(run("serial", 1.0, round, 8.0 * drift));
            runs.push(run("pool", 4.0, round, 2.0 * drift));
        }
        runs.push(run("pool", 4.0, 9, 1.0));
        runs.push(Run { folder: 1, ..run("pool", 4.0, 10, 1.0) });
        runs.push(Run { state: State::Cold, ..run("pool", 4.0, 11, 1.0) });
        let selected = Selected::new(&runs, 0, 1);
        let ratio =
            selected.speed_up(key("pool", 4.0), key("serial", 1.0)).expect("nine rounds");
        assert_eq!((ratio.estimate, ratio.lower, ratio.upper), (4.0, 4.0, 4.0));
        assert_eq!(selected.seconds(key("pool", 4.0)).len(), 10);
        assert!(selected.speed_up(key("pool", 4.0), key("map", 1.0)).is_none());
    }

    #[test]
    fn a_gain_that_grows_is_compared_with_the_earlier_one_in_each_round() {
        let mut runs = Vec::new();
        for round in 0..6 {
            let drift = 1.0 + 0.5 * f64::from(u8::try_from(round).expect("few"));
            for (x, serial, pool) in [(4.0, 3.0, 2.0), (32.0, 24.0, 8.0)] {
                runs.push(run("serial", x, round, serial * drift));
                runs.push(run("pool", x, round, pool * drift * drift));
            }
        }
        let gain = |x| SpeedUp { key: key("pool", x), other: key("serial", x) };
        let growth = Selected::new(&runs, 0, 1).growth(gain(32.0), gain(4.0)).expect("rounds");
        assert_eq!((growth.estimate, growth.lower, growth.upper), (2.0, 2.0, 2.0));
        let few = Selected::new(&runs[..16], 0, 1);
        assert!(few.growth(gain(32.0), gain(4.0)).is_none(), "four rounds");
        assert!(few.growth(gain(32.0), gain(9.0)).is_none(), "no such place");
    }

    #[test]
    fn the_serial_share_is_fitted_round_by_round() {
        let mut runs = Vec::new();
        for round in 0..5 {
            for (workers, seconds) in [(1.0, 4.0), (2.0, 3.0), (8.0, 9.0)] {
                runs.push(run("pool", workers, round, seconds));
            }
        }
        let selected = Selected::new(&runs, 0, 1);
        let share = selected.serial_share("pool", State::Warm, 2.0).expect("five rounds");
        assert!((share.estimate - 0.5).abs() < 1e-9 && share.lower == share.upper);
        assert!(selected.serial_share("pool", State::Warm, 1.0).is_none(), "one place");
        let few = Selected::new(&runs[..12], 0, 1);
        assert!(few.serial_share("pool", State::Warm, 2.0).is_none(), "four rounds");
    }

    #[test]
    fn serial_shares_are_compared_round_by_round() {
        let mut runs = Vec::new();
        for round in 0..5 {
            for (series, two) in [("lines", 4.0), ("bulk", 3.0), ("none", 2.0)] {
                runs.push(run(series, 1.0, round, 4.0));
                runs.push(run(series, 2.0, round, two));
            }
        }
        let selected = Selected::new(&runs, 0, 1);
        let ratio = |series| {
            selected.share_ratio(series, "lines", State::Warm, 2.0).expect("rounds").estimate
        };
        assert_eq!((ratio("bulk"), ratio("none")), (0.5, 0.01));
        assert!(selected.share_ratio("bulk", "map", State::Warm, 2.0).is_none());
    }

    #[test]
    fn a_metric_is_compared_where_both_have_counted_it() {
        let counted = |x, round, misses: f64| Run {
            metrics: [("misses".to_owned(), misses)].into(),
            ..run("pool", x, round, 1.0)
        };
        let mut runs: Vec<Run> = (0..6)
            .flat_map(|round| [counted(1.0, round, 30.0), counted(2.0, round, 10.0)])
            .collect();
        let ratio = |runs: &[Run]| {
            let selected = Selected::new(runs, 0, 1);
            selected.metric_ratio("misses", key("pool", 1.0), key("pool", 2.0))
        };
        assert_eq!(ratio(&runs).expect("six rounds").estimate, 3.0);
        for run in runs.iter_mut().take(4) {
            run.metrics.clear();
        }
        assert_eq!(ratio(&runs), None, "four rounds");
    }

    #[test]
    fn what_lies_on_the_line_between_two_places_is_one_time_as_long() {
        let mut runs = Vec::new();
        for round in 0..5 {
            for (x, seconds) in [(100.0, 1.0), (500.0, 5.0), (1000.0, 10.0), (300.0, 6.0)] {
                runs.push(run("pool", x, round, seconds));
            }
        }
        let selected = Selected::new(&runs, 0, 1);
        let off =
            |x| selected.off_the_line(key("pool", x), 100.0, 1000.0).map(|it| it.estimate);
        assert_eq!((off(500.0), off(300.0), off(200.0)), (Some(1.0), Some(2.0), None));
    }

    #[test]
    fn the_fastest_is_the_one_with_the_lowest_median() {
        let (slow, fast) = (run("slow", 0.0, 0, 2.0), run("fast", 1.0, 0, 1.0));
        let runs = [slow, fast];
        let fastest = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            Selected::new(&runs, 0, 1).fastest(&names).map(str::to_owned)
        };
        assert_eq!(fastest(&["slow", "fast", "never ran"]).as_deref(), Some("fast"));
        assert_eq!(fastest(&["never ran"]), None);
    }

    #[test]
    fn the_best_place_has_the_lowest_median() {
        let runs = [
            run("pool", 1.0, 0, 3.0),
            run("pool", 2.0, 0, 2.0),
            run("pool", 4.0, 0, 2.5),
            run("pool", 2.0, 1, 9.0),
            run("pool", 4.0, 1, 2.5),
        ];
        let selected = Selected::new(&runs, 0, 1);
        assert_eq!(selected.places("pool", State::Warm), [1.0, 2.0, 4.0]);
        assert_eq!(selected.best("pool", State::Warm), Some(4.0));
        assert_eq!(selected.best("pool", State::Cold), None);
        assert_eq!(selected.best_of("pool", State::Warm, |x| x < 3.0), Some(1.0));
    }
}
