//! The size of a matrix in a table of its entries.

use arrow_schema::Schema;

/// The size of the converted matrix or table.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    pub(super) rows: u64,
    pub(super) columns: u64,
    pub(super) values: u64,
}

impl Size {
    pub(super) fn of_matrix(rows: u64, columns: u64, entries: usize) -> Self {
        Self { rows, columns, values: entries as u64 }
    }
}

pub(super) const NAMES: [&str; 2] = ["row", "column"];

/// Keys of rows and columns in the metadata of an `.arrow` file.
pub(super) const SIZE: [&str; 2] = ["swath.rows", "swath.columns"];

/// Returns one more than the greatest number.
pub(super) fn above(ids: impl Iterator<Item = u64>) -> u64 {
    ids.max().map_or(0, |most| most.saturating_add(1))
}

/// Names of the values of complex entries.
pub(super) const PARTS: [&str; 2] = ["real", "imaginary"];

/// Returns the columns of a list of entries, whose order in the table means nothing: row, column, then the others;
/// `None` for any other table.
pub(super) fn entry_columns(schema: &Schema) -> Option<Vec<usize>> {
    let [row, column] = NAMES.map(|name| schema.index_of(name).ok());
    let first = [row?, column?];
    let mut others: Vec<usize> =
        (0..schema.fields().len()).filter(|at| !first.contains(at)).collect();
    others.sort_by_key(|&at| schema.field(at).name() != PARTS[0]);
    Some(first.into_iter().chain(others).collect())
}

/// Returns rows and columns, if the metadata has them.
pub(in crate::command) fn size_in<'m>(
    get: impl Fn(&str) -> Option<&'m String>,
) -> Option<(u64, u64)> {
    let [rows, columns] = SIZE.map(|name| get(name).and_then(|it| it.parse().ok()));
    rows.zip(columns)
}
