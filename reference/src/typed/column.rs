//! A column: its fields, then its type, then its values.

use super::fault::{Fault, Wrong};
use super::join::Seen;
use super::kind::{Kind, bare, marks};
use super::nested::{Inner, is_nested, nested};
use super::number::Number;
use super::options::{Form, Options};
use super::records::{Field, Record};
use super::told::told;
use super::types::{Type, Value};
use super::value::{is_rounded, kind_of, value};

/// A column of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, after renaming.
    pub name: String,
    /// Its type.
    pub type_is: Type,
    /// Whether the type was given.
    pub is_told: bool,
    /// The number of missing values.
    pub nulls: usize,
    /// The first line whose value decided the type; `None` if there is none, or the type was given.
    pub deciding_line: Option<usize>,
    /// The type of its objects or arrays, in words.
    pub nested: Option<String>,
    /// The decimals that differ from the doubles or singles of the column.
    pub rounded: Changes,
    /// The numbers that lost leading zeros, a plus, or the minus of a whole zero, because the type
    /// was given.
    pub padded: Changes,
    /// The objects and arrays that are text because of other values.
    pub as_text: Changes,
    /// Its values.
    pub values: Vec<Value>,
}

/// Values that differ from their text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The number of values.
    pub count: usize,
    /// The line of the first one.
    pub line: Option<usize>,
}

impl Changes {
    fn add(&mut self, count: usize, line: usize) {
        self.count += count;
        self.line = self.line.or((count > 0).then_some(line));
    }
}

/// A column while it is read.
pub(super) struct Reading {
    /// Its index in the file.
    pub at: usize,
    /// Its name in the file.
    pub name: String,
    /// The given type.
    pub told: Option<Type>,
    /// The given form of dates and moments.
    pub format: Option<String>,
    /// The fields with their lines; `None` if padded.
    fields: Vec<(usize, Option<Field>)>,
    values: Vec<Value>,
    /// The options, with the words of the column.
    options: Options,
}

impl Reading {
    /// Makes a column without fields.
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

    /// Adds the field with this index of a record, if there is one.
    ///
    /// # Errors
    ///
    /// The field is not UTF-8, or not a value of the given type.
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

    /// Returns the column, after the last record.
    #[must_use]
    pub(super) fn finish(self, name: String) -> Column {
        let is_told = self.told.is_some();
        let inner = vec![Inner::default(); self.values.len()];
        let ColumnFindings { type_is, deciding_line, nested, values, inner } = match self.told {
            Some(type_is) => ColumnFindings {
                type_is,
                deciding_line: None,
                nested: None,
                values: self.values,
                inner,
            },
            None => found(&self.fields, &self.options),
        };
        let nulls = values.iter().filter(|value| **value == Value::Missing).count();
        let mut column = Column {
            name,
            type_is,
            is_told,
            nulls,
            deciding_line,
            nested,
            rounded: Changes::default(),
            padded: Changes::default(),
            as_text: Changes::default(),
            values: Vec::new(),
        };
        for (((line, field), value), inner) in self.fields.iter().zip(&values).zip(inner) {
            column.rounded.add(inner.rounded, *line);
            column.as_text.add(inner.as_text, *line);
            let Some(field) = field.as_ref() else { continue };
            column.rounded.add(is_rounded(field, value, &self.options).into(), *line);
            if is_told && is_padded(field, value, &self.options) {
                column.padded.add(1, *line);
            }
        }
        Column { values, ..column }
    }
}

/// Whether a number lost zeros, a plus or the minus of a zero in this value.
fn is_padded(field: &Field, value: &Value, options: &Options) -> bool {
    let Some(number) = Number::parse(bare(field), marks(options)) else { return false };
    match value {
        Value::Whole(0) => number.is_padded() || number.has_minus(),
        Value::Whole(_) | Value::Float(_) => number.is_padded(),
        _ => false,
    }
}

/// The findings about a column.
struct ColumnFindings {
    type_is: Type,
    deciding_line: Option<usize>,
    nested: Option<String>,
    values: Vec<Value>,
    /// The facts inside each value.
    inner: Vec<Inner>,
}

/// Finds the type of these fields, the line that decided it, and their values.
fn found(fields: &[(usize, Option<Field>)], options: &Options) -> ColumnFindings {
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
        if let Some((word, all)) = nested(&all, options) {
            let (values, inner) = all.into_iter().unzip();
            return ColumnFindings {
                type_is,
                deciding_line,
                nested: Some(word),
                values,
                inner,
            };
        }
        // The values exceed a limit, which no single line decides.
        (type_is, deciding_line) = (Type::Text, None);
    }
    let value_of = |(_, field): &(usize, Option<Field>)| {
        let kind = kind_of(field.as_ref(), options);
        field.as_ref().map_or(Value::Missing, |field| value(&kind, type_is, field))
    };
    let values = fields.iter().map(value_of).collect();
    let fields: Vec<Option<&Field>> = fields.iter().map(|(_, field)| field.as_ref()).collect();
    let inner = as_text(&fields, type_is, options);
    ColumnFindings { type_is, deciding_line, nested: None, values, inner }
}

/// Returns the values of a text column that are objects or arrays beside other values.
fn as_text(fields: &[Option<&Field>], type_is: Type, options: &Options) -> Vec<Inner> {
    let is_other = |field: &Option<&Field>| match kind_of(*field, options) {
        Kind::Missing => false,
        Kind::Text => !field.is_some_and(is_nested),
        _ => true,
    };
    let is_mixed =
        options.form == Form::JsonLines && type_is == Type::Text && fields.iter().any(is_other);
    let of = |field: &Option<&Field>| {
        let is_there = kind_of(*field, options) != Kind::Missing;
        let as_text = is_mixed && is_there && field.is_some_and(is_nested);
        Inner { rounded: 0, as_text: as_text.into() }
    };
    fields.iter().map(of).collect()
}
