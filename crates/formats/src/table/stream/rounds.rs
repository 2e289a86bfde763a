//! The rounds of a stream: a few blocks at a time, parsed by all workers.
//!
//! ```text
//! text     |block|block|block|block| |block|block|block|block| |block …
//! rounds   0                         1                         2
//! ```
//!
//! Other modules decide when a round is parsed, and on which thread.

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use swath::machine::Mutex;
use swath::{CancelToken, Extent, ReadOptions, Source};

use super::pipe::Pipe;
use crate::error::{Error, FormatReason, Result};
use crate::table::open::fit;
use crate::table::open::report::{SetAside, TableReport};
use crate::table::open::table::Table;
use crate::table::options::BatchOptions;
use crate::table::read;
use crate::table::read::parse::{ParsedBlock, Parser};
use crate::table::read::settle::{BlockPart, ValueRoom, settled};
use crate::table::read::tally::{ColumnChanges, Tallies};
use crate::table::text::pass::{RecordPass, RecordPiece};
use crate::table::text::rows::RecordCounts;
use crate::table::types::ColumnType;

/// The result of a block.
pub(in crate::table) struct Made {
    /// `None` if all of its records were set aside.
    pub(in crate::table) batch: Option<RecordBatch>,
    /// Missing values, in the order of the plan.
    nulls: Vec<u64>,
    /// The values that do not match their text, in the same order.
    changes: Vec<ColumnChanges>,
    aside: SetAside,
    counts: RecordCounts,
}

/// A table that is being streamed.
pub(in crate::table) struct Rounds {
    table: Table,
    /// The rest of the pipe, if the text of the file is its first part.
    pipe: Option<Pipe>,
    kinds: Vec<ColumnType>,
    schema: SchemaRef,
    /// Blocks of all files, kept from the pass that found the types.
    parsed: Vec<BlockPart>,
    /// The rows of all rounds parsed.
    rows: u64,
    /// The values that do not match their text, in the order of the plan.
    changes: Vec<Tallies>,
    /// The file being read.
    file: usize,
    /// The start of a record, and the offset at which the records still to be parsed begin.
    record: u64,
    next: u64,
    size: fit::RoundSize,
    /// The options for reading them.
    read: ReadOptions,
    /// Ends the round being parsed, and no other read.
    token: CancelToken,
}

impl Made {
    /// Adds the block to the report of the batches returned.
    pub(in crate::table) fn report(&mut self, report: &mut TableReport) {
        report.rows += self.batch.as_ref().map_or(0, RecordBatch::num_rows) as u64;
        report.add(self.counts);
        report.set_aside.add(std::mem::take(&mut self.aside));
        let counted = self.nulls.iter().zip(&self.changes);
        for (column, (nulls, changes)) in report.columns.iter_mut().zip(counted) {
            column.nulls += nulls;
            column.rounded.add(changes.rounded);
            column.padded.add(changes.padded);
            column.as_text.add(changes.as_text);
        }
    }
}

impl Rounds {
    /// Opens a table, and finds the types of its columns.
    pub(in crate::table) fn open(
        sources: Vec<Source>,
        options: &BatchOptions,
    ) -> Result<(Self, TableReport)> {
        let mut options = options.clone();
        let token = options.read.cancel().map_or_else(CancelToken::new, CancelToken::child);
        options.read = options.read.with_cancel(token.clone());
        let (sources, mut pipe) = Pipe::among(sources, &options)?;
        // Rows of a pipe are counted in whole records only.
        let rows = if pipe.is_some() { None } else { options.rows };
        let mut table = Table::open(sources, &BatchOptions { rows, ..options.clone() })?;
        table.options.rows = options.rows;
        if let Some(pipe) = &mut pipe {
            pipe.cut_first(&mut table)?;
        }
        let (kinds, parsed) = types(&mut table)?;
        let schema = table.schema(&kinds);
        let deciding = table.deciding()?;
        let changes = vec![Tallies::default(); kinds.len()];
        let none = vec![0; kinds.len()];
        let columns = read::columns(&table, &kinds, &deciding, &none, &changes)?;
        let report = TableReport { columns, ..table.report() };
        let (record, next) = (table.heads[0].data, table.wanted[0].offset());
        if pipe.is_some() {
            let all: Vec<usize> = (0..kinds.len()).collect();
            table.plan.keep(&kinds, table.guesses.nested_of(&all));
        }
        let len = if pipe.is_some() { u64::MAX } else { table.longest() };
        options.block_size = table.options.block_size;
        let (rows, file, size) =
            (0, 0, fit::RoundSize::of(&options, len, table.plan.most_values()));
        // Once: querying the available memory takes half a millisecond.
        let read = fit::fitted(&options, size.next);
        let rounds = Self {
            table,
            pipe,
            kinds,
            schema,
            parsed,
            rows,
            changes,
            file,
            record,
            next,
            size,
            read,
            token,
        };
        Ok((rounds, report))
    }

    pub(in crate::table) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the token that ends the round being parsed.
    pub(in crate::table) fn token(&self) -> &CancelToken {
        &self.token
    }

    /// Returns the path of the file being read.
    pub(in crate::table) fn path(&self) -> &Path {
        self.table.files[self.file].path()
    }

    /// Whether no other round follows.
    pub(in crate::table) fn is_over(&self) -> bool {
        self.is_end_of_file() && self.pipe.is_none() && self.is_last_file()
    }

    /// Whether a round may wait for a pipe.
    pub(in crate::table) fn may_wait(&self) -> bool {
        self.pipe.is_some()
    }

    /// Whether a callback receives the bytes read.
    pub(in crate::table) fn has_progress(&self) -> bool {
        self.table.options.read.progress().is_some()
    }

    fn is_end_of_file(&self) -> bool {
        let len = self.table.files[self.file].text.len();
        self.next >= self.table.wanted[self.file].end().min(len)
    }

    fn is_last_file(&self) -> bool {
        self.file + 1 == self.table.files.len()
    }

    /// Parses the next blocks; `None` at the end.
    pub(in crate::table) fn round(&mut self) -> Result<Option<Vec<Made>>> {
        if !self.parsed.is_empty() {
            return self.first().map(Some);
        }
        while self.is_end_of_file() {
            if !self.next_text()? {
                return Ok(None);
            }
        }
        let whole = self.table.wanted[self.file];
        let end = self.next.saturating_add(self.size.next).min(whole.end());
        let (mut blocks, record) = self.blocks(Extent::between(self.next, end))?;
        blocks.sort_unstable_by_key(|&(index, _)| index);
        let mut made = Vec::with_capacity(blocks.len());
        for (_, block) in blocks {
            self.rows += block.rows as u64;
            made.push(self.made(self.file, block)?);
        }
        let end = end.max(record);
        // The parts of a pipe have a fixed length.
        if self.pipe.is_none() {
            let batches = made.iter().filter_map(|made: &Made| made.batch.as_ref());
            let values: usize = batches.map(RecordBatch::get_array_memory_size).sum();
            self.size.learn(end - self.next, values as u64);
        }
        (self.record, self.next) = (record, end);
        Ok(Some(made))
    }

    /// Returns the blocks that were parsed to find the types.
    fn first(&mut self) -> Result<Vec<Made>> {
        if self.read.is_cancelled() {
            // A read by the library returns its own error.
            let read = self.read.clone().without_progress().without_extent().with_len(1);
            read.read(self.table.files[0].text.source())?;
        }
        let mut made = Vec::with_capacity(self.parsed.len());
        for BlockPart { file, block, .. } in std::mem::take(&mut self.parsed) {
            self.rows += block.rows as u64;
            made.push(self.made(file, block)?);
        }
        (self.file, self.next) = (self.table.files.len() - 1, u64::MAX);
        Ok(made)
    }

    /// Moves to the next part of a pipe, or to the next file; returns whether there is one.
    fn next_text(&mut self) -> Result<bool> {
        if let Some(pipe) = &mut self.pipe {
            (self.record, self.next) = (0, 0);
            return pipe.next(&mut self.table, self.rows);
        }
        if self.is_last_file() {
            return Ok(false);
        }
        self.file += 1;
        self.record = self.table.heads[self.file].data;
        self.next = self.table.wanted[self.file].offset();
        Ok(true)
    }

    /// Parses the records that begin in an extent. Returns where the next one begins, or an earlier
    /// record.
    fn blocks(&self, wanted: Extent) -> Result<(Vec<(u64, ParsedBlock)>, u64)> {
        let parser = Parser::new(&self.table, self.file);
        let which: Vec<usize> = (0..self.kinds.len()).collect();
        let done = Mutex::new((Vec::new(), self.record));
        let pass = self.table.pass(self.file);
        let pass = RecordPass { data: self.record, wanted, read: &self.read, ..pass };
        pass.each(&|piece: RecordPiece<'_>| {
            let problem = |problem| self.table.error(self.file, problem);
            let block = parser.block(&piece, &which).map_err(problem)?;
            let end = piece.parts().last().map_or(0, |part| part.end());
            let mut done = done.lock();
            done.0.push((piece.index, block));
            done.1 = done.1.max(end);
            Ok(())
        })?;
        Ok(done.into_inner())
    }

    fn made(&mut self, file: usize, mut block: ParsedBlock) -> Result<Made> {
        let table = &self.table;
        let columns = block.columns.iter().zip(&self.kinds);
        if columns.into_iter().any(|(column, kind)| column.kind != *kind) {
            let path = table.files[file].path();
            let detail = "it changed while it was read: a value has another type now";
            return Err(Error::reading(path, FormatReason::Invalid, detail));
        }
        let nulls = table.plan.order.iter().map(|&at| block.columns[at].nulls() as u64);
        let nulls = nulls.collect();
        for (column, before) in block.columns.iter_mut().zip(&mut self.changes) {
            column.changes.follow(before);
        }
        let changes: Vec<_> = block.columns.iter().map(|column| column.changes).collect();
        let changes = table.changes(&changes)?;
        let changes = table.plan.order.iter().map(|&at| changes[at]).collect();
        let aside: Vec<_> = block.aside.iter().map(|&offset| (file, offset)).collect();
        let aside = table.set_aside(&aside)?;
        let counts = block.counts;
        if block.rows == 0 {
            return Ok(Made { batch: None, nulls, changes, aside, counts });
        }
        let columns: Vec<_> = block.columns.into_iter().map(|column| column.values).collect();
        let batch = table.batch(&self.schema, &columns, file, block.rows)?;
        Ok(Made { batch: Some(batch), nulls, changes, aside, counts })
    }
}

/// Finds the types of all columns. Returns the blocks parsed for that, if there was room for all of
/// them.
fn types(table: &mut Table) -> Result<(Vec<ColumnType>, Vec<BlockPart>)> {
    let is_told = |table: &Table| table.plan.columns.iter().all(|it| it.told.is_some());
    if is_told(table) && !table.has_all_keys && table.options.columns.is_none() {
        table.find_keys()?;
    }
    if is_told(table) {
        return Ok((table.guesses.types(&table.plan), Vec::new()));
    }
    let (kinds, parts, rows) = table.with_all_keys(|table| {
        let room = ValueRoom::little(table);
        let (kinds, parts) = settled(table, &room)?;
        let rows = parts.iter().map(|part| part.block.rows as u64).sum();
        Ok((kinds, if room.holds_all() { parts } else { Vec::new() }, rows))
    })?;
    table.fit_nested(rows);
    Ok((kinds, parts))
}
