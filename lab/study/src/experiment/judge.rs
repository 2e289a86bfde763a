//! Turns numbers into a verdict and its sentences.

use crate::results::{Finding, Holds, Selected};
use swath_profile::stats::{Bound, Interval, Verdict};

/// One point of a rule, as a sentence with a gap for the measured number.
///
/// ```
/// use swath_study::experiment::{Point, all_of};
/// use swath_study::results::{Holds, Selected};
/// use swath_profile::stats::{Bound, Interval};
///
/// let measured = Interval { estimate: 1.9, lower: 1.8, upper: 2.1 };
/// let faster = Point::new("8 threads are {} as fast as one", Some(measured), Bound::AtLeast(1.2));
/// let finding = all_of(&Selected::new(&[], 0, 1), &[faster]);
/// assert_eq!(finding.verdict, Holds::Yes);
/// assert_eq!(
///     finding.because,
///     "8 threads are 1.90 × [1.80, 2.10] as fast as one; the rule asks for at least 1.2"
/// );
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    sentence: String,
    measured: Option<Interval>,
    /// Bounds of the number; if empty, it is reported and decides nothing.
    bounds: Vec<Bound>,
    /// Whether the intervals of both sides overlap.
    overlaps: bool,
    /// Whether this machine cannot decide the point.
    is_elsewhere: bool,
    /// The unit after the number: `×` after a ratio.
    unit: &'static str,
}

impl Point {
    /// Makes a point: the measured number must keep to `bound`, and replaces `{}` in `sentence`.
    pub fn new(sentence: impl Into<String>, measured: Option<Interval>, bound: Bound) -> Self {
        Self { bounds: vec![bound], ..Self::told(sentence, measured) }
    }

    /// Makes a point as [`new`](Self::new) does, with a lower and an upper bound.
    pub fn within(
        sentence: impl Into<String>,
        measured: Option<Interval>,
        least: f64,
        most: f64,
    ) -> Self {
        let bounds = vec![Bound::AtLeast(least), Bound::AtMost(most)];
        Self { bounds, ..Self::told(sentence, measured) }
    }

    /// Makes a point that decides nothing.
    pub fn told(sentence: impl Into<String>, measured: Option<Interval>) -> Self {
        let (bounds, overlaps) = (Vec::new(), false);
        let sentence = sentence.into();
        Self { sentence, measured, bounds, overlaps, is_elsewhere: false, unit: "×" }
    }

    /// Sets the unit of a number that is not a ratio.
    pub fn in_unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// Makes a point that this machine cannot decide, with the reason.
    pub fn elsewhere(why: impl Into<String>) -> Self {
        Self { is_elsewhere: true, ..Self::words(why) }
    }

    /// Returns this point if there are at least `least` processors, or an unknown number; else a point that
    /// this machine cannot decide.
    pub fn from_cores(self, runs: &Selected<'_>, least: usize) -> Self {
        match runs.cores() {
            0 => self,
            cores if cores >= least => self,
            cores => Self {
                sentence: format!(
                    "{}; this is judged from {least} processors on, and here are {cores}",
                    self.sentence
                ),
                bounds: Vec::new(),
                is_elsewhere: true,
                ..self
            },
        }
    }

    /// Makes a point of words alone, which decides nothing.
    pub fn words(sentence: impl Into<String>) -> Self {
        Self::told(sentence, None)
    }

    /// Makes the point undecided if the intervals of both sides overlap.
    pub fn apart(self, own: Option<Interval>, other: Option<Interval>) -> Self {
        let overlap = own
            .zip(other)
            .is_none_or(|(own, other)| own.lower <= other.upper && other.lower <= own.upper);
        Self { overlaps: self.overlaps || overlap, ..self }
    }

    /// Returns the verdict of the interval, widened by the spread of the control.
    fn holds(&self, noise: f64) -> Holds {
        let Some(Interval { estimate, lower, upper }) = self.measured else {
            return Holds::Undecided;
        };
        let widened =
            Interval { estimate, lower: lower / (1.0 + noise), upper: upper * (1.0 + noise) };
        let verdicts: Vec<Verdict> =
            self.bounds.iter().map(|bound| bound.verdict(&widened)).collect();
        if self.overlaps {
            Holds::Undecided
        } else if verdicts.contains(&Verdict::Missed) {
            Holds::No
        } else if verdicts.contains(&Verdict::Undecided) {
            Holds::Undecided
        } else {
            Holds::Yes
        }
    }

    /// Returns the sentence with a capital letter.
    fn text(&self) -> String {
        let sentence = self.sentence();
        let mut letters = sentence.chars();
        letters
            .next()
            .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }

    fn sentence(&self) -> String {
        if !self.sentence.contains("{}") {
            return self.sentence.clone();
        }
        let Some(measured) = self.measured else {
            return format!(
                "not measured in enough rounds: {}",
                self.sentence.replace("{}", &format!("… {}", self.unit))
            );
        };
        let digits =
            self.bounds.iter().map(|&bound| digits(&measured, bound)).max().unwrap_or(DIGITS);
        let told = self.sentence.replace("{}", &rounded(&measured, digits, self.unit));
        if self.bounds.is_empty() {
            return told;
        }
        if self.overlaps {
            return format!(
                "{told}, but the intervals of the two overlap, which decides nothing"
            );
        }
        let asked = self.bounds.iter().map(|bound| match bound {
            Bound::AtLeast(goal) => format!("at least {goal}"),
            Bound::AtMost(goal) => format!("at most {goal}"),
        });
        format!("{told}; the rule asks for {}", asked.collect::<Vec<_>>().join(" and "))
    }
}

/// The usual number of digits after the point.
const DIGITS: usize = 2;

/// Returns the number of digits that shows on which side of the bound the numbers lie.
fn digits(measured: &Interval, bound: Bound) -> usize {
    let (Bound::AtLeast(goal) | Bound::AtMost(goal)) = bound;
    let is_told = |digits: &usize| {
        let scale = 10_f64.powi(i32::try_from(*digits).unwrap_or(0));
        [measured.estimate, measured.lower, measured.upper].iter().all(|value| {
            ((value * scale).round() / scale).total_cmp(&goal) == value.total_cmp(&goal)
        })
    };
    (DIGITS..5).find(is_told).unwrap_or(5)
}

/// Formats a ratio with its interval; large ratios have no decimals.
fn rounded(measured: &Interval, digits: usize, unit: &str) -> String {
    let digits = if measured.lower >= 100.0 { 0 } else { digits };
    let Interval { estimate, lower, upper } = measured;
    format!("{estimate:.digits$} {unit} [{lower:.digits$}, {upper:.digits$}]")
}

/// Judges that a claim holds if all of `points` hold, and does not hold if one of them does not. Else,
/// if this machine cannot decide one of them, it cannot decide the claim.
pub fn all_of(runs: &Selected<'_>, points: &[Point]) -> Finding {
    finding(runs, points, Holds::No, Holds::Yes)
}

/// Judges that a claim holds if one of `points` holds, and does not hold if all of them fail.
pub fn any_of(runs: &Selected<'_>, points: &[Point]) -> Finding {
    finding(runs, points, Holds::Yes, Holds::No)
}

/// Reports the measured numbers without a verdict.
pub fn told(points: &[Point]) -> Finding {
    let texts: Vec<String> = points.iter().map(Point::text).collect();
    Finding { verdict: Holds::Told, because: texts.join(". "), ..Finding::default() }
}

/// Returns `decisive` if one point has that verdict, else `otherwise` if no point is open.
fn finding(
    runs: &Selected<'_>,
    points: &[Point],
    decisive: Holds,
    otherwise: Holds,
) -> Finding {
    let noise = runs.noise();
    let judged = points.iter().filter(|point| !point.bounds.is_empty());
    let verdicts: Vec<Holds> = judged.map(|point| point.holds(noise)).collect();
    let verdict = if verdicts.contains(&decisive) {
        decisive
    } else if points.iter().any(|point| point.is_elsewhere) {
        Holds::NotHere
    } else if verdicts.is_empty() || verdicts.contains(&Holds::Undecided) {
        Holds::Undecided
    } else {
        otherwise
    };
    let mut texts: Vec<String> = points.iter().map(Point::text).collect();
    if noise > 0.0 {
        let percent = 100.0 * noise;
        texts.push(format!(
            "The control was spread by {percent:.0} %: each interval was taken to be wider by that"
        ));
    }
    Finding { verdict, because: texts.join(". "), ..Finding::default() }
}

impl Finding {
    /// Adds Swath's best as a share of the limit.
    pub fn with_limit(self, of_limit: Option<Interval>) -> Self {
        Self { of_limit, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(noise: f64) -> Selected<'static> {
        Selected::new(&[], 0, 1).with_noise(Some(noise))
    }

    fn interval(lower: f64, upper: f64) -> Option<Interval> {
        Some(Interval { estimate: f64::midpoint(lower, upper), lower, upper })
    }

    fn point(lower: f64, upper: f64) -> Point {
        Point::new("it is {} as fast", interval(lower, upper), Bound::AtLeast(1.0))
    }

    #[test]
    fn a_claim_holds_only_if_the_whole_interval_says_so() {
        let (holding, failing, open) = (point(1.1, 1.3), point(0.7, 0.9), point(0.9, 1.1));
        let missing = Point::new("{}", None, Bound::AtLeast(1.0));
        let told = Point::told("{}", interval(0.1, 0.2));
        for (points, all, any) in [
            (vec![holding.clone()], Holds::Yes, Holds::Yes),
            (vec![failing.clone()], Holds::No, Holds::No),
            (vec![open.clone()], Holds::Undecided, Holds::Undecided),
            (vec![missing.clone()], Holds::Undecided, Holds::Undecided),
            (vec![], Holds::Undecided, Holds::Undecided),
            (vec![told.clone()], Holds::Undecided, Holds::Undecided),
            (vec![holding.clone(), told], Holds::Yes, Holds::Yes),
            (vec![holding.clone(), failing.clone()], Holds::No, Holds::Yes),
            (vec![holding.clone(), open.clone()], Holds::Undecided, Holds::Yes),
            (vec![failing.clone(), open], Holds::No, Holds::Undecided),
            (vec![holding.clone(), holding, missing], Holds::Undecided, Holds::Yes),
        ] {
            let (found_all, found_any) =
                (all_of(&runs(0.0), &points), any_of(&runs(0.0), &points));
            assert_eq!((found_all.verdict, found_any.verdict), (all, any), "{points:?}");
        }
    }

    #[test]
    fn beside_a_noisy_control_a_verdict_needs_room() {
        let (near, far) = (point(1.1, 1.3), point(1.6, 1.8));
        let (below, far_below) = (point(0.8, 0.9), point(0.5, 0.6));
        let verdict =
            |noise, point: &Point| all_of(&runs(noise), std::slice::from_ref(point)).verdict;
        for (point, calm, noisy) in [
            (&near, Holds::Yes, Holds::Undecided),
            (&far, Holds::Yes, Holds::Yes),
            (&below, Holds::No, Holds::Undecided),
            (&far_below, Holds::No, Holds::No),
        ] {
            // Nothing is widened while the control is not noisy.
            assert_eq!((verdict(0.1, point), verdict(0.4, point)), (calm, noisy), "{point:?}");
        }
        let because = all_of(&runs(0.4), &[near]).because;
        assert!(because.contains("spread by 40 %"), "{because}");
    }

    #[test]
    fn too_few_processors_decide_only_what_does_not_hold() {
        let verdict = |cores, other: Point| {
            let runs = runs(0.0).with_cores(cores);
            let points = [point(1.1, 1.3).from_cores(&runs, 8), other];
            all_of(&runs, &points).verdict
        };
        assert_eq!(verdict(2, point(1.1, 1.3)), Holds::NotHere);
        assert_eq!(verdict(2, point(0.7, 0.9)), Holds::No);
        assert_eq!(
            (verdict(8, point(1.1, 1.3)), verdict(0, point(1.1, 1.3))),
            (Holds::Yes, Holds::Yes)
        );
        let because = all_of(
            &runs(0.0).with_cores(2),
            &[point(1.1, 1.3).from_cores(&runs(0.0).with_cores(2), 8)],
        )
        .because;
        assert_eq!(
            because,
            "It is 1.20 × [1.10, 1.30] as fast; this is judged from 8 processors on, and here are 2"
        );
    }

    #[test]
    fn intervals_that_overlap_decide_nothing() {
        let point = || Point::new("{}", interval(0.5, 0.6), Bound::AtMost(1.0));
        let verdict = |point| all_of(&runs(0.0), &[point]).verdict;
        assert_eq!(verdict(point()), Holds::Yes);
        let apart = point().apart(interval(0.1, 0.6), interval(0.8, 1.0));
        assert_eq!(verdict(apart), Holds::Yes);
        // Intervals from a quick run of study C.
        let overlapping = point().apart(interval(0.4, 1.0), interval(0.02, 1.0));
        assert_eq!(verdict(overlapping), Holds::Undecided);
        assert_eq!(verdict(point().apart(None, interval(0.8, 1.0))), Holds::Undecided);
    }

    #[test]
    fn from_one_number_to_another_both_ends_count() {
        let verdict = |lower, upper| {
            let point = Point::within("{}", interval(lower, upper), 0.85, 1.15);
            let finding = all_of(&runs(0.0), &[point]);
            assert!(finding.because.ends_with("at least 0.85 and at most 1.15"), "{finding:?}");
            finding.verdict
        };
        assert_eq!(verdict(0.9, 1.1), Holds::Yes);
        assert_eq!((verdict(0.7, 0.8), verdict(1.2, 1.3)), (Holds::No, Holds::No));
        assert_eq!(
            (verdict(0.8, 1.0), verdict(1.0, 1.2)),
            (Holds::Undecided, Holds::Undecided)
        );
    }

    #[test]
    fn the_reason_is_a_sentence_with_the_numbers_and_the_rule() {
        let because = |point| all_of(&runs(0.0), &[point]).because;
        let rule = "the rule asks for at least 1";
        for (lower, upper, ratio) in [
            (1.1, 1.3, "1.20 × [1.10, 1.30]"),
            (0.9981, 1.3, "1.149 × [0.998, 1.300]"),
            (1.0, 1.3, "1.15 × [1.00, 1.30]"),
            (44_000.0, 46_000.0, "45000 × [44000, 46000]"),
        ] {
            assert_eq!(because(point(lower, upper)), format!("It is {ratio} as fast; {rule}"));
        }
        let missing = because(Point::new("it is {} as fast", None, Bound::AtMost(1.0)));
        assert_eq!(missing, "Not measured in enough rounds: it is … × as fast");
    }
}
