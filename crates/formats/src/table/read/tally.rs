//! Counts the values of each column that do not match their text, and finds the first.

use swath::machine::Mutex;

use crate::error::Result;
use crate::table::open::report::Changes;
use crate::table::open::table::Table;
use crate::table::types::{Flags, Kinds, Losses};

/// A record: the index of its file, and its offset.
type Record = (usize, u64);

/// The number of values, and the record of the first one.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::table) struct ValueTally {
    count: u64,
    first: Option<Record>,
}

/// The values of a column that do not match their text.
pub(in crate::table) type Tallies = Losses<ValueTally>;

/// The same values with their lines, for the report.
pub(in crate::table) type ColumnChanges = Losses<Changes>;

/// The counts of an array being filled, in the order of the plan.
#[derive(Debug)]
pub(in crate::table) struct ArrayTally {
    /// Missing values.
    pub(in crate::table) nulls: Vec<u64>,
    pub(in crate::table) changes: Vec<Tallies>,
}

impl ArrayTally {
    pub(in crate::table) fn new(width: usize) -> Mutex<Self> {
        Mutex::new(Self { nulls: vec![0; width], changes: vec![Tallies::default(); width] })
    }

    /// Adds the counts of columns in this order. An empty list adds nothing.
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
    /// Adds the flags of fields whose records are in order.
    pub(in crate::table) fn add(&mut self, flags: Flags, record: &dyn Fn(usize) -> Record) {
        for (tally, bits) in self.all_mut().into_iter().zip(flags.all()) {
            if bits != 0 {
                let first = Some(record(bits.trailing_zeros() as usize));
                tally.join(ValueTally { count: bits.count_ones().into(), first });
            }
        }
    }

    /// Adds the tallies of other values of the column.
    pub(in crate::table) fn join(&mut self, other: &Self) {
        self.all_mut().into_iter().zip(other.all()).for_each(|(own, other)| own.join(other));
    }

    /// Adds these values to `before`, and keeps only the first records that are the first of all.
    pub(in crate::table) fn follow(&mut self, before: &mut Self) {
        for (own, before) in self.all_mut().into_iter().zip(before.all_mut()) {
            let is_known = before.first.is_some();
            before.join(*own);
            own.first = own.first.filter(|_| !is_known);
        }
    }
}

/// Adds the flags of fields that run row by row through the columns; `first` is the index of the
/// first.
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

impl ValueTally {
    fn join(&mut self, other: Self) {
        self.count += other.count;
        self.first = match (self.first, other.first) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
}

impl Table {
    /// Returns the changes of all columns of the plan, with their lines.
    pub(in crate::table) fn changes(&self, tallies: &[Tallies]) -> Result<Vec<ColumnChanges>> {
        let all: Vec<usize> = (0..tallies.len()).collect();
        let kinds = self.guesses.of(&all).into_iter();
        // In a column of objects or arrays only, storing them as text changes nothing.
        let counted = |(kinds, it): (Kinds, &Tallies)| match kinds.are_objects_or_arrays() {
            true => Tallies { as_text: ValueTally::default(), ..*it },
            false => *it,
        };
        let tallies: Vec<Tallies> = kinds.zip(tallies).map(counted).collect();
        let firsts = tallies.iter().flat_map(|it| it.all()).filter_map(|it| it.first);
        let mut records: Vec<Record> = firsts.collect();
        records.sort_unstable();
        let lines = self.lines(&records)?;
        let changes = |ValueTally { count, first }| {
            let at = first.and_then(|first| records.binary_search(&first).ok());
            Changes { count, first: at.map(|at| lines[at]) }
        };
        Ok(tallies.into_iter().map(|it| it.map(changes)).collect())
    }
}
