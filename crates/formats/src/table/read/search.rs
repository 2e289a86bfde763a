//! Searches a block for its first fault, record by record and field by field.

use crate::table::open::plan::{PlanColumn, TablePlan};
use crate::table::options::choices::Ragged;
use crate::table::text::faults::{FieldRefusal, Problem, misfit, of_record, of_rows, split};
use crate::table::text::record::{FieldPlace, RecordFault, RecordKind};
use crate::table::text::rows::Rows;
use crate::table::text::shape::RecordShape;
use crate::table::types::{Builder, ColumnType, Misfit};

/// Rows whose values are kept during the search.
const KEPT: usize = 1000;

/// A search for the first fault in records.
pub(in crate::table) struct FaultSearch<'p> {
    plan: &'p TablePlan,
    shape: &'p RecordShape,
    /// The columns of the plan, in the order of the file.
    order: Vec<usize>,
    /// A column of each type, to test values with.
    builders: Vec<Builder>,
}

impl<'p> FaultSearch<'p> {
    pub(in crate::table) fn new(plan: &'p TablePlan, shape: &'p RecordShape) -> Self {
        let mut order: Vec<usize> = (0..plan.columns.len()).collect();
        order.sort_by_key(|&at| shape.field(plan.columns[at].index));
        Self { plan, shape, order, builders: builders(plan) }
    }

    /// Returns the first fault of the whole records in `text`, which begins at offset `base` of the
    /// file.
    pub(in crate::table) fn first(&mut self, text: &[u8], base: u64) -> Option<Problem> {
        if self.shape.keys.is_some() {
            return self.first_of_objects(text, base);
        }
        let records = self.shape.records(text);
        let (mut at, mut rows) = (0, 0);
        let mut places = Vec::new();
        while at < text.len() {
            places.clear();
            let record = base + at as u64;
            let next = match records.split(at, |place| places.push(place)) {
                Err(RecordFault::Outside(_)) if self.shape.ragged == Ragged::SetAside => {
                    records.end(at).unwrap_or(text.len())
                }
                Err(wrong) => return Some(split(wrong, record, base)),
                Ok((RecordKind::Skipped, next)) => next,
                Ok((RecordKind::Data, next)) => {
                    if let Some(problem) = self.record(text, base, at, &places) {
                        return Some(problem);
                    }
                    next
                }
            };
            (at, rows) = (next, rows + 1);
            if rows % KEPT == 0 {
                self.builders = builders(self.plan);
            }
        }
        None
    }

    /// Returns the first fault in lines of objects.
    fn first_of_objects(&mut self, text: &[u8], base: u64) -> Option<Problem> {
        let shape = self.shape;
        let (mut at, mut count) = (0, 0);
        let mut rows = Rows::default();
        while at < text.len() {
            let next = match rows.fill_before(text, at, at + 1, shape) {
                Err(fault) => return Some(of_rows(fault, base + at as u64, base, shape)),
                Ok(next) => next,
            };
            if rows.count() == 1 {
                let places: Vec<FieldPlace> = rows.row(0).collect();
                if let Some(problem) = self.record(text, base, at, &places) {
                    return Some(problem);
                }
            }
            (at, count) = (next, count + 1);
            if count % KEPT == 0 {
                self.builders = builders(self.plan);
            }
        }
        None
    }

    fn record(
        &mut self,
        text: &[u8],
        base: u64,
        at: usize,
        fields: &[FieldPlace],
    ) -> Option<Problem> {
        let (plan, shape) = (self.plan, self.shape);
        let (columns, found, record) = (shape.columns, fields.len(), base + at as u64);
        match shape.ragged {
            ragged if ragged.takes(found, columns) => {}
            Ragged::SetAside => return None,
            _ => return Some(of_record(record, found, shape)),
        }
        let mut scratch = Vec::new();
        for &at in &self.order {
            let (column, builder) = (&plan.columns[at], &mut self.builders[at]);
            let place = shape.field(column.index).and_then(|at| fields.get(at));
            let raw = place.and_then(|place| text.get(place.start..place.end));
            let rules = &plan.rules[column.rules];
            let field = raw.map(|raw| rules.quoting.field(raw, &mut scratch));
            let pushed = match field {
                Some(field) if std::str::from_utf8(field.bytes).is_err() => {
                    Err(Misfit::Encoding)
                }
                _ if plan.needs_values && field.is_none_or(|field| rules.is_missing(field)) => {
                    Err(Misfit::Missing)
                }
                Some(field) => builder.push(field, rules, &mut |_, _| {}),
                None => Ok(()),
            };
            if let Err(why) = pushed {
                let (column, told) = (column.name.as_str(), kind(column));
                let offset = place.map_or(record, |place| base + place.start as u64);
                let raw = raw.unwrap_or_default();
                return Some(misfit(
                    record,
                    offset,
                    FieldRefusal { column, told, raw, misfit: why, is_array: plan.is_array },
                ));
            }
        }
        None
    }
}

fn builders(plan: &TablePlan) -> Vec<Builder> {
    let builder = |it: &PlanColumn| Builder::with(it.nested.as_deref(), kind(it), 0);
    plan.columns.iter().map(builder).collect()
}

fn kind(column: &PlanColumn) -> ColumnType {
    column.told.unwrap_or(ColumnType::Text)
}
