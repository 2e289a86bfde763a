//! Conclusions from a few noisy samples.
//!
//! Medians and quartiles describe one contestant. Two are compared round by round: the machine is
//! faster in some minutes than in others, but within one round both meet the same machine, so the
//! samples of each round are divided first and the rounds are combined afterwards. An [`Interval`]
//! comes from resampling the rounds (Efron's bootstrap), and a goal is decided only if the whole
//! interval lies on one side of it.
//!
//! ```text
//! goal ≥ 0.95     0.95
//! met               |  [----x----]
//! undecided      [--|-x----]
//! missed  [---x---] |
//! ```
//!
//! ```
//! use swath_profile::stats::{Bound, Verdict, paired_ratio};
//!
//! let limit = [1.00, 2.00, 1.10, 1.00, 1.05, 1.00, 1.20, 1.00, 1.10];
//! let ours = limit.map(|seconds| seconds * 1.02);
//! let ratio = paired_ratio(&limit, &ours, 1).expect("as many of each");
//! assert_eq!(Bound::AtLeast(0.95).verdict(&ratio), Verdict::Met);
//! ```

use serde::{Deserialize, Serialize};
use std::fmt;
use swath_plan::random::SplitMix64;

/// The number of resamplings for one interval.
const RESAMPLES: usize = 10_000;

/// The five numbers that describe the samples of one contestant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The smallest sample.
    pub min: f64,
    /// The value below which a quarter of the samples lie.
    pub lower_quartile: f64,
    /// The value below which half of the samples lie.
    pub median: f64,
    /// The value below which three quarters of the samples lie.
    pub upper_quartile: f64,
    /// The largest sample.
    pub max: f64,
}

impl Summary {
    /// Describes `samples`, or returns `None` without samples. Interpolates between two samples.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Some(Self {
            min: *sorted.first()?,
            lower_quartile: quarter(&sorted, 1),
            median: quarter(&sorted, 2),
            upper_quartile: quarter(&sorted, 3),
            max: *sorted.last()?,
        })
    }

    /// Returns the distance between the quartiles as a share of the median.
    pub fn spread(&self) -> f64 {
        (self.upper_quartile - self.lower_quartile) / self.median
    }
}

/// The limit of spread as a share of the median, above which control times are noisy.
pub const NOISY_SPREAD: f64 = 0.15;

/// The minimum number of rounds for a useful interval.
pub const MIN_ROUNDS: usize = 7;

/// Returns the spread of a control's times, as a share of their median, if it is too wide.
pub fn noisy_spread(seconds: &[f64]) -> Option<f64> {
    let spread = Summary::of(seconds)?.spread();
    (spread > NOISY_SPREAD).then_some(spread)
}

/// Returns quarter `index` (0 to 4) of `sorted`, which is not empty.
fn quarter(sorted: &[f64], index: usize) -> f64 {
    let scaled = index * (sorted.len() - 1);
    let below = sorted[scaled / 4];
    let above = sorted[(scaled / 4 + 1).min(sorted.len() - 1)];
    below + (above - below) * ((scaled % 4) as f64 / 4.0)
}

/// Returns the median of `samples`, or `None` without samples.
pub fn median(samples: &[f64]) -> Option<f64> {
    Summary::of(samples).map(|summary| summary.median)
}

/// An estimate and the 95 % interval around it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The value from the samples.
    pub estimate: f64,
    /// The value below which 2.5 % of the resampled estimates lie.
    pub lower: f64,
    /// The value above which 2.5 % of the resampled estimates lie.
    pub upper: f64,
}

impl Interval {
    /// Returns the estimate in another unit.
    pub fn scaled(self, factor: f64) -> Self {
        let Self { estimate, lower, upper } = self;
        Self { estimate: estimate * factor, lower: lower * factor, upper: upper * factor }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { estimate, lower, upper } = self;
        write!(out, "{estimate:.3} [{lower:.3}, {upper:.3}]")
    }
}

/// Returns the median of `samples`, one per round, with its interval; `None` without samples.
///
/// Deterministic in `seed`. The resampled medians of very few rounds are too close together: with 7
/// rounds the interval extends from the second smallest to the second largest sample, which
/// contains the true median in 88 % of all cases; with 9 rounds or more, in 95 % or more.
pub fn median_interval(samples: &[f64], seed: u64) -> Option<Interval> {
    let estimate = median(samples)?;
    let mut random = SplitMix64::new(seed);
    let mut drawn = vec![0.0; samples.len()];
    Some(around(estimate, || resampled(samples, &mut drawn, &mut random)))
}

/// Returns the median of as many samples, drawn from all of them.
fn resampled(samples: &[f64], drawn: &mut [f64], random: &mut SplitMix64) -> f64 {
    drawn.fill_with(|| samples[random.below(samples.len())]);
    drawn.sort_unstable_by(f64::total_cmp);
    quarter(drawn, 2)
}

/// Returns the interval of repeated estimates.
fn around(estimate: f64, again: impl FnMut() -> f64) -> Interval {
    let mut all: Vec<f64> = std::iter::repeat_with(again).take(RESAMPLES).collect();
    all.sort_unstable_by(f64::total_cmp);
    let outside = RESAMPLES / 40;
    Interval { estimate, lower: all[outside], upper: all[RESAMPLES - 1 - outside] }
}

/// Returns the median over the rounds of `numerators[round] / denominators[round]`.
///
/// `None` if there are no rounds, or the numbers of rounds differ.
pub fn paired_ratio(numerators: &[f64], denominators: &[f64], seed: u64) -> Option<Interval> {
    paired(numerators, denominators, seed, |numerator, denominator| numerator / denominator)
}

/// Returns the median over the rounds of `left[round] - right[round]`; `None` like
/// [`paired_ratio`].
pub fn paired_difference(left: &[f64], right: &[f64], seed: u64) -> Option<Interval> {
    paired(left, right, seed, |left, right| left - right)
}

fn paired(left: &[f64], right: &[f64], seed: u64, of: fn(f64, f64) -> f64) -> Option<Interval> {
    let pairs = left.iter().zip(right).map(|(&left, &right)| of(left, right));
    let all: Vec<f64> = pairs.collect();
    median_interval(&all, seed).filter(|_| left.len() == right.len())
}

/// Returns the median of `numerators` divided by that of `denominators`.
///
/// For samples that are not paired, such as those of two machines: each side is resampled on its
/// own, deterministic in `seed`. `None` if a side has no samples, or if the ratio or an end of its
/// interval is not finite, for example because a median is 0.
pub fn ratio_of_medians(
    numerators: &[f64],
    denominators: &[f64],
    seed: u64,
) -> Option<Interval> {
    let estimate = median(numerators)? / median(denominators)?;
    let mut random = SplitMix64::new(seed);
    let (mut above, mut below) = (vec![0.0; numerators.len()], vec![0.0; denominators.len()]);
    let mut median_of =
        |samples: &[f64], drawn: &mut [f64]| resampled(samples, drawn, &mut random);
    let interval = around(estimate, || {
        median_of(numerators, &mut above) / median_of(denominators, &mut below)
    });
    let Interval { lower, upper, .. } = interval;
    [estimate, lower, upper].iter().all(|value| value.is_finite()).then_some(interval)
}

/// Returns the share of the time at one worker that more workers do not shorten: Amdahl's serial
/// share, from 0 to 1.
///
/// Fits `a + b / workers` to `times`, pairs of workers and seconds, by least squares with `a` and
/// `b` of 0 or more; the share is `a / (a + b)`. `None` for fewer than two numbers of workers, or
/// times that are not positive. Exact for times that follow the law (Amdahl 1967).
pub fn serial_share(times: &[(f64, f64)]) -> Option<f64> {
    if times.iter().any(|&(workers, seconds)| workers <= 0.0 || seconds <= 0.0) {
        return None;
    }
    let count = times.len() as f64;
    let mean = |of: &dyn Fn(f64, f64) -> f64| {
        times.iter().map(|&(workers, seconds)| of(1.0 / workers, seconds)).sum::<f64>() / count
    };
    let (x, y) = (mean(&|x, _| x), mean(&|_, y| y));
    let spread = mean(&|other, _| (other - x).powi(2));
    if spread <= f64::EPSILON || spread.is_nan() {
        return None;
    }
    let parallel = (mean(&|other, seconds| (other - x) * (seconds - y)) / spread).max(0.0);
    let serial = (y - parallel * x).max(0.0);
    Some(serial / (serial + parallel))
}

/// A bound on a number.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// At least this number.
    AtLeast(f64),
    /// At most this number.
    AtMost(f64),
}

impl Bound {
    /// Decides whether a measured number satisfies the bound.
    pub fn verdict(self, measured: &Interval) -> Verdict {
        let (kept_by_all, kept_by_some) = match self {
            Self::AtLeast(goal) => (measured.lower >= goal, measured.upper >= goal),
            Self::AtMost(goal) => (measured.upper <= goal, measured.lower <= goal),
        };
        match (kept_by_all, kept_by_some) {
            (true, _) => Verdict::Met,
            (false, true) => Verdict::Undecided,
            (false, false) => Verdict::Missed,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(goal) => write!(out, "≥ {goal}"),
            Self::AtMost(goal) => write!(out, "≤ {goal}"),
        }
    }
}

/// The verdict of an interval about a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The whole interval satisfies it.
    Met,
    /// No part of the interval satisfies it.
    Missed,
    /// A part of the interval satisfies it: more rounds, or a calmer machine, would decide it.
    Undecided,
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::Undecided => "undecided",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(lower: f64, upper: f64) -> Interval {
        Interval { estimate: f64::midpoint(lower, upper), lower, upper }
    }

    #[test]
    fn the_serial_share_of_times_that_follow_the_law_is_found() {
        for share in [0.0, 0.05, 0.4, 1.0] {
            let time = |workers: f64| 8.0 * (share + (1.0 - share) / workers);
            let times: Vec<(f64, f64)> =
                [1.0, 2.0, 4.0, 16.0].map(|workers| (workers, time(workers))).into();
            for times in [&times[..], &times[..2]] {
                let found = serial_share(times).expect("two numbers of workers");
                assert!((found - share).abs() < 1e-9, "{share}: {found}");
            }
        }
        // Slower with more workers: nothing is parallel. Faster than the law: nothing is serial.
        assert_eq!(serial_share(&[(1.0, 1.0), (2.0, 3.0)]), Some(1.0));
        assert_eq!(serial_share(&[(1.0, 9.0), (2.0, 3.0)]), Some(0.0));
        for none in
            [&[][..], &[(1.0, 2.0)], &[(2.0, 2.0), (2.0, 3.0)], &[(1.0, 0.0), (2.0, 1.0)]]
        {
            assert_eq!(serial_share(none), None);
        }
    }

    #[test]
    fn quartiles_are_interpolated_between_samples() {
        let summary = Summary::of(&[4.0, 1.0, 3.0, 2.0]).expect("there are samples");
        assert_eq!(summary.lower_quartile, 1.75);
        assert_eq!(summary.median, 2.5);
        assert_eq!(summary.upper_quartile, 3.25);
        assert_eq!((summary.min, summary.max), (1.0, 4.0));
        assert_eq!(summary.spread(), 0.6);
    }

    #[test]
    fn one_sample_is_its_own_quartiles_and_none_has_no_median() {
        let summary = Summary::of(&[3.0]).expect("there is one");
        assert_eq!((summary.lower_quartile, summary.upper_quartile), (3.0, 3.0));
        assert_eq!(median(&[]), None);
        assert_eq!(median_interval(&[], 1), None);
    }

    #[test]
    fn of_nine_rounds_the_interval_leaves_out_the_extremes() {
        let samples = [9.0, 1.0, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0, 5.0];
        let found = median_interval(&samples, 1).expect("nine samples");
        assert_eq!(found, Interval { estimate: 5.0, lower: 2.0, upper: 8.0 });
    }

    #[test]
    fn a_ratio_within_each_round_does_not_see_the_machine_slow_down() {
        let rival = [1.0, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0];
        let ours = rival.map(|seconds| seconds / 2.0);
        let ratio = paired_ratio(&rival, &ours, 3).expect("seven of each");
        assert_eq!(ratio, Interval { estimate: 2.0, lower: 2.0, upper: 2.0 });
    }

    #[test]
    fn rounds_that_do_not_pair_give_no_ratio() {
        assert_eq!(paired_ratio(&[1.0, 2.0], &[1.0], 1), None);
    }

    #[test]
    fn samples_of_two_machines_need_not_be_as_many() {
        let slow = [4.0, 4.2, 3.8, 4.1, 3.9, 4.0, 4.0];
        let fast = [2.0, 2.1, 1.9, 2.0, 2.0];
        let ratio = ratio_of_medians(&slow, &fast, 1).expect("samples on both sides");
        assert_eq!(ratio.estimate, 2.0);
        assert!(ratio.lower < 2.0 && ratio.upper > 2.0, "{ratio}");
        assert!(ratio.lower > 1.7 && ratio.upper < 2.3, "{ratio}");
    }

    #[test]
    fn equal_samples_on_both_sides_have_a_ratio_around_one() {
        let samples = [1.0, 1.3, 0.9, 1.1, 1.2, 1.0, 0.8, 1.05];
        let ratio = ratio_of_medians(&samples, &samples, 7).expect("eight of each");
        assert_eq!(ratio.estimate, 1.0);
        assert!(ratio.lower < 1.0 && ratio.upper > 1.0, "both sides are resampled: {ratio}");
    }

    #[test]
    fn a_control_that_wavers_makes_the_machine_noisy() {
        assert_eq!(noisy_spread(&[1.0, 1.01, 1.02, 1.0]), None);
        assert!(noisy_spread(&[1.0, 1.5, 1.0, 2.0]).is_some());
    }

    #[test]
    fn no_samples_or_a_median_of_zero_give_no_ratio() {
        assert_eq!(ratio_of_medians(&[], &[1.0], 1), None);
        assert_eq!(ratio_of_medians(&[1.0], &[], 1), None);
        assert_eq!(ratio_of_medians(&[1.0], &[0.0], 1), None);
        assert_eq!(ratio_of_medians(&[0.0], &[0.0], 1), None);
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let samples = [1.0, 1.3, 0.9, 1.1, 1.2, 1.0, 0.8, 1.05];
        assert_eq!(median_interval(&samples, 5), median_interval(&samples, 5));
        let ratio = |seed| ratio_of_medians(&samples, &samples[..5], seed);
        assert_eq!(ratio(5), ratio(5));
    }

    #[test]
    fn a_lower_bound_is_met_missed_or_undecided_by_the_whole_interval() {
        let goal = Bound::AtLeast(0.95);
        assert_eq!(goal.verdict(&interval(0.95, 0.99)), Verdict::Met);
        assert_eq!(goal.verdict(&interval(0.90, 0.949)), Verdict::Missed);
        assert_eq!(goal.verdict(&interval(0.90, 0.95)), Verdict::Undecided);
    }

    #[test]
    fn an_upper_bound_is_met_missed_or_undecided_by_the_whole_interval() {
        let goal = Bound::AtMost(1.05);
        assert_eq!(goal.verdict(&interval(1.0, 1.05)), Verdict::Met);
        assert_eq!(goal.verdict(&interval(1.051, 1.2)), Verdict::Missed);
        assert_eq!(goal.verdict(&interval(1.05, 1.2)), Verdict::Undecided);
    }

    #[test]
    fn made_up_rounds_that_hold_fail_and_leave_open_are_told_apart() {
        let limit = [1.00, 1.02, 0.99, 1.01, 1.00, 0.98, 1.03, 1.00, 1.01];
        let verdict_of = |factors: [f64; 9]| {
            let mut ours = limit;
            ours.iter_mut().zip(factors).for_each(|(seconds, factor)| *seconds *= factor);
            Bound::AtLeast(0.95).verdict(&paired_ratio(&limit, &ours, 1).expect("nine"))
        };
        assert_eq!(verdict_of([1.02; 9]), Verdict::Met);
        assert_eq!(verdict_of([1.10; 9]), Verdict::Missed);
        let wavering = [1.01, 1.09, 1.02, 1.08, 1.05, 1.01, 1.10, 1.03, 1.07];
        assert_eq!(verdict_of(wavering), Verdict::Undecided);
    }
}
