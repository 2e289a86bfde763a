//! Columns of structs and lists, from objects and arrays.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, ListArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{FieldRef, Fields};

use super::builder::Builder;
use super::field::TextField;
use super::fill::Fill;
use super::flags::Note;
use super::misfit::{FieldFit, Misfit};
use super::nested::NestedType;
use super::rules::FieldRules;
use crate::table::json::Parts;

/// Objects or arrays of which only the type is needed.
pub(super) struct Outlines {
    /// The bracket that opens each of them.
    open: u8,
    found: NestedType,
    keys: usize,
    len: usize,
}

impl Outlines {
    pub(super) fn new(open: u8) -> Self {
        Self { open, found: NestedType::default(), keys: 0, len: 0 }
    }
}

/// Refuses a field that does not begin with this bracket.
fn check(field: TextField<'_>, open: u8) -> Result<(), Misfit> {
    let is_one = !field.is_quoted && field.raw.first() == Some(&open);
    if is_one && std::str::from_utf8(field.raw).is_ok() {
        return Ok(());
    }
    Err(Misfit::of(field.bytes))
}

impl Fill for Outlines {
    fn push(&mut self, field: TextField<'_>, rules: &FieldRules, _: &mut Note<'_>) -> FieldFit {
        check(field, self.open)?;
        self.found.add(field.raw, rules, 0, &mut self.keys);
        self.len += 1;
        Ok(())
    }

    fn push_missing(&mut self) {
        self.len += 1;
    }

    /// Only the length and the validity have a meaning.
    fn finish(&mut self, nulls: Option<NullBuffer>) -> ArrayRef {
        Arc::new(StructArray::new_empty_fields(self.len, nulls))
    }

    fn nested(&mut self) -> Option<NestedType> {
        Some(std::mem::take(&mut self.found))
    }
}

/// Objects whose keys are known.
pub(super) struct StructFill {
    fields: Fields,
    names: HashMap<Vec<u8>, usize>,
    columns: Vec<Builder>,
    len: usize,
}

impl StructFill {
    /// An empty column of these fields, each with its column.
    pub(super) fn new(fields: Fields, columns: Vec<Builder>) -> Self {
        let names = fields.iter().map(|field| field.name().clone().into_bytes());
        Self { names: names.zip(0..).collect(), fields, columns, len: 0 }
    }

    /// Extends all columns to the length of this one.
    fn fill(&mut self) {
        self.len += 1;
        let short = self.columns.iter_mut().filter(|column| column.len() < self.len);
        short.for_each(Builder::push_missing);
    }
}

impl Fill for StructFill {
    /// After an error the columns are unusable.
    fn push(
        &mut self,
        field: TextField<'_>,
        rules: &FieldRules,
        note: &mut Note<'_>,
    ) -> FieldFit {
        check(field, b'{')?;
        let mut scratch = Vec::new();
        for part in Parts::of(field.raw) {
            let key = rules.quoting.field(part.key, &mut scratch).bytes;
            let column = self.names.get(key).and_then(|&at| self.columns.get_mut(at));
            let column = column.filter(|it| it.len() == self.len).ok_or(Misfit::Form)?;
            column.push(rules.quoting.field(part.value, &mut scratch), rules, note)?;
        }
        self.fill();
        Ok(())
    }

    fn push_missing(&mut self) {
        self.fill();
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> ArrayRef {
        if self.columns.is_empty() {
            return Arc::new(StructArray::new_empty_fields(self.len, nulls));
        }
        let columns = self.columns.drain(..).map(Builder::finish).collect();
        Arc::new(StructArray::new(self.fields.clone(), columns, nulls))
    }
}

/// Arrays with items of one type.
pub(super) struct ListFill {
    field: FieldRef,
    item: Builder,
    offsets: Vec<i32>,
}

impl ListFill {
    pub(super) fn new(field: FieldRef, item: Builder) -> Self {
        Self { field, item, offsets: vec![0] }
    }
}

impl Fill for ListFill {
    /// After an error the items are unusable.
    fn push(
        &mut self,
        field: TextField<'_>,
        rules: &FieldRules,
        note: &mut Note<'_>,
    ) -> FieldFit {
        check(field, b'[')?;
        let mut scratch = Vec::new();
        for part in Parts::of(field.raw) {
            self.item.push(rules.quoting.field(part.value, &mut scratch), rules, note)?;
        }
        self.offsets.push(i32::try_from(self.item.len()).map_err(|_| Misfit::Room)?);
        Ok(())
    }

    fn push_missing(&mut self) {
        self.offsets.extend(self.offsets.last().copied());
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> ArrayRef {
        let offsets = OffsetBuffer::new(std::mem::take(&mut self.offsets).into());
        Arc::new(ListArray::new(Arc::clone(&self.field), offsets, self.item.take(), nulls))
    }
}
