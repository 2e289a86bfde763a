//! Field → value: days and moments.

/// A moment in its original form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// Nanoseconds since 1 January 1970, in UTC if there is a zone.
    pub nanoseconds: i128,
    /// The number of digits of the fraction of a second.
    pub digits: usize,
    /// Whether there is a zone.
    pub is_zoned: bool,
}

impl Moment {
    /// Whether it is in the years 1 to 9999.
    pub(super) fn is_in_years(&self) -> bool {
        (-719_162 * DAY..2_932_897 * DAY).contains(&self.nanoseconds)
    }
}

/// The nanoseconds of a day.
pub(super) const DAY: i128 = 86_400 * SECOND;
const SECOND: i128 = 1_000_000_000;

/// Returns the days from 1 January 1970 to an existing day in the years 1 to 9999.
#[must_use]
pub(super) fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let february = if is_leap { 29 } else { 28 };
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let before = usize::try_from(month - 1).ok()?;
    if day < 1 || day > months[before] {
        return None;
    }
    // Of the years before a year, every fourth is a leap year, but of those that end a century only
    // every fourth. 719162 days precede 1970.
    let years = year - 1;
    let whole_years = years * 365 + years / 4 - years / 100 + years / 400;
    Some(whole_years + months[..before].iter().sum::<i64>() + day - 1 - 719_162)
}

/// Parses the day of `YYYY-MM-DD`.
#[must_use]
pub(super) fn date(text: &[u8]) -> Option<i64> {
    let mut rest = TimeRest(text);
    let day = rest.date()?;
    rest.0.is_empty().then_some(day)
}

/// Parses the moment of `YYYY-MM-DD`, `T` or a space, `HH:MM`, and more.
#[must_use]
pub(super) fn moment(text: &[u8]) -> Option<Moment> {
    let mut rest = TimeRest(text);
    let day = rest.date()?;
    if !rest.take(b"T") && !rest.take(b" ") {
        return None;
    }
    let hour = rest.two(23)?;
    rest.expect(b":")?;
    let minute = rest.two(59)?;
    let (mut second, mut fraction, mut digits) = (0, 0, 0);
    if rest.take(b":") {
        second = rest.two(59)?;
        if rest.take(b".") {
            (fraction, digits) = rest.fraction()?;
        }
    }
    let offset = rest.zone()?;
    let minutes = i128::from(hour * 60 + minute - offset.unwrap_or(0));
    let seconds = minutes * 60 + i128::from(second);
    let nanoseconds = i128::from(day) * DAY + seconds * SECOND + fraction;
    Some(Moment { nanoseconds, digits, is_zoned: offset.is_some() })
}

/// The remaining bytes.
pub(super) struct TimeRest<'t>(pub(super) &'t [u8]);

impl TimeRest<'_> {
    pub(super) fn take(&mut self, word: &[u8]) -> bool {
        match self.0.strip_prefix(word) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, word: &[u8]) -> Option<()> {
        self.take(word).then_some(())
    }

    /// Takes this many digits.
    pub(super) fn number(&mut self, digits: usize) -> Option<i64> {
        let (text, rest) = self.0.split_at_checked(digits)?;
        let mut value = 0;
        for &byte in text {
            if !byte.is_ascii_digit() {
                return None;
            }
            value = value * 10 + i64::from(byte - b'0');
        }
        self.0 = rest;
        Some(value)
    }

    /// Takes two digits, at most `most`.
    pub(super) fn two(&mut self, most: i64) -> Option<i64> {
        self.number(2).filter(|&value| value <= most)
    }

    fn date(&mut self) -> Option<i64> {
        let year = self.number(4)?;
        self.expect(b"-")?;
        let month = self.number(2)?;
        self.expect(b"-")?;
        days(year, month, self.number(2)?)
    }

    /// Takes one to nine digits; returns nanoseconds, and the number of digits.
    pub(super) fn fraction(&mut self) -> Option<(i128, usize)> {
        let (mut value, mut digits) = (0, 0);
        while let Some(digit) = self.number(1) {
            value = value * 10 + i128::from(digit);
            digits += 1;
            if digits > 9 {
                return None;
            }
        }
        for _ in digits..9 {
            value *= 10;
        }
        (digits > 0).then_some((value, digits))
    }

    /// Takes a zone up to the end of the text, in minutes east, or nothing; `None` for any other
    /// text.
    fn zone(&mut self) -> Option<Option<i64>> {
        if self.0.is_empty() {
            return Some(None);
        }
        if self.take(b"Z") {
            return self.0.is_empty().then_some(Some(0));
        }
        let sign = if self.take(b"+") {
            1
        } else {
            self.expect(b"-")?;
            -1
        };
        let hours = self.two(23)?;
        let mut minutes = 0;
        if !self.0.is_empty() {
            self.take(b":");
            minutes = self.two(59)?;
        }
        self.0.is_empty().then_some(Some(sign * (hours * 60 + minutes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_one_by_one() {
        let mut wanted = -719_162;
        for year in 1..=9999 {
            for month in 1..=12 {
                for day in 1..=31 {
                    if let Some(found) = days(year, month, day) {
                        assert_eq!(found, wanted, "{year}-{month}-{day}");
                        wanted += 1;
                    }
                }
            }
        }
        assert_eq!(wanted, 2_932_897, "10000-01-01");
        assert_eq!(days(1970, 1, 1), Some(0));
        assert_eq!(days(1900, 2, 29), None);
        assert_eq!(days(2000, 2, 29), Some(11_016));
    }

    #[test]
    fn dates_are_ten_bytes() {
        assert_eq!(date(b"1970-01-02"), Some(1));
        for text in
            ["0000-01-01", "2023-02-30", "2023-2-03", "2023-02-03 ", "20230203", "2023-02-0"]
        {
            assert_eq!(date(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn moments_have_a_time_and_perhaps_a_zone() {
        let at = |text: &str| moment(text.as_bytes()).map(|it| (it.nanoseconds, it.digits));
        assert_eq!(at("1970-01-01T00:01"), Some((60 * SECOND, 0)));
        assert_eq!(at("1970-01-01 00:00:01.5"), Some((1_500_000_000, 1)));
        assert_eq!(at("1969-12-31T23:59:59.999999999"), Some((-1, 9)));
        assert_eq!(at("1970-01-01T01:00+01"), Some((0, 0)));
        assert_eq!(at("1970-01-01T01:00:00-0130"), Some((9000 * SECOND, 0)));
        assert_eq!(at("1970-01-01T00:00-00:00"), Some((0, 0)));
        assert!(moment(b"1970-01-01T00:00Z").is_some_and(|it| it.is_zoned));
        for text in [
            "1970-01-01",
            "1970-01-01T",
            "1970-01-01T00",
            "1970-01-01  00:00",
            "1970-01-01t00:00",
            "1970-01-01T24:00",
            "1970-01-01T00:60",
            "1970-01-01T00:00:60",
            "1970-01-01T00:00.5",
            "1970-01-01T00:00:00.",
            "1970-01-01T00:00:00.1234567890",
            "1970-01-01T00:00z",
            "1970-01-01T00:00 Z",
            "1970-01-01T00:00+1",
            "1970-01-01T00:00+01:",
            "1970-01-01T00:00Z0",
            "1970-01-01T00:00+24",
            "1970-01-01T00:00+01:60",
            "1970-01-01T00:00+0100:",
        ] {
            assert_eq!(at(text), None, "{text}");
        }
    }
}
