//! Field → value, once the type of its column is known.

use super::kind::{Kind, bare, kind, marks};
use super::number::Number;
use super::options::Options;
use super::records::Field;
use super::time::DAY;
use super::types::{Type, Value};

/// Returns the kind of a field; missing if there is no field.
#[must_use]
pub(super) fn kind_of(field: Option<&Field>, options: &Options) -> Kind {
    field.map_or(Kind::Missing, |field| kind(field, options))
}

/// Whether a value is a double whose digits differ from its field.
#[must_use]
pub(super) fn is_rounded(field: &Field, value: &Value, options: &Options) -> bool {
    let Value::Float(bits) = value else { return false };
    let number = Number::parse(bare(field), marks(options));
    number.is_some_and(|number| number.is_rounded(f64::from_bits(*bits)))
}

/// Returns the value of a field in a column of the found type, which is not nested.
#[must_use]
pub(super) fn value(kind: &Kind, type_is: Type, field: &Field) -> Value {
    match (type_is, kind) {
        (_, Kind::Missing) => Value::Missing,
        (Type::Text, _) => {
            let text = String::from_utf8(field.text.clone());
            Value::Text(text.expect("checked when it was added"))
        }
        (_, Kind::QuotedMissing) => Value::Missing,
        (_, Kind::Bool(value)) => Value::Bool(*value),
        (
            Type::F64,
            Kind::Whole(_, Some(value)) | Kind::Long(Some(value)) | Kind::Float(value),
        ) => Value::float(*value),
        (_, Kind::Whole(value, _)) => Value::Whole(*value),
        (Type::Timestamp { zoned, .. }, Kind::Date(day)) => {
            Value::Timestamp { nanoseconds: i128::from(*day) * DAY, zoned }
        }
        (_, Kind::Date(day)) => Value::Date(*day),
        (_, Kind::Moment(moment)) => {
            Value::Timestamp { nanoseconds: moment.nanoseconds, zoned: moment.is_zoned }
        }
        (_, Kind::Long(_) | Kind::Float(_) | Kind::Text | Kind::Object | Kind::Array) => {
            unreachable!("such a value makes the column f64, text or nested")
        }
    }
}
