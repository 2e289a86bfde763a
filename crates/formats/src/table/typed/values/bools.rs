//! Columns of booleans.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};

use super::field::Field;
use super::fill::Fill;
use super::misfit::Misfit;
use super::rules::Rules;

/// A column of booleans, one bit each.
pub(super) struct Bools(BooleanBufferBuilder);

impl Bools {
    pub(super) fn new(capacity: usize) -> Self {
        Self(BooleanBufferBuilder::new(capacity))
    }
}

impl Fill for Bools {
    fn push(&mut self, field: Field<'_>, rules: &Rules) -> Result<(), Misfit> {
        self.0.append(rules.boolean(field).ok_or(Misfit::Form)?);
        Ok(())
    }

    fn push_missing(&mut self) {
        self.0.append(false);
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> ArrayRef {
        Arc::new(BooleanArray::new(self.0.finish(), nulls))
    }
}
