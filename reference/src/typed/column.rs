//! A column: its fields, then its type, then its values.

use super::fault::{Fault, Wrong};
use super::join::Seen;
use super::kind::{bare, marks};
use super::nested::nested;
use super::number::Number;
use super::options::Options;
use super::records::{Field, Record};
use super::told::told;
use super::types::{Type, Value};
use super::value::{kind_of, value};

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
    /// What is in its objects or arrays, in words.
    pub nested: Option<String>,
    /// Decimals that are other numbers as the doubles or singles of the column.
    pub rounded: Changes,
    /// Numbers that lost zeros before them, or a plus, because the type was given.
    pub padded: Changes,
    /// Its values.
    pub values: Vec<Value>,
}

/// Values that are not what their text says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// How many.
    pub count: usize,
    /// The line of the first one.
    pub line: Option<usize>,
}

impl Changes {
    fn add(&mut self, line: usize) {
        self.count += 1;
        self.line = self.line.or(Some(line));
    }
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
    /// The fields with their lines; `None` where padded.
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
        }
        self.fields.push((record.line, Some(field.clone())));
        Ok(())
    }

    /// The column, when all is read.
    #[must_use]
    pub(super) fn finish(self, name: String) -> Column {
        let is_told = self.told.is_some();
        let Found { type_is, deciding_line, nested, values } = match self.told {
            Some(type_is) => {
                Found { type_is, deciding_line: None, nested: None, values: self.values }
            }
            None => found(&self.fields, &self.options),
        };
        let nulls = values.iter().filter(|value| **value == Value::Missing).count();
        let (mut rounded, mut padded) = (Changes::default(), Changes::default());
        for ((line, field), value) in self.fields.iter().zip(&values) {
            let number = field.as_ref().filter(|_| *value != Value::Missing);
            let number = number.and_then(|it| Number::parse(bare(it), marks(&self.options)));
            let Some(number) = number else { continue };
            match value {
                Value::Float(bits) if number.is_rounded(f64::from_bits(*bits)) => {
                    rounded.add(*line);
                }
                Value::Float(_) | Value::Whole(_) => {}
                _ => continue,
            }
            if is_told && number.is_padded() {
                padded.add(*line);
            }
        }
        Column { name, type_is, is_told, nulls, deciding_line, nested, rounded, padded, values }
    }
}

/// What is found of a column, as the column has it.
struct Found {
    type_is: Type,
    deciding_line: Option<usize>,
    nested: Option<String>,
    values: Vec<Value>,
}

/// The type of these fields, the line that decided it, and their values.
fn found(fields: &[(usize, Option<Field>)], options: &Options) -> Found {
    let mut seen = Seen::default();
    let mut decided = (seen.join(), None);
    for (line, field) in fields {
        seen.add(&kind_of(field.as_ref(), options));
        if seen.join() != decided.0 {
            decided = (seen.join(), Some(*line));
        }
    }
    let (mut type_is, mut deciding_line) = (decided.0.to_type(), decided.1);
    if matches!(type_is, Type::Struct | Type::List) {
        let all: Vec<_> = fields.iter().map(|(_, field)| field.as_ref()).collect();
        if let Some((word, values)) = nested(&all, options) {
            return Found { type_is, deciding_line, nested: Some(word), values };
        }
        // There is too much in them, and no line decides that.
        (type_is, deciding_line) = (Type::Text, None);
    }
    let value_of = |(_, field): &(usize, Option<Field>)| {
        let kind = kind_of(field.as_ref(), options);
        field.as_ref().map_or(Value::Missing, |field| value(&kind, type_is, field))
    };
    let values = fields.iter().map(value_of).collect();
    Found { type_is, deciding_line, nested: None, values }
}
