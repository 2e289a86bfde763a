//! Field → value if the type is given.

use super::kind::{bare, boolean, is_null_word, json_boolean, marks};
use super::number::{Number, word};
use super::options::{Form, Options};
use super::records::Field;
use super::strftime;
use super::time::{DAY, Moment, date, moment};
use super::types::{Type, Unit, Value};

/// Returns the value of a field in a column of the type `told`; `None` if it is not of this type.
/// `format` is the form of dates and moments, if any. The text of a field is valid UTF-8.
#[must_use]
pub(super) fn told(
    field: &Field,
    told: Type,
    format: Option<&str>,
    options: &Options,
) -> Option<Value> {
    let is_json = options.form == Form::JsonLines;
    let is_text = matches!(told, Type::Text | Type::Dictionary);
    if is_null_word(field, options) && (is_json || !(field.is_quoted && is_text)) {
        return Some(Value::Missing);
    }
    let text = bare(field);
    match told {
        Type::Null | Type::Struct | Type::List => None,
        Type::Bool if is_json => json_boolean(field, &with_words(options)).map(Value::Bool),
        Type::Bool => boolean(text, options).map(Value::Bool),
        Type::Whole { bits, signed } => whole(text, bits, signed, options),
        Type::F32 => single(text, options),
        Type::F64 => double(text, options),
        Type::Date => day(text, format).map(Value::Date),
        Type::Timestamp { unit, zoned } => timestamp(text, format, unit, zoned),
        Type::Text | Type::Dictionary => {
            Some(Value::Text(String::from_utf8(field.text.clone()).ok()?))
        }
    }
}

/// Returns the options, with the usual words for booleans if none are given.
fn with_words(options: &Options) -> Options {
    let (usual, mut options) = (Options::default(), options.clone());
    if options.trues.is_empty() {
        options.trues = usual.trues;
    }
    if options.falses.is_empty() {
        options.falses = usual.falses;
    }
    options
}

fn whole(text: &[u8], bits: u32, signed: bool, options: &Options) -> Option<Value> {
    let number = Number::parse(text, marks(options))?;
    if number.has_minus() && !signed {
        return None;
    }
    let value = number.to_integral()?;
    let (least, most) = if signed {
        (-(1_i128 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    };
    (least <= value && value <= most).then_some(Value::Whole(value))
}

fn single(text: &[u8], options: &Options) -> Option<Value> {
    if let Some(value) = word(text) {
        return Some(Value::float(value));
    }
    let number = Number::parse(text, marks(options))?;
    let value = f64::from(number.to_single()?);
    (!number.is_between(value)).then(|| Value::float(value))
}

fn double(text: &[u8], options: &Options) -> Option<Value> {
    if let Some(value) = word(text) {
        return Some(Value::float(value));
    }
    let number = Number::parse(text, marks(options))?;
    let value = number.to_double()?;
    (!number.is_between(value)).then(|| Value::float(value))
}

fn day(text: &[u8], format: Option<&str>) -> Option<i64> {
    match format {
        None => date(text),
        Some(format) => strftime::date(text, format),
    }
}

fn timestamp(text: &[u8], format: Option<&str>, unit: Unit, zoned: bool) -> Option<Value> {
    let midnight =
        |day: i64| Moment { nanoseconds: i128::from(day) * DAY, digits: 0, is_zoned: false };
    let epoch = format.and_then(|format| strftime::epoch(text, format));
    let found = match format {
        Some(_) if let Some(nanoseconds) = epoch => {
            nanoseconds.map(|nanoseconds| Moment { nanoseconds, digits: 0, is_zoned: zoned })
        }
        None => moment(text).or_else(|| date(text).map(midnight)),
        Some(format) => strftime::moment(text, format),
    }?;
    let step = unit.nanoseconds();
    let is_exact = found.nanoseconds % step == 0;
    // The least number is a missing value in numpy.
    let fits = i64::try_from(found.nanoseconds / step).is_ok_and(|value| value != i64::MIN);
    (found.is_in_years() && found.is_zoned == zoned && is_exact && fits)
        .then_some(Value::Timestamp { nanoseconds: found.nanoseconds, zoned })
}
