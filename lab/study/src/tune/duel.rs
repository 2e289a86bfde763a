//! Decides whether a value of a setting is clearly faster than the current one.
//!
//! ```text
//! screen    now and all values, in turns     3 rounds: drop values without a gain; 7: is it clear?
//! confirm   now and the best, alternating    9 rounds: is it clear again?
//! guards    the same where it might cost     7 rounds: is it no slower?
//! ```
//!
//! The best of several values was partly lucky. So the first measurement only chooses a value, and the
//! second one, of this value alone, decides. A default stays unless all measurements favour another value.

use anyhow::Result;
use swath_plan::words;

use crate::measure::{Stopped, Turns, interleave};
use swath_profile::stats::{Interval, median, paired_ratio};

/// The least speed-up of a value, with 95 % certainty.
pub(super) const MARGIN: f64 = 1.03;
/// The least estimated speed-up in cases where no gain is expected.
pub(super) const GUARD: f64 = 0.98;
/// The least speed-up there with 95 % certainty: few rounds of short runs vary.
pub(super) const GUARD_LEAST: f64 = 0.90;
/// Rounds after which values without a gain are dropped.
const EARLY: usize = 3;
/// Rounds of the first measurement.
const SCREEN: usize = 7;
/// Rounds of the second one.
const CONFIRM: usize = 9;

/// An entrant: the current value, or another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DuelEntrant {
    Now,
    Value(u64),
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DuelRun {
    /// The run took this many seconds.
    Took(f64),
    /// There is no time left, or the measurement was cancelled.
    Over,
}

/// The reason for the value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// Another value was clearly faster, twice.
    Faster,
    /// No other value was clearly faster.
    NoneFaster,
    /// Another value was faster at first, but not in the second measurement.
    NotConfirmed,
    /// Another value was faster, but slower in another case.
    SlowerElsewhere,
    /// The measurement did not end in time.
    NoTime,
}

words!(Because {
    Faster = "clearly faster, twice", NoneFaster = "nothing else was clearly faster",
    NotConfirmed = "faster at first, not confirmed",
    SlowerElsewhere = "faster here, slower elsewhere",
    NoTime = "not measured: no time was left",
});

/// The decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Decided {
    /// The new value.
    pub(super) value: Option<u64>,
    pub(super) because: Because,
    /// The speed-up of the best value in its last measurement.
    pub(super) ratio: Option<Interval>,
}

impl Decided {
    fn kept(because: Because, ratio: Option<Interval>) -> Self {
        Self { value: None, because, ratio }
    }
}

/// Measures `values` in case `gain`, and the best one also in `guards`. `run` runs an entrant once in a
/// case.
///
/// # Errors
///
/// The errors of `run`.
pub(super) fn decide<C: Copy>(
    values: &[u64],
    gain: C,
    guards: &[C],
    seed: u64,
    run: &mut dyn FnMut(C, DuelEntrant) -> Result<DuelRun>,
) -> Result<Decided> {
    let Some(screened) = screen(values, seed, &mut |entrant| run(gain, entrant))? else {
        return Ok(Decided::kept(Because::NoTime, None));
    };
    let Some((value, ratio)) = screened.best else {
        return Ok(Decided::kept(Because::NoneFaster, screened.left));
    };
    if ratio.lower <= MARGIN {
        return Ok(Decided::kept(Because::NoneFaster, Some(ratio)));
    }
    let mut again = |case, rounds| duel(value, rounds, seed, &mut |entrant| run(case, entrant));
    let Some(ratio) = again(gain, CONFIRM)? else {
        return Ok(Decided::kept(Because::NoTime, Some(ratio)));
    };
    if ratio.lower <= MARGIN {
        return Ok(Decided::kept(Because::NotConfirmed, Some(ratio)));
    }
    for &guard in guards {
        match again(guard, SCREEN)? {
            None => return Ok(Decided::kept(Because::NoTime, Some(ratio))),
            Some(other) if other.estimate < GUARD || other.lower < GUARD_LEAST => {
                return Ok(Decided::kept(Because::SlowerElsewhere, Some(ratio)));
            }
            Some(_) => {}
        }
    }
    Ok(Decided { value: Some(value), because: Because::Faster, ratio: Some(ratio) })
}

/// A remaining entrant, and the seconds of each round.
struct Timed {
    entrant: DuelEntrant,
    seconds: Vec<f64>,
}

impl Timed {
    fn new(entrant: DuelEntrant) -> Self {
        Self { entrant, seconds: Vec::new() }
    }
}

/// Runs `all` in turns; returns whether all rounds ended.
fn rounds(
    all: &mut [Timed],
    turns: &mut Turns,
    count: usize,
    run: &mut dyn FnMut(DuelEntrant) -> Result<DuelRun>,
) -> Result<bool> {
    let mut take = |timed: &mut Timed, _| match run(timed.entrant)? {
        DuelRun::Took(seconds) => {
            timed.seconds.push(seconds);
            Ok(Stopped::No)
        }
        DuelRun::Over => Ok(Stopped::Yes),
    };
    Ok(interleave(all, turns, count, &mut take)? == Stopped::No)
}

/// The result of the first measurement.
struct Screened {
    best: Option<(u64, Interval)>,
    /// The best ratio after the early rounds.
    left: Option<Interval>,
}

/// Returns the value with the best ratio to the current value, which is the last of `all`.
fn best(all: &[Timed], seed: u64) -> Option<(u64, Interval)> {
    let (now, values) = all.split_last()?;
    let ratios = values.iter().filter_map(|value| {
        let DuelEntrant::Value(number) = value.entrant else { return None };
        Some((number, paired_ratio(&now.seconds, &value.seconds, seed)?))
    });
    ratios.max_by(|left, right| left.1.estimate.total_cmp(&right.1.estimate))
}

/// Returns whether the median ratio of a value exceeds the margin.
fn gains(now: &[f64], value: &[f64]) -> bool {
    let ratios: Vec<f64> = now.iter().zip(value).map(|(now, it)| now / it).collect();
    median(&ratios).is_some_and(|ratio| ratio > MARGIN)
}

/// Makes the first measurement; `None` if it did not end in time.
fn screen(
    values: &[u64],
    seed: u64,
    run: &mut dyn FnMut(DuelEntrant) -> Result<DuelRun>,
) -> Result<Option<Screened>> {
    let mut turns = Turns::shuffled(seed);
    let all = values.iter().map(|&value| DuelEntrant::Value(value)).chain([DuelEntrant::Now]);
    let mut all: Vec<Timed> = all.map(Timed::new).collect();
    // A run that does not count: the first run finds cold caches.
    if run(DuelEntrant::Now)? == DuelRun::Over || !rounds(&mut all, &mut turns, EARLY, run)? {
        return Ok(None);
    }
    let left = best(&all, seed).map(|(_, ratio)| ratio);
    let now = all.last().map_or_else(Vec::new, |now| now.seconds.clone());
    all.retain(|it| it.entrant == DuelEntrant::Now || gains(&now, &it.seconds));
    if all.len() > 1 && !rounds(&mut all, &mut turns, SCREEN - EARLY, run)? {
        return Ok(None);
    }
    Ok(Some(Screened { best: best(&all, seed), left }))
}

/// Runs the current value and `value` in turns, with another first one in each round; returns the speed-up
/// of `value`. `None` if it did not end in time.
fn duel(
    value: u64,
    count: usize,
    seed: u64,
    run: &mut dyn FnMut(DuelEntrant) -> Result<DuelRun>,
) -> Result<Option<Interval>> {
    let mut both = [DuelEntrant::Now, DuelEntrant::Value(value)].map(Timed::new);
    let is_whole = rounds(&mut both, &mut Turns::rotated(1), count, run)?;
    let [now, then] = &both;
    Ok(paired_ratio(&now.seconds, &then.seconds, seed).filter(|_| is_whole))
}

#[cfg(test)]
mod tests {
    use swath_reference::battery::{Battery, BatterySize};

    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Case {
        Here,
        There,
    }

    /// Decides between 1, 2 and 3 by synthetic times; also returns the number of runs.
    fn decided(
        mut seconds: impl FnMut(Case, DuelEntrant, usize) -> DuelRun,
    ) -> (Decided, usize) {
        let mut runs = 0;
        let mut run = |case, entrant| {
            runs += 1;
            Ok(seconds(case, entrant, runs))
        };
        let decided = decide(&[1, 2, 3], Case::Here, &[Case::There], 1, &mut run);
        (decided.expect("made-up runs do not fail"), runs)
    }

    /// Returns a factor near 1, for times that vary by some per cent.
    fn wavering(runs: usize) -> f64 {
        0.98 + 0.04 * swath_plan::random::fraction(3, runs as u64)
    }

    #[test]
    fn a_value_that_is_clearly_faster_twice_is_taken() {
        let (decided, _) = decided(|case, entrant, runs| {
            let gain = case == Case::Here && entrant == DuelEntrant::Value(2);
            DuelRun::Took(if gain { 0.5 } else { 1.0 } * wavering(runs))
        });
        assert_eq!((decided.value, decided.because), (Some(2), Because::Faster));
        assert!(decided.ratio.is_some_and(|ratio| ratio.lower > 1.5), "{decided:?}");
    }

    #[test]
    fn a_default_stays_where_only_luck_speaks_against_it() {
        for seed in Battery::new("combinations", BatterySize { slice: 20, full: 200 }) {
            let mut runs = 0_u64;
            let mut run = |_: Case, _| {
                runs += 1;
                Ok(DuelRun::Took(1.0 + 0.5 * swath_plan::random::fraction(seed, runs)))
            };
            let decided = decide(&[1, 2, 3], Case::Here, &[], seed, &mut run);
            assert_eq!(decided.expect("made-up").value, None, "seed {seed}");
        }
    }

    #[test]
    fn what_gains_nothing_leaves_after_three_rounds() {
        let (decided, runs) = decided(|_, _, _| DuelRun::Took(1.0));
        assert_eq!((decided.value, decided.because), (None, Because::NoneFaster));
        assert_eq!(runs, 1 + EARLY * 4);
    }

    #[test]
    fn a_gain_below_the_margin_is_none() {
        let (decided, _) = decided(|_, entrant, _| {
            DuelRun::Took(if entrant == DuelEntrant::Value(1) { 1.0 / 1.02 } else { 1.0 })
        });
        assert_eq!((decided.value, decided.because), (None, Because::NoneFaster));
    }

    #[test]
    fn what_was_faster_only_at_first_is_not_taken() {
        let screened = 1 + EARLY * 4 + (SCREEN - EARLY) * 2;
        let (decided, _) = decided(|_, entrant, runs| {
            let lucky = entrant == DuelEntrant::Value(3) && runs <= screened;
            DuelRun::Took(if lucky { 0.5 } else { 1.0 })
        });
        assert_eq!((decided.value, decided.because), (None, Because::NotConfirmed));
    }

    #[test]
    fn what_is_slower_elsewhere_is_not_taken() {
        let (decided, _) = decided(|case, entrant, _| {
            let chosen = entrant == DuelEntrant::Value(1);
            DuelRun::Took(match case {
                Case::Here if chosen => 0.5,
                Case::There if chosen => 1.2,
                _ => 1.0,
            })
        });
        assert_eq!((decided.value, decided.because), (None, Because::SlowerElsewhere));
    }

    #[test]
    fn nothing_is_taken_when_time_is_over() {
        let faster = |entrant| if entrant == DuelEntrant::Value(1) { 0.5 } else { 1.0 };
        let (whole, all) = decided(|_, entrant, _| DuelRun::Took(faster(entrant)));
        assert_eq!(whole.value, Some(1));
        for last in 0..all {
            let (decided, _) = decided(|_, entrant, runs| match runs > last {
                true => DuelRun::Over,
                false => DuelRun::Took(faster(entrant)),
            });
            assert_eq!((decided.value, decided.because), (None, Because::NoTime), "{last}");
        }
    }
}
