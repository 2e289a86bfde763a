//! Columns of values, of any type.

use arrow_array::ArrayRef;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};

use super::bools::Bools;
use super::dictionary::Dictionary;
use super::field::{Field, RawFields};
use super::fill::{Fill, push_or_missing};
use super::misfit::{Misfit, MisfitAt};
use super::moments::{Dates, Moments};
use super::numbers::Numbers;
use super::rules::Rules;
use super::texts::Texts;
use super::types::ColumnType;
use super::validity::Validity;

/// A column that grows field by field.
pub(in crate::table) struct Builder {
    values: Box<dyn Fill>,
    validity: Validity,
}

impl Builder {
    /// Returns an empty column with room for some values.
    pub(in crate::table) fn new(column_type: ColumnType, capacity: usize) -> Self {
        Self { values: values(column_type, capacity), validity: Validity::default() }
    }

    /// Returns the number of values, with missing ones.
    pub(in crate::table) fn len(&self) -> usize {
        self.validity.len()
    }

    /// Appends a missing value.
    pub(in crate::table) fn push_missing(&mut self) {
        self.values.push_missing();
        self.validity.push(false);
    }

    /// Appends the value of a field, or a missing one.
    ///
    /// # Errors
    ///
    /// Says why the field is not a value of this type; nothing is appended then.
    pub(in crate::table) fn push(
        &mut self,
        field: Field<'_>,
        rules: &Rules,
    ) -> Result<(), Misfit> {
        match push_or_missing(&mut *self.values, field, rules)? {
            Some(()) => self.validity.push(true),
            None => self.push_missing(),
        }
        Ok(())
    }

    /// Appends the values of fields: the same as [`push`](Self::push) for each, but fast.
    ///
    /// # Errors
    ///
    /// The first that is not a value of this type, and why. Those before it have been appended.
    pub(in crate::table) fn push_all(
        &mut self,
        fields: RawFields<'_>,
        rules: &Rules,
    ) -> Result<(), MisfitAt> {
        self.values.push_all(fields, rules, &mut self.validity)
    }

    /// Returns the column.
    pub(in crate::table) fn finish(mut self) -> ArrayRef {
        if self.validity.len() == 0 {
            return self.values.finish(None);
        }
        self.values.finish(self.validity.finish())
    }
}

fn values(column_type: ColumnType, capacity: usize) -> Box<dyn Fill> {
    match column_type {
        ColumnType::Null => Box::new(Nothing(0)),
        ColumnType::Bool => Box::new(Bools::new(capacity)),
        ColumnType::I8 => Box::new(Numbers::<Int8Type>::new(capacity)),
        ColumnType::I16 => Box::new(Numbers::<Int16Type>::new(capacity)),
        ColumnType::I32 => Box::new(Numbers::<Int32Type>::new(capacity)),
        ColumnType::I64 => Box::new(Numbers::<Int64Type>::new(capacity)),
        ColumnType::U8 => Box::new(Numbers::<UInt8Type>::new(capacity)),
        ColumnType::U16 => Box::new(Numbers::<UInt16Type>::new(capacity)),
        ColumnType::U32 => Box::new(Numbers::<UInt32Type>::new(capacity)),
        ColumnType::U64 => Box::new(Numbers::<UInt64Type>::new(capacity)),
        ColumnType::F32 => Box::new(Numbers::<Float32Type>::new(capacity)),
        ColumnType::F64 => Box::new(Numbers::<Float64Type>::new(capacity)),
        ColumnType::Date => Box::new(Dates::new(capacity)),
        ColumnType::Timestamp(unit) => Box::new(Moments::new(unit, false, capacity)),
        ColumnType::Zoned(unit) => Box::new(Moments::new(unit, true, capacity)),
        ColumnType::Text => Box::new(Texts::new(capacity)),
        ColumnType::Dictionary => Box::new(Dictionary::new()),
    }
}

/// A column in which every value is missing.
struct Nothing(usize);

impl Fill for Nothing {
    fn push(&mut self, _: Field<'_>, _: &Rules) -> Result<(), Misfit> {
        Err(Misfit::Form)
    }

    fn push_missing(&mut self) {
        self.0 += 1;
    }

    fn finish(&mut self, _: Option<arrow_buffer::NullBuffer>) -> ArrayRef {
        std::sync::Arc::new(arrow_array::NullArray::new(self.0))
    }
}
