//! One row compared with another: how many times as fast, and whether noise allows a verdict.

use swath_profile::stats::{Interval, paired_ratio};

use super::layout::digits;
use super::row::DemoRow;

/// The fewest rounds that allow a verdict.
pub(super) const FEWEST: usize = 5;

/// The factor between the ends of an interval from which it does not show that two rows are
/// about the same.
const TOO_WIDE: f64 = 2.0;

/// The seed for resampling rounds for the interval.
const SEED: u64 = 1;

/// The conclusion from the interval of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Faster,
    Slower,
    /// The interval contains 1, to two digits: the difference may be noise.
    AboutTheSame,
    /// There are too few rounds, or the interval contains 1 and is [too wide](TOO_WIDE).
    Undecided,
}

impl Verdict {
    /// Returns the word for programs.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::AboutTheSame => "about_the_same",
            Self::Undecided => "undecided",
        }
    }
}

/// The speed of one row as a multiple of another's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Compared {
    pub(super) ratio: Interval,
    pub(super) verdict: Verdict,
}

impl Compared {
    /// Compares round by round; `None` if one of them never ran.
    pub(super) fn of(row: &DemoRow, other: &DemoRow) -> Option<Self> {
        let rounds = row.rounds().min(other.rounds());
        let ratio = paired_ratio(&other.seconds[..rounds], &row.seconds[..rounds], SEED)?;
        Some(Self { ratio, verdict: verdict(ratio, rounds) })
    }

    /// Returns the interval after a space, for printing; nothing for a single round.
    pub(super) fn spread(&self) -> String {
        let Interval { lower, upper, .. } = self.ratio;
        match self.verdict {
            Verdict::Undecided if lower >= upper => String::new(),
            _ => format!(" ({}–{})", digits(lower), digits(upper)),
        }
    }
}

fn verdict(ratio: Interval, rounds: usize) -> Verdict {
    let shown = |value: f64| (value * 100.0).round() / 100.0;
    match (shown(ratio.lower), shown(ratio.upper)) {
        _ if rounds < FEWEST => Verdict::Undecided,
        (lower, _) if lower > 1.0 => Verdict::Faster,
        (_, upper) if upper < 1.0 => Verdict::Slower,
        (lower, upper) if upper > lower * TOO_WIDE => Verdict::Undecided,
        _ => Verdict::AboutTheSame,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::demo::row::{About, timed};

    fn compared(ours: &[f64], theirs: &[f64]) -> Compared {
        let row = |seconds| timed(About::read("auto"), seconds);
        Compared::of(&row(ours), &row(theirs)).expect("both ran")
    }

    #[test]
    fn noise_claims_neither_a_win_nor_a_loss() {
        let ours = [1.0, 1.2, 0.9, 1.1, 1.0];
        for (factors, verdict) in [
            ([2.0, 2.1, 1.9, 2.0, 2.0], Verdict::Faster),
            ([0.5, 0.6, 0.5, 0.4, 0.5], Verdict::Slower),
            ([1.3, 1.4, 0.9, 1.2, 1.3], Verdict::AboutTheSame),
            // To two digits, the interval contains 1.
            ([1.004; 5], Verdict::AboutTheSame),
            ([0.996; 5], Verdict::AboutTheSame),
            ([1.006; 5], Verdict::Faster),
            ([0.6, 1.3, 1.0, 1.1, 0.9], Verdict::Undecided),
        ] {
            let theirs: Vec<f64> = ours.iter().zip(factors).map(|(a, b)| a * b).collect();
            assert_eq!(compared(&ours, &theirs).verdict, verdict, "{factors:?}");
        }
    }

    #[test]
    fn few_rounds_decide_nothing_and_a_round_that_is_not_whole_does_not_count() {
        let found = compared(&[1.0, 1.0, 1.0, 1.0], &[3.0; 4]);
        assert_eq!((found.verdict, found.ratio.estimate), (Verdict::Undecided, 3.0));
        assert_eq!(compared(&[1.0; 5], &[3.0; 4]).verdict, Verdict::Undecided);
        assert_eq!(compared(&[1.0; 6], &[3.0; 5]).verdict, Verdict::Faster);
        let never = timed(About::read("auto"), &[]);
        assert_eq!(Compared::of(&never, &never), None);
    }
}
