//! Columns of objects and of arrays, as structs and lists.
//!
//! ```text
//! values    {"x": 1}   {"y": [2, 0.5]}        as they stand in the text
//! type      struct<x: i64, y: list<f64>>      each field joined, in order of first appearance
//! columns   x: 1 -     y: - [2, 0.5]          each by the builder of its type
//! ```
//!
//! The type is found first; the values are parsed once the type of the whole column is known.
//! Fields and items follow the rules of their column. A column with too many fields or levels
//! is text.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field};

use super::column_type::ColumnType;
use super::kinds::Kinds;
use super::rules::FieldRules;
use crate::table::json::Parts;

/// The most levels of objects and arrays: Arrow's readers take 64 of structs and lists.
const DEEPEST: usize = 32;
/// The most fields and items of a column on all levels: every value has a place for each of
/// them.
const MOST: usize = 1000;

/// The first appearance of a key: the file, the block, and the new keys before it in the block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct First {
    file: usize,
    block: u64,
    index: usize,
}

/// The type of a column's values, and of the values in them.
#[derive(Clone, Debug)]
pub(in crate::table) struct NestedType {
    kinds: Kinds,
    first: First,
    fields: HashMap<Vec<u8>, NestedType>,
    /// `None` if all arrays are empty.
    item: Option<Box<NestedType>>,
    /// The number of items in all arrays.
    items: u64,
}

impl Default for NestedType {
    fn default() -> Self {
        let (first, fields) = (First::default(), HashMap::new());
        Self { kinds: Kinds::MISSING, first, fields, item: None, items: 0 }
    }
}

impl NestedType {
    /// Adds a value at level `depth`. `keys` counts the fields and items added.
    pub(super) fn add(
        &mut self,
        raw: &[u8],
        rules: &FieldRules,
        depth: usize,
        keys: &mut usize,
    ) {
        let mut scratch = Vec::new();
        let field = rules.quoting.field(raw, &mut scratch);
        self.kinds |= Kinds::of(field, rules);
        let is_nested = matches!(raw.first(), Some(b'{' | b'['));
        if !is_nested || rules.is_missing(field) || depth > DEEPEST {
            return;
        }
        for part in Parts::of(raw) {
            let found = match part.key {
                [] => {
                    self.items += 1;
                    self.item.get_or_insert_with(|| Box::new(Self::new(keys)))
                }
                key => {
                    let key = rules.quoting.field(key, &mut scratch).bytes;
                    if !self.fields.contains_key(key) {
                        if *keys > MOST {
                            return;
                        }
                        self.fields.insert(key.to_vec(), Self::new(keys));
                    }
                    let Some(found) = self.fields.get_mut(key) else { return };
                    found
                }
            };
            found.add(part.value, rules, depth + 1, keys);
        }
    }

    fn new(keys: &mut usize) -> Self {
        *keys += 1;
        Self { first: First { index: *keys, ..First::default() }, ..Self::default() }
    }

    /// Sets the file and block of every first appearance.
    pub(in crate::table) fn of_block(mut self, file: usize, block: u64) -> Self {
        self.place(file, block);
        self
    }

    fn place(&mut self, file: usize, block: u64) {
        (self.first.file, self.first.block) = (file, block);
        let item = self.item.as_deref_mut().into_iter();
        self.fields.values_mut().chain(item).for_each(|it| it.place(file, block));
    }

    /// Adds the values of another block.
    pub(in crate::table) fn join(&mut self, other: Self) {
        self.kinds |= other.kinds;
        self.first = self.first.min(other.first);
        self.items += other.items;
        for (key, field) in other.fields {
            match self.fields.get_mut(&key) {
                Some(own) => own.join(field),
                None => drop(self.fields.insert(key, field)),
            }
        }
        match (&mut self.item, other.item) {
            (Some(own), Some(item)) => own.join(*item),
            (own @ None, item) => *own = item,
            (Some(_), None) => {}
        }
    }

    /// Whether the column stays text.
    pub(in crate::table) fn stays_text(&self) -> bool {
        self.keys(0) > MOST
    }

    /// Counts fields and items. Returns too many if a level is too deep, or a key does not fit
    /// into Arrow's C interface.
    fn keys(&self, depth: usize) -> usize {
        if depth > DEEPEST || self.fields.keys().any(|key| key.contains(&0)) {
            return MOST + 1;
        }
        let parts = self.fields.values().chain(self.item.as_deref());
        parts.map(|part| part.keys(depth + 1) + 1).fold(0, usize::saturating_add)
    }

    /// Counts the values on all levels of a column of this many rows.
    pub(in crate::table) fn values(&self, rows: u64) -> u64 {
        let inner = match self.column_type() {
            ColumnType::Struct => {
                self.fields.values().map(|it| it.values(rows)).fold(0, u64::saturating_add)
            }
            ColumnType::List => self.item.as_ref().map_or(0, |item| item.values(self.items)),
            _ => 0,
        };
        rows.saturating_add(inner)
    }

    /// Returns the Arrow type.
    pub(in crate::table) fn data_type(&self) -> DataType {
        match self.column_type() {
            ColumnType::Struct => {
                let field = |(key, field): (&Vec<u8>, &Self)| {
                    Field::new(String::from_utf8_lossy(key), field.data_type(), true)
                };
                DataType::Struct(self.in_order().into_iter().map(field).collect())
            }
            ColumnType::List => {
                let item = self.item().map_or(DataType::Null, Self::data_type);
                DataType::List(Arc::new(Field::new_list_field(item, true)))
            }
            plain => plain.data_type(),
        }
    }

    pub(super) fn column_type(&self) -> ColumnType {
        self.kinds.column_type()
    }

    /// Returns the fields in the order of first appearance.
    pub(super) fn in_order(&self) -> Vec<(&Vec<u8>, &Self)> {
        let mut fields: Vec<_> = self.fields.iter().collect();
        fields.sort_unstable_by_key(|(_, field)| field.first);
        fields
    }

    pub(super) fn item(&self) -> Option<&Self> {
        self.item.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::types::QuoteBytes;

    fn of_block(block: u64, raw: &[&str]) -> NestedType {
        let quoting = QuoteBytes { is_json: true, ..QuoteBytes::default() };
        let rules = FieldRules { quoting, is_nested: true, ..FieldRules::default() };
        let (mut found, mut keys) = (NestedType::default(), 0);
        raw.iter().for_each(|raw| found.add(raw.as_bytes(), &rules, 0, &mut keys));
        found.of_block(0, block)
    }

    #[test]
    fn the_type_of_several_blocks_does_not_depend_on_which_is_known_first() {
        let blocks = [
            of_block(0, &["{\"b\":1}", "{\"a\":[]}"]),
            of_block(1, &["{\"c\":{\"z\":1},\"a\":[{\"y\":1}],\"b\":0.5}"]),
            of_block(
                2,
                &["{\"c\":{\"x\":[1],\"z\":1,\"y\":2},\"d\":\"t\",\"a\":[{\"x\":1,\"y\":2}]}"],
            ),
        ];
        let joined = |order: [usize; 3]| {
            let mut all = NestedType::default();
            order.into_iter().for_each(|at| all.join(blocks[at].clone()));
            (all.data_type(), all.values(10))
        };
        let wanted = joined([0, 1, 2]);
        let DataType::Struct(fields) = &wanted.0 else { panic!("{}", wanted.0) };
        let names: Vec<_> = fields.iter().map(|field| field.name().as_str()).collect();
        assert_eq!(names, ["b", "a", "c", "d"]);
        // 10 rows of the column, b, a, c, d, z, x and y, and 2 items with y and x; 1 item of x.
        assert_eq!(wanted.1, 8 * 10 + 2 * 3 + 1);
        for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            assert_eq!(joined(order), wanted, "{order:?}");
        }
    }
}
