//! Tables of numbers of one type as arrays, row by row.
//!
//! ```text
//! file     a,b,c¶ | 1,2.5,3¶4,,6¶ | 7,8e-3,9¶     names, blocks of whole records
//! count            | 2             | 1             records per block: they place it in the array
//! array            | 1 2.5 3 4 NaN 6 | 7 0.008 9   each block in its place, by any worker
//! ```
//!
//! The text is read twice. Counting records takes a fraction of the time of parsing them, and then
//! every number is written once, to its final place. So only the memory of the result is needed.

use std::path::Path;

use swath::machine::Mutex;
use swath::{Array, Source};

use super::count::{Count, TableCounts, counts};
use super::search::FaultSearch;
use super::tally::{ArrayTally, add_by_row};
use crate::error::{Error, FormatReason, Result};
use crate::table::open::report::TableReport;
use crate::table::open::table::Table;
use crate::table::options::BatchOptions;
use crate::table::options::choices::Missing;
use crate::table::read;
use crate::table::text::dialect::{Between, Dialect};
use crate::table::text::faults::{self, Problem};
use crate::table::text::pass::{RecordPart, RecordPiece};
use crate::table::text::places::Places;
use crate::table::text::rows::Rows;
use crate::table::text::shape::RecordShape;
use crate::table::types::{ColumnType, fill};
use crate::table::value::Value;
use crate::table::write::BatchForm;

/// The size of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableShape {
    /// Number of records.
    pub rows: usize,
    /// Columns that are read.
    pub columns: usize,
    /// The names of these columns, if the table has names.
    pub names: Option<Vec<String>>,
}

/// A table of numbers of one type, in memory.
#[derive(Debug)]
#[non_exhaustive]
pub struct TableArray<T: Value> {
    /// Number of records.
    pub rows: usize,
    /// Columns that were read.
    pub columns: usize,
    /// The names of these columns, if the table has names.
    pub names: Option<Vec<String>>,
    /// Row by row, `rows * columns` values.
    pub values: Array<T>,
    /// The report of the table.
    pub report: TableReport,
}

/// Reads the table of numbers in `source` with default options.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("points.csv");
/// std::fs::write(&path, "x,y\n1,2.5\n3,\n")?;
/// let table = swath_formats::table::read_array::<f64>(&path)?;
/// assert_eq!((table.rows, table.columns), (2, 2));
/// assert_eq!(table.names.as_deref(), Some(&["x".to_owned(), "y".to_owned()][..]));
/// assert_eq!(table.values[..3], [1.0, 2.5, 3.0]);
/// assert!(table.values[3].is_nan());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The errors of [`BatchOptions::read_array`].
pub fn read_array<T: Value>(source: impl Into<Source>) -> Result<TableArray<T>> {
    BatchOptions::new().read_array(source)
}

impl BatchOptions {
    /// Reads the table in `source` into an array. The array is the only allocation of that size.
    ///
    /// # Errors
    ///
    /// The errors of [`read_batches`](Self::read_batches) with the type of `T` given for all
    /// columns; also for a missing value if [`with_missing`](Self::with_missing) has no substitute.
    /// [`FormatReason::Invalid`] for options that give single columns types, formats or words.
    pub fn read_array<T: Value>(&self, source: impl Into<Source>) -> Result<TableArray<T>> {
        self.read_array_of([source])
    }

    /// Reads several sources with the same columns, one below the other.
    ///
    /// ```
    /// use swath_formats::table::BatchOptions;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let paths = ["a.csv", "b.csv"].map(|name| folder.path().join(name));
    /// std::fs::write(&paths[0], "x,y\n1,2\n")?;
    /// std::fs::write(&paths[1], "x,y\n3,4\n")?;
    /// let table = BatchOptions::new().read_array_of::<i64, _>(&paths)?;
    /// assert_eq!(table.values[..], [1, 2, 3, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`read_array`](Self::read_array).
    pub fn read_array_of<T: Value, S: Into<Source>>(
        &self,
        sources: impl IntoIterator<Item = S>,
    ) -> Result<TableArray<T>> {
        let plan = ArrayPlan::<T>::new(sources.into_iter().map(Into::into).collect(), self)?;
        let mut values = Array::zeroed(plan.values())?;
        let filled = plan.fill(&mut values)?;
        let report = plan.report(&filled)?;
        let TableShape { rows, columns, names } = plan.shape();
        Ok(TableArray { rows, columns, names, values, report })
    }

    /// Reads the table in `source` into the caller's memory, row by row.
    ///
    /// ```
    /// use swath_formats::table::BatchOptions;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("points.csv");
    /// std::fs::write(&path, "1,2\n3,4\n")?;
    /// let mut values = [0.0; 4];
    /// BatchOptions::new().read_array_into(&path, &mut values)?;
    /// assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`read_array`](Self::read_array); [`FormatReason::Invalid`] unless `out` has
    /// exactly as many values as the table. [`shape`](Self::shape) returns that number.
    pub fn read_array_into<T: Value>(
        &self,
        source: impl Into<Source>,
        out: &mut [T],
    ) -> Result<TableShape> {
        let plan = ArrayPlan::<T>::new(vec![source.into()], self)?;
        if plan.values() != out.len() {
            let detail = format!(
                "the table has {} rows of {} values, but the target holds {} values",
                plan.rows(),
                plan.width(),
                out.len()
            );
            return Err(Error::reading(plan.path(), FormatReason::Invalid, detail));
        }
        plan.fill(out)?;
        Ok(plan.shape())
    }

    /// Counts the rows and columns of the table in `source` without parsing it.
    ///
    /// ```
    /// use swath_formats::table::BatchOptions;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("points.csv");
    /// std::fs::write(&path, "x,y\n1,2\n3,4\n")?;
    /// let shape = BatchOptions::new().shape(&path)?;
    /// assert_eq!((shape.rows, shape.columns), (2, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`read_array`](Self::read_array), except those that only parsing finds.
    pub fn shape(&self, source: impl Into<Source>) -> Result<TableShape> {
        let options = Self { missing: Missing::Natural, ..self.clone() };
        Ok(ArrayPlan::<f64>::new(vec![source.into()], &options)?.shape())
    }
}

/// The place of each value in the array.
struct ArrayPlan<T> {
    table: Table,
    /// In the order of the table.
    counts: TableCounts,
    missing: Option<T>,
    /// The columns of the file, in the order of the array; `None` if it has all of them in order.
    picked: Option<Vec<usize>>,
    /// The shape of plain blocks.
    plain: RecordShape,
    /// Memory that no worker is using.
    idle: Mutex<Vec<(Rows, Places)>>,
}

impl<T: Value> ArrayPlan<T> {
    fn new(sources: Vec<Source>, options: &BatchOptions) -> Result<Self> {
        let kind: ColumnType = T::NAME.parse().unwrap_or(ColumnType::F64);
        let given = options.all_types.is_some_and(|given| given != kind);
        let options = BatchOptions { is_array: true, all_types: Some(kind), ..options.clone() };
        let mut table = Table::open(sources, &options)?;
        check(table.files[0].path(), &options, given)?;
        if !table.has_all_keys {
            table.find_keys()?;
        }
        let missing = stand_in(table.files[0].path(), options.missing)?;
        table.plan.needs_values = missing.is_none();
        let columns = &table.plan.columns;
        let picked = table.plan.order.iter().map(|&at| columns[at].index).collect::<Vec<_>>();
        let are_all = picked.iter().copied().eq(0..table.plan.shape(0).columns);
        let (counts, failed) = match counts(&table) {
            Ok(counts) => (counts, None),
            Err(error) => (TableCounts::default(), Some(error)),
        };
        let picked = (!are_all).then_some(picked);
        let mut plain = table.plan.shape(0).clone();
        plain.dialect = Dialect { quote: None, escape: None, comment: None, ..plain.dialect };
        let plan = Self { table, counts, missing, picked, plain, idle: Mutex::default() };
        // Earlier records may have faults that only parsing finds.
        if let Some(error) = failed {
            return Err(plan.first_fault()?.unwrap_or(error));
        }
        plan.check_room()?;
        Ok(plan)
    }

    fn path(&self) -> &Path {
        self.table.files[0].path()
    }

    fn width(&self) -> usize {
        self.table.plan.order.len()
    }

    fn rows(&self) -> usize {
        self.counts.blocks.iter().map(|count| count.rows).sum()
    }

    fn values(&self) -> usize {
        self.rows().saturating_mul(self.width())
    }

    fn shape(self) -> TableShape {
        let (rows, table) = (self.rows(), self.table);
        let has_names = table.heads[0].lines > 0 || table.options.form == BatchForm::JsonLines;
        let plan = &table.plan;
        let names = plan.order.iter().map(|&at| plan.columns[at].shown().to_owned()).collect();
        TableShape { rows, columns: plan.order.len(), names: has_names.then_some(names) }
    }

    /// Refuses a table with a fault in its records, or with more values than fit into memory.
    fn check_room(&self) -> Result<()> {
        let RecordShape { columns, dialect, ragged, .. } = self.table.plan.shape(0);
        let len: u64 = self.table.files.iter().map(|file| file.text.len() + 1).sum();
        let has_ends = !matches!(dialect.between, Between::Json | Between::Fixed);
        // A byte follows each field but the last, so some record has too few fields.
        let is_short = has_ends
            && !ragged.takes(0, *columns)
            && self.rows().saturating_mul(*columns) as u64 > len;
        if is_short || self.counts.has_fault {
            let fault = self.first_fault()?;
            return Err(fault.unwrap_or_else(|| self.table.error(0, faults::changed(0))));
        }
        let bytes = self.values().saturating_mul(size_of::<T>()) as u64;
        if bytes <= crate::table::open::fit::LITTLE.max(len.saturating_mul(8)) {
            return Ok(());
        }
        let left = swath::machine::memory_at_hand().unwrap_or(u64::MAX);
        if bytes <= left {
            return Ok(());
        }
        let detail = format!(
            "an array of {} rows and {} columns takes {bytes} bytes: {left} are available",
            self.rows(),
            self.width()
        );
        let error = Error::reading(self.path(), FormatReason::OutOfMemory, detail);
        Err(error.hint("select columns with `columns`"))
    }

    /// Returns what was found in the table.
    fn report(&self, filled: &ArrayTally) -> Result<TableReport> {
        let table = &self.table;
        let mut known = table.report();
        known.add(self.counts.lines);
        let kinds: Vec<_> =
            table.plan.columns.iter().filter_map(|column| column.told).collect();
        let (none, ArrayTally { nulls, changes }) = (vec![None; kinds.len()], filled);
        Ok(TableReport {
            columns: read::columns(table, &kinds, &none, nulls, changes)?,
            rows: self.rows() as u64,
            set_aside: table.set_aside(&self.counts.aside)?,
            ..known
        })
    }

    /// Returns the first fault of a table that has one.
    fn first_fault(&self) -> Result<Option<Error>> {
        let shape = self.table.plan.shape(0);
        for file in 0..self.table.files.len() {
            let passed = self.table.pass(file).each(&|piece: RecordPiece<'_>| {
                let mut found = TableCounts::default();
                let rows: usize = piece.parts().map(|part| found.add(file, part, shape)).sum();
                let rows = if found.has_fault { 0 } else { rows * self.width() };
                let filled = ArrayTally::new(self.width());
                self.parse(file, &piece, false, &mut vec![T::default(); rows], &filled)
                    .map_err(|problem| self.table.error(file, problem).into())
            });
            if let Err(error) = passed {
                return Ok(Some(error));
            }
        }
        Ok(None)
    }

    /// Parses everything into its place in `out`.
    fn fill(&self, mut out: &mut [T]) -> Result<ArrayTally> {
        let counts = &self.counts.blocks;
        let filled = ArrayTally::new(self.width());
        let mut places = Vec::with_capacity(counts.len());
        for count in counts {
            let (place, rest) =
                std::mem::take(&mut out).split_at_mut(count.rows * self.width());
            out = rest;
            places.push(Mutex::new(Some(place)));
        }
        for file in 0..self.table.files.len() {
            let pass = self.table.pass(file);
            // Plain blocks have no quotes to search for again.
            let is_plain = pass.is_whole() && counts.iter().all(|count| count.is_plain);
            let pass = if is_plain { pass.without_quotes() } else { pass };
            pass.each(&|piece: RecordPiece<'_>| {
                let key = |count: &Count| (count.file, count.index);
                let found = counts.binary_search_by_key(&(file, piece.index), key).ok();
                let place = found.and_then(|at| places[at].lock().take()).unwrap_or_default();
                let is_plain = found.is_some_and(|at| counts[at].is_plain);
                self.parse(file, &piece, is_plain, place, &filled)
                    .map_err(|problem| self.table.error(file, problem).into())
            })?;
        }
        Ok(filled.into_inner())
    }

    /// Parses one block. It is plain if each of its lines is a record without quotes.
    fn parse(
        &self,
        file: usize,
        piece: &RecordPiece<'_>,
        is_plain: bool,
        out: &mut [T],
        filled: &Mutex<ArrayTally>,
    ) -> std::result::Result<(), Problem> {
        let part = |out, part| self.part(file, part, is_plain, out, filled);
        let parsed = piece.parts().try_fold(out, part);
        match parsed {
            Some([]) => Ok(()),
            _ => {
                let mut search = FaultSearch::new(&self.table.plan, self.table.plan.shape(0));
                let first =
                    piece.parts().find_map(|part| search.first(part.bytes, part.offset));
                let at = piece.parts().next().map_or(0, |part| part.offset);
                Err(first.unwrap_or_else(|| faults::changed(at)))
            }
        }
    }

    /// Parses records; returns the rest of the place, or `None` if there is a fault.
    fn part<'o>(
        &self,
        file: usize,
        part: RecordPart<'_>,
        mut is_plain: bool,
        mut out: &'o mut [T],
        filled: &Mutex<ArrayTally>,
    ) -> Option<&'o mut [T]> {
        let (plan, width) = (&self.table.plan, self.width());
        let (mut gone, mut changes) = (Vec::new(), Vec::new());
        let mut missing = |at: usize| {
            gone.resize(width, 0_u64);
            gone[at % width] += 1;
            self.missing
        };
        let rules = &plan.rules[plan.columns.first().map_or(0, |column| column.rules)];
        let (mut rows, mut places) = self.idle.lock().pop().unwrap_or_default();
        let mut at = 0;
        let shape = if is_plain { &self.plain } else { plan.shape(0) };
        while at < part.bytes.len() {
            let found = if is_plain { rows.fill_plain(part.bytes, at, shape) } else { None };
            is_plain = found.is_some();
            at = match found {
                Some(next) => next,
                None => rows.fill(part.bytes, at, shape).ok()?,
            };
            let fields = rows.fields(part.bytes, self.picked.as_deref(), &mut places);
            let (now, rest) = out.split_at_mut_checked(fields.len())?;
            let record = |row: usize| (file, part.offset + rows.start(row) as u64);
            let mut note =
                |first, flags| add_by_row(&mut changes, width, first, flags, &record);
            fill(fields, rules, now, &mut missing, &mut note).ok()?;
            out = rest;
        }
        filled.lock().add(&plan.order, &gone, &changes);
        self.idle.lock().push((rows, places));
        Some(out)
    }
}

/// Refuses options for single columns.
fn check(path: &Path, options: &BatchOptions, has_types: bool) -> Result<()> {
    let set = [
        (has_types || !options.types.is_empty(), "types"),
        (!options.formats.is_empty(), "formats"),
        (!options.words_of.is_empty(), "words of columns"),
        (options.file_column.is_some(), "file_column"),
        (options.union_by_name, "union_by_name"),
    ];
    match set.iter().find(|(is_set, _)| *is_set) {
        Some((_, what)) => {
            let detail = format!("an array has values of one type: `{what}` is for batches");
            let error = Error::reading(path, FormatReason::Invalid, detail);
            Err(error.hint("leave it out, or read batches"))
        }
        None => Ok(()),
    }
}

/// Returns the value that replaces a missing one.
fn stand_in<T: Value>(path: &Path, missing: Missing) -> Result<Option<T>> {
    match missing {
        Missing::Natural => Ok(T::natural()),
        Missing::Refused => Ok(None),
        Missing::Value(value) => match T::exactly(value) {
            Some(value) => Ok(Some(value)),
            None => {
                let name = T::NAME;
                let detail =
                    format!("{value}, the stand-in for missing values, does not fit {name}");
                Err(Error::reading(path, FormatReason::Invalid, detail))
            }
        },
    }
}
