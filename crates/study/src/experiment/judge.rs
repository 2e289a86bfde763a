//! From numbers to a verdict, and the words for it.

use crate::results::{Finding, Holds};
use crate::stats::{Bound, Interval, Verdict};

/// One thing that a claim says, with what was measured.
///
/// ```
/// use swath_study::experiment::{Claim, all_of};
/// use swath_study::results::Holds;
/// use swath_study::stats::{Bound, Interval};
///
/// let measured = Interval { estimate: 1.9, lower: 1.8, upper: 2.1 };
/// let faster = Claim::new("8 threads against one", Some(measured), Bound::AtLeast(1.2));
/// assert_eq!(all_of(&[faster]).verdict, Holds::Yes);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    what: String,
    measured: Option<Interval>,
    bound: Bound,
}

impl Claim {
    /// `what` was measured, if at all, and is to keep to `bound`.
    pub fn new(what: impl Into<String>, measured: Option<Interval>, bound: Bound) -> Self {
        Self { what: what.into(), measured, bound }
    }

    fn holds(&self) -> Holds {
        match self.measured.map(|measured| self.bound.verdict(&measured)) {
            Some(Verdict::Met) => Holds::Yes,
            Some(Verdict::Missed) => Holds::No,
            Some(Verdict::Undecided) | None => Holds::Undecided,
        }
    }

    fn text(&self) -> String {
        let digits = self.measured.map_or(DIGITS, |measured| digits(&measured, self.bound));
        format!("{}: {}, claimed {}", self.what, rounded(self.measured, digits), self.bound)
    }
}

/// Digits behind the point, usually.
const DIGITS: usize = 2;

/// So many that what lies on one side of a bound is not told to be on it.
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

/// What was measured, as findings tell it.
pub(crate) fn text(measured: Option<Interval>) -> String {
    rounded(measured, DIGITS)
}

fn rounded(measured: Option<Interval>, digits: usize) -> String {
    measured.map_or_else(
        || String::from("not measured"),
        |Interval { estimate, lower, upper }| {
            format!("{estimate:.digits$} [{lower:.digits$}, {upper:.digits$}]")
        },
    )
}

/// Holds if all of `claims` do; does not if one of them does not.
#[must_use]
pub fn all_of(claims: &[Claim]) -> Finding {
    finding(combined(claims, Holds::No, Holds::Yes), claims)
}

/// Holds if one of `claims` does; does not if none of them does.
#[must_use]
pub fn any_of(claims: &[Claim]) -> Finding {
    finding(combined(claims, Holds::Yes, Holds::No), claims)
}

/// One `decisive` claim is enough; without any, all that are left say `otherwise`.
fn combined(claims: &[Claim], decisive: Holds, otherwise: Holds) -> Holds {
    let verdicts: Vec<Holds> = claims.iter().map(Claim::holds).collect();
    if verdicts.contains(&decisive) {
        decisive
    } else if verdicts.is_empty() || verdicts.contains(&Holds::Undecided) {
        Holds::Undecided
    } else {
        otherwise
    }
}

fn finding(verdict: Holds, claims: &[Claim]) -> Finding {
    let texts: Vec<String> = claims.iter().map(Claim::text).collect();
    Finding { verdict, because: texts.join("; "), of_limit: None }
}

impl Finding {
    /// Adds how near the best of Swath came to the limit.
    #[must_use]
    pub fn with_limit(self, of_limit: Option<Interval>) -> Self {
        Self { of_limit, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(lower: f64, upper: f64) -> Claim {
        let estimate = f64::midpoint(lower, upper);
        Claim::new("it", Some(Interval { estimate, lower, upper }), Bound::AtLeast(1.0))
    }

    #[test]
    fn a_claim_holds_only_if_the_whole_interval_says_so() {
        let (holding, failing, open) = (claim(1.1, 1.3), claim(0.7, 0.9), claim(0.9, 1.1));
        let missing = Claim::new("it", None, Bound::AtLeast(1.0));
        for (claims, all, any) in [
            (vec![holding.clone()], Holds::Yes, Holds::Yes),
            (vec![failing.clone()], Holds::No, Holds::No),
            (vec![open.clone()], Holds::Undecided, Holds::Undecided),
            (vec![missing.clone()], Holds::Undecided, Holds::Undecided),
            (vec![], Holds::Undecided, Holds::Undecided),
            (vec![holding.clone(), failing.clone()], Holds::No, Holds::Yes),
            (vec![holding.clone(), open.clone()], Holds::Undecided, Holds::Yes),
            (vec![failing.clone(), open], Holds::No, Holds::Undecided),
            (vec![holding.clone(), holding, missing], Holds::Undecided, Holds::Yes),
        ] {
            assert_eq!(
                (all_of(&claims).verdict, any_of(&claims).verdict),
                (all, any),
                "{claims:?}"
            );
        }
    }

    #[test]
    fn the_reason_has_the_numbers_and_what_was_claimed() {
        let because = all_of(&[claim(1.1, 1.3)]).because;
        assert_eq!(because, "it: 1.20 [1.10, 1.30], claimed ≥ 1");
        let near = all_of(&[claim(0.9981, 1.3)]).because;
        assert_eq!(near, "it: 1.149 [0.998, 1.300], claimed ≥ 1");
        let at_it = all_of(&[claim(1.0, 1.3)]).because;
        assert_eq!(at_it, "it: 1.15 [1.00, 1.30], claimed ≥ 1");
    }
}
