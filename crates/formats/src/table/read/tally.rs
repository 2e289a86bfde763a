//! How many values of each column are not what their text says, and where the first ones are.

use std::sync::Mutex;

use crate::error::Result;
use crate::table::open::report::Changes;
use crate::table::open::table::Table;
use crate::table::types::Flags;

/// The file of a record, and the offset at which it begins.
type Record = (usize, u64);

/// How many values there are, and the record of the first one.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    count: u64,
    first: Option<Record>,
}

/// The values of a column that are not what their text says.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::table) struct Tallies {
    rounded: Tally,
    padded: Tally,
}

/// The same for the report.
#[derive(Clone, Debug, Default)]
pub(in crate::table) struct ColumnChanges {
    pub(in crate::table) rounded: Changes,
    pub(in crate::table) padded: Changes,
}

/// What is counted while an array is filled, in the order of the plan.
#[derive(Debug)]
pub(in crate::table) struct Filled {
    /// Missing values.
    pub(in crate::table) nulls: Vec<u64>,
    pub(in crate::table) changes: Vec<Tallies>,
}

impl Filled {
    pub(in crate::table) fn new(width: usize) -> Mutex<Self> {
        Mutex::new(Self { nulls: vec![0; width], changes: vec![Tallies::default(); width] })
    }

    /// Adds what was counted in columns of this order; in none, if a list is empty.
    pub(in crate::table) fn add(
        &mut self,
        order: &[usize],
        nulls: &[u64],
        changes: &[Tallies],
    ) {
        for (&at, nulls) in order.iter().zip(nulls) {
            self.nulls[at] += nulls;
        }
        for (&at, changes) in order.iter().zip(changes) {
            self.changes[at].join(changes);
        }
    }
}

impl Tallies {
    /// Adds the values of some fields, whose records are in order.
    pub(in crate::table) fn add(&mut self, flags: Flags, record: &dyn Fn(usize) -> Record) {
        for (tally, bits) in
            [(&mut self.rounded, flags.rounded), (&mut self.padded, flags.padded)]
        {
            if bits != 0 {
                let first = Some(record(bits.trailing_zeros() as usize));
                tally.join(Tally { count: bits.count_ones().into(), first });
            }
        }
    }

    /// Adds other values of the column.
    pub(in crate::table) fn join(&mut self, other: &Self) {
        self.rounded.join(other.rounded);
        self.padded.join(other.padded);
    }

    /// Adds them to those that came before, and forgets where the first ones are unless they are the first of all.
    pub(in crate::table) fn follow(&mut self, before: &mut Self) {
        let known = *before;
        before.join(self);
        self.rounded.first = self.rounded.first.filter(|_| known.rounded.first.is_none());
        self.padded.first = self.padded.first.filter(|_| known.padded.first.is_none());
    }
}

/// Adds the values of some fields that are row by row in columns, and the index of the first of them.
pub(in crate::table) fn add_by_row(
    changes: &mut Vec<Tallies>,
    width: usize,
    first: usize,
    flags: Flags,
    record: &dyn Fn(usize) -> Record,
) {
    changes.resize(width, Tallies::default());
    for (at, flags) in flags.each() {
        let (row, column) = ((first + at) / width, (first + at) % width);
        changes[column].add(flags, &|_| record(row));
    }
}

impl Tally {
    fn join(&mut self, other: Self) {
        self.count += other.count;
        self.first = match (self.first, other.first) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
}

impl Table {
    /// Returns the changes of columns, with their lines.
    pub(in crate::table) fn changes(&self, tallies: &[Tallies]) -> Result<Vec<ColumnChanges>> {
        let firsts = tallies.iter().flat_map(|it| [it.rounded.first, it.padded.first]);
        let mut records: Vec<Record> = firsts.flatten().collect();
        records.sort_unstable();
        let lines = self.lines(&records)?;
        let changes = |Tally { count, first }| {
            let at = first.and_then(|first| records.binary_search(&first).ok());
            Changes { count, first: at.map(|at| lines[at]) }
        };
        let of = |it: &Tallies| ColumnChanges {
            rounded: changes(it.rounded),
            padded: changes(it.padded),
        };
        Ok(tallies.iter().map(of).collect())
    }
}
