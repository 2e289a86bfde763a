//! Summarises a table without keeping it: types, missing values, least and greatest values.
//!
//! ```text
//! blocks    1 2 | 3 4 | 5.5 6 | 7 x       by all workers, each folded under the type known by then
//! folded    i64: 1 to 4, f64: 5.5 to 7    joined, unless the column became text
//! again     text: "1" to "x"              only columns that were not text in all blocks, until
//!                                         no type widens
//! ```
//!
//! Memory: a few blocks for each worker, and about a kilobyte for each column, whatever the number
//! of rows.

mod fold;
mod range;

use swath::machine::Mutex;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use swath::{Extent, Source};

use self::fold::Folded;
use super::options::BatchOptions;
use super::read;
use super::types::ColumnType;
use crate::error::{Error, FormatReason, Result};
use crate::table::open::report::TableReport;
use crate::table::open::table::Table;
use crate::table::read::parse::{ParsedBlock, Parser};
use crate::table::text::limit;
use crate::table::text::pass::{RecordPass, RecordPiece};

pub use self::range::{Bound, ColumnRange};

/// The number of first rows in a summary.
const ROWS: u64 = 5;
/// The most rounds: types only widen, so fewer rounds than there are types find them.
const ROUNDS: usize = 16;

/// The summary of a table; made by [`summary`](super::summary).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TableSummary {
    /// The names and types of the columns.
    pub schema: SchemaRef,
    /// The delimiter, the header, the encoding, the number of rows, and for each column its type,
    /// its missing values and the line that fixed the type.
    pub report: TableReport,
    /// The least and the greatest value of each column, in the order of the report.
    pub ranges: Vec<ColumnRange>,
    /// The first five rows.
    pub first: Vec<RecordBatch>,
}

pub(in crate::table) fn summary(
    source: Source,
    options: &BatchOptions,
) -> Result<TableSummary> {
    let mut table = Table::open(vec![source], options)?;
    let folded = table.with_all_keys(folded)?;
    let lock = || folded.lock();
    let mut kinds = table.guesses.types(&table.plan);
    // A pass can show that a type is wider than any block did: negative numbers fit `i64`, and are
    // only searched for once another block has numbers beyond `i64`.
    for _ in 0..ROUNDS {
        let again = lock().settle(&kinds);
        if again.is_empty() {
            table.guesses.settle();
            // Of nested values, only the types are known yet.
            let nested: Vec<_> = (0..kinds.len()).filter(|&at| kinds[at].is_nested()).collect();
            let rows = lock().rows;
            table.fit_nested(rows);
            if !nested.is_empty() {
                parse(&table, &nested, &|_, block| lock().add_changes(&nested, &block))?;
            }
            let folded = folded.into_inner();
            return finish(&table, kinds, folded);
        }
        parse(&table, &again, &|_, block| {
            let ranges = fold::of_block(&block);
            lock().join(&again, &block, ranges);
        })?;
        kinds = table.guesses.types(&table.plan);
    }
    Err(changed(&table))
}

/// Parses all columns of all blocks once.
fn folded(table: &Table) -> Result<Mutex<Folded>> {
    let all: Vec<usize> = (0..table.plan.columns.len()).collect();
    let folded = Mutex::new(Folded::new(all.len()));
    parse(table, &all, &|file, block| {
        let ranges = fold::of_block(&block);
        let mut folded = folded.lock();
        folded.count(file, &block);
        folded.join(&all, &block, ranges);
    })?;
    Ok(folded)
}

fn finish(table: &Table, kinds: Vec<ColumnType>, folded: Folded) -> Result<TableSummary> {
    let schema = table.schema(&kinds);
    let first = first_rows(table, &kinds, &schema)?;
    let deciding = table.deciding()?;
    let (rows, mut known) = (folded.rows, table.report());
    known.add(folded.counts);
    let (aside, count) = folded.aside();
    let mut set_aside = table.set_aside(&aside)?;
    set_aside.count = count;
    let changes = folded.changes();
    let (nulls, ranges): (Vec<u64>, Vec<ColumnRange>) = folded.columns().unzip();
    let columns = read::columns(table, &kinds, &deciding, &nulls, &changes)?;
    let report = TableReport { rows, columns, set_aside, ..known };
    let ranges = table.plan.order.iter().map(|&at| ranges[at].clone()).collect();
    Ok(TableSummary { schema, report, ranges, first })
}

/// Parses columns of all blocks, on any worker.
fn parse(
    table: &Table,
    which: &[usize],
    each: &(dyn Fn(usize, ParsedBlock) + Sync),
) -> Result<()> {
    for file in 0..table.files.len() {
        let parser = Parser::new(table, file);
        table.pass(file).each(&|piece: RecordPiece<'_>| {
            let problem = |problem| table.error(file, problem);
            each(file, parser.block(&piece, which).map_err(problem)?);
            Ok(())
        })?;
    }
    Ok(())
}

/// Reads the first rows, now that the types are known.
fn first_rows(
    table: &Table,
    kinds: &[ColumnType],
    schema: &SchemaRef,
) -> Result<Vec<RecordBatch>> {
    let which: Vec<usize> = (0..kinds.len()).collect();
    let read = table.options.read.clone().without_progress();
    let (mut batches, mut left) = (Vec::new(), ROWS);
    for file in 0..table.files.len() {
        let (pass, parser) = (table.pass(file), Parser::new(table, file));
        let (end, rows) = limit::end(pass, table.plan.shape(file), left)?;
        let from = pass.wanted.offset();
        let wanted = Extent::between(from, end.max(from));
        let blocks = Mutex::new(Vec::new());
        RecordPass { wanted, read: &read, ..pass }.each(&|piece: RecordPiece<'_>| {
            let problem = |problem| table.error(file, problem);
            let block = parser.block(&piece, &which).map_err(problem)?;
            let mut blocks = blocks.lock();
            blocks.push((piece.index, block));
            Ok(())
        })?;
        let mut blocks = blocks.into_inner();
        blocks.sort_unstable_by_key(|&(index, _)| index);
        for (_, block) in blocks {
            if block.columns.iter().zip(kinds).any(|(column, kind)| column.kind != *kind) {
                return Err(changed(table));
            }
            let columns: Vec<_> =
                block.columns.into_iter().map(|column| column.values).collect();
            batches.push(table.batch(schema, &columns, file, block.rows)?);
        }
        left -= rows.min(left);
    }
    Ok(batches)
}

fn changed(table: &Table) -> Error {
    let detail = "it changed while it was read: a value has another type now";
    let error = Error::reading(table.files[0].path(), FormatReason::Invalid, detail);
    error.hint("read it again when no other program writes to it")
}
