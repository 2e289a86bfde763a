//! Counts records before parsing, so that each block has its place in an array.
//!
//! ```text
//! plain     1,2¶3,4¶        each line is a record: newlines are counted
//! other     1,"2¶"¶#¶       records are split
//! ```

use std::sync::atomic::{AtomicBool, Ordering};

use swath::machine::Mutex;
use swath_simd::{Lines, Marks};

use crate::error::Result;
use crate::table::open::table::Table;
use crate::table::options::Ragged;
use crate::table::text::dialect::{Between, Dialect};
use crate::table::text::pass::{PassEnd, RecordPart, RecordPiece};
use crate::table::text::rows::{self, Rows};
use crate::table::text::shape::RecordShape;

/// A block of a file and its number of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::table) struct Count {
    pub(in crate::table) file: usize,
    pub(in crate::table) index: u64,
    pub(in crate::table) rows: usize,
    /// Whether each line is a record without quotes.
    pub(in crate::table) is_plain: bool,
}

/// The records of a table.
#[derive(Default)]
pub(in crate::table) struct TableCounts {
    /// In the order of the table.
    pub(in crate::table) blocks: Vec<Count>,
    /// The records that were set aside: file and offset of each.
    pub(in crate::table) aside: Vec<(usize, u64)>,
    pub(in crate::table) lines: rows::RecordCounts,
    /// Whether the text has a fault, so that counting stopped there.
    pub(in crate::table) has_fault: bool,
}

/// Counts the records of each block.
pub(in crate::table) fn counts(table: &Table) -> Result<TableCounts> {
    match plain(table)? {
        Some(blocks) => Ok(TableCounts { blocks, ..TableCounts::default() }),
        None => split(table),
    }
}

/// Counts lines if each of them is a record and there are no quotes: then this needs no earlier
/// pass for quotes. `None` otherwise.
fn plain(table: &Table) -> Result<Option<Vec<Count>>> {
    let (blocks, are_plain) = (Mutex::new(Vec::new()), AtomicBool::new(true));
    for file in 0..table.files.len() {
        let pass = table.pass(file);
        if !pass.is_whole() || lines(b"", table.plan.shape(0)).is_none() {
            return Ok(None);
        }
        pass.without_quotes().each(&|piece: RecordPiece<'_>| {
            let mut rows = piece.parts().map(|part| lines(part.bytes, table.plan.shape(0)));
            let Some(rows) = rows.try_fold(0, |sum, rows| Some(sum + rows?)) else {
                // Relaxed: the end of the pass orders it.
                are_plain.store(false, Ordering::Relaxed);
                return Err(PassEnd::Enough);
            };
            blocks.lock().push(Count { file, index: piece.index, rows, is_plain: true });
            Ok(())
        })?;
        if !are_plain.load(Ordering::Relaxed) {
            return Ok(None);
        }
    }
    let mut blocks = blocks.into_inner();
    blocks.sort_unstable();
    Ok(Some(blocks))
}

/// Counts records; splits those of blocks that are not plain.
fn split(table: &Table) -> Result<TableCounts> {
    let shape = table.plan.shape(0);
    let counts = Mutex::new(TableCounts::default());
    for file in 0..table.files.len() {
        table.pass(file).each(&|piece: RecordPiece<'_>| {
            let mut found = TableCounts::default();
            let (mut rows, mut is_plain) = (0, true);
            for part in piece.parts() {
                let lines = lines(part.bytes, shape);
                is_plain &= lines.is_some();
                rows += lines.unwrap_or_else(|| found.add(file, part, shape));
            }
            let mut counts = counts.lock();
            counts.blocks.push(Count { file, index: piece.index, rows, is_plain });
            counts.aside.append(&mut found.aside);
            counts.lines += found.lines;
            counts.has_fault |= found.has_fault;
            if counts.has_fault { Err(PassEnd::Enough) } else { Ok(()) }
        })?;
    }
    let mut counts = counts.into_inner();
    counts.blocks.sort_unstable();
    counts.aside.sort_unstable();
    Ok(counts)
}

/// Returns the number of records in a text if each of its lines is one.
fn lines(text: &[u8], shape: &RecordShape) -> Option<usize> {
    let delimiter = match (shape.dialect.between, shape.ragged) {
        (Between::Byte(delimiter), Ragged::Refuse | Ragged::Pad) => delimiter,
        // Any line that begins with a blank counts as odd.
        (Between::Text(_), Ragged::Refuse | Ragged::Pad) => u8::MAX,
        _ => return None,
    };
    let Dialect { quote, escape, comment, .. } = shape.dialect;
    let lines = Lines::of(text, Marks { delimiter, comment, anywhere: [quote, escape] });
    let last = usize::from(text.last().is_some_and(|&last| last != b'\n'));
    (!lines.odd).then(|| usize::try_from(lines.newlines).unwrap_or(usize::MAX) + last)
}

impl TableCounts {
    /// Adds the lines that are not records; returns the number of records before the first fault.
    pub(in crate::table) fn add(
        &mut self,
        file: usize,
        part: RecordPart<'_>,
        shape: &RecordShape,
    ) -> usize {
        let (mut rows, mut at, mut count) = (Rows::default(), 0, 0);
        while at < part.bytes.len() {
            let Ok(next) = rows.fill(part.bytes, at, shape) else {
                self.has_fault = true;
                return count;
            };
            at = next;
            count += rows.count();
            self.lines += rows.counts;
            self.aside.extend(rows.aside.iter().map(|&at| (file, part.offset + at as u64)));
        }
        count
    }
}
