//! The code that columns of every type share.

use arrow_array::ArrayRef;
use arrow_buffer::NullBuffer;

use super::field::{RawFields, TextField};
use super::flags::{Flags, Note};
use super::loops::{self, Parse};
use super::misfit::{FieldFit, Misfit, MisfitAt};
use super::nested::NestedType;
use super::rules::FieldRules;
use super::validity::Validity;

/// Values of one type, without their validity.
pub(super) trait Fill: Send {
    /// Whether a quoted word for a missing value is a value.
    fn is_text(&self) -> bool {
        false
    }

    /// Appends a field that is not missing. Notes, with index 0, a value that does not match
    /// its text.
    fn push(
        &mut self,
        field: TextField<'_>,
        rules: &FieldRules,
        note: &mut Note<'_>,
    ) -> FieldFit;

    /// Appends a missing value.
    fn push_missing(&mut self);

    /// Appends fields and their validity. Notes values that do not match their text.
    fn push_all(
        &mut self,
        fields: RawFields<'_>,
        rules: &FieldRules,
        validity: &mut Validity,
        note: &mut Note<'_>,
    ) -> Result<(), MisfitAt> {
        let mut scratch = Vec::new();
        for index in 0..fields.len() {
            let mut note = |_, flags| note(index, flags);
            let mut push = |raw| {
                let field = rules.quoting.field(raw, &mut scratch);
                push_or_missing(self, field, rules, &mut note)
            };
            let pushed = fields.raw(index).map_or(Ok(None), &mut push);
            match pushed {
                Ok(Some(())) => validity.push(true),
                Ok(None) => {
                    self.push_missing();
                    validity.push(false);
                }
                Err(misfit) => return Err(MisfitAt { index, misfit }),
            }
        }
        Ok(())
    }

    /// Returns the column.
    fn finish(&mut self, nulls: Option<NullBuffer>) -> ArrayRef;

    /// Takes the type of nested values, if only that is kept of them.
    fn nested(&mut self) -> Option<NestedType> {
        None
    }
}

/// Builds the array from values and validity.
type Finish<P> = fn(&P, Vec<<P as Parse>::Value>, Option<NullBuffer>) -> ArrayRef;

/// A column of fixed-size values, read by a [`Parse`].
pub(super) struct ValuesFill<P: Parse> {
    values: Vec<P::Value>,
    parse: P,
    finish: Finish<P>,
}

impl<P: Parse> ValuesFill<P> {
    pub(super) fn new(parse: P, capacity: usize, finish: Finish<P>) -> Self {
        Self { values: Vec::with_capacity(capacity), parse, finish }
    }
}

impl<P: Parse<Value: Send> + Send> Fill for ValuesFill<P> {
    fn push(
        &mut self,
        field: TextField<'_>,
        rules: &FieldRules,
        note: &mut Note<'_>,
    ) -> FieldFit {
        let mut flags = Flags::default();
        self.values.push(self.parse.one(field, rules, &mut flags)?);
        if !flags.is_empty() {
            note(0, flags);
        }
        Ok(())
    }

    fn push_missing(&mut self) {
        self.values.push(P::Value::default());
    }

    fn push_all(
        &mut self,
        fields: RawFields<'_>,
        rules: &FieldRules,
        validity: &mut Validity,
        note: &mut Note<'_>,
    ) -> Result<(), MisfitAt> {
        loops::push_all(&self.parse, &mut self.values, fields, rules, validity, note)
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> ArrayRef {
        (self.finish)(&self.parse, taken(&mut self.values), nulls)
    }
}

/// Appends a field, unless it is missing.
pub(super) fn push_or_missing<F: Fill + ?Sized>(
    values: &mut F,
    field: TextField<'_>,
    rules: &FieldRules,
    note: &mut Note<'_>,
) -> Result<Option<()>, Misfit> {
    let is_text = field.is_quoted && values.is_text() && !rules.quoting.is_json;
    if rules.is_missing(field) && !is_text {
        return Ok(None);
    }
    values.push(field, rules, note).map(Some)
}

/// Takes the values out of a column and frees spare capacity.
pub(super) fn taken<T>(values: &mut Vec<T>) -> Vec<T> {
    let mut values = std::mem::take(values);
    if values.capacity() - values.len() > values.len() / 8 {
        values.shrink_to_fit();
    }
    values
}
