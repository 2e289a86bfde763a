//! Parses files until each column has one type in all blocks.
//!
//! ```text
//! blocks    1 2 | 3 4 | 5.5 6 | 7 8      by all workers, under the type known at the start of each
//! types     i64   i64   f64     f64      or i64, if it began before the third one ended
//! again     f64   f64                    from the text: values are not converted
//! ```

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{Array, new_null_array};
use arrow_schema::DataType;
use swath::machine::{Mutex, memory_at_hand};

use super::parse::{ParsedBlock, ParsedColumn, Parser};
use super::tally::Tallies;
use crate::error::{Error, FormatReason, Result};
use crate::table::open::guesses::Settled;
use crate::table::open::table::Table;
use crate::table::options::BatchOptions;
use crate::table::text::pass::{PassEnd, RecordPiece};
use crate::table::types::ColumnType;

/// Bytes of values kept before the available memory is queried, which takes half a millisecond.
const LITTLE: u64 = 4 << 20;

/// Blocks whose values are kept, if the caller gives the block size.
const BLOCKS: u64 = 4;

/// The memory for values. Once they need more, only their types are kept.
#[derive(Debug, Default)]
pub(in crate::table) struct ValueRoom {
    limit: OnceLock<u64>,
    bytes: AtomicU64,
}

/// A parsed block of a file, with its columns in the order of the plan.
pub(in crate::table) struct BlockPart {
    pub(in crate::table) file: usize,
    index: u64,
    pub(in crate::table) block: ParsedBlock,
}

impl ValueRoom {
    /// Keeps all values.
    pub(in crate::table) fn unlimited() -> Self {
        Self { limit: u64::MAX.into(), ..Self::default() }
    }

    /// Keeps values up to an eighth of the available memory, or up to a few blocks of a given size.
    /// Keeps none if they may be nested: those are examined before they are parsed.
    pub(in crate::table) fn little(table: &Table) -> Self {
        let BatchOptions { block_size, json_nested, .. } = table.options;
        match (json_nested, block_size.saturating_mul(BLOCKS)) {
            (true, _) => Self { limit: 0.into(), bytes: 1.into() },
            (false, 0) => Self::default(),
            (false, bytes) => Self { limit: bytes.into(), ..Self::default() },
        }
    }

    /// Whether all values are kept up to now.
    pub(in crate::table) fn holds_all(&self) -> bool {
        // Relaxed: a count.
        let bytes = self.bytes.load(Ordering::Relaxed);
        match self.limit.get() {
            Some(&limit) => bytes <= limit,
            None if bytes <= LITTLE => true,
            None => {
                let limit = || memory_at_hand().map_or(0, |bytes| bytes / 8);
                bytes <= *self.limit.get_or_init(limit)
            }
        }
    }

    /// Keeps the values of a column, or frees them.
    fn take(&self, column: &mut ParsedColumn) {
        let bytes = column.values.get_array_memory_size() as u64;
        // Relaxed: a count.
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if !self.holds_all() {
            forget(column);
        }
    }
}

/// Returns the types of all columns, and all blocks with columns of these types. If the room does
/// not hold all values, some or all blocks lack theirs.
pub(in crate::table) fn settled(
    table: &Table,
    room: &ValueRoom,
) -> Result<(Vec<ColumnType>, Vec<BlockPart>)> {
    let mut parts = Vec::new();
    for file in 0..table.files.len() {
        first(table, file, room, &mut parts)?;
    }
    loop {
        let found = table.guesses.settled(&table.plan);
        if room.holds_all() {
            let rows = parts.iter().map(|part| part.block.rows as u64).sum();
            table.check_nested_room(rows)?;
        }
        fill(&mut parts, &found, room);
        if !again(table, &found, room, &mut parts)? {
            return Ok((found.kinds, parts));
        }
    }
}

/// Parses a file under the types found in the blocks before.
fn first(
    table: &Table,
    file: usize,
    room: &ValueRoom,
    parts: &mut Vec<BlockPart>,
) -> Result<()> {
    let which: Vec<usize> = (0..table.plan.columns.len()).collect();
    let parser = Parser::new(table, file);
    let done = Mutex::new(Vec::new());
    table.pass(file).each(&|piece: RecordPiece<'_>| {
        let mut block =
            parser.block(&piece, &which).map_err(|problem| table.error(file, problem))?;
        block.columns.iter_mut().for_each(|column| room.take(column));
        done.lock().push(BlockPart { file, index: piece.index, block });
        Ok(())
    })?;
    let mut done = done.into_inner();
    done.sort_unstable_by_key(|part| part.index);
    parts.append(&mut done);
    if !room.holds_all() {
        parts.iter_mut().flat_map(|part| &mut part.block.columns).for_each(forget);
    }
    Ok(())
}

/// Gives columns without values the types found elsewhere.
fn fill(parts: &mut [BlockPart], found: &Settled, room: &ValueRoom) {
    for BlockPart { block, .. } in parts {
        let rows = if room.holds_all() { block.rows } else { 0 };
        let types = found.kinds.iter().zip(&found.types);
        for (column, (&kind, data_type)) in block.columns.iter_mut().zip(types) {
            // A quoted word for a missing value may be a text.
            if column.kind == ColumnType::Null && column.kind != kind && !kind.is_text() {
                let values = new_null_array(data_type, rows);
                *column = ParsedColumn { kind, values, changes: Tallies::default() };
            }
        }
    }
}

/// Parses columns again whose type differs from that of the whole column; returns whether there
/// were any.
fn again(
    table: &Table,
    types: &Settled,
    room: &ValueRoom,
    parts: &mut [BlockPart],
) -> Result<bool> {
    let mut is_changed = false;
    for file in 0..table.files.len() {
        let first = parts.partition_point(|part| part.file < file);
        let after = parts.partition_point(|part| part.file <= file);
        let parts = &mut parts[first..after];
        let narrow = |part: &BlockPart| -> Vec<usize> {
            let is_narrow = |&at: &usize| {
                let (column, kind) = (&part.block.columns[at], types.kinds[at]);
                // Nested values may have been examined without being kept.
                let has_values = !room.holds_all() || !kind.is_nested();
                let is_whole = has_values || *column.values.data_type() == types.types[at];
                column.kind != kind || !is_whole
            };
            (0..part.block.columns.len()).filter(is_narrow).collect()
        };
        let jobs: Vec<Vec<usize>> = parts.iter().map(narrow).collect();
        let Some(last) = jobs.iter().rposition(|job| !job.is_empty()) else { continue };
        let last = parts[last].index;
        is_changed = true;
        // Frees the values that are parsed again.
        for (part, job) in parts.iter_mut().zip(&jobs) {
            job.iter().for_each(|&column| forget(&mut part.block.columns[column]));
        }
        let slots: Vec<Mutex<&mut BlockPart>> = parts.iter_mut().map(Mutex::new).collect();
        let indices: Vec<u64> = slots.iter().map(|slot| slot.lock().index).collect();
        let parser = Parser::new(table, file);
        table.pass(file).each(&|piece: RecordPiece<'_>| {
            if piece.index > last {
                return Err(PassEnd::Enough);
            }
            let Ok(at) = indices.binary_search(&piece.index) else { return Ok(()) };
            if jobs[at].is_empty() {
                return Ok(());
            }
            let block = parser
                .block(&piece, &jobs[at])
                .map_err(|problem| table.error(file, problem))?;
            let mut part = slots[at].lock();
            if block.rows != part.block.rows {
                return Err(changed(table, file).into());
            }
            for (&column, mut parsed) in jobs[at].iter().zip(block.columns) {
                room.take(&mut parsed);
                part.block.columns[column] = parsed;
            }
            Ok(())
        })?;
    }
    Ok(is_changed)
}

/// Frees the values of a column.
fn forget(column: &mut ParsedColumn) {
    column.values = new_null_array(&DataType::Null, 0);
}

fn changed(table: &Table, file: usize) -> Error {
    let path = table.files[file].path();
    let error = Error::reading(path, FormatReason::Invalid, "it changed while it was read");
    error.hint("read it again when no other program writes to it")
}
