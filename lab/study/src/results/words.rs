//! Words that pages and tables share.

use super::{Measured, Progress, State};
use swath_profile::stats::NOISY_SPREAD;

/// The text for an unknown number.
const NONE: &str = "–";

/// Returns the heading of a study's experiments, by letter.
///
/// ```
/// use swath_study::results::heading_of;
///
/// assert_eq!(heading_of("A"), "Study A");
/// assert_eq!(heading_of("S"), "Scale: jobs of many processes");
/// ```
pub fn heading_of(letter: &str) -> String {
    match letter {
        "S" => "Scale: jobs of many processes".to_owned(),
        _ => format!("Study {letter}"),
    }
}

impl State {
    /// Returns the word for the files of a verdict.
    pub fn files(self) -> &'static str {
        match self {
            Self::Warm => "warm",
            Self::Cold => "cold",
            Self::None => NONE,
        }
    }
}

impl Measured {
    /// Returns the reason why a claim has no verdict.
    pub fn not_judged(&self) -> String {
        match &self.state {
            Progress::Failed(why) | Progress::Skipped(why) => why.clone(),
            Progress::Done | Progress::Stopped if self.absent.is_empty() => {
                "no run was finished".to_owned()
            }
            Progress::Done | Progress::Stopped => {
                let absent = self.absent.iter().map(|(who, why)| format!("{who}: {why}"));
                absent.collect::<Vec<_>>().join("; ")
            }
        }
    }

    /// Returns the spread of the control in words, as a share of its median.
    pub fn noise_words(&self) -> String {
        match (self.noise, self.noise_below) {
            (Some(spread), _) if spread > NOISY_SPREAD => {
                format!("noisy: {:.0} %", 100.0 * spread)
            }
            (Some(spread), _) if spread.is_finite() => format!("{:.0} %", 100.0 * spread),
            (None, Some(most)) => format!("below {:.0} %", 100.0 * most),
            _ => NONE.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_told_calm_or_not_and_as_earlier_studies_kept_it() {
        let words = |noise, noise_below| {
            Measured { noise, noise_below, ..Measured::default() }.noise_words()
        };
        assert_eq!(words(Some(0.36), None), "noisy: 36 %");
        assert_eq!(words(Some(0.04), None), "4 %");
        assert_eq!(
            (words(None, Some(0.15)), words(None, None)),
            ("below 15 %".into(), "–".into())
        );
        assert_eq!(words(Some(f64::NAN), None), "–");
    }
}
