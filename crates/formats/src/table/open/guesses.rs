//! The types of columns, as inferred from the values parsed.

use std::sync::Arc;

use arrow_schema::DataType;
use swath::machine::{Mutex, MutexGuard};

use super::plan::TablePlan;
use crate::table::types::{ColumnType, Kinds, NestedType};

/// The possible types of each column, from the values parsed by all workers. The set only shrinks.
#[derive(Debug)]
pub(in crate::table) struct Guesses(Mutex<Vec<Guess>>);

/// The guess for one column.
#[derive(Clone, Debug)]
struct Guess {
    kinds: Kinds,
    /// The inferred type of objects and arrays.
    nested: NestedType,
    /// That type, once all of them have been examined.
    settled: Option<Arc<NestedType>>,
}

/// The kinds of the values read in some columns.
pub(in crate::table) struct ColumnGuesses {
    pub(in crate::table) kinds: Vec<Kinds>,
    pub(in crate::table) nested: Vec<Option<NestedType>>,
}

/// The types of all columns.
pub(in crate::table) struct Settled {
    pub(in crate::table) kinds: Vec<ColumnType>,
    /// Their Arrow types.
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

    /// Returns the possible kinds of some columns.
    pub(in crate::table) fn of(&self, columns: &[usize]) -> Vec<Kinds> {
        let all = self.all();
        columns.iter().map(|&column| all[column].kinds).collect()
    }

    /// Returns the settled types of those columns that are nested.
    pub(in crate::table) fn nested_of(
        &self,
        columns: &[usize],
    ) -> Vec<Option<Arc<NestedType>>> {
        let all = self.all();
        columns.iter().map(|&column| all[column].settled.clone()).collect()
    }

    /// Adds the kinds of values read in some columns.
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

    /// Settles the inferred types of nested columns.
    pub(in crate::table) fn settle(&self) {
        for guess in self.all().iter_mut().filter(|it| it.kinds.column_type().is_nested()) {
            guess.settled = Some(Arc::new(guess.nested.clone()));
        }
    }

    /// Settles and returns the types of all columns. From then on, nested values are kept when
    /// parsed.
    pub(in crate::table) fn settled(&self, plan: &TablePlan) -> Settled {
        self.settle();
        let kinds = self.types(plan);
        let types = self.data_types(&kinds);
        Settled { kinds, types }
    }

    /// Returns the number of values on all levels of nested columns with this many rows.
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

    /// Returns the Arrow types of all columns.
    pub(in crate::table) fn data_types(&self, kinds: &[ColumnType]) -> Vec<DataType> {
        let of = |(guess, kind): (&Guess, &ColumnType)| match &guess.settled {
            Some(nested) if kind.is_nested() => nested.data_type(),
            _ => kind.data_type(),
        };
        self.all().iter().zip(kinds).map(of).collect()
    }
}
