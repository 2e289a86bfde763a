//! Moments as numbers since the start of 1970 in UTC.

use arrow_schema::TimeUnit;
use swath_simd::Moment;

/// The unit of the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Epoch(pub(super) TimeUnit);

const SECOND: i128 = 1_000_000_000;

impl Epoch {
    /// Returns the unit with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "epoch_s" => Some(Self(TimeUnit::Second)),
            "epoch_ms" => Some(Self(TimeUnit::Millisecond)),
            "epoch_us" => Some(Self(TimeUnit::Microsecond)),
            "epoch_ns" => Some(Self(TimeUnit::Nanosecond)),
            _ => None,
        }
    }

    /// Returns the moment of a number; `None` if it is not a whole number of nanoseconds.
    pub(super) fn moment(self, token: &[u8], is_zoned: bool) -> Option<Moment> {
        let (nanos, places) = match self.0 {
            TimeUnit::Second => (SECOND, 9),
            TimeUnit::Millisecond => (1_000_000, 6),
            TimeUnit::Microsecond => (1000, 3),
            TimeUnit::Nanosecond => (1, 0),
        };
        let (sign, number) = match token {
            [b'-', rest @ ..] => (-1, rest),
            [b'+', rest @ ..] => (1, rest),
            _ => (1, token),
        };
        let point = number.iter().position(|&byte| byte == b'.');
        let (whole, fraction) = number.split_at(point.unwrap_or(number.len()));
        let mut value = digits(whole)?.saturating_mul(nanos);
        if let [_, fraction @ ..] = fraction {
            let len = u32::try_from(fraction.len()).ok().filter(|&len| len <= places)?;
            value = value.saturating_add(digits(fraction)? * 10_i128.pow(places - len));
        }
        let (seconds, rest) =
            ((sign * value).div_euclid(SECOND), (sign * value).rem_euclid(SECOND));
        // A number that is too large is in no year.
        let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
        Some(Moment { seconds, nanos: u32::try_from(rest).ok()?, digits: 0, is_zoned })
    }
}

/// Parses one or more digits.
fn digits(text: &[u8]) -> Option<i128> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let add = |value: i128, digit: &u8| {
        value.saturating_mul(10).saturating_add(i128::from(digit - b'0'))
    };
    is_number.then(|| text.iter().fold(0, add))
}

#[cfg(test)]
mod tests {
    use super::super::time;
    use super::*;

    #[test]
    fn a_number_is_a_moment_exactly_or_not_at_all() {
        let at = |name: &str, text: &str| {
            let moment = Epoch::named(name).expect("a name").moment(text.as_bytes(), true)?;
            time::exactly(moment, TimeUnit::Nanosecond).ok()
        };
        for (name, text, wanted) in [
            ("epoch_s", "0", Some(0)),
            ("epoch_s", "1700000000", Some(1_700_000_000_000_000_000)),
            ("epoch_s", "-0.000000001", Some(-1)),
            ("epoch_s", "+1.5", Some(1_500_000_000)),
            ("epoch_s", "001", Some(1_000_000_000)),
            ("epoch_s", "1.0000000001", None),
            ("epoch_s", "1.", None),
            ("epoch_s", ".5", None),
            ("epoch_s", "1e3", None),
            ("epoch_s", "-", None),
            ("epoch_s", "", None),
            ("epoch_ms", "-1", Some(-1_000_000)),
            ("epoch_ms", "1.000001", Some(1_000_001)),
            ("epoch_us", "1.0001", None),
            ("epoch_us", "-1.001", Some(-1001)),
            ("epoch_ns", "9223372036854775807", Some(i64::MAX)),
            ("epoch_ns", "9223372036854775808", None),
            ("epoch_ns", "1.0", None),
            ("epoch_s", "99999999999999999999999999999999999999999999999", None),
            ("epoch_s", "-99999999999999999999999999999999999999999999999", None),
        ] {
            assert_eq!(at(name, text), wanted, "{name} {text}");
        }
        assert_eq!(Epoch::named("epoch"), None);
    }
}
