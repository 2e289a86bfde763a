//! A table in bounded memory, batch by batch.
//!
//! ```text
//! types     one pass over all files, or all types are given
//! rounds    some blocks, parsed by all workers, and returned one after the other
//! ```

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use swath::{Extent, Source};

use super::options::BatchOptions;
use super::parse::{Block, Parser};
use super::pass::{Pass, Piece};
use super::pipe::Pipe;
use super::read;
use super::report::TableReport;
use super::settle::{Keep, settled};
use super::table::Table;
use super::values::ColumnType;
use crate::error::{Error, FormatReason, Result};

/// Blocks that each worker parses in a round.
const BLOCKS: u64 = 4;
/// Bytes of a block, if the options do not say otherwise.
const BLOCK_SIZE: u64 = 1 << 20;

/// Record batches of one schema, in the order of the file; made by
/// [`stream_batches`](super::stream_batches).
///
/// Some blocks are parsed at a time, by all workers, when the iterator is asked for the next batch.
/// After an error it ends.
pub struct BatchStream {
    table: Table,
    /// What follows the text of the file, if that is the first part of a pipe.
    pipe: Option<Pipe>,
    kinds: Vec<ColumnType>,
    schema: SchemaRef,
    report: TableReport,
    nulls: Vec<u64>,
    ready: VecDeque<RecordBatch>,
    /// The file that is being read.
    file: usize,
    /// Where one of its records begins, and from where on those have to be found that were not
    /// returned yet.
    record: u64,
    next: u64,
    has_ended: bool,
}

impl std::fmt::Debug for BatchStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BatchStream").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl BatchStream {
    pub(super) fn open(sources: Vec<Source>, options: &BatchOptions) -> Result<Self> {
        let (sources, mut pipe) = Pipe::among(sources, options)?;
        // Of a pipe, rows are counted in whole records only.
        let rows = if pipe.is_some() { None } else { options.rows };
        let mut table = Table::open(sources, &BatchOptions { rows, ..options.clone() })?;
        table.options.rows = options.rows;
        if let Some(pipe) = &mut pipe {
            pipe.cut(&mut table)?;
        }
        let is_told = table.plan.columns.iter().all(|column| column.told.is_some());
        if is_told && !table.has_all_keys && options.columns.is_none() {
            table.find_keys()?;
        }
        let kinds = match table.plan.columns.iter().all(|column| column.told.is_some()) {
            true => table.guesses.types(&table.plan),
            false => table.with_all_keys(|table| settled(table, Keep::Types))?.0,
        };
        let schema = table.plan.schema(&kinds);
        let nulls = vec![0; kinds.len()];
        let deciding = table.deciding()?;
        let columns = read::columns(&table, &kinds, &deciding, &nulls);
        let report = TableReport { columns, ..table.report() };
        let (record, next) = (table.heads[0].data, table.wanted[0].offset());
        let ready = VecDeque::new();
        let has_ended = false;
        if pipe.is_some() {
            table.plan.keep(&kinds);
        }
        Ok(Self {
            table,
            pipe,
            kinds,
            schema,
            report,
            nulls,
            ready,
            file: 0,
            record,
            next,
            has_ended,
        })
    }

    /// Returns the names and types of the columns.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns what was found in the table. Rows, missing values and records that were set aside
    /// are those of the batches so far.
    #[must_use]
    pub fn report(&self) -> &TableReport {
        &self.report
    }

    /// Parses the next blocks; returns whether there are any.
    fn round(&mut self) -> Result<bool> {
        let whole = self.table.wanted[self.file];
        if self.next >= whole.end() {
            if let Some(pipe) = &mut self.pipe {
                (self.record, self.next) = (0, 0);
                return pipe.next(&mut self.table, self.report.rows);
            }
            if self.file + 1 == self.table.files.len() {
                return Ok(false);
            }
            self.file += 1;
            self.record = self.table.heads[self.file].data;
            self.next = self.table.wanted[self.file].offset();
            return Ok(true);
        }
        let end = self.next.saturating_add(self.size()).min(whole.end());
        let (mut blocks, record) = self.blocks(Extent::between(self.next, end))?;
        blocks.sort_unstable_by_key(|&(index, _)| index);
        for (_, block) in blocks {
            self.take(block)?;
        }
        self.record = record;
        self.next = end.max(record);
        Ok(true)
    }

    /// Parses the records that begin in an extent, and returns where the next one begins, or an
    /// earlier one.
    fn blocks(&self, wanted: Extent) -> Result<(Vec<(u64, Block)>, u64)> {
        let parser = Parser::new(&self.table.plan, &self.table.guesses);
        let which: Vec<usize> = (0..self.kinds.len()).collect();
        let done = Mutex::new((Vec::new(), self.record));
        let pass = Pass { data: self.record, wanted, ..self.table.pass(self.file) };
        pass.each(&|piece: Piece<'_>| {
            let problem = |problem| self.table.error(self.file, problem);
            let block = parser.block(&piece, &which).map_err(problem)?;
            let end = piece.parts().last().map_or(0, |part| part.end());
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.0.push((piece.index, block));
            done.1 = done.1.max(end);
            Ok(())
        })?;
        Ok(done.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Bytes of text in a round.
    fn size(&self) -> u64 {
        let options = &self.table.options;
        let block = if options.block_size == 0 { BLOCK_SIZE } else { options.block_size };
        let workers =
            std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
        block.saturating_mul(BLOCKS * workers.max(1))
    }

    fn take(&mut self, block: Block) -> Result<()> {
        let columns = block.columns.iter().zip(&self.kinds);
        if columns.into_iter().any(|(column, kind)| column.kind != *kind) {
            let path = self.table.files[self.file].path();
            let detail = "it changed while it was read: a value has another type now";
            return Err(Error::reading(path, FormatReason::Invalid, detail));
        }
        for (at, column) in block.columns.iter().enumerate() {
            self.nulls[at] += column.nulls() as u64;
        }
        let aside: Vec<_> = block.aside.iter().map(|&offset| (self.file, offset)).collect();
        let more = self.table.set_aside(&aside)?;
        self.report.set_aside.add(more);
        self.report.rows += block.rows as u64;
        for (report, &at) in self.report.columns.iter_mut().zip(&self.table.plan.order) {
            report.nulls = self.nulls[at];
        }
        if block.rows > 0 {
            let columns: Vec<_> =
                block.columns.into_iter().map(|column| column.values).collect();
            self.ready.push_back(self.table.batch(
                &self.schema,
                &columns,
                self.file,
                block.rows,
            )?);
        }
        Ok(())
    }
}

impl Iterator for BatchStream {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Some(Ok(batch));
            }
            if self.has_ended {
                return None;
            }
            match self.round() {
                Ok(true) => {}
                Ok(false) => self.has_ended = true,
                Err(error) => {
                    self.has_ended = true;
                    return Some(Err(error));
                }
            }
        }
    }
}
