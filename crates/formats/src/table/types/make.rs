//! The builder for each type of column.

use arrow_array::ArrayRef;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_schema::DataType;

use super::builder::Builder;
use super::column_type::ColumnType;
use super::dictionary::TextDictionary;
use super::field::TextField;
use super::fill::Fill;
use super::flags::Note;
use super::misfit::{FieldFit, Misfit};
use super::nested::NestedType;
use super::rules::FieldRules;
use super::structs::{ListFill, Outlines, StructFill};
use super::texts::TextsFill;
use super::{bools, moments, numbers};

impl Builder {
    /// Returns an empty column with room for some values.
    pub(in crate::table) fn new(column_type: ColumnType, capacity: usize) -> Self {
        Self::of(values(column_type, capacity))
    }

    /// Returns an empty column that also keeps the values of objects or arrays of a known type.
    pub(in crate::table) fn with(
        nested: Option<&NestedType>,
        column_type: ColumnType,
        capacity: usize,
    ) -> Self {
        match nested.filter(|_| column_type.is_nested()) {
            Some(nested) => of_nested(nested),
            None => Self::new(column_type, capacity),
        }
    }
}

fn of_nested(nested: &NestedType) -> Builder {
    match nested.data_type() {
        DataType::Struct(fields) => {
            let columns = nested.in_order().into_iter().map(|(_, field)| of_nested(field));
            Builder::of(Box::new(StructFill::new(fields, columns.collect())))
        }
        DataType::List(field) => {
            let item =
                nested.item().map_or_else(|| Builder::new(ColumnType::Null, 0), of_nested);
            Builder::of(Box::new(ListFill::new(field, item)))
        }
        _ => Builder::new(nested.column_type(), 0),
    }
}

fn values(column_type: ColumnType, capacity: usize) -> Box<dyn Fill> {
    match column_type {
        ColumnType::Null => Box::new(NullFill(0)),
        ColumnType::Bool => Box::new(bools::column(capacity)),
        ColumnType::I8 => Box::new(numbers::column::<Int8Type>(capacity)),
        ColumnType::I16 => Box::new(numbers::column::<Int16Type>(capacity)),
        ColumnType::I32 => Box::new(numbers::column::<Int32Type>(capacity)),
        ColumnType::I64 => Box::new(numbers::column::<Int64Type>(capacity)),
        ColumnType::U8 => Box::new(numbers::column::<UInt8Type>(capacity)),
        ColumnType::U16 => Box::new(numbers::column::<UInt16Type>(capacity)),
        ColumnType::U32 => Box::new(numbers::column::<UInt32Type>(capacity)),
        ColumnType::U64 => Box::new(numbers::column::<UInt64Type>(capacity)),
        ColumnType::F32 => Box::new(numbers::column::<Float32Type>(capacity)),
        ColumnType::F64 => Box::new(numbers::column::<Float64Type>(capacity)),
        ColumnType::Date => Box::new(moments::dates(capacity)),
        ColumnType::Timestamp(unit) => Box::new(moments::moments(unit, false, capacity)),
        ColumnType::Zoned(unit) => Box::new(moments::moments(unit, true, capacity)),
        ColumnType::Text => Box::new(TextsFill::new(capacity)),
        ColumnType::Dictionary => Box::new(TextDictionary::new()),
        ColumnType::Struct => Box::new(Outlines::new(b'{')),
        ColumnType::List => Box::new(Outlines::new(b'[')),
    }
}

/// A column in which every value is missing.
struct NullFill(usize);

impl Fill for NullFill {
    fn push(&mut self, _: TextField<'_>, _: &FieldRules, _: &mut Note<'_>) -> FieldFit {
        Err(Misfit::Form)
    }

    fn push_missing(&mut self) {
        self.0 += 1;
    }

    fn finish(&mut self, _: Option<arrow_buffer::NullBuffer>) -> ArrayRef {
        std::sync::Arc::new(arrow_array::NullArray::new(self.0))
    }
}
