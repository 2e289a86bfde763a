//! The decisions before the first record is read.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::head::TableHead;
use super::rules;
use crate::error::{Error, FormatReason, Result};
use crate::memory::room_for;
use crate::table::json::{Keys, Others, ValueRules};
use crate::table::options::BatchOptions;
use crate::table::options::choices::{Dictionary, Ragged};
use crate::table::options::column_key::{ColumnKey, find};
use crate::table::text::dialect::{Between, Dialect};
use crate::table::text::faults;
use crate::table::text::shape::RecordShape;
use crate::table::types::{ColumnType, FieldRules, Kinds, MomentFormat, NestedType};

/// Memory for a column while it is read, besides its values.
const COLUMN: usize = 2048;

/// A column to read.
#[derive(Clone, Debug)]
pub(in crate::table) struct PlanColumn {
    /// Its index in the file.
    pub(in crate::table) index: usize,
    /// Its name in the file.
    pub(in crate::table) name: String,
    /// Its name in the batches, if different.
    pub(in crate::table) renamed: Option<String>,
    pub(in crate::table) told: Option<ColumnType>,
    /// The type that its nested values must have, once fixed.
    pub(in crate::table) nested: Option<Arc<NestedType>>,
    /// The index of its rules in the plan.
    pub(in crate::table) rules: usize,
}

impl PlanColumn {
    /// Returns its name in the batches.
    pub(in crate::table) fn shown(&self) -> &str {
        self.renamed.as_ref().unwrap_or(&self.name)
    }
}

/// The decisions before the first record is read.
#[derive(Debug)]
pub(in crate::table) struct TablePlan {
    /// The shape of each file, or one for all files.
    pub(in crate::table) shapes: Vec<RecordShape>,
    /// The columns to read, in the order of the file.
    pub(in crate::table) columns: Vec<PlanColumn>,
    /// For each column of the batches, its index in `columns`.
    pub(in crate::table) order: Vec<usize>,
    pub(in crate::table) rules: Vec<FieldRules>,
    /// The type of columns that are found to be text.
    pub(in crate::table) texts: ColumnType,
    pub(in crate::table) file_column: Option<String>,
    /// Whether the columns become an array; `needs_values`: whether a missing value is a fault.
    pub(in crate::table) is_array: bool,
    pub(in crate::table) needs_values: bool,
}

/// Bytes of a value of the widest type, or of a text's offset, with its bit of validity.
const WIDEST: usize = 9;

/// Returns the most bytes that this many values take, without the bytes of texts.
pub(in crate::table) fn bytes_of(values: u64) -> u64 {
    values.saturating_mul(WIDEST as u64)
}

impl TablePlan {
    /// Returns the shape of a file's records.
    pub(in crate::table) fn shape(&self, file: usize) -> &RecordShape {
        self.shapes.get(file).unwrap_or(&self.shapes[0])
    }

    /// Returns the most bytes of values that this many records become, without the bytes of texts.
    pub(in crate::table) fn values_of(&self, records: u64) -> u64 {
        bytes_of(records.saturating_mul(self.columns.len() as u64))
    }

    /// Returns the most bytes of values that a byte of text becomes.
    pub(in crate::table) fn most_values(&self) -> u64 {
        // A record has a byte after each of its fields.
        let least =
            self.shapes.iter().map(|RecordShape { dialect, columns, ragged, .. }| {
                let has_ends = !matches!(dialect.between, Between::Json | Between::Fixed);
                if has_ends && !matches!(ragged, Ragged::Pad | Ragged::Drop) {
                    (*columns).max(1)
                } else {
                    1
                }
            });
        let least = least.min().unwrap_or(1);
        let values = WIDEST * (self.columns.len() + usize::from(self.file_column.is_some()));
        // A text has its bytes besides its offset; memory grows by more than is needed.
        2 + values.div_ceil(least) as u64
    }

    pub(in crate::table) fn new(
        path: &Path,
        options: &BatchOptions,
        head: &TableHead,
    ) -> Result<Self> {
        let lookup = Lookup::new(&head.names, options);
        let invalid = |detail: String| {
            let error = Error::reading(path, FormatReason::Invalid, detail);
            error.hint(
                "name each column once, as the file does, and give it one type and one name",
            )
        };
        let count = options.columns.as_ref().map_or(head.names.len(), Vec::len);
        if room_for(count.saturating_mul(COLUMN)).is_err() {
            return Err(faults::no_room(path, count));
        }
        let (columns, order) = columns(options, head, &lookup).map_err(invalid)?;
        let mut plan = Self {
            shapes: vec![RecordShape {
                keys: (head.dialect.between == Between::Json)
                    .then(|| Arc::new(keys(options, &head.names, others(options)))),
                ..shape(options, head)
            }],
            columns,
            order,
            rules: vec![rules::rules(options, head.dialect)],
            texts: match options.dictionary {
                Dictionary::Told => ColumnType::Text,
                Dictionary::All => ColumnType::Dictionary,
            },
            file_column: options.file_column.clone(),
            is_array: options.is_array,
            needs_values: false,
        };
        plan.tell(options, &lookup).map_err(invalid)?;
        Ok(plan)
    }

    /// Returns a plan for objects whose keys are still unknown: it has no columns.
    pub(in crate::table) fn without_keys(options: &BatchOptions) -> Self {
        Self {
            shapes: vec![RecordShape {
                dialect: Dialect::JSON,
                columns: 0,
                ragged: options.ragged,
                keys: Some(Arc::new(keys(options, &[], Others::Pass))),
                layout: None,
                lacks_name: false,
                fields: None,
            }],
            columns: Vec::new(),
            order: Vec::new(),
            rules: vec![rules::rules(options, Dialect::JSON)],
            texts: ColumnType::Text,
            file_column: None,
            is_array: false,
            needs_values: false,
        }
    }

    /// Adds the types, formats and words that the options give for columns.
    fn tell(
        &mut self,
        options: &BatchOptions,
        lookup: &Lookup<'_>,
    ) -> std::result::Result<(), String> {
        let told = rules::told(options, &self.rules[0]);
        self.rules.push(told.clone());
        for (key, kind) in &options.types {
            let Some(column) = self.column(lookup.find(key)?) else { continue };
            if column.told.is_some_and(|told| told != *kind) {
                return Err(format!("column `{}` is given two types", column.name));
            }
            (column.told, column.rules) = (Some(*kind), 1);
        }
        for (key, text) in &options.formats {
            let format = MomentFormat::new(text)?;
            let number = self.rules.len();
            let Some(column) = self.column(lookup.find(key)?) else { continue };
            let kind = *column.told.get_or_insert(format.column_type());
            if !format.suits(kind) {
                return Err(format!(
                    "the format `{text}` does not suit a column of type {kind}"
                ));
            }
            column.rules = number;
            self.rules.push(FieldRules { format: Some(format.of(kind)), ..told.clone() });
        }
        if options.all_types.is_some() {
            for column in self.columns.iter_mut().filter(|column| column.told.is_none()) {
                (column.told, column.rules) = (options.all_types, 1);
            }
        }
        self.give_words(options, lookup)
    }

    /// Adds the words that are given for single columns.
    fn give_words(
        &mut self,
        options: &BatchOptions,
        lookup: &Lookup<'_>,
    ) -> std::result::Result<(), String> {
        let mut given = HashSet::new();
        for (key, meaning, words) in &options.words_of {
            let index = lookup.find(key)?;
            if !given.insert((index, *meaning)) {
                let what = meaning.words();
                return Err(format!("column index {index} is given `{what}` twice"));
            }
            let (dialect, number) = (self.shape(0).dialect, self.rules.len());
            let Some(column) = self.column(index) else { continue };
            let usual = std::mem::replace(&mut column.rules, number);
            let mut its = self.rules[usual].clone();
            rules::give(&mut its, *meaning, words, dialect);
            self.rules.push(its);
        }
        Ok(())
    }

    /// Returns the column at this index of the file, if it is read.
    fn column(&mut self, index: usize) -> Option<&mut PlanColumn> {
        let at = self.columns.binary_search_by_key(&index, |column| column.index).ok()?;
        Some(&mut self.columns[at])
    }

    /// Whether a key was found that is not a column and should be one.
    pub(in crate::table) fn lacks_keys(&self) -> bool {
        self.shape(0).keys.as_ref().is_some_and(|keys| keys.has_refused())
    }

    /// Fixes the types found: later values must have them.
    pub(in crate::table) fn keep(
        &mut self,
        kinds: &[ColumnType],
        nested: Vec<Option<Arc<NestedType>>>,
    ) {
        for ((column, &kind), nested) in self.columns.iter_mut().zip(kinds).zip(nested) {
            (column.told, column.nested) = (Some(kind), nested);
        }
    }

    /// Returns the type of a column whose values have these kinds.
    pub(in crate::table) fn kind(&self, column: &PlanColumn, seen: Kinds) -> ColumnType {
        match (column.told, seen.column_type()) {
            (Some(told), _) => told,
            (None, ColumnType::Text) => self.texts,
            (None, found) => found,
        }
    }

    /// Returns the schema of batches with columns of these types.
    pub(in crate::table) fn schema(&self, kinds: &[DataType]) -> SchemaRef {
        let field = |&at: &usize| Field::new(self.columns[at].shown(), kinds[at].clone(), true);
        let mut fields: Vec<Field> = self.order.iter().map(field).collect();
        if let Some(name) = &self.file_column {
            fields.push(Field::new(name, ColumnType::Dictionary.data_type(), false));
        }
        Arc::new(Schema::new(fields))
    }
}

fn keys(options: &BatchOptions, names: &[String], others: Others) -> Keys {
    let (has_nan, has_unique_keys) = (options.json_nan, options.json_nested);
    Keys::new(names, others).with_values(ValueRules { has_nan, has_unique_keys })
}

/// Returns the shape of the records of a file with this head.
pub(in crate::table) fn shape(options: &BatchOptions, head: &TableHead) -> RecordShape {
    RecordShape {
        dialect: head.dialect,
        columns: head.names.len(),
        ragged: options.ragged,
        keys: None,
        layout: head.layout.clone(),
        lacks_name: head.lacks_name,
        fields: None,
    }
}

/// Returns the treatment of keys that are not columns: if columns are selected, such keys are
/// ignored.
fn others(options: &BatchOptions) -> Others {
    if options.columns.is_some() { Others::Pass } else { Others::Refuse }
}

/// Returns the columns to read, in the order of the file, and their order in the batches.
fn columns(
    options: &BatchOptions,
    head: &TableHead,
    lookup: &Lookup<'_>,
) -> std::result::Result<(Vec<PlanColumn>, Vec<usize>), String> {
    let count = head.names.len();
    let wanted: Vec<usize> = match &options.columns {
        None => (0..count).collect(),
        Some(keys) if keys.is_empty() => return Err("no columns are selected".to_owned()),
        Some(keys) => {
            keys.iter().map(|key| lookup.find(key)).collect::<std::result::Result<_, _>>()?
        }
    };
    let mut sorted = wanted.clone();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("column index {} is selected twice", twice[0]));
    }
    let mut shown: HashMap<usize, &str> = HashMap::new();
    for (key, name) in &options.rename {
        shown.insert(lookup.find(key)?, name);
    }
    let own =
        |&index: &usize| shown.get(&index).map_or(head.names[index].as_str(), |&name| name);
    let file_column = options.file_column.iter().map(String::as_str);
    let mut taken: HashSet<&str> = HashSet::new();
    if let Some(twice) =
        sorted.iter().map(own).chain(file_column).find(|&name| !taken.insert(name))
    {
        return Err(format!("two columns have the name `{twice}`"));
    }
    let column = |&index: &usize| {
        let renamed = shown.get(&index).map(|&name| name.to_owned());
        let name = head.names[index].clone();
        PlanColumn { index, name, renamed, told: None, nested: None, rules: 0 }
    };
    let order =
        wanted.iter().map(|index| sorted.partition_point(|other| other < index)).collect();
    Ok((sorted.iter().map(column).collect(), order))
}

/// Finds columns by name or index.
struct Lookup<'n> {
    names: &'n [String],
    /// Empty if only few columns are looked up.
    indices: HashMap<&'n str, usize>,
}

/// The number of lookups from which a table of all names pays off.
const MANY: usize = 8;

impl<'n> Lookup<'n> {
    fn new(names: &'n [String], options: &BatchOptions) -> Self {
        let keys = options.columns.as_ref().map_or(0, Vec::len)
            + options.types.len()
            + options.formats.len()
            + options.words_of.len()
            + options.rename.len();
        let mut indices = HashMap::new();
        if keys >= MANY {
            indices.extend(names.iter().map(String::as_str).zip(0..));
        }
        Self { names, indices }
    }

    fn find(&self, key: &ColumnKey) -> std::result::Result<usize, String> {
        if let ColumnKey::Name(name) = key
            && let Some(&index) = self.indices.get(name.as_str())
        {
            return Ok(index);
        }
        find(key, Some(self.names), self.names.len())
    }
}
