//! Columns of numbers.

use std::sync::Arc;

use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{ArrayRef, PrimitiveArray};
use arrow_buffer::NullBuffer;

use super::field::Field;
use super::fill::Fill;
use super::misfit::Misfit;
use super::number;
use super::rules::Rules;
use crate::table::value::sealed::Value;

/// A column of numbers.
pub(super) struct Numbers<T: ArrowPrimitiveType>(Vec<T::Native>);

impl<T: ArrowPrimitiveType> Numbers<T> {
    pub(super) fn new(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity))
    }
}

impl<T: ArrowPrimitiveType<Native: Value>> Fill for Numbers<T> {
    fn push(&mut self, field: Field<'_>, rules: &Rules) -> Result<(), Misfit> {
        let token = field.trimmed();
        match number::parse(token, rules, T::Native::parse) {
            Some(value) => self.0.push(value),
            None => return Err(number::refusal(token, rules, T::Native::NAME)),
        }
        Ok(())
    }

    fn push_missing(&mut self) {
        self.0.push(T::Native::default());
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> ArrayRef {
        Arc::new(PrimitiveArray::<T>::new(std::mem::take(&mut self.0).into(), nulls))
    }
}
