//! The types of columns, as far as they are known.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::plan::Plan;
use super::values::{ColumnType, Kinds};

/// What the values of each column can be, as far as workers have seen. It only becomes less.
#[derive(Debug)]
pub(super) struct Guesses(Mutex<Vec<Kinds>>);

impl Guesses {
    pub(super) fn new(plan: &Plan) -> Self {
        Self(Mutex::new(vec![Kinds::MISSING; plan.columns.len()]))
    }

    fn kinds(&self) -> MutexGuard<'_, Vec<Kinds>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what some columns can be.
    pub(super) fn of(&self, columns: &[usize]) -> Vec<Kinds> {
        let kinds = self.kinds();
        columns.iter().map(|&column| kinds[column]).collect()
    }

    /// Adds what was seen in some columns.
    pub(super) fn add(&self, columns: &[usize], seen: &[Kinds]) {
        let mut kinds = self.kinds();
        for (&column, &seen) in columns.iter().zip(seen) {
            kinds[column] |= seen;
        }
    }

    /// Returns the types of all columns.
    pub(super) fn types(&self, plan: &Plan) -> Vec<ColumnType> {
        let kinds = self.kinds();
        plan.columns
            .iter()
            .zip(&*kinds)
            .map(|(column, &kinds)| plan.kind(column, kinds))
            .collect()
    }
}
