//! The kinds of fields in a sample.

use std::cell::Cell;

use super::rules;
use crate::table::options::BatchOptions;
use crate::table::text::dialect::Dialect;
use crate::table::text::record::FieldPlace;
use crate::table::types::{
    ColumnState, ColumnType, FieldRules, Kinds, TextField, has_zone, is_number,
};

/// The group in which a person would put a field: `007` is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldGroup {
    Missing,
    Bool,
    Number,
    Time,
    Zoned,
    Text,
}

/// A field of a sample.
pub(super) struct SampleField {
    pub(super) place: FieldPlace,
    /// The group of the field, once determined.
    pub(super) group: Cell<Option<FieldGroup>>,
}

impl From<FieldPlace> for SampleField {
    fn from(place: FieldPlace) -> Self {
        Self { place, group: Cell::new(None) }
    }
}

/// Groups fields.
pub(super) struct Judge<'t> {
    text: &'t [u8],
    pub(super) rules: FieldRules,
}

impl<'t> Judge<'t> {
    pub(super) fn new(text: &'t [u8], options: &BatchOptions, dialect: Dialect) -> Self {
        Self { text, rules: rules::rules(options, dialect) }
    }

    pub(super) fn with<R>(
        &self,
        place: FieldPlace,
        look: impl FnOnce(TextField<'_>) -> R,
    ) -> R {
        let mut scratch = Vec::new();
        look(self.rules.quoting.field(place.of(self.text), &mut scratch))
    }

    /// Whether a field is present and a number of any form.
    pub(super) fn is_number(&self, place: FieldPlace) -> bool {
        self.with(place, |field| is_number(field, &self.rules))
    }

    pub(super) fn is_missing(&self, place: FieldPlace) -> bool {
        self.with(place, |field| Kinds::of(field, &self.rules).state()) == ColumnState::Missing
    }

    /// Whether a field is quoted and not empty.
    pub(super) fn is_quoted_word(&self, place: FieldPlace) -> bool {
        self.with(place, |field| field.is_quoted && !field.bytes.is_empty())
    }

    pub(super) fn is_quoted(&self, place: FieldPlace) -> bool {
        self.with(place, |field| field.is_quoted)
    }

    /// Returns the group of a field, determined once.
    pub(super) fn group(&self, field: &SampleField) -> FieldGroup {
        let found = field.group.get().unwrap_or_else(|| self.group_of(field.place));
        field.group.set(Some(found));
        found
    }

    fn group_of(&self, place: FieldPlace) -> FieldGroup {
        self.with(place, |field| match Kinds::of(field, &self.rules).state() {
            ColumnState::Missing | ColumnState::Quoted => FieldGroup::Missing,
            ColumnState::Of(ColumnType::Bool) => FieldGroup::Bool,
            ColumnState::Of(ColumnType::Date | ColumnType::Timestamp(_)) => FieldGroup::Time,
            ColumnState::Of(ColumnType::Zoned(_)) => FieldGroup::Zoned,
            // Some numbers and timestamps fit no type.
            ColumnState::Of(ColumnType::Text) if !is_number(field, &self.rules) => {
                match has_zone(field) {
                    Some(true) => FieldGroup::Zoned,
                    Some(false) => FieldGroup::Time,
                    None => FieldGroup::Text,
                }
            }
            ColumnState::Long | ColumnState::Of(_) => FieldGroup::Number,
        })
    }
}
