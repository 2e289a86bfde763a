//! Spans of time, as people write them: `7d`, `12h`, `90s`.

use std::time::Duration;

/// Units that a number ends with, in seconds.
const UNITS: [(&str, u64); 5] =
    [("s", 1), ("min", 60), ("h", 3600), ("d", 24 * 3600), ("w", 7 * 24 * 3600)];

/// Parses a span of time: a whole number and its unit.
///
/// ```
/// use std::time::Duration;
///
/// use swath_cli::args::duration::parse_duration;
///
/// assert_eq!(parse_duration("2h"), Ok(Duration::from_secs(7200)));
/// assert!(parse_duration("2").is_err());
/// ```
///
/// # Errors
///
/// On error, returns the form to write instead.
pub fn parse_duration(word: &str) -> Result<Duration, &'static str> {
    const WRITE: &str = "expected a whole number and its unit: 90s, 30min, 12h, 7d or 2w";
    let digits = word.find(|sign: char| !sign.is_ascii_digit()).ok_or(WRITE)?;
    let (number, unit) = word.split_at(digits);
    let number: u64 = number.parse().map_err(|_| WRITE)?;
    let unit = unit.trim_start();
    let (_, seconds) = UNITS.iter().find(|(name, _)| *name == unit).ok_or(WRITE)?;
    number.checked_mul(*seconds).map(Duration::from_secs).ok_or("it is too long")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_of_time_is_a_number_and_a_unit() {
        for (word, seconds) in
            [("0s", 0), ("90s", 90), ("30min", 1800), ("12 h", 43_200), ("7d", 604_800)]
        {
            assert_eq!(parse_duration(word), Ok(Duration::from_secs(seconds)), "{word}");
        }
        for word in ["", "7", "d", "-1d", "1.5h", "1m", "1D", "7 days", "31000000000000w"] {
            assert!(parse_duration(word).is_err(), "{word}");
        }
    }
}
