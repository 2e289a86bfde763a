//! Days and moments in other forms: the part of strftime(3) that tables use.
//!
//! `%Y` has four digits, from year 1, `%m`, `%d`, `%H`, `%M`, `%S` and `%y` one or two, each after
//! any number of spaces; `%.f` is a point and one to nine digits, `%b` the first three letters of a
//! month in English, `%3f`, `%6f` and `%9f` are as many digits of a fraction, `%z` is `+HHMM`,
//! `+HH:MM`, `+HH` at the end of the text, or `Z`.

use super::time::{DAY, Moment, TimeRest, days};

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The values of a text.
#[derive(Default)]
struct Parts {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    fraction: i128,
    digits: usize,
    /// Minutes east of Greenwich.
    zone: Option<i64>,
}

/// Parses the day of a text in this format.
#[must_use]
pub(super) fn date(text: &[u8], format: &str) -> Option<i64> {
    let parts = Parts::parse(text, format)?;
    days(parts.year, parts.month, parts.day)
}

/// Parses the moment of a text in this format; without a time, it is midnight.
#[must_use]
pub(super) fn moment(text: &[u8], format: &str) -> Option<Moment> {
    let parts = Parts::parse(text, format)?;
    let day = days(parts.year, parts.month, parts.day)?;
    let minutes = parts.hour * 60 + parts.minute - parts.zone.unwrap_or(0);
    let seconds = i128::from(minutes * 60 + parts.second);
    let nanoseconds = i128::from(day) * DAY + seconds * 1_000_000_000 + parts.fraction;
    Some(Moment { nanoseconds, digits: parts.digits, is_zoned: parts.zone.is_some() })
}

impl Parts {
    fn parse(text: &[u8], format: &str) -> Option<Self> {
        let (mut rest, mut parts) = (TimeRest(text), Self::default());
        let mut format = format.chars();
        while let Some(letter) = format.next() {
            if letter == '%' {
                parts.take(&mut rest, &mut format)?;
            } else if !rest.take(letter.to_string().as_bytes()) {
                return None;
            }
        }
        rest.0.is_empty().then_some(parts)
    }

    fn take(
        &mut self,
        rest: &mut TimeRest<'_>,
        format: &mut std::str::Chars<'_>,
    ) -> Option<()> {
        match format.next()? {
            'Y' => self.year = year(rest)?,
            'y' => {
                let year = number(rest, 2)?;
                self.year = if year < 69 { 2000 + year } else { 1900 + year };
            }
            'm' => self.month = number(rest, 2)?,
            'd' => self.day = number(rest, 2)?,
            'H' => self.hour = number(rest, 2).filter(|&hour| hour < 24)?,
            'M' => self.minute = number(rest, 2).filter(|&minute| minute < 60)?,
            'S' => self.second = number(rest, 2).filter(|&second| second < 60)?,
            'b' => self.month = month(rest)?,
            'z' => self.zone = Some(zone(rest)?),
            len @ ('3' | '6' | '9') if format.next() == Some('f') => {
                let (digits, after) = rest.0.split_at_checked(len.to_digit(10)? as usize)?;
                let mut its = TimeRest(digits);
                (self.fraction, self.digits) = its.fraction().filter(|_| its.0.is_empty())?;
                rest.0 = after;
            }
            '.' if format.next() == Some('f') => {
                (self.fraction, self.digits) = rest.take(b".").then(|| rest.fraction())??;
            }
            _ => return None,
        }
        Some(())
    }
}

/// Takes one or more digits, at most this many, after any number of spaces.
fn number(rest: &mut TimeRest<'_>, most: usize) -> Option<i64> {
    rest.0 = rest.0.trim_ascii_start();
    let digits = rest.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
    rest.number(digits.min(most)).filter(|_| digits > 0)
}

/// Takes four digits, after any number of spaces.
fn year(rest: &mut TimeRest<'_>) -> Option<i64> {
    rest.0 = rest.0.trim_ascii_start();
    let digits = rest.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
    rest.number(digits.min(4)).filter(|&year| digits >= 4 && year > 0)
}

fn month(rest: &mut TimeRest<'_>) -> Option<i64> {
    let (name, after) = rest.0.split_at_checked(3)?;
    let name = name.to_ascii_lowercase();
    let at = MONTHS.iter().position(|month| month.as_bytes() == name)?;
    rest.0 = after;
    i64::try_from(at + 1).ok()
}

fn zone(rest: &mut TimeRest<'_>) -> Option<i64> {
    if rest.take(b"Z") || rest.take(b"z") {
        return Some(0);
    }
    let sign = if rest.take(b"-") {
        -1
    } else if rest.take(b"+") {
        1
    } else {
        return None;
    };
    let hours = rest.two(23)?;
    rest.take(b":");
    let minutes = if rest.0.is_empty() { 0 } else { rest.two(59)? };
    Some(sign * (hours * 60 + minutes))
}

/// Parses a number as nanoseconds since 1970, if the format is `epoch_s`, `_ms`, `_us` or `_ns`.
pub(super) fn epoch(text: &[u8], format: &str) -> Option<Option<i128>> {
    let places = match format {
        "epoch_s" => 9,
        "epoch_ms" => 6,
        "epoch_us" => 3,
        "epoch_ns" => 0,
        _ => return None,
    };
    Some(shifted(std::str::from_utf8(text).ok()?, places))
}

/// Returns a number with its point moved by this many places, if it is then whole.
fn shifted(text: &str, places: usize) -> Option<i128> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let has_places = fraction.len() <= places || !digits.contains('.');
    (is_number(whole) && is_number(fraction) && has_places).then_some(())?;
    let fraction = if digits.contains('.') { fraction } else { "" };
    let value: i128 = format!("{whole}{fraction:0<places$}").parse().ok()?;
    Some(if text.starts_with('-') { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_moments_are_read_in_other_forms() {
        assert_eq!(date(b"02.01.1970", "%d.%m.%Y"), Some(1));
        assert_eq!(date(b"01/02/70", "%m/%d/%y"), Some(1));
        assert_eq!(date(b"2-Jan-1970", "%d-%b-%Y"), Some(1));
        assert_eq!(date(b" 2.1.1970", "%d.%m.%Y"), Some(1));
        assert_eq!(date(b"002.1.1970", "%d.%m.%Y"), None);
        assert_eq!(date(b"02-JAN-1970", "%d-%b-%Y"), Some(1));
        assert_eq!(date(b"31.02.1970", "%d.%m.%Y"), None);
        assert_eq!(date(b"02.01.1970 ", "%d.%m.%Y"), None);
        let at = |text: &[u8], format| moment(text, format).map(|it| it.nanoseconds);
        assert_eq!(at(b"01.01.1970 00:01", "%d.%m.%Y %H:%M"), Some(60_000_000_000));
        assert_eq!(at(b"19700101 000001.5", "%Y%m%d %H%M%S%.f"), Some(1_500_000_000));
        assert_eq!(at(b"19700101000001005", "%Y%m%d%H%M%S%3f"), Some(1_005_000_000));
        assert_eq!(at(b"1970010100000100", "%Y%m%d%H%M%S%3f"), None);
        assert_eq!(at(b"1970-01-01 01:00 +0100", "%Y-%m-%d %H:%M %z"), Some(0));
        for zone in ["+01", "+0100", "+01:00"] {
            let text = format!("1970-01-01 01:00{zone}");
            assert_eq!(at(text.as_bytes(), "%Y-%m-%d %H:%M%z"), Some(0), "{zone}");
        }
        assert_eq!(at(b"1970-01-01 00:00Z", "%Y-%m-%d %H:%M%z"), Some(0));
        assert_eq!(at(b"1970-01-01 25:00", "%Y-%m-%d %H:%M"), None);
    }
}
