//! Tables as row-major arrays.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use swath::{Array, Block, Source};
use swath_simd::Tokens;

use super::diagnose::{self, Refusal};
use super::dialect::Dialect;
use super::fields::{Fields, Wrong, bare};
use super::head::{self, Head};
use super::lines;
use super::options::{Missing, TableOptions};
use super::select::Picking;
use super::value::Value;
use crate::error::{Error, FormatReason, Result};
use crate::input::Text;
use crate::number::parse::refusal;
use crate::text::Fault;

/// The size of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableShape {
    /// Number of data lines.
    pub rows: usize,
    /// Fields per line.
    pub columns: usize,
    /// The names in the header, if there is one.
    pub names: Option<Vec<String>>,
}

/// A table in memory.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub struct Table<T: Value> {
    /// Number of data lines.
    pub rows: usize,
    /// Fields per line.
    pub columns: usize,
    /// The names in the header, if there is one.
    pub names: Option<Vec<String>>,
    /// Row by row, `rows * columns` values.
    pub values: Array<T>,
}

/// Reads the table in `source` with default options.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("points.csv");
/// std::fs::write(&path, "1,2\n3,4\n")?;
/// let table = swath_formats::table::read::<i64>(&path)?;
/// assert_eq!(table.values[..], [1, 2, 3, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Those of [`TableOptions::read`].
pub fn read<T: Value>(source: impl Into<Source>) -> Result<Table<T>> {
    TableOptions::new().read(source)
}

/// Counts the rows and columns of the table in `source` without parsing it.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("points.csv");
/// std::fs::write(&path, "x,y\n1,2\n3,4\n")?;
/// let shape = swath_formats::table::shape(&path)?;
/// assert_eq!((shape.rows, shape.columns), (2, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Those of [`TableOptions::shape`].
pub fn shape(source: impl Into<Source>) -> Result<TableShape> {
    TableOptions::new().shape(source)
}

impl TableOptions {
    /// Reads the table in `source` into an array. Allocates nothing else of that size.
    ///
    /// # Errors
    ///
    /// [`FormatReason::Malformed`] for text that is not a table or not a number, rows of different
    /// lengths, an unclosed quote, or a missing value where [`Missing::Refused`] forbids it;
    /// [`FormatReason::TooLarge`] for a number that does not fit `T`, and for a whole number that no
    /// value of `T` is. The first of these in the file is reported. [`FormatReason::Invalid`] for options that contradict each other; whatever
    /// reading reports.
    pub fn read<T: Value>(&self, source: impl Into<Source>) -> Result<Table<T>> {
        let plan = Plan::<T>::make(source.into(), self)?;
        let mut values = Array::zeroed(plan.values())?;
        plan.fill(&mut values)?;
        let TableShape { rows, columns, names } = plan.shape();
        Ok(Table { rows, columns, names, values })
    }

    /// Reads the table in `source` into the caller's memory, row by row.
    ///
    /// ```
    /// use swath_formats::table::TableOptions;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("points.csv");
    /// std::fs::write(&path, "1,2\n3,4\n")?;
    /// let mut values = [0.0; 4];
    /// TableOptions::new().read_into(&path, &mut values)?;
    /// assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`read`](Self::read); [`FormatReason::Invalid`] unless `out` has exactly as many
    /// values as the table. [`shape`](Self::shape) returns that number.
    pub fn read_into<T: Value>(
        &self,
        source: impl Into<Source>,
        out: &mut [T],
    ) -> Result<TableShape> {
        let plan = Plan::<T>::make(source.into(), self)?;
        if plan.values() != out.len() {
            let (rows, columns) = (plan.rows, plan.head.width());
            let detail = format!(
                "the table has {rows} rows of {columns} values, but the target holds {} values",
                out.len()
            );
            return Err(Error::reading(plan.input.path(), FormatReason::Invalid, detail));
        }
        plan.fill(out)?;
        Ok(plan.shape())
    }

    /// Counts the rows and columns of the table in `source` without parsing it.
    ///
    /// # Errors
    ///
    /// Those of [`read`](Self::read), except errors that only parsing finds.
    pub fn shape(&self, source: impl Into<Source>) -> Result<TableShape> {
        let (input, head) = head::open(source.into(), self)?;
        let counts = count_rows(&input, self, &head)?;
        let rows = counts.iter().map(|&(_, rows)| rows).sum();
        Ok(TableShape { rows, columns: head.width(), names: head.names() })
    }
}

/// Calls `map` for the blocks of lines after the header, and returns the results in the order of
/// the file.
pub(super) fn map_blocks<R: Send>(
    input: &Text,
    options: &TableOptions,
    head: &Head,
    map: impl Fn(Block<'_>) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let read = options.read.clone().without_extent().with_offset(head.data);
    let records = read.records(input.source());
    let records = match options.starting_in {
        Some(extent) => records.with_starting_in(extent),
        None => records,
    };
    match options.block_size {
        Some(size) => records.with_block_size(size).map_blocks(map),
        None => records.map_blocks(map),
    }
}

/// Counts the rows of each block.
pub(super) fn count_rows(
    input: &Text,
    options: &TableOptions,
    head: &Head,
) -> Result<Vec<(u64, usize)>> {
    map_blocks(input, options, head, |block| {
        Ok((block.index, lines::count(block.bytes, &head.dialect)))
    })
}

/// Returns the first fault of a file that has one.
pub(super) fn first_fault(
    input: &Text,
    options: &TableOptions,
    head: &Head,
    check: impl Fn(usize, &[u8]) -> std::result::Result<(), Refusal> + Sync,
) -> Result<Error> {
    let look =
        |block: Block<'_>| match diagnose::first_fault(block.bytes, block.offset, head, &check)
        {
            Some(fault) => Err(fault.into_error(input)),
            None => Ok(()),
        };
    map_blocks(input, options, head, look).map(|_| {
        let fault = Fault::malformed(0, "the file changed while it was read");
        fault.into_error(input)
    })
}

/// Returns the value that replaces a missing one.
pub(super) fn stand_in<T: Value>(path: &Path, missing: Missing) -> Result<Option<T>> {
    match missing {
        Missing::Natural => Ok(T::natural()),
        Missing::Refused => Ok(None),
        Missing::Value(value) => match T::exactly(value) {
            Some(value) => Ok(Some(value)),
            None => {
                let detail = format!(
                    "{value}, the stand-in for missing values, does not fit {}",
                    T::NAME
                );
                Err(Error::reading(path, FormatReason::Invalid, detail))
            }
        },
    }
}

/// Refuses a stand-in for missing values, which columns do not need.
pub(super) fn refuse_stand_in(input: &Text, options: &TableOptions) -> Result<()> {
    if !matches!(options.missing, Missing::Value(_)) {
        return Ok(());
    }
    let detail = "columns mark missing values with a bit and need no stand-in";
    Err(Error::reading(input.path(), FormatReason::Invalid, detail))
}

/// Where everything is stored.
struct Plan<'p, T> {
    input: Text,
    options: &'p TableOptions,
    head: Head,
    rows: usize,
    /// Number of rows in each block.
    counts: Vec<(u64, usize)>,
    missing: Option<T>,
}

impl<'p, T: Value> Plan<'p, T> {
    fn make(source: Source, options: &'p TableOptions) -> Result<Self> {
        let (input, head) = head::open(source, options)?;
        if !options.kinds.is_empty() {
            let detail = "the options give types to columns, but an array has one type";
            return Err(Error::reading(input.path(), FormatReason::Invalid, detail));
        }
        let missing = stand_in(input.path(), options.missing)?;
        let counts = count_rows(&input, options, &head)?;
        let rows = counts.iter().map(|&(_, rows)| rows).sum();
        let plan = Self { input, options, head, rows, counts, missing };
        if plan.is_impossible() {
            return Err(plan.find_fault()?);
        }
        Ok(plan)
    }

    fn values(&self) -> usize {
        self.rows.saturating_mul(self.head.width())
    }

    fn shape(self) -> TableShape {
        TableShape { rows: self.rows, columns: self.head.width(), names: self.head.names() }
    }

    /// Whether the file is too short for this many fields. Each but the last is followed by a byte.
    fn is_impossible(&self) -> bool {
        self.rows.saturating_mul(self.head.dialect.columns) as u64 > self.head.len + 1
    }

    /// Returns the first fault of a file that has one.
    fn find_fault(&self) -> Result<Error> {
        let dialect = &self.head.dialect;
        let check = |_, bare: &[u8]| check_field::<T>(bare, dialect, self.missing.is_some());
        first_fault(&self.input, self.options, &self.head, check)
    }

    /// Parses everything into its place in `out`.
    fn fill(&self, mut out: &mut [T]) -> Result<()> {
        let mut parts = Vec::with_capacity(self.counts.len());
        for &(index, rows) in &self.counts {
            let (part, rest) = std::mem::take(&mut out).split_at_mut(rows * self.head.width());
            out = rest;
            parts.push((index, Mutex::new(Some(part))));
        }
        map_blocks(&self.input, self.options, &self.head, |block| {
            let part = parts.binary_search_by_key(&block.index, |&(index, _)| index);
            let part = part.ok().and_then(|at| {
                parts[at].1.lock().unwrap_or_else(PoisonError::into_inner).take()
            });
            part.ok_or(Wrong).and_then(|part| self.parse(block.bytes, part)).map_err(|Wrong| {
                let check = |_, bare: &[u8]| self.check(bare);
                let fault = diagnose::fault(block.bytes, block.offset, &self.head, check);
                fault.into_error(&self.input)
            })
        })?;
        Ok(())
    }

    /// Parses one block.
    fn parse(&self, block: &[u8], out: &mut [T]) -> std::result::Result<(), Wrong> {
        let (dialect, picked) = (&self.head.dialect, self.head.picked.as_ref());
        let mut fields = Fields::new();
        let mut picking = Picking::new(picked, dialect.columns);
        let mut left = &mut *out;
        for run in lines::runs(block, dialect) {
            let wanted = run.rows * self.head.width();
            let (mut slots, rest) = left.split_at_mut_checked(wanted).ok_or(Wrong)?;
            fields.each(run, dialect, |tokens| {
                let tokens = picking.pick(tokens);
                let count = tokens.ends.len();
                let (now, later) =
                    std::mem::take(&mut slots).split_at_mut_checked(count).ok_or(Wrong)?;
                slots = later;
                parse_all(tokens, now, dialect, self.missing)
            })?;
            left = rest;
        }
        if !left.is_empty() {
            return Err(Wrong);
        }
        if let Some(picked) = picked {
            picked.arrange_rows(out);
        }
        Ok(())
    }

    /// Returns what is wrong with a field, if anything.
    fn check(&self, bare: &[u8]) -> std::result::Result<(), Refusal> {
        check_field::<T>(bare, &self.head.dialect, self.missing.is_some())
    }
}

/// Returns why a field is not a `T`, if it is not.
pub(super) fn check_field<T: Value>(
    bare: &[u8],
    dialect: &Dialect,
    has_stand_in: bool,
) -> std::result::Result<(), Refusal> {
    if dialect.is_missing(bare) {
        let missing = || (FormatReason::Malformed, String::from("a value is missing"));
        return has_stand_in.then_some(()).ok_or_else(missing);
    }
    match T::parse(bare) {
        Some(_) => Ok(()),
        None => Err(refusal(bare, T::NAME)),
    }
}

/// Parses tokens into values: plain ones together, the others one by one.
pub(super) fn parse_all<T: Value>(
    tokens: Tokens<'_>,
    out: &mut [T],
    dialect: &Dialect,
    missing: Option<T>,
) -> std::result::Result<(), Wrong> {
    let mut done = 0;
    loop {
        let rest =
            Tokens { starts: &tokens.starts[done..], ends: &tokens.ends[done..], ..tokens };
        done += T::parse_many(rest, &mut out[done..]);
        if done == out.len() {
            return Ok(());
        }
        let bare = bare(tokens.text, tokens.starts[done], tokens.ends[done], dialect);
        out[done] = parse_one(bare, dialect, missing).ok_or(Wrong)?;
        done += 1;
    }
}

/// Parses a field that is not plain.
fn parse_one<T: Value>(bare: &[u8], dialect: &Dialect, missing: Option<T>) -> Option<T> {
    if dialect.is_missing(bare) { missing } else { T::parse(bare) }
}
