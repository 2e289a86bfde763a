//! Parses the records of a block into columns.
//!
//! ```text
//! rows      some hundred records, split         (rows.rs)
//! columns   one after another: all fields of one, by the builder of its type
//! misfit    the type widens, and the column of this block is parsed again
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{Array, ArrayRef};
use swath::machine::Mutex;

use super::search::FaultSearch;
use super::tally::Tallies;
use crate::table::open::guesses::{ColumnGuesses, Guesses};
use crate::table::open::plan::{PlanColumn, TablePlan};
use crate::table::open::table::Table;
use crate::table::text::faults::{self, Problem};
use crate::table::text::pass::{RecordPart, RecordPiece};
use crate::table::text::places::Places;
use crate::table::text::rows::{RecordCounts, Rows};
use crate::table::text::shape::RecordShape;
use crate::table::types::{
    Builder, ColumnType, FieldRules, Kinds, NestedType, Note, RawFields,
};

/// Values examined after the first one that contradicts a type.
const LOOK: usize = 1000;

/// A column of some records.
#[derive(Clone, Debug)]
pub(in crate::table) struct ParsedColumn {
    pub(in crate::table) kind: ColumnType,
    pub(in crate::table) values: ArrayRef,
    pub(in crate::table) changes: Tallies,
}

/// The records of a block.
#[derive(Debug)]
pub(in crate::table) struct ParsedBlock {
    pub(in crate::table) rows: usize,
    /// The requested columns, in the order of the request.
    pub(in crate::table) columns: Vec<ParsedColumn>,
    /// The offsets of records that were set aside.
    pub(in crate::table) aside: Vec<u64>,
    pub(in crate::table) counts: RecordCounts,
}

/// Parses blocks.
pub(in crate::table) struct Parser<'p> {
    plan: &'p TablePlan,
    shape: &'p RecordShape,
    file: usize,
    guesses: &'p Guesses,
    /// Memory that no worker is using.
    idle: Mutex<Vec<(Rows, Places)>>,
    /// Rows of the last block: the likely number of rows in the next one.
    rows: AtomicUsize,
}

/// The columns of a block that are still to be parsed.
struct ParseJob<'j> {
    /// Indices of the requested columns among those of the plan.
    which: &'j [usize],
    /// The possible kinds of the values in each column.
    kinds: Vec<Kinds>,
    /// The types of nested columns, once they are settled.
    nested: Vec<Option<Arc<NestedType>>>,
    /// The columns to parse, as indices into `which`.
    todo: Vec<usize>,
}

/// The reason why a block could not be parsed.
enum Stopped {
    /// The fault that splitting found.
    Problem(Problem),
    /// A field has a fault, which may not be the first.
    Field,
}

/// The columns parsed in one run.
struct Run {
    rows: Rows,
    places: Places,
    builders: Vec<Option<Builder>>,
    /// The values of each builder that do not match their text.
    changes: Vec<Tallies>,
    count: usize,
    aside: Vec<u64>,
    counts: RecordCounts,
}

impl<'p> Parser<'p> {
    /// Makes a parser for blocks of a file.
    pub(in crate::table) fn new(table: &'p Table, file: usize) -> Self {
        let Table { plan, guesses, .. } = table;
        let (shape, idle, rows) = (plan.shape(file), Mutex::default(), AtomicUsize::new(0));
        Self { plan, shape, file, guesses, idle, rows }
    }

    /// Parses columns of the plan; a value that contradicts the type of its column widens it.
    pub(in crate::table) fn block(
        &self,
        piece: &RecordPiece<'_>,
        which: &[usize],
    ) -> Result<ParsedBlock, Problem> {
        // A file may lack most columns.
        let is_united = self.shape.fields.is_some();
        check_memory(piece, if is_united { self.plan.most_values() } else { 0 })?;
        let kinds = self.guesses.of(which);
        let nested = self.guesses.nested_of(which);
        let mut job = ParseJob { which, kinds, nested, todo: (0..which.len()).collect() };
        let mut found = vec![None; which.len()];
        let mut parsed: Vec<Option<ParsedColumn>> = Vec::new();
        parsed.resize_with(which.len(), || None);
        loop {
            let run =
                self.run(piece, &mut job).map_err(|stopped| self.first(piece, stopped))?;
            let mut again = Vec::new();
            let made = run.builders.into_iter().zip(run.changes);
            for (&slot, (mut builder, changes)) in job.todo.iter().zip(made) {
                let nested = builder.as_mut().and_then(Builder::nested);
                if nested.as_ref().is_some_and(NestedType::stays_text) {
                    job.kinds[slot] |= Kinds::TEXT;
                    again.push(slot);
                    continue;
                }
                found[slot] = nested.map(|it| it.of_block(self.file, piece.index));
                match builder {
                    Some(builder) => {
                        let kind = self.kind(&job, slot);
                        parsed[slot] =
                            Some(ParsedColumn { kind, values: builder.finish(), changes });
                    }
                    None => again.push(slot),
                }
            }
            self.idle.lock().push((run.rows, run.places));
            if again.is_empty() {
                // Relaxed: a hint.
                self.rows.store(run.count, Ordering::Relaxed);
                self.guesses.add(which, ColumnGuesses { kinds: job.kinds, nested: found });
                let columns = parsed.into_iter().flatten().collect();
                let Run { aside, counts, .. } = run;
                return Ok(ParsedBlock { rows: run.count, columns, aside, counts });
            }
            job.todo = again;
        }
    }

    /// Returns the first fault of a block that has one.
    fn first(&self, piece: &RecordPiece<'_>, stopped: Stopped) -> Problem {
        let mut search = FaultSearch::new(self.plan, self.shape);
        let first = piece.parts().find_map(|part| search.first(part.bytes, part.offset));
        match (first, stopped) {
            (Some(first), _) => first,
            (None, Stopped::Problem(problem)) => problem,
            (None, Stopped::Field) => {
                faults::room(piece.parts().next().map_or(0, |part| part.offset))
            }
        }
    }

    fn column(&self, job: &ParseJob<'_>, slot: usize) -> &PlanColumn {
        &self.plan.columns[job.which[slot]]
    }

    fn kind(&self, job: &ParseJob<'_>, slot: usize) -> ColumnType {
        self.plan.kind(self.column(job, slot), job.kinds[slot])
    }

    fn builder(&self, job: &ParseJob<'_>, slot: usize, capacity: usize) -> Builder {
        Builder::with(job.nested[slot].as_deref(), self.kind(job, slot), capacity)
    }

    fn run(&self, piece: &RecordPiece<'_>, job: &mut ParseJob<'_>) -> Result<Run, Stopped> {
        let capacity = self.rows.load(Ordering::Relaxed);
        let builder = |&slot: &usize| Some(self.builder(job, slot, capacity));
        let (rows, places) = self.idle.lock().pop().unwrap_or_default();
        let mut run = Run {
            rows,
            places,
            builders: job.todo.iter().map(builder).collect(),
            changes: vec![Tallies::default(); job.todo.len()],
            count: 0,
            aside: Vec::new(),
            counts: RecordCounts::default(),
        };
        for part in piece.parts() {
            let mut at = 0;
            while at < part.bytes.len() {
                at = run.rows.fill(part.bytes, at, self.shape).map_err(|fault| {
                    Stopped::Problem(faults::of_rows(
                        fault,
                        part.offset + at as u64,
                        part.offset,
                        self.shape,
                    ))
                })?;
                run.count += run.rows.count();
                run.counts += run.rows.counts;
                run.aside.extend(run.rows.aside.iter().map(|&at| part.offset + at as u64));
                self.take(part, &mut run, job)?;
            }
        }
        Ok(run)
    }

    /// Parses the current rows, column by column.
    fn take(
        &self,
        part: RecordPart<'_>,
        run: &mut Run,
        job: &mut ParseJob<'_>,
    ) -> Result<(), Stopped> {
        let Run { rows, places, builders, changes, .. } = run;
        places.clear();
        for (at, builder) in builders.iter_mut().enumerate() {
            let Some(column) = builder else { continue };
            let slot = job.todo[at];
            let fields =
                rows.column(part.bytes, self.shape.field(self.column(job, slot).index), places);
            let record = |row: usize| (self.file, part.offset + rows.start(row) as u64);
            let mut note = |first: usize, flags| {
                changes[at].add(flags, &|row| record(first + row));
            };
            if !self.push(fields, column, job, slot, &mut note)? {
                *builder = None;
            }
        }
        Ok(())
    }

    /// Appends fields to a column; returns `false` if the column must be parsed again.
    fn push(
        &self,
        fields: RawFields<'_>,
        builder: &mut Builder,
        job: &mut ParseJob<'_>,
        slot: usize,
        note: &mut Note<'_>,
    ) -> Result<bool, Stopped> {
        let column = self.column(job, slot);
        let rules = &self.plan.rules[column.rules];
        let mut rest = fields;
        let seen = job.kinds[slot];
        let is_open = match seen.column_type() {
            // A column of texts, unless other values follow.
            found if found.is_text() => !seen.is_text(),
            // Quoted words for missing values are texts, unless other values follow.
            ColumnType::Null => has_quotes(fields, rules),
            _ => false,
        };
        if column.told.is_none() && is_open {
            job.kinds[slot] |= look(fields, rules, usize::MAX);
            if self.kind(job, slot) != self.plan.kind(column, seen) {
                return Ok(false);
            }
        }
        loop {
            let done = fields.len() - rest.len();
            let mut note = |first, flags| note(done + first, flags);
            let pushed = builder.push_all(rest, rules, &mut note);
            let Err(misfit) = pushed else { return Ok(true) };
            let kind = self.kind(job, slot);
            if column.told.is_some() || kind.is_text() {
                return Err(Stopped::Field);
            }
            rest = RawFields {
                starts: &rest.starts[misfit.index..],
                ends: &rest.ends[misfit.index..],
                ..rest
            };
            let before = job.kinds[slot];
            job.kinds[slot] |= look(rest, rules, LOOK);
            if self.kind(job, slot) == kind {
                // The builder refused a value that looks like its type: only text certainly holds
                // it.
                job.kinds[slot] = before | Kinds::TEXT;
            }
            // A text may have been taken for a word for a missing value.
            if kind != ColumnType::Null || self.kind(job, slot).is_text() {
                return Ok(false);
            }
            // All values before were missing.
            let missing = builder.len();
            *builder = self.builder(job, slot, 0);
            for _ in 0..missing {
                builder.push_missing();
            }
        }
    }
}

/// Checks that the values of a block fit into memory: Arrow's buffers abort the process if they do
/// not. A short number takes a few bytes and its value eight, and buffers grow by copying; a byte
/// of this text may become `times` bytes.
fn check_memory(piece: &RecordPiece<'_>, times: u64) -> Result<(), Problem> {
    const TIMES: usize = 16;
    const MORE: usize = 1 << 20;
    /// The check takes longer than parsing so few bytes.
    const FEW: usize = 16 << 10;
    let bytes = piece.parts().map(|part| part.bytes.len()).sum::<usize>();
    if bytes <= FEW {
        return Ok(());
    }
    let wanted = bytes
        .saturating_mul(usize::try_from(times).unwrap_or(usize::MAX).max(TIMES))
        .saturating_add(MORE);
    let is_room = Vec::<u8>::new().try_reserve_exact(wanted).is_ok();
    let at = piece.parts().next().map_or(0, |part| part.offset);
    if is_room { Ok(()) } else { Err(faults::no_memory(at, bytes)) }
}

/// Whether any field begins with a quote.
fn has_quotes(fields: RawFields<'_>, rules: &FieldRules) -> bool {
    let Some(quote) = rules.quoting.quote else { return false };
    let begins = |(&start, &end): (&u32, &u32)| {
        start < end && fields.text.get(start as usize) == Some(&quote)
    };
    fields.starts.iter().zip(fields.ends).any(begins)
}

/// Returns the kinds that hold the first `most` fields.
fn look(fields: RawFields<'_>, rules: &FieldRules, most: usize) -> Kinds {
    let mut scratch = Vec::new();
    let mut kinds = Kinds::MISSING;
    for (&start, &end) in fields.starts.iter().zip(fields.ends).take(most) {
        if let Some(raw) = fields.text.get(start as usize..end as usize) {
            kinds |= Kinds::of(rules.quoting.field(raw, &mut scratch), rules);
        }
    }
    kinds
}

impl ParsedColumn {
    /// Returns the number of missing values.
    pub(in crate::table) fn nulls(&self) -> usize {
        match self.kind {
            ColumnType::Null => self.values.len(),
            _ => self.values.null_count(),
        }
    }
}
