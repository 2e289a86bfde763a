//! Numbers in unsupported notations: complex ones, typographic minus signs, decimal commas.

use super::kind::{Kind, bare, is_number, kind, marks};
use super::number::{Number, word};
use super::options::{Between, Options};
use super::records::{Dialect, Field, Record, TextPlace};
use super::sniff::in_columns;

/// Returns the line and the byte of the first such number in the record at `start`. A decimal comma
/// counts only if all fields are numbers of some notation, or missing.
#[must_use]
pub(super) fn odd(
    start: &TextPlace<'_>,
    dialect: &Dialect,
    options: &Options,
) -> Option<(usize, usize)> {
    let mut place = start.clone();
    let mut record = in_columns(&place.next(dialect).ok()??, options);
    record.fields.truncate(dialect.fixed.as_ref().map_or(usize::MAX, |it| it.spans.len()));
    let between = at_others(start, &record, dialect);
    let fields = between.unwrap_or_else(|| record.fields.clone());
    let is_usual = |field: &Field| {
        matches!(kind(field, options), Kind::Missing | Kind::QuotedMissing)
            || is_number(field, options)
    };
    let is_text = |field: &Field| kind(field, options) == Kind::Text && !is_usual(field);
    let odd_in = |field: &Field| {
        (!field.is_quoted && is_text(field)).then(|| NumberOddity::of(bare(field)))?
    };
    let are_numbers = fields.iter().all(|field| is_usual(field) || odd_in(field).is_some());
    let first = fields.iter().find(|field| odd_in(field).is_some())?;
    let is_comma = odd_in(first) == Some(NumberOddity::Comma);
    let is_one = dialect.between == Between::Nothing && dialect.fixed.is_none();
    ((are_numbers && !is_one) || !is_comma).then_some((record.line, first.at))
}

/// The oddity of a number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberOddity {
    Complex,
    Minus,
    Comma,
}

/// Returns the fields between other delimiters, if there are any, and commas separate fields: the
/// commas may be decimal points.
fn at_others(start: &TextPlace<'_>, record: &Record, dialect: &Dialect) -> Option<Vec<Field>> {
    let (first, last) = (record.fields.first()?, record.fields.last()?);
    if dialect.between != Between::Byte(b',') || record.fields.iter().any(|it| it.is_quoted) {
        return None;
    }
    let mut at = first.at;
    let line = start.between(at, last.at + last.raw.len());
    let field = |raw: &[u8]| {
        let begin = at;
        at += raw.len() + 1;
        Field { at: begin, text: raw.to_vec(), raw: raw.to_vec(), is_quoted: false }
    };
    let has_quotes = dialect.quote.is_some_and(|quote| line.contains(&quote));
    let ends = |byte: &u8| b";\t|".contains(byte);
    let is_split = line.iter().any(ends) && !has_quotes;
    is_split.then(|| line.split(ends).map(field).collect())
}

impl NumberOddity {
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        let plain = marks(&Options::default());
        let is_number =
            |text: &[u8]| word(text).is_some() || Number::parse(text, plain).is_some();
        let minus = text.strip_prefix("\u{2212}".as_bytes());
        let after_minus = minus.map(|rest| rest.strip_prefix(b".").unwrap_or(rest));
        let has_minus =
            after_minus.is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_digit));
        let unsigned = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
        let parts: Vec<&[u8]> = unsigned.split(|&byte| byte == b',').collect();
        let are_digits =
            parts.iter().all(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit));
        let inner = text.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b"j)"));
        let is_complex = |inner: &[u8]| {
            let is_pair = |at: usize| {
                let (real, imaginary) = inner.split_at(at);
                b"+-".contains(&inner[at])
                    && is_number(real)
                    && (is_number(imaginary) || is_number(&imaginary[1..]))
            };
            inner.len() <= 128 && (is_number(inner) || (1..inner.len()).any(is_pair))
        };
        if inner.is_some_and(is_complex) {
            Some(Self::Complex)
        } else if has_minus {
            Some(Self::Minus)
        } else {
            (parts.len() == 2 && are_digits).then_some(Self::Comma)
        }
    }
}
