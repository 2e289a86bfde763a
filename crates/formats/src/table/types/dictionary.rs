//! Columns of texts that store each distinct text once.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_buffer::NullBuffer;

use super::field::TextField;
use super::fill::Fill;
use super::flags::{Note, note_nested};
use super::misfit::{FieldFit, Misfit};
use super::rules::FieldRules;

/// Distinct texts, and an index into them for each value.
pub(super) struct TextDictionary(StringDictionaryBuilder<Int32Type>);

impl TextDictionary {
    pub(super) fn new() -> Self {
        Self(StringDictionaryBuilder::new())
    }
}

impl Fill for TextDictionary {
    fn is_text(&self) -> bool {
        true
    }

    fn push(
        &mut self,
        field: TextField<'_>,
        rules: &FieldRules,
        note: &mut Note<'_>,
    ) -> FieldFit {
        let text = std::str::from_utf8(field.bytes).map_err(|_| Misfit::Encoding)?;
        note_nested(field, rules, note);
        self.0.append(text).map(drop).map_err(|_| Misfit::Room)
    }

    fn push_missing(&mut self) {
        self.0.append_null();
    }

    fn finish(&mut self, _: Option<NullBuffer>) -> ArrayRef {
        Arc::new(self.0.finish())
    }
}
