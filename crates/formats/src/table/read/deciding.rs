//! The records that decided the types of columns.

use swath::machine::Mutex;

use crate::error::Result;
use crate::table::open::report::RecordLine;
use crate::table::open::table::Table;
use crate::table::text::pass::{PassEnd, RecordPart, RecordPass, RecordPiece};
use crate::table::text::places::Places;
use crate::table::text::rows::Rows;
use crate::table::types::{ColumnState, ColumnType, Kinds};

/// A column whose deciding record is being searched for.
struct DecidingSearch {
    column: usize,
    seen: Kinds,
    /// The final state.
    last: ColumnState,
}

/// The columns whose records are being searched for, and the records found.
struct Searches<'t> {
    table: &'t Table,
    left: Vec<DecidingSearch>,
    found: Vec<(usize, (usize, u64))>,
    rows: Rows,
    places: Places,
}

impl Table {
    /// Returns, for each column of the plan, the first record whose value fixed the type.
    pub(in crate::table) fn deciding(&self) -> Result<Vec<Option<RecordLine>>> {
        let all: Vec<usize> = (0..self.plan.columns.len()).collect();
        let search = |(column, kinds): (usize, Kinds)| {
            let is_searched = self.plan.columns[column].told.is_none()
                && kinds.column_type() != ColumnType::Null;
            is_searched.then(|| DecidingSearch {
                column,
                seen: Kinds::MISSING,
                last: kinds.state(),
            })
        };
        let left = self.guesses.of(&all).into_iter().enumerate().filter_map(search).collect();
        let searches = Mutex::new(Searches {
            table: self,
            left,
            found: Vec::new(),
            rows: Rows::default(),
            places: Places::default(),
        });
        // In order, by one worker: usually the first records decide.
        let read = self.options.read.clone().without_progress().with_workers(1);
        for file in 0..self.files.len() {
            let pass = RecordPass { read: &read, ..self.pass(file) };
            pass.each(&|piece: RecordPiece<'_>| {
                let mut searches = searches.lock();
                piece.parts().try_for_each(|part| searches.take(file, part))
            })?;
        }
        let searches = searches.into_inner();
        self.decided(searches.found)
    }

    fn decided(
        &self,
        mut found: Vec<(usize, (usize, u64))>,
    ) -> Result<Vec<Option<RecordLine>>> {
        found.sort_unstable_by_key(|&(_, record)| record);
        let records: Vec<(usize, u64)> = found.iter().map(|&(_, record)| record).collect();
        let lines = self.lines(&records)?;
        let mut deciding = vec![None; self.plan.columns.len()];
        for ((column, _), line) in found.into_iter().zip(lines) {
            deciding[column] = Some(line);
        }
        Ok(deciding)
    }
}

impl Searches<'_> {
    fn take(&mut self, file: usize, part: RecordPart<'_>) -> std::result::Result<(), PassEnd> {
        let text = part.bytes;
        let mut at = 0;
        while at < part.bytes.len() {
            if self.left.is_empty() {
                return Err(PassEnd::Enough);
            }
            // The records have been read before, so they have no fault.
            let next = self.rows.fill(part.bytes, at, self.table.plan.shape(file));
            at = next.map_err(|_| PassEnd::Enough)?;
            self.places.clear();
            for mut search in std::mem::take(&mut self.left) {
                match self.row(text, file, &mut search) {
                    Some(row) => {
                        let offset = part.offset + self.rows.start(row) as u64;
                        self.found.push((search.column, (file, offset)));
                    }
                    None => self.left.push(search),
                }
            }
        }
        Ok(())
    }

    /// Returns the first of the current rows whose value decides.
    fn row(&mut self, text: &[u8], file: usize, search: &mut DecidingSearch) -> Option<usize> {
        let column = &self.table.plan.columns[search.column];
        let rules = &self.table.plan.rules[column.rules];
        let field = self.table.plan.shape(file).field(column.index);
        let fields = self.rows.column(text, field, &mut self.places);
        let mut scratch = Vec::new();
        let places = fields.starts.iter().zip(fields.ends);
        places.enumerate().find_map(|(row, (&start, &end))| {
            let raw = fields.text.get(start as usize..end as usize)?;
            search.seen |= Kinds::of(rules.quoting.field(raw, &mut scratch), rules);
            (search.seen.state() == search.last).then_some(row)
        })
    }
}
