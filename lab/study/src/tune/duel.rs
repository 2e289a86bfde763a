//! Decides whether a value of a setting is clearly faster than the current one.
//!
//! ```text
//! screen    now and all values, in turns     3 rounds: drop values without a gain; 7: is it clear?
//! confirm   now and the best, alternating    9 rounds: is it clear again?
//! guards    the same where it might cost     7 rounds: is it no slower?
//! ```
//!
//! The best of several was also lucky, so the first measurement chooses, and only the second one, of the
//! chosen value alone, counts. A default stays unless everything speaks for another value.

use anyhow::Result;
use swath_plan::words;

use crate::measure::{Stopped, Turns, interleave};
use swath_profile::stats::{Interval, median, paired_ratio};

/// How many times as fast a value must be at least, with 95 % certainty.
pub(super) const MARGIN: f64 = 1.03;
/// How many times as fast it must be where no gain is expected, by the estimate.
pub(super) const GUARD: f64 = 0.98;
/// The least gain, with 95 % certainty: few rounds of short runs waver.
pub(super) const GUARD_LEAST: f64 = 0.90;
/// Rounds after which values without a gain are dropped.
const EARLY: usize = 3;
/// Rounds of the first measurement.
const SCREEN: usize = 7;
/// Rounds of the second one.
const CONFIRM: usize = 9;

/// An entrant: the current value, or one of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DuelEntrant {
    Now,
    Value(u64),
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DuelRun {
    /// It took this many seconds.
    Took(f64),
    /// There is no time left, or the measurement was cancelled.
    Over,
}

/// Why a setting is as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// Another value was clearly faster, twice.
    Faster,
    /// No other value was clearly faster.
    NoneFaster,
    /// One was at first, and not when it was measured again.
    NotConfirmed,
    /// One was, and made something else slower.
    SlowerElsewhere,
    /// It was not measured to the end.
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
    /// How many times as fast the best value was, when it was measured last.
    pub(super) ratio: Option<Interval>,
}

impl Decided {
    fn kept(because: Because, ratio: Option<Interval>) -> Self {
        Self { value: None, because, ratio }
    }
}

/// Measures `values` in case `gain`, and the best one also in `guards`; `run` runs an entrant in a
/// case once.
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

/// An entrant that is still in, and the seconds of each round.
struct Timed {
    entrant: DuelEntrant,
    seconds: Vec<f64>,
}

impl Timed {
    fn new(entrant: DuelEntrant) -> Self {
        Self { entrant, seconds: Vec::new() }
    }
}

/// Runs `all` in turns; whether they came to the end of the rounds.
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
    /// The best of the dropped ones.
    left: Option<Interval>,
}

/// The value with the best ratio to what is used now, which is the last of `all`.
fn best(all: &[Timed], seed: u64) -> Option<(u64, Interval)> {
    let (now, values) = all.split_last()?;
    let ratios = values.iter().filter_map(|value| {
        let DuelEntrant::Value(number) = value.entrant else { return None };
        Some((number, paired_ratio(&now.seconds, &value.seconds, seed)?))
    });
    ratios.max_by(|left, right| left.1.estimate.total_cmp(&right.1.estimate))
}

/// Whether a value gains something, as far as can be seen.
fn gains(now: &[f64], value: &[f64]) -> bool {
    let ratios: Vec<f64> = now.iter().zip(value).map(|(now, it)| now / it).collect();
    median(&ratios).is_some_and(|ratio| ratio > MARGIN)
}

/// The first measurement; `None` if it did not come to its end.
fn screen(
    values: &[u64],
    seed: u64,
    run: &mut dyn FnMut(DuelEntrant) -> Result<DuelRun>,
) -> Result<Option<Screened>> {
    let mut turns = Turns::shuffled(seed);
    let all = values.iter().map(|&value| DuelEntrant::Value(value)).chain([DuelEntrant::Now]);
    let mut all: Vec<Timed> = all.map(Timed::new).collect();
    // The first run of all finds everything cold that is not looked at.
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

/// Now and `value`, alternating, the first one changing from round to round: how many times as fast
/// the value is. `None` if it did not come to its end.
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

    /// Decides between 1, 2 and 3 by made-up times; returns the number of runs, too.
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

    /// A machine whose times waver by some per cent.
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
