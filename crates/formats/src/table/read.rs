//! Reads tables as record batches.
//!
//! ```text
//! table     files are opened; the first one decides the delimiter and whether there are names
//! settled   blocks of whole records, parsed until each column has one type
//! deciding  the records that decided the types, for the report
//! ```

pub(in crate::table) mod array;
pub(in crate::table) mod batches;
pub(in crate::table) mod count;
pub(in crate::table) mod deciding;
pub(in crate::table) mod first;
pub(in crate::table) mod parse;
pub(in crate::table) mod search;
pub(in crate::table) mod settle;
pub(in crate::table) mod tally;

pub use self::array::{TableArray, TableShape, read_array};

use arrow_array::ArrayRef;
use swath::Source;

pub use self::batches::Batches;
use self::settle::{BlockPart, ValueRoom, settled};
use self::tally::Tallies;
use super::options::BatchOptions;
use super::types::ColumnType;
use crate::error::Result;
use crate::table::open::report::{ColumnReport, RecordLine, TableReport};
use crate::table::open::table::Table;

pub(in crate::table) fn read(sources: Vec<Source>, options: &BatchOptions) -> Result<Batches> {
    match <[Source; 1]>::try_from(sources) {
        Ok([source]) if options.rows.is_some() => first::open(source, options, all),
        Ok([source]) => all(Table::open(vec![source], options)?),
        Err(sources) => all(Table::open(sources, options)?),
    }
}

fn all(mut table: Table) -> Result<Batches> {
    let settle = |table: &Table| {
        table.check_room()?;
        settled(table, &ValueRoom::unlimited())
    };
    let (kinds, parts) = table.with_all_keys(settle)?;
    finish(&table, kinds, parts)
}

fn finish(table: &Table, kinds: Vec<ColumnType>, parts: Vec<BlockPart>) -> Result<Batches> {
    let schema = table.schema(&kinds);
    let mut nulls = vec![0; kinds.len()];
    let mut changes = vec![Tallies::default(); kinds.len()];
    let mut known = table.report();
    let (mut batches, mut rows) = (Vec::new(), 0);
    let mut aside: Vec<(usize, u64)> = Vec::new();
    for BlockPart { file, block, .. } in parts {
        for (nulls, column) in nulls.iter_mut().zip(&block.columns) {
            *nulls += column.nulls() as u64;
        }
        for (changes, column) in changes.iter_mut().zip(&block.columns) {
            changes.join(&column.changes);
        }
        known.add(block.counts);
        aside.extend(block.aside.iter().map(|&offset| (file, offset)));
        if block.rows == 0 {
            continue;
        }
        rows += block.rows as u64;
        let columns: Vec<ArrayRef> =
            block.columns.into_iter().map(|column| column.values).collect();
        batches.push(table.batch(&schema, &columns, file, block.rows)?);
    }
    let deciding = table.deciding()?;
    let report = TableReport {
        columns: columns(table, &kinds, &deciding, &nulls, &changes)?,
        rows,
        set_aside: table.set_aside(&aside)?,
        ..known
    };
    Ok(Batches { schema, batches, report })
}

/// Returns the report of all columns, in the order of the batches.
pub(in crate::table) fn columns(
    table: &Table,
    kinds: &[ColumnType],
    deciding: &[Option<RecordLine>],
    nulls: &[u64],
    changes: &[Tallies],
) -> Result<Vec<ColumnReport>> {
    let changes = table.changes(changes)?;
    let column = |&at: &usize| {
        let column = &table.plan.columns[at];
        ColumnReport {
            name: column.shown().to_owned(),
            index: column.index,
            kind: kinds[at],
            is_told: column.told.is_some(),
            nulls: nulls[at],
            deciding: deciding[at],
            rounded: changes[at].rounded,
            padded: changes[at].padded,
            as_text: changes[at].as_text,
        }
    };
    Ok(table.plan.order.iter().map(column).collect())
}
