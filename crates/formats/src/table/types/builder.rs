//! Columns of values, of any type.

use arrow_array::ArrayRef;

use super::field::{RawFields, TextField};
use super::fill::{Fill, push_or_missing};
use super::flags::Note;
use super::misfit::{Misfit, MisfitAt};
use super::nested::NestedType;
use super::rules::FieldRules;
use super::validity::Validity;

/// A column that grows field by field.
pub(in crate::table) struct Builder {
    values: Box<dyn Fill>,
    validity: Validity,
}

impl Builder {
    /// Returns an empty column of these values.
    pub(super) fn of(values: Box<dyn Fill>) -> Self {
        Self { values, validity: Validity::default() }
    }

    /// Takes the type of nested values, if only that is kept of them.
    pub(in crate::table) fn nested(&mut self) -> Option<NestedType> {
        self.values.nested()
    }

    /// Returns the number of values, missing ones included.
    pub(in crate::table) fn len(&self) -> usize {
        self.validity.len()
    }

    /// Appends a missing value.
    pub(in crate::table) fn push_missing(&mut self) {
        self.values.push_missing();
        self.validity.push(false);
    }

    /// Appends the value of a field, or a missing one. Notes, with index 0, a value that does
    /// not match its text.
    ///
    /// # Errors
    ///
    /// Returns why the field is not a value of this type; then nothing is appended.
    pub(in crate::table) fn push(
        &mut self,
        field: TextField<'_>,
        rules: &FieldRules,
        note: &mut Note<'_>,
    ) -> Result<(), Misfit> {
        match push_or_missing(&mut *self.values, field, rules, note)? {
            Some(()) => self.validity.push(true),
            None => self.push_missing(),
        }
        Ok(())
    }

    /// Appends the values of fields: the same as [`push`](Self::push) for each field, but
    /// faster. Notes values that do not match their text.
    ///
    /// # Errors
    ///
    /// The first field that is not a value of this type, and why. The fields before it have
    /// been appended.
    pub(in crate::table) fn push_all(
        &mut self,
        fields: RawFields<'_>,
        rules: &FieldRules,
        note: &mut Note<'_>,
    ) -> Result<(), MisfitAt> {
        self.values.push_all(fields, rules, &mut self.validity, note)
    }

    /// Returns the column.
    pub(in crate::table) fn finish(mut self) -> ArrayRef {
        self.take()
    }

    /// Takes all values.
    pub(super) fn take(&mut self) -> ArrayRef {
        let validity = std::mem::take(&mut self.validity);
        match validity.len() {
            0 => self.values.finish(None),
            _ => self.values.finish(validity.finish()),
        }
    }
}
