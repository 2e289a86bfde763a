//! The types of columns, as far as they are known.

use std::sync::Arc;

use arrow_schema::DataType;
use swath::machine::{Mutex, MutexGuard};

use super::plan::TablePlan;
use crate::table::types::{ColumnType, Kinds, NestedType};

/// The possible types of each column, as far as workers have read. It only becomes less.
#[derive(Debug)]
pub(in crate::table) struct Guesses(Mutex<Vec<Guess>>);

/// The guess for one column.
#[derive(Clone, Debug)]
struct Guess {
    kinds: Kinds,
    /// The type of objects and arrays.
    nested: NestedType,
    /// The type, once all of them have been looked at.
    settled: Option<Arc<NestedType>>,
}

/// The values read in some columns.
pub(in crate::table) struct ColumnGuesses {
    pub(in crate::table) kinds: Vec<Kinds>,
    pub(in crate::table) nested: Vec<Option<NestedType>>,
}

/// The types of all columns.
pub(in crate::table) struct Settled {
    pub(in crate::table) kinds: Vec<ColumnType>,
    /// Arrow's names of them.
    pub(in crate::table) types: Vec<DataType>,
}

impl Guesses {
    pub(in crate::table) fn new(plan: &TablePlan) -> Self {
        let nested = NestedType::default();
        let guess = Guess { kinds: Kinds::MISSING, nested, settled: None };
        Self(Mutex::new(vec![guess; plan.columns.len()]))
    }

    fn all(&self) -> MutexGuard<'_, Vec<Guess>> {
        self.0.lock()
    }

    /// Returns what some columns can be.
    pub(in crate::table) fn of(&self, columns: &[usize]) -> Vec<Kinds> {
        let all = self.all();
        columns.iter().map(|&column| all[column].kinds).collect()
    }

    /// Returns the types of those columns that are nested, once they are settled.
    pub(in crate::table) fn nested_of(
        &self,
        columns: &[usize],
    ) -> Vec<Option<Arc<NestedType>>> {
        let all = self.all();
        columns.iter().map(|&column| all[column].settled.clone()).collect()
    }

    /// Adds what was seen in some columns.
    pub(in crate::table) fn add(&self, columns: &[usize], seen: ColumnGuesses) {
        let mut all = self.all();
        for ((&column, kinds), nested) in columns.iter().zip(seen.kinds).zip(seen.nested) {
            let guess = &mut all[column];
            guess.kinds |= kinds;
            let Some(nested) = nested.filter(|_| !guess.kinds.is_text()) else { continue };
            guess.nested.join(nested);
            if guess.nested.stays_text() {
                (guess.kinds, guess.nested) = (Kinds::TEXT, NestedType::default());
            }
        }
    }

    /// Makes what is known of nested columns their types.
    pub(in crate::table) fn settle(&self) {
        for guess in self.all().iter_mut().filter(|it| it.kinds.column_type().is_nested()) {
            guess.settled = Some(Arc::new(guess.nested.clone()));
        }
    }

    /// Returns the types that all columns have now. From here on, nested values are more than looked at.
    pub(in crate::table) fn settled(&self, plan: &TablePlan) -> Settled {
        self.settle();
        let kinds = self.types(plan);
        let types = self.data_types(&kinds);
        Settled { kinds, types }
    }

    /// Returns how many values nested columns of this many rows have on all levels.
    pub(in crate::table) fn nested_values(&self, rows: u64) -> u64 {
        let settled = |guess: &Guess| guess.settled.as_ref().map_or(0, |it| it.values(rows));
        self.all().iter().map(settled).fold(0, u64::saturating_add)
    }

    /// Returns the types of all columns.
    pub(in crate::table) fn types(&self, plan: &TablePlan) -> Vec<ColumnType> {
        let all = self.all();
        plan.columns
            .iter()
            .zip(&*all)
            .map(|(column, guess)| plan.kind(column, guess.kinds))
            .collect()
    }

    /// Returns Arrow's names of these types of all columns.
    pub(in crate::table) fn data_types(&self, kinds: &[ColumnType]) -> Vec<DataType> {
        let of = |(guess, kind): (&Guess, &ColumnType)| match &guess.settled {
            Some(nested) if kind.is_nested() => nested.data_type(),
            _ => kind.data_type(),
        };
        self.all().iter().zip(kinds).map(of).collect()
    }
}
