//! Typed tables as text, row by row and character by character.

use std::fmt::Write;

use crate::typed::is_value;

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// No value.
    Missing,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number of any size.
    Whole(i128),
    /// A double.
    Double(f64),
    /// A single.
    Single(f32),
    /// A day, counted from 1970-01-01.
    Date(i64),
    /// An instant, counted in parts of a second from 1970-01-01.
    Instant {
        /// The number of parts of a second.
        count: i64,
        /// 0, 3, 6 or 9: a second has 10 to this power parts.
        decimals: u32,
        /// Whether the instant is in UTC.
        is_zoned: bool,
    },
    /// A time of day, in parts of a second.
    Time {
        /// The number of parts since midnight.
        count: i64,
        /// The decimals, like those of an instant.
        decimals: u32,
    },
    /// A text.
    Text(String),
    /// Several values: in JSON only.
    List(Vec<Cell>),
    /// Values with names: in JSON only.
    Object(Vec<(String, Cell)>),
}

/// The fields that are quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quoted {
    /// Texts that would otherwise be read as another type.
    Some,
    /// All fields that are not missing.
    All,
}

/// The form of a table with separated fields.
#[derive(Clone, Debug)]
pub struct SeparatedForm {
    /// The character between two fields.
    pub delimiter: char,
    /// The fields that are quoted.
    pub quoted: Quoted,
    /// The text after each row.
    pub end: &'static str,
    /// The word for a missing value.
    pub missing: String,
    /// Whether there is a line with names.
    pub has_header: bool,
}

/// Writes a table with separated fields.
#[must_use]
pub fn separated(names: &[String], rows: &[Vec<Cell>], form: &SeparatedForm) -> String {
    let mut lines = Vec::new();
    let columns = names.len();
    if form.has_header {
        let header: Vec<String> =
            names.iter().map(|name| header(name, columns, form)).collect();
        lines.push(header);
    }
    for row in rows {
        lines.push(row.iter().map(|cell| field(cell, columns, form)).collect());
    }
    let mut text = String::new();
    for line in lines {
        text += &line.join(&form.delimiter.to_string());
        text += form.end;
    }
    text
}

fn header(name: &str, columns: usize, form: &SeparatedForm) -> String {
    let is_odd = crate::typed::is_odd_number(name);
    let has_rival = name.contains(['\t', ',', ';', '|']);
    let needed = is_odd || has_rival || is_value(name) || needs_quotes(name, columns, form);
    if needed || form.quoted == Quoted::All { quoted(name) } else { name.to_owned() }
}

fn field(cell: &Cell, columns: usize, form: &SeparatedForm) -> String {
    let text = match cell {
        Cell::Missing if form.missing.is_empty() && columns == 1 => return "NA".to_owned(),
        Cell::Missing => return form.missing.clone(),
        Cell::Text(text) if needs_quotes(text, columns, form) => return quoted(text),
        Cell::Text(text) => text.clone(),
        other => plain(other),
    };
    let is_cut = text.contains(form.delimiter);
    if form.quoted == Quoted::All || is_cut { quoted(&text) } else { text }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

fn needs_quotes(text: &str, columns: usize, form: &SeparatedForm) -> bool {
    let guessed = ['\t', ',', ';', '|'];
    let rank = guessed.iter().position(|&it| it == form.delimiter).unwrap_or(0);
    let is_special = |sign: char| {
        sign == form.delimiter
            || sign == '"'
            || sign < ' '
            || guessed[..rank].contains(&sign)
            || (!form.has_header && guessed.contains(&sign))
            || (columns == 1 && (guessed.contains(&sign) || sign == ' '))
    };
    let inner = text.trim_matches([' ', '\t']);
    let words = ["", "NA", "N/A", "null", "NULL", form.missing.as_str()];
    text.chars().any(is_special)
        || inner != text
        || text.starts_with('#')
        || words.contains(&inner)
        || text.starts_with('\u{feff}')
        || ([4, 5].contains(&text.len()) && text.to_ascii_lowercase().starts_with("sep="))
}

/// Writes a table as JSON Lines; returns the number of numbers that became `null`.
#[must_use]
pub fn json_lines(names: &[String], rows: &[Vec<Cell>]) -> (String, u64) {
    let (mut text, mut lost) = (String::new(), 0);
    for row in rows {
        let members = names.iter().cloned().zip(row.iter().cloned()).collect();
        text += &json(&Cell::Object(members), &mut lost);
        text.push('\n');
    }
    (text, lost)
}

fn json(cell: &Cell, lost: &mut u64) -> String {
    match cell {
        Cell::Missing => "null".to_owned(),
        Cell::Double(value) if !value.is_finite() => {
            *lost += 1;
            "null".to_owned()
        }
        Cell::Single(value) if !value.is_finite() => {
            *lost += 1;
            "null".to_owned()
        }
        Cell::Text(text) => string(text),
        Cell::Date(_) | Cell::Instant { .. } | Cell::Time { .. } => string(&plain(cell)),
        Cell::List(cells) => {
            let items: Vec<String> = cells.iter().map(|cell| json(cell, lost)).collect();
            format!("[{}]", items.join(","))
        }
        Cell::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(name, cell)| format!("{}:{}", string(name), json(cell, lost)))
                .collect();
            format!("{{{}}}", members.join(","))
        }
        other => plain(other),
    }
}

fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for sign in text.chars() {
        match sign {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\t' => out += "\\t",
            '\u{8}' => out += "\\b",
            '\u{c}' => out += "\\f",
            sign if sign < ' ' => write!(out, "\\u{:04x}", u32::from(sign)).expect("room"),
            sign => out.push(sign),
        }
    }
    out.push('"');
    out
}

/// Returns a value without anything around it.
///
/// # Panics
///
/// For a text, a list or an object, and for a date outside the years 1 to 9999.
#[must_use]
pub fn plain(cell: &Cell) -> String {
    match cell {
        Cell::Bool(value) => value.to_string(),
        Cell::Whole(value) => value.to_string(),
        Cell::Double(value) => float(*value, &format!("{value:e}"), 16),
        Cell::Single(value) => float(f64::from(*value), &format!("{value:e}"), 13),
        Cell::Date(days) => date(*days),
        Cell::Time { count, decimals } => clock(*count, *decimals),
        Cell::Instant { count, decimals, is_zoned } => {
            let day = 86_400 * 10_i64.pow(*decimals);
            let (days, rest) = (count.div_euclid(day), count.rem_euclid(day));
            let zone = if *is_zoned { "Z" } else { "" };
            format!("{}T{}{zone}", date(days), clock(rest, *decimals))
        }
        other => panic!("{other:?} has no plain text"),
    }
}

/// Formats the shortest digits, given as `d.ddde-dd`: with an exponent below 10^-5 and for at least
/// 10^`large`.
fn float(value: f64, shortest: &str, large: i32) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf".to_owned() } else { "-inf".to_owned() };
    }
    let (sign, shortest) = match shortest.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", shortest),
    };
    let (mantissa, exponent) = shortest.split_once('e').expect("an exponent");
    let exponent: i32 = exponent.parse().expect("a number");
    let digits = mantissa.replace('.', "");
    let text = match exponent {
        -5..0 => format!("0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1)),
        exponent if (0..large).contains(&exponent) => {
            let point = usize::try_from(exponent).expect("not negative") + 1;
            let digits = format!("{digits:0<point$}");
            let (whole, fraction) = digits.split_at(point);
            format!("{whole}.{}", if fraction.is_empty() { "0" } else { fraction })
        }
        _ => {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            format!("{first}{point}{rest}e{exponent:+}")
        }
    };
    format!("{sign}{text}")
}

/// Returns a date by counting years, then months, from 1970.
fn date(mut days: i64) -> String {
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let len = |year| if is_leap(year) { 366 } else { 365 };
    let mut year = 1970;
    while days < 0 {
        year -= 1;
        days += len(year);
    }
    while days >= len(year) {
        days -= len(year);
        year += 1;
    }
    assert!((1..=9999).contains(&year), "the year {year}");
    let february = if is_leap(year) { 29 } else { 28 };
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for len in months {
        if days < len {
            break;
        }
        days -= len;
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}", days + 1)
}

fn clock(count: i64, decimals: u32) -> String {
    let unit = 10_i64.pow(decimals);
    let (second, fraction) = (count / unit, count % unit);
    let fraction = match decimals {
        0 => String::new(),
        decimals => format!(".{fraction:0width$}", width = decimals as usize),
    };
    format!("{:02}:{:02}:{:02}{fraction}", second / 3600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_by_hand() {
        for (cell, text) in [
            (Cell::Bool(true), "true"),
            (Cell::Whole(-1), "-1"),
            (Cell::Double(0.1), "0.1"),
            (Cell::Double(3.0), "3.0"),
            (Cell::Double(-0.0), "-0.0"),
            (Cell::Double(1e15), "1000000000000000.0"),
            (Cell::Double(1e16), "1e+16"),
            (Cell::Double(1.5e-9), "1.5e-9"),
            (Cell::Double(f64::NAN), "nan"),
            (Cell::Single(0.1), "0.1"),
            (Cell::Date(0), "1970-01-01"),
            (Cell::Date(-1), "1969-12-31"),
            (Cell::Date(59), "1970-03-01"),
            (Cell::Date(11_016), "2000-02-29"),
            (
                Cell::Instant { count: -1, decimals: 3, is_zoned: true },
                "1969-12-31T23:59:59.999Z",
            ),
            (Cell::Time { count: 3_661, decimals: 0 }, "01:01:01"),
        ] {
            assert_eq!(plain(&cell), text);
        }
    }

    #[test]
    fn a_table_is_written_as_by_hand() {
        let names = ["a".to_owned(), "b c".to_owned()];
        let rows = [
            vec![Cell::Text("x,\"y\"".to_owned()), Cell::Missing],
            vec![Cell::Text("NA".to_owned()), Cell::Double(f64::INFINITY)],
        ];
        let form = SeparatedForm {
            delimiter: ',',
            quoted: Quoted::Some,
            end: "\n",
            missing: String::new(),
            has_header: true,
        };
        assert_eq!(separated(&names, &rows, &form), "a,b c\n\"x,\"\"y\"\"\",\n\"NA\",inf\n");
        let (text, lost) = json_lines(&names, &rows);
        let wanted = "{\"a\":\"x,\\\"y\\\"\",\"b c\":null}\n{\"a\":\"NA\",\"b c\":null}\n";
        assert_eq!((text.as_str(), lost), (wanted, 1));
    }
}
