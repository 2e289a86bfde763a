//! Columns of texts.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{StringDictionaryBuilder, StringViewBuilder};
use arrow_array::types::Int32Type;
use arrow_buffer::NullBuffer;

use super::field::Field;
use super::fill::Fill;
use super::misfit::Misfit;
use super::rules::Rules;

/// A column of texts, each for itself.
pub(super) struct Texts(StringViewBuilder);

impl Texts {
    pub(super) fn new(capacity: usize) -> Self {
        Self(StringViewBuilder::with_capacity(capacity))
    }
}

impl Fill for Texts {
    fn is_text(&self) -> bool {
        true
    }

    fn push(&mut self, field: Field<'_>, _: &Rules) -> Result<(), Misfit> {
        self.0.try_append_value(utf8(field)?).map_err(|_| Misfit::Room)
    }

    fn push_missing(&mut self) {
        self.0.append_null();
    }

    fn finish(&mut self, _: Option<NullBuffer>) -> ArrayRef {
        Arc::new(self.0.finish())
    }
}

/// A column of texts of which each different one is stored once.
pub(super) struct Dictionary(StringDictionaryBuilder<Int32Type>);

impl Dictionary {
    pub(super) fn new() -> Self {
        Self(StringDictionaryBuilder::new())
    }
}

impl Fill for Dictionary {
    fn is_text(&self) -> bool {
        true
    }

    fn push(&mut self, field: Field<'_>, _: &Rules) -> Result<(), Misfit> {
        self.0.append(utf8(field)?).map(drop).map_err(|_| Misfit::Room)
    }

    fn push_missing(&mut self) {
        self.0.append_null();
    }

    fn finish(&mut self, _: Option<NullBuffer>) -> ArrayRef {
        Arc::new(self.0.finish())
    }
}

fn utf8(field: Field<'_>) -> Result<&str, Misfit> {
    std::str::from_utf8(field.bytes).map_err(|_| Misfit::Encoding)
}
