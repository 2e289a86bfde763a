//! The counts and ranges of a table, folded from blocks under the types they were parsed as.

use std::collections::BinaryHeap;

use super::range::ColumnRange;
use crate::table::open::report::LISTED;
use crate::table::read::parse::ParsedBlock;
use crate::table::read::tally::Tallies;
use crate::table::text::rows::RecordCounts;
use crate::table::types::ColumnType;

/// The values of a column in all blocks parsed as one type.
#[derive(Clone, Debug)]
struct ColumnFold {
    kind: ColumnType,
    nulls: u64,
    changes: Tallies,
    range: ColumnRange,
}

impl ColumnFold {
    /// Returns the values as another type; `None` if they must be parsed again.
    fn as_kind(&self, kind: ColumnType) -> Option<Self> {
        let range = match self.kind {
            own if own == kind => self.range.clone(),
            // A quoted word for a missing value may be a text.
            ColumnType::Null if !kind.is_text() => ColumnRange::default(),
            own if own.is_text() || kind.is_text() => return None,
            _ => self.range.widened(kind)?,
        };
        Some(Self { kind, range, ..*self })
    }

    fn join(&mut self, other: Self) {
        self.nulls += other.nulls;
        self.changes.join(&other.changes);
        self.range.join(other.range);
    }
}

/// The counts and ranges of the blocks parsed.
pub(super) struct Folded {
    pub(super) rows: u64,
    pub(super) counts: RecordCounts,
    /// The values of each column of the plan, by type.
    columns: Vec<Vec<ColumnFold>>,
    set_aside: u64,
    /// The first records set aside: file and offset of each.
    aside: BinaryHeap<(usize, u64)>,
}

/// Returns the ranges of all columns of a block.
pub(super) fn of_block(block: &ParsedBlock) -> Vec<ColumnRange> {
    block.columns.iter().map(|it| ColumnRange::of(&it.values, it.kind)).collect()
}

impl Folded {
    pub(super) fn new(columns: usize) -> Self {
        let columns = vec![Vec::new(); columns];
        Self {
            rows: 0,
            counts: RecordCounts::default(),
            columns,
            set_aside: 0,
            aside: BinaryHeap::new(),
        }
    }

    /// Counts the records of a block.
    pub(super) fn count(&mut self, file: usize, block: &ParsedBlock) {
        self.rows += block.rows as u64;
        self.counts += block.counts;
        self.set_aside += block.aside.len() as u64;
        for &offset in &block.aside {
            self.aside.push((file, offset));
            if self.aside.len() > LISTED {
                self.aside.pop();
            }
        }
    }

    /// Adds the ranges of columns of a block.
    pub(super) fn join(
        &mut self,
        which: &[usize],
        block: &ParsedBlock,
        ranges: Vec<ColumnRange>,
    ) {
        for ((&at, parsed), range) in which.iter().zip(&block.columns).zip(ranges) {
            let (kind, nulls, changes) = (parsed.kind, parsed.nulls() as u64, parsed.changes);
            let seen = ColumnFold { kind, nulls, changes, range };
            let column = &mut self.columns[at];
            match column.iter_mut().find(|it| it.kind == seen.kind) {
                Some(same) => same.join(seen),
                None => column.push(seen),
            }
        }
    }

    /// Adds the values of settled columns that do not match their text.
    pub(super) fn add_changes(&mut self, which: &[usize], block: &ParsedBlock) {
        for (&at, parsed) in which.iter().zip(&block.columns) {
            self.columns[at].iter_mut().for_each(|it| it.changes.join(&parsed.changes));
        }
    }

    /// Converts the values of each column to its type. Returns the columns that must be parsed
    /// again, and forgets their values.
    pub(super) fn settle(&mut self, kinds: &[ColumnType]) -> Vec<usize> {
        let mut again = Vec::new();
        for (at, (column, &kind)) in self.columns.iter_mut().zip(kinds).enumerate() {
            let whole =
                column.iter().map(|seen| seen.as_kind(kind)).collect::<Option<Vec<_>>>();
            column.clear();
            match whole {
                None => again.push(at),
                Some(parts) => column.extend(parts.into_iter().reduce(|mut whole, part| {
                    whole.join(part);
                    whole
                })),
            }
        }
        again
    }

    /// Returns the first records set aside, and the number of all.
    pub(super) fn aside(&self) -> (Vec<(usize, u64)>, u64) {
        (self.aside.clone().into_sorted_vec(), self.set_aside)
    }

    /// Returns the values of each column that do not match their text, once all columns are
    /// settled.
    pub(super) fn changes(&self) -> Vec<Tallies> {
        let of = |column: &Vec<ColumnFold>| column.last().map(|seen| seen.changes);
        self.columns.iter().map(|column| of(column).unwrap_or_default()).collect()
    }

    /// Returns the missing values and the range of each column, once all columns are settled.
    pub(super) fn columns(self) -> impl Iterator<Item = (u64, ColumnRange)> {
        self.columns.into_iter().map(|mut column| match column.pop() {
            Some(seen) => (seen.nulls, seen.range),
            None => (0, ColumnRange::default()),
        })
    }
}
