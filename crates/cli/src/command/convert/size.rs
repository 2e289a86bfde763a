//! The size of a matrix, and what a table of its entries says about it.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use swath::Array;
use swath_formats::table::{Columns, Values as Cells};

use super::Job;
use crate::failure::Refused;
use crate::report::ReportName;

/// The size of what was converted.
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

/// Rows and columns, in the metadata of an `.arrow` file.
pub(super) const SIZE: [&str; 2] = ["swath.rows", "swath.columns"];

/// Returns a note if the new format loses the size in the metadata of a list of entries.
pub(super) fn lost_with(
    job: &Job<'_>,
    table: &Columns,
    metadata: &BTreeMap<String, String>,
) -> Result<Option<String>> {
    match size_in(metadata).filter(|_| is_listed(table)) {
        Some((rows, columns)) => lost_size(job, table, rows, columns),
        None => Ok(None),
    }
}

/// Returns a note if the new format loses the size.
pub(super) fn lost_size(
    job: &Job<'_>,
    table: &Columns,
    rows: u64,
    columns: u64,
) -> Result<Option<String>> {
    let left = (above(&numbers(job, table, 0)?), above(&numbers(job, table, 1)?));
    Ok((left != (rows, columns)).then(|| {
        format!(
            "{} does not say that the matrix is {rows} × {columns}: it will be read as {} × {}; to keep \
             the size, pass --shape {rows}x{columns}",
            job.name().shown(),
            left.0,
            left.1
        )
    }))
}

/// One more than the greatest.
pub(super) fn above(ids: &[u64]) -> u64 {
    ids.iter().max().map_or(0, |&most| most.saturating_add(1))
}

/// Whether a table is a list of entries.
pub(super) fn is_listed(table: &Columns) -> bool {
    let names = table.names.as_deref().unwrap_or_default();
    names.len() >= 2 && names[..2] == NAMES
}

/// Rows and columns, if the metadata has them.
pub(in crate::command) fn size_in(metadata: &BTreeMap<String, String>) -> Option<(u64, u64)> {
    let [rows, columns] = SIZE.map(|name| metadata.get(name).and_then(|it| it.parse().ok()));
    rows.zip(columns)
}

pub(super) fn numbers(job: &Job<'_>, table: &Columns, at: usize) -> Result<Array<u64>> {
    let refused = |found: &str| {
        let what = format!(
            "cannot make a matrix of {}: `{}` has {found}",
            job.input.name().shown(),
            NAMES[at]
        );
        Refused::new(what, "write whole numbers, counted from 0")
    };
    let mut ids = Array::<u64>::zeroed(table.rows)?;
    // Without rows, any type will do.
    if table.rows == 0 {
        return Ok(ids);
    }
    let values = match table.columns[at].values() {
        Cells::I64(values) => values,
        Cells::U64(values) => {
            if let Some(row) = values.iter().position(|&value| value == u64::MAX) {
                bail!(refused(&format!("{} in row {} of the data", u64::MAX, row + 1)));
            }
            return copied(values);
        }
        _ => bail!(refused("numbers that are not whole")),
    };
    for ((row, id), &value) in (1..).zip(ids.iter_mut()).zip(values) {
        let refused = |_| refused(&format!("{value} in row {row} of the data"));
        *id = u64::try_from(value).map_err(refused)?;
    }
    Ok(ids)
}

/// The same values in memory of their own.
pub(super) fn copied<T: bytemuck::Pod>(values: &[T]) -> Result<Array<T>> {
    let mut copy = Array::<T>::zeroed(values.len())?;
    copy.copy_from_slice(values);
    Ok(copy)
}
