//! Values as text.

use std::fmt::Write;

use super::types::{Type, Value};

/// Returns a value as text.
#[must_use]
pub fn shown(value: &Value, type_is: Type) -> String {
    match value {
        Value::Missing => "-".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Whole(value) => value.to_string(),
        Value::Float(bits) if type_is == Type::F32 => single(f64::from_bits(*bits)),
        Value::Float(bits) => format!("{:?}", f64::from_bits(*bits)),
        Value::Date(days) => date(*days),
        Value::Timestamp { nanoseconds, zoned } => moment(*nanoseconds, *zoned),
        Value::Text(text) => quoted(text),
        Value::Nested(text) => text.clone(),
    }
}

/// Returns the shortest text of a single.
#[expect(clippy::cast_possible_truncation, reason = "it was widened before")]
fn single(value: f64) -> String {
    format!("{:?}", value as f32)
}

/// Returns a day, found by trying years, then months. A zone can move it out of the years of four
/// digits.
fn date(days: i64) -> String {
    let first = |year: i64, month: i64| super::time::days(year, month, 1);
    // At most the right one: every year has 365 or 366 days.
    let mut year = (1970 + if days < 0 { days / 365 - 1 } else { days / 366 }).max(1);
    while first(year + 1, 1).is_some_and(|next| next <= days) {
        year += 1;
    }
    let begins = |month| first(year, month).filter(|&first| first <= days);
    let month = (1..=12).rev().find_map(|month| Some((month, begins(month)?)));
    match month {
        Some((month, first)) if days - first < 31 => {
            format!("{year:04}-{month:02}-{:02}", days - first + 1)
        }
        _ => format!("day {days}"),
    }
}

fn moment(nanoseconds: i128, is_zoned: bool) -> String {
    let day = nanoseconds.div_euclid(super::time::DAY);
    let rest = nanoseconds.rem_euclid(super::time::DAY);
    let (seconds, fraction) = (rest / 1_000_000_000, rest % 1_000_000_000);
    let (minutes, second) = (seconds / 60, seconds % 60);
    let day = date(i64::try_from(day).expect("years have four digits"));
    let zone = if is_zoned { "Z" } else { "" };
    format!("{day}T{:02}:{:02}:{second:02}.{fraction:09}{zone}", minutes / 60, minutes % 60)
}

/// Returns text as JSON.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut shown = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => shown.extend(['\\', letter]),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            ' '..='\u{7e}' | '\u{a0}'.. => shown.push(letter),
            _ => {
                let _ = write!(shown, "\\u{:04x}", u32::from(letter));
            }
        }
    }
    shown.push('"');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_shown_as_they_are_read() {
        for text in ["0001-01-01", "1969-12-31", "1970-01-01", "2000-02-29", "9990-12-31"] {
            let days = super::super::time::date(text.as_bytes()).expect("a day");
            assert_eq!(date(days), text);
        }
        assert_eq!(date(-719_163), "day -719163");
        assert_eq!(date(2_932_897), "day 2932897");
        assert_eq!(moment(-1, true), "1969-12-31T23:59:59.999999999Z");
    }
}
