//! Field → value: the kind of a field if no type is given.

use super::number::{Marks, Number, word};
use super::options::{Form, Options};
use super::records::{Field, trim};
use super::time::{Moment, date, moment};

/// The kind of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// Missing in every type.
    Missing,
    /// In quotes, a word for a missing value: text if the column is text, missing otherwise.
    QuotedMissing,
    /// True or false.
    Bool(bool),
    /// A whole number of 64 bits, signed or not, and the equal double, if any.
    Whole(i128, Option<f64>),
    /// A whole number that no 64-bit type holds, and the equal double, if any.
    Long(Option<f64>),
    /// A number with a point or an exponent, `-0`, or a word such as `nan`.
    Float(f64),
    /// A day.
    Date(i64),
    /// A moment.
    Moment(Moment),
    /// An object, if it is more than text.
    Object,
    /// An array, if it is more than text.
    Array,
    /// Any other text.
    Text,
}

/// Returns the bytes of a field that determine its type: all of it in quotes, otherwise without
/// surrounding blanks.
#[must_use]
pub(super) fn bare(field: &Field) -> &[u8] {
    if field.is_quoted { &field.text } else { trim(&field.text) }
}

/// Whether a field is a word for a missing value, in quotes or not. A field with an escape is
/// compared in its raw form, so `\N` can be such a word.
#[must_use]
pub(super) fn is_null_word(field: &Field, options: &Options) -> bool {
    if options.form == Form::JsonLines && !field.is_quoted && field.raw == b"null" {
        return true;
    }
    let text = if field.is_quoted { &field.text } else { trim(&field.raw) };
    options.nulls.iter().any(|word| word.as_bytes() == text)
}

/// Parses a boolean.
#[must_use]
pub(super) fn boolean(text: &[u8], options: &Options) -> Option<bool> {
    let is_in = |words: &[String]| words.iter().any(|word| word.as_bytes() == text);
    if is_in(&options.trues) {
        return Some(true);
    }
    is_in(&options.falses).then_some(false)
}

/// Returns the marks of numbers.
#[must_use]
pub(super) fn marks(options: &Options) -> Marks {
    Marks { decimal: options.decimal, thousands: options.thousands }
}

/// Returns the kind of a field.
#[must_use]
pub(super) fn kind(field: &Field, options: &Options) -> Kind {
    if options.form == Form::JsonLines {
        return json_kind(field, options);
    }
    if is_null_word(field, options) {
        return if field.is_quoted { Kind::QuotedMissing } else { Kind::Missing };
    }
    let text = bare(field);
    if let Some(value) = boolean(text, options) {
        return Kind::Bool(value);
    }
    if let Some(value) = word(text) {
        return Kind::Float(value);
    }
    if let Some(number) = Number::parse(text, marks(options)) {
        return of_number(&number);
    }
    if let Some(day) = date(text) {
        return Kind::Date(day);
    }
    moment(text).map_or(Kind::Text, Kind::Moment)
}

/// Returns the kind of a value of an object.
fn json_kind(field: &Field, options: &Options) -> Kind {
    if is_null_word(field, options) {
        return Kind::Missing;
    }
    match field.raw.first() {
        Some(b'{') if options.json_nested => return Kind::Object,
        Some(b'[') if options.json_nested => return Kind::Array,
        _ => {}
    }
    if let Some(value) = json_boolean(field, options) {
        return Kind::Bool(value);
    }
    if field.is_quoted {
        let found = date(&field.text).map(Kind::Date);
        return found.or_else(|| moment(&field.text).map(Kind::Moment)).unwrap_or(Kind::Text);
    }
    if let Some(value) = word(&field.text) {
        return Kind::Float(value);
    }
    // No word is an object or array.
    Number::parse(&field.text, marks(options)).map_or(Kind::Text, |number| of_number(&number))
}

/// Parses the boolean of a value in an object.
#[must_use]
pub(super) fn json_boolean(field: &Field, options: &Options) -> Option<bool> {
    match (field.is_quoted, &field.raw[..]) {
        (false, b"true") => Some(true),
        (false, b"false") => Some(false),
        _ => boolean(&field.text, options),
    }
}

fn of_number(number: &Number) -> Kind {
    // A number that exceeds doubles is not a number.
    let Some(double) = number.to_double() else { return Kind::Text };
    if number.is_padded() {
        return Kind::Text;
    }
    if !number.is_whole() || (double == 0.0 && number.has_minus()) {
        return Kind::Float(double);
    }
    let exact = (!number.is_between(double)).then_some(double);
    match number.to_whole() {
        Some(value) if in_64_bits(value) => Kind::Whole(value, exact),
        _ => Kind::Long(exact),
    }
}

fn in_64_bits(value: i128) -> bool {
    value >= i128::from(i64::MIN) && value <= i128::from(u64::MAX)
}

/// Whether a field is a number for people, or for a given type, such as `007` and `+5`.
#[must_use]
pub(super) fn is_number(field: &Field, options: &Options) -> bool {
    let text = bare(field);
    let is_null = is_null_word(field, options);
    !is_null && (word(text).is_some() || Number::parse(text, marks(options)).is_some())
}
