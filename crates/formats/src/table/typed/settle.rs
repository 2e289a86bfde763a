//! Parses files until each column has one type in all blocks.
//!
//! ```text
//! blocks    1 2 | 3 4 | 5.5 6 | 7 8      by all workers, under the type known where each begins
//! types     i64   i64   f64     f64      or i64, if it began before the third one ended
//! again     f64   f64                    from the text: no value is converted
//! ```

use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_array::new_null_array;
use arrow_schema::DataType;

use super::parse::{Parsed, Parser};
use super::pass::{Ended, Piece};
use super::rows::Counts;
use super::table::Table;
use super::values::ColumnType;
use crate::error::{Error, FormatReason, Result};

/// What is kept of the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Values,
    /// Only the types.
    Types,
}

/// A block of a file, parsed.
pub(super) struct Part {
    pub(super) file: usize,
    index: u64,
    pub(super) rows: usize,
    /// In the order of the plan.
    pub(super) columns: Vec<Parsed>,
    pub(super) aside: Vec<u64>,
    pub(super) counts: Counts,
}

/// Returns the types of all columns, and all blocks with columns of these types.
pub(super) fn settled(table: &Table, keep: Keep) -> Result<(Vec<ColumnType>, Vec<Part>)> {
    let mut parts = Vec::new();
    for file in 0..table.files.len() {
        first(table, file, keep, &mut parts)?;
    }
    loop {
        let kinds = table.guesses.types(&table.plan);
        fill(&mut parts, &kinds, keep);
        if !again(table, &kinds, keep, &mut parts)? {
            return Ok((kinds, parts));
        }
    }
}

/// Parses a file under the types known so far.
fn first(table: &Table, file: usize, keep: Keep, parts: &mut Vec<Part>) -> Result<()> {
    let which: Vec<usize> = (0..table.plan.columns.len()).collect();
    let parser = Parser::new(table, file);
    let done = Mutex::new(Vec::new());
    table.pass(file).each(&|piece: Piece<'_>| {
        let mut block =
            parser.block(&piece, &which).map_err(|problem| table.error(file, problem))?;
        block.columns.iter_mut().for_each(|column| forget(column, keep));
        let part = Part {
            file,
            index: piece.index,
            rows: block.rows,
            columns: block.columns,
            aside: block.aside,
            counts: block.counts,
        };
        done.lock().unwrap_or_else(PoisonError::into_inner).push(part);
        Ok(())
    })?;
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|part| part.index);
    parts.append(&mut done);
    Ok(())
}

/// Gives columns without values the types that they have elsewhere.
fn fill(parts: &mut [Part], kinds: &[ColumnType], keep: Keep) {
    for part in parts {
        let rows = if keep == Keep::Values { part.rows } else { 0 };
        for (column, &kind) in part.columns.iter_mut().zip(kinds) {
            // In quotes, what means a missing value may be a text.
            if column.kind == ColumnType::Null && column.kind != kind && !kind.is_text() {
                let values = new_null_array(&kind.data_type(), rows);
                *column = Parsed { kind, values };
            }
        }
    }
}

/// Parses again what has another type than the whole column; returns whether there was something.
fn again(table: &Table, kinds: &[ColumnType], keep: Keep, parts: &mut [Part]) -> Result<bool> {
    let mut is_changed = false;
    for file in 0..table.files.len() {
        let first = parts.partition_point(|part| part.file < file);
        let after = parts.partition_point(|part| part.file <= file);
        let parts = &mut parts[first..after];
        let narrow = |part: &Part| -> Vec<usize> {
            let columns = part.columns.iter().zip(kinds).enumerate();
            columns
                .filter(|(_, (column, kind))| column.kind != **kind)
                .map(|(at, _)| at)
                .collect()
        };
        let jobs: Vec<Vec<usize>> = parts.iter().map(narrow).collect();
        let Some(last) = jobs.iter().rposition(|job| !job.is_empty()) else { continue };
        let last = parts[last].index;
        is_changed = true;
        // Their memory is not needed any more.
        for (part, job) in parts.iter_mut().zip(&jobs) {
            job.iter().for_each(|&column| forget(&mut part.columns[column], Keep::Types));
        }
        let slots: Vec<Mutex<&mut Part>> = parts.iter_mut().map(Mutex::new).collect();
        let indices: Vec<u64> = slots.iter().map(|slot| lock(slot).index).collect();
        let parser = Parser::new(table, file);
        table.pass(file).each(&|piece: Piece<'_>| {
            if piece.index > last {
                return Err(Ended::Enough);
            }
            let Ok(at) = indices.binary_search(&piece.index) else { return Ok(()) };
            if jobs[at].is_empty() {
                return Ok(());
            }
            let block = parser
                .block(&piece, &jobs[at])
                .map_err(|problem| table.error(file, problem))?;
            let mut part = lock(&slots[at]);
            if block.rows != part.rows {
                return Err(changed(table, file).into());
            }
            for (&column, mut parsed) in jobs[at].iter().zip(block.columns) {
                forget(&mut parsed, keep);
                part.columns[column] = parsed;
            }
            Ok(())
        })?;
    }
    Ok(is_changed)
}

/// Frees the values of a column, unless they are kept.
fn forget(column: &mut Parsed, keep: Keep) {
    if keep == Keep::Types {
        column.values = new_null_array(&DataType::Null, 0);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn changed(table: &Table, file: usize) -> Error {
    let path = table.files[file].path();
    let error = Error::reading(path, FormatReason::Invalid, "it changed while it was read");
    error.hint("read it again when no other program writes to it")
}
