//! A column: its fields, then its type, then its values.

use super::fault::{Fault, Wrong};
use super::join::Seen;
use super::kind::{Kind, kind};
use super::options::Options;
use super::records::{Field, Record};
use super::time::DAY;
use super::told::told;
use super::types::{Type, Value};

/// A column of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, after renaming.
    pub name: String,
    /// Its type.
    pub type_is: Type,
    /// Whether it was given.
    pub is_told: bool,
    /// How many values are missing.
    pub nulls: usize,
    /// The first line whose value decided the type; `None` if no value did, or it was given.
    pub deciding_line: Option<usize>,
    /// Its values.
    pub values: Vec<Value>,
}

/// A column while it is read.
pub(super) struct Reading {
    /// Its index in the file.
    pub at: usize,
    /// Its name in the file.
    pub name: String,
    /// The type that was given.
    pub told: Option<Type>,
    /// The form of dates and moments that was given.
    pub format: Option<String>,
    /// The fields whose type is found at the end, with their lines; `None` where padded.
    fields: Vec<(usize, Option<Field>)>,
    values: Vec<Value>,
    /// With the words of the column.
    options: Options,
}

impl Reading {
    /// A column of which nothing has been read.
    #[must_use]
    pub(super) fn new(
        at: usize,
        name: &str,
        told: Option<Type>,
        format: Option<String>,
        options: Options,
    ) -> Self {
        let name = name.to_owned();
        Self { at, name, told, format, fields: Vec::new(), values: Vec::new(), options }
    }

    /// Adds its field of a record, the one at this index, if there is one.
    ///
    /// # Errors
    ///
    /// It is not UTF-8, or the told type does not have it.
    pub(super) fn add(&mut self, record: &Record, index: Option<usize>) -> Result<(), Fault> {
        let Some(field) = index.and_then(|index| record.fields.get(index)) else {
            self.fields.push((record.line, None));
            self.values.push(Value::Missing);
            return Ok(());
        };
        let fault = |wrong| Fault {
            column: Some(self.name.clone()),
            ..Fault::new(wrong, record.line, field.at)
        };
        if std::str::from_utf8(&field.text).is_err() {
            return Err(fault(Wrong::Encoding));
        }
        if let Some(type_is) = self.told {
            let value = told(field, type_is, self.format.as_deref(), &self.options);
            self.values.push(value.ok_or_else(|| fault(Wrong::Misfit))?);
        } else {
            self.fields.push((record.line, Some(field.clone())));
        }
        Ok(())
    }

    /// The column, when all is read.
    #[must_use]
    pub(super) fn finish(self, name: String) -> Column {
        let is_told = self.told.is_some();
        let (type_is, deciding_line, values) = match self.told {
            Some(type_is) => (type_is, None, self.values),
            None => found(&self.fields, &self.options),
        };
        let nulls = values.iter().filter(|value| **value == Value::Missing).count();
        Column { name, type_is, is_told, nulls, deciding_line, values }
    }
}

/// The type of these fields, the line that decided it, and their values.
fn found(
    fields: &[(usize, Option<Field>)],
    options: &Options,
) -> (Type, Option<usize>, Vec<Value>) {
    let mut seen = Seen::default();
    let mut decided = (seen.join(), None);
    for (line, field) in fields {
        seen.add(&kind_of(field.as_ref(), options));
        if seen.join() != decided.0 {
            decided = (seen.join(), Some(*line));
        }
    }
    let type_is = decided.0.to_type();
    let value_of = |(_, field): &(usize, Option<Field>)| {
        let kind = kind_of(field.as_ref(), options);
        field.as_ref().map_or(Value::Missing, |field| value(&kind, type_is, field))
    };
    (type_is, decided.1, fields.iter().map(value_of).collect())
}

fn kind_of(field: Option<&Field>, options: &Options) -> Kind {
    field.map_or(Kind::Missing, |field| kind(field, options))
}

/// The value of a field in a column of the type that was found.
fn value(kind: &Kind, type_is: Type, field: &Field) -> Value {
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
        (_, Kind::Long(_) | Kind::Float(_) | Kind::Text) => {
            unreachable!("such a value makes the column f64 or text")
        }
    }
}
