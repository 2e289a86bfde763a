//! Picks runs out of many, round by round.

use std::collections::BTreeMap;

use super::{Run, State};
use crate::stats::{Interval, Summary, median_interval, paired_ratio, serial_share};

/// Fewer rounds decide nothing.
pub const LEAST_ROUNDS: usize = 5;

/// A series at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key<'k> {
    /// Who.
    pub series: &'k str,
    /// Where.
    pub x: f64,
    /// With what in the page cache.
    pub state: State,
}

/// The runs of one experiment in one folder.
#[derive(Clone, Copy, Debug)]
pub struct Selected<'r> {
    runs: &'r [Run],
    folder: usize,
    seed: u64,
}

impl<'r> Selected<'r> {
    /// Those of `runs` in a folder; `seed` is for the intervals.
    #[must_use]
    pub fn new(runs: &'r [Run], folder: usize, seed: u64) -> Self {
        Self { runs, folder, seed }
    }

    /// All of them.
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

    /// Seconds, by round.
    #[must_use]
    pub fn seconds(&self, key: Key<'_>) -> Vec<f64> {
        self.of(key).into_iter().map(|run| run.seconds).collect()
    }

    /// A metric by round, where it was counted.
    #[must_use]
    pub fn metric(&self, key: Key<'_>, name: &str) -> Vec<f64> {
        self.of(key).into_iter().filter_map(|run| run.metrics.get(name).copied()).collect()
    }

    /// The median of the seconds, with its interval.
    #[must_use]
    pub fn time(&self, key: Key<'_>) -> Option<Interval> {
        median_interval(&self.seconds(key), self.seed)
    }

    /// How many times as fast `key` is as `other`, compared within each round that has both; `None`
    /// for fewer than [`LEAST_ROUNDS`] of them.
    #[must_use]
    pub fn speed_up(&self, key: Key<'_>, other: Key<'_>) -> Option<Interval> {
        let pairs = self.side_by_side(key, other).into_values();
        let (own, theirs): (Vec<f64>, Vec<f64>) = pairs.unzip();
        self.ratio(&theirs, &own)
    }

    /// How many times as large one speed-up is as another one, both compared within each round;
    /// `None` as for [`speed_up`](Self::speed_up).
    #[must_use]
    pub fn growth(
        &self,
        (key, other): (Key<'_>, Key<'_>),
        (before, before_other): (Key<'_>, Key<'_>),
    ) -> Option<Interval> {
        let earlier = self.side_by_side(before, before_other);
        let pairs = self.side_by_side(key, other).into_iter().filter_map(|(round, pair)| {
            let (own, theirs) = earlier.get(&round)?;
            Some((pair.1 / pair.0, theirs / own))
        });
        let (now, before): (Vec<f64>, Vec<f64>) = pairs.unzip();
        self.ratio(&now, &before)
    }

    /// The seconds of both in each round that has both.
    fn side_by_side(&self, key: Key<'_>, other: Key<'_>) -> BTreeMap<usize, (f64, f64)> {
        let theirs = self.of(other);
        let pairs = self.of(key).into_iter().filter_map(|run| {
            let beside = theirs.iter().find(|beside| beside.round == run.round)?;
            Some((run.round, (run.seconds, beside.seconds)))
        });
        pairs.collect()
    }

    fn ratio(&self, numerators: &[f64], denominators: &[f64]) -> Option<Interval> {
        if numerators.len() < LEAST_ROUNDS {
            return None;
        }
        paired_ratio(numerators, denominators, self.seed)
    }

    /// The serial share of a series by Amdahl's law, fitted in each round to its times at the places
    /// up to `most`, which are numbers of workers; `None` as for [`speed_up`](Self::speed_up), or
    /// where there are fewer than two such places.
    #[must_use]
    pub fn serial_share(&self, series: &str, state: State, most: f64) -> Option<Interval> {
        let mut rounds: BTreeMap<usize, Vec<(f64, f64)>> = BTreeMap::new();
        let is_meant = |run: &&Run| run.series == series && run.state == state && run.x <= most;
        for run in self.runs().filter(is_meant) {
            rounds.entry(run.round).or_default().push((run.x, run.seconds));
        }
        let shares: Vec<f64> =
            rounds.values().filter_map(|times| serial_share(times)).collect();
        if shares.len() < LEAST_ROUNDS {
            return None;
        }
        median_interval(&shares, self.seed)
    }

    /// The places of a series in a state, smallest first.
    #[must_use]
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

    /// The place at which a series was fastest, by its medians.
    #[must_use]
    pub fn best(&self, series: &str, state: State) -> Option<f64> {
        let median = |x: f64| {
            Summary::of(&self.seconds(Key { series, x, state })).map(|times| times.median)
        };
        let timed =
            self.places(series, state).into_iter().filter_map(|x| Some((x, median(x)?)));
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
            // The machine is slower in each round than in the one before.
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
        let gain = |x| (key("pool", x), key("serial", x));
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
    }
}
