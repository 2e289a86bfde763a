//! Reads columns, and determines their types.
//!
//! The first lines show the likely types: a column in which they have a fraction is certainly one
//! of doubles. If the first fraction of a column comes later, everything is parsed again. So the
//! result does not depend on how blocks were cut.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use swath::{Array, Block, ReadOptions, Source};
use swath_simd::{RowsMut, Tokens, split_rows};

use super::array::{count_rows, first_fault, map_blocks, refuse_stand_in};
use super::columns::{Column, ColumnKind, Columns, Shared};
use super::diagnose::{self, Refusal};
use super::fields::{Fields, Wrong, bare};
use super::head::{self, Head};
use super::lines;
use super::options::{Missing, TableOptions};
use super::select::Picking;
use super::value::sealed::Value;
use crate::error::{Error, FormatReason, Result};
use crate::input::Text;
use crate::memory::room_for;
use crate::number::parse::{double, refusal, signed};

type Checked<T> = std::result::Result<T, Wrong>;

/// Reads the table in `source` as columns, each of the type that holds all its values.
///
/// ```
/// use swath_formats::table::{self, Values};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("points.csv");
/// std::fs::write(&path, "n,x\n1,2.5\n3,\n")?;
/// let table = table::read_columns(&path)?;
/// assert_eq!(table.columns[0].values(), Values::I64(&[1, 3]));
/// assert!(!table.columns[1].is_valid(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Those of [`TableOptions::read_columns`].
pub fn read_columns(source: impl Into<Source>) -> Result<Columns> {
    TableOptions::new().read_columns(source)
}

impl TableOptions {
    /// Reads the table in `source` as columns of integers and doubles.
    ///
    /// The validity bit of a missing value is 0, unless [`Missing::Refused`] makes it an error. A
    /// column without any value becomes one of doubles.
    ///
    /// # Errors
    ///
    /// Those of [`read`](Self::read). [`FormatReason::TooLarge`] also for an integer that does not
    /// fit `i64` in a column without fractions: as a double it would be a different number.
    /// [`FormatReason::Invalid`] for [`Missing::Value`], which columns do not need.
    /// [`FormatReason::Malformed`] for a number with a fraction in a column that
    /// [`with_kinds`](Self::with_kinds) says has integers.
    pub fn read_columns(&self, source: impl Into<Source>) -> Result<Columns> {
        self.columns_from(source.into())
    }

    fn columns_from(&self, source: Source) -> Result<Columns> {
        let (input, head) = head::open(source, self)?;
        refuse_stand_in(&input, self)?;
        let columns = head.dialect.columns;
        room_for(columns.saturating_mul(COLUMN))
            .map_err(|_| head::no_room(head.data, columns).into_error(&input))?;
        let counts = count_rows(&input, self, &head)?;
        let rows = counts.iter().map(|&(_, rows)| rows).sum::<usize>();
        let mut kinds = likely(&input, &head)?;
        let mut inference =
            Inference { input: &input, options: self, head: &head, counts, rows };
        if (rows.saturating_mul(head.dialect.columns)) as u64 > head.len + 1 {
            return Err(inference.find_fault(&kinds, false)?);
        }
        let mut words = Array::<u64>::zeroed(rows * kinds.len())?;
        loop {
            let (found, masks) = inference.fill(&kinds, &mut words)?;
            let again = settle(&mut kinds, &found, &head);
            if has_misfit(&kinds, &found) {
                return Err(inference.find_fault(&kinds, true)?);
            }
            if again {
                continue;
            }
            let counts = std::mem::take(&mut inference.counts);
            let columns = assemble(words, &kinds, rows, &counts, masks);
            let columns = match &head.picked {
                Some(picked) => picked.arrange(&columns),
                None => columns,
            };
            return Ok(Columns { rows, names: head.names(), columns });
        }
    }
}

/// Bytes that a column takes in addition to its values while it is read.
const COLUMN: usize = 128;
/// Bytes of the first lines that are inspected: at least this many, and this many per column.
const SAMPLE: u64 = 64 << 10;
const SAMPLE_OF_COLUMN: u64 = 64;

/// Makes columns ones of doubles that must be, unless the options say what they are. Returns whether
/// one of them has values, which were parsed as integers.
pub(super) fn settle(kinds: &mut [ColumnKind], found: &[Found], head: &Head) -> bool {
    let mut again = false;
    for (place, (kind, found)) in kinds.iter_mut().zip(found).enumerate() {
        let is_double = load(&found.double) || !load(&found.value);
        if *kind == ColumnKind::I64 && is_double && head.kind(place).is_none() {
            again |= load(&found.value);
            *kind = ColumnKind::F64;
        }
    }
    again
}

/// Whether a column of integers has a value that is not an `i64`.
pub(super) fn has_misfit(kinds: &[ColumnKind], found: &[Found]) -> bool {
    kinds.iter().zip(found).any(|(kind, found)| {
        *kind == ColumnKind::I64 && (load(&found.beyond) || load(&found.double))
    })
}

/// Returns the types that the options say, and the likely types of the other columns, judging by the
/// first lines.
pub(super) fn likely(input: &Text, head: &Head) -> Result<Vec<ColumnKind>> {
    let dialect = &head.dialect;
    let mut kinds = vec![ColumnKind::I64; head.width()];
    let wanted = SAMPLE.max(dialect.columns as u64 * SAMPLE_OF_COLUMN);
    let len = wanted.min(head.len.saturating_sub(head.data));
    let sample = ReadOptions::new().with_offset(head.data).with_len(len);
    let sample = sample.read(input.source())?;
    let mut lines: Vec<&[u8]> = sample.buffer.split(|&byte| byte == b'\n').collect();
    if len == wanted {
        // The last field may be cut off.
        let last = lines.pop().unwrap_or_default();
        let cut = last.iter().rposition(|&byte| dialect.separates(byte)).unwrap_or(0);
        lines.push(&last[..cut]);
    }
    for line in lines.into_iter().filter(|line| dialect.is_data(line)) {
        let fields = dialect.fields(line).map_while(|field| field.ok());
        for (column, field) in fields.take(dialect.columns).enumerate() {
            let Some(place) = head.place(column) else { continue };
            let bare = dialect.bare(&line[field.place]);
            if !dialect.is_missing(bare) && !is_integer(bare) && double(bare).is_some() {
                kinds[place] = ColumnKind::F64;
            }
        }
    }
    for (place, kind) in kinds.iter_mut().enumerate() {
        *kind = head.kind(place).unwrap_or(*kind);
    }
    Ok(kinds)
}

/// Whether a number consists of digits and a sign.
fn is_integer(bare: &[u8]) -> bool {
    bare.iter().all(|&byte| byte.is_ascii_digit() || byte == b'+' || byte == b'-')
}

/// What was seen in a column.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// A number that is not an integer.
    double: AtomicBool,
    /// An integer that is too large.
    beyond: AtomicBool,
    /// Any value that is not missing.
    value: AtomicBool,
}

/// Set by any worker, and read after all have been joined.
fn load(flag: &AtomicBool) -> bool {
    flag.load(Ordering::Relaxed)
}

/// One bit per row of a block, column by column: 1 where a value is missing. Empty for columns and
/// blocks without missing values.
type Masks = Vec<Vec<u8>>;

pub(super) struct Inference<'p> {
    pub(super) input: &'p Text,
    pub(super) options: &'p TableOptions,
    pub(super) head: &'p Head,
    /// Of each block; not needed to [look](Self::look).
    pub(super) counts: Vec<(u64, usize)>,
    pub(super) rows: usize,
}

impl Inference<'_> {
    /// Parses everything as `kinds` says.
    fn fill(
        &self,
        kinds: &[ColumnKind],
        words: &mut [u64],
    ) -> Result<(Vec<Found>, Vec<Masks>)> {
        let found: Vec<Found> = kinds.iter().map(|_| Found::default()).collect();
        let lens = self.counts.iter().map(|&(_, rows)| rows);
        let parts: Vec<_> = split_rows(words, self.rows, lens)
            .into_iter()
            .map(|part| Mutex::new(Some(part)))
            .collect();
        let masks = map_blocks(self.input, self.options, self.head, |block| {
            let at = self.counts.binary_search_by_key(&block.index, |&(index, _)| index);
            let part = at
                .ok()
                .and_then(|at| parts[at].lock().unwrap_or_else(PoisonError::into_inner).take());
            let filled = part.ok_or(Wrong).and_then(|rows| {
                let mut filling = Filling { inference: self, kinds, found: &found, rows };
                filling.fill(block)
            });
            filled.map_err(|Wrong| self.fault(block, kinds))
        })?;
        Ok((found, masks))
    }

    /// Parses everything as `kinds` says, and keeps nothing.
    pub(super) fn look(&self, kinds: &[ColumnKind]) -> Result<Vec<Found>> {
        let found: Vec<Found> = kinds.iter().map(|_| Found::default()).collect();
        let dialect = &self.head.dialect;
        map_blocks(self.input, self.options, self.head, |block| {
            let rows = lines::count(block.bytes, dialect);
            let is_possible = rows.saturating_mul(dialect.columns) <= block.bytes.len() + 1;
            let mut words = vec![0; if is_possible { rows * kinds.len() } else { 0 }];
            let part = split_rows(&mut words, rows, [rows]).into_iter().next();
            let filled = part.filter(|_| is_possible).ok_or(Wrong).and_then(|rows| {
                Filling { inference: self, kinds, found: &found, rows }.fill(block)
            });
            filled.map(drop).map_err(|Wrong| self.fault(block, kinds))
        })?;
        Ok(found)
    }

    /// Returns what is wrong with a block that could not be parsed.
    fn fault(&self, block: Block<'_>, kinds: &[ColumnKind]) -> Error {
        let check = |column: usize, bare: &[u8]| self.check(kinds[column], bare, false);
        diagnose::fault(block.bytes, block.offset, self.head, check).into_error(self.input)
    }

    pub(super) fn find_fault(&self, kinds: &[ColumnKind], is_final: bool) -> Result<Error> {
        first_fault(self.input, self.options, self.head, |column, bare| {
            self.check(kinds[column], bare, is_final)
        })
    }

    /// Returns what is wrong with a field, if anything. Until types are final, any number is
    /// accepted.
    fn check(
        &self,
        kind: ColumnKind,
        bare: &[u8],
        is_final: bool,
    ) -> std::result::Result<(), Refusal> {
        if self.head.dialect.is_missing(bare) {
            return match self.options.missing {
                Missing::Refused => {
                    Err((FormatReason::Malformed, String::from("a value is missing")))
                }
                _ => Ok(()),
            };
        }
        match kind {
            ColumnKind::I64 if is_final && signed(bare).is_none() => Err(refusal(bare, "i64")),
            ColumnKind::F64 if f64::parse(bare).is_none() => Err(refusal(bare, "f64")),
            _ if double(bare).is_none() => Err(refusal(bare, "f64")),
            _ => Ok(()),
        }
    }
}

/// One block that is being parsed into columns.
struct Filling<'f, 'm> {
    inference: &'f Inference<'f>,
    kinds: &'f [ColumnKind],
    found: &'f [Found],
    rows: RowsMut<'m, u64>,
}

/// The rows of the fields at hand within the block.
#[derive(Clone, Copy)]
struct Place {
    row: usize,
    column: usize,
}

impl Filling<'_, '_> {
    fn fill(&mut self, block: Block<'_>) -> Checked<Masks> {
        let dialect = &self.inference.head.dialect;
        let columns = self.kinds.len();
        // Enough rows at a time that the values of a column are parsed together.
        let mut fields = Fields::new().with_piece((dialect.columns * 512).min(1 << 20));
        let mut picking = Picking::new(self.inference.head.picked.as_ref(), dialect.columns);
        // Most blocks have no missing values, and there may be very many columns.
        let mut masks = Masks::new();
        let mut place = Place { row: 0, column: 0 };
        let mut column = Tokenised::default();
        for run in lines::runs(block.bytes, dialect) {
            fields.each(run, dialect, |tokens| {
                let tokens = picking.pick(tokens);
                let count = tokens.ends.len();
                for first in 0..count.min(columns) {
                    let at = place.column + first;
                    let (index, row) = (at % columns, place.row + at / columns);
                    let tokens = column.every(tokens, first, columns);
                    self.take(tokens, index, row, &mut masks)?;
                }
                place.row += (place.column + count) / columns;
                place.column = (place.column + count) % columns;
                Ok(())
            })?;
        }
        if place.row == self.rows.rows() { Ok(masks) } else { Err(Wrong) }
    }

    /// Takes consecutive fields of one column.
    fn take(
        &mut self,
        tokens: Tokens<'_>,
        index: usize,
        row: usize,
        masks: &mut Masks,
    ) -> Checked<()> {
        let (kind, found) = (self.kinds[index], &self.found[index]);
        let slots = self.rows.column(index);
        let slots = slots.get_mut(row..row + tokens.ends.len()).ok_or(Wrong)?;
        let mut done = 0;
        loop {
            let rest =
                Tokens { starts: &tokens.starts[done..], ends: &tokens.ends[done..], ..tokens };
            let slots = &mut slots[done..];
            let count = match kind {
                // Text never becomes unsigned integers.
                ColumnKind::I64 | ColumnKind::U64 => {
                    i64::parse_many(rest, bytemuck::cast_slice_mut(slots))
                }
                ColumnKind::F64 => f64::parse_many(rest, bytemuck::cast_slice_mut(slots)),
            };
            if count > 0 {
                // Relaxed: read after all workers have been joined.
                found.value.store(true, Ordering::Relaxed);
            }
            if count == slots.len() {
                return Ok(());
            }
            let (start, end) = (rest.starts[count], rest.ends[count]);
            let bare = bare(rest.text, start, end, &self.inference.head.dialect);
            match self.inference.parse_one(bare, kind, found)? {
                Some(word) => slots[count] = word,
                None => {
                    slots[count] = 0;
                    if masks.is_empty() {
                        masks.resize(self.kinds.len(), Vec::new());
                    }
                    set(&mut masks[index], row + done + count, self.inference.rows);
                }
            }
            done += count + 1;
        }
    }
}

impl Inference<'_> {
    /// Parses a field that is not plain; `None` if it is missing.
    fn parse_one(&self, bare: &[u8], kind: ColumnKind, found: &Found) -> Checked<Option<u64>> {
        if self.head.dialect.is_missing(bare) {
            let refused = self.options.missing == Missing::Refused;
            return if refused { Err(Wrong) } else { Ok(None) };
        }
        found.value.store(true, Ordering::Relaxed);
        double(bare).ok_or(Wrong)?;
        match (kind, signed(bare)) {
            (ColumnKind::F64, _) => {
                return f64::parse(bare).map(|value| Some(value.to_bits())).ok_or(Wrong);
            }
            (_, Some(integer)) => return Ok(Some(integer.cast_unsigned())),
            (_, None) => {}
        }
        let is_integer =
            bare.iter().all(|&byte| byte.is_ascii_digit() || b"+-".contains(&byte));
        let flag = if is_integer { &found.beyond } else { &found.double };
        flag.store(true, Ordering::Relaxed);
        // It will be parsed again, or rejected.
        Ok(Some(0))
    }
}

/// Sets the bit of a row, with room for at most `most` rows.
fn set(mask: &mut Vec<u8>, row: usize, most: usize) {
    if mask.len() <= row / 8 {
        mask.resize((row / 8 + 1).max(mask.len() * 2).min(most.div_ceil(8)), 0);
    }
    mask[row / 8] |= 1 << (row % 8);
}

/// Every n-th token.
#[derive(Default)]
struct Tokenised {
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Tokenised {
    fn every<'t>(&'t mut self, tokens: Tokens<'t>, first: usize, step: usize) -> Tokens<'t> {
        if step == 1 {
            return tokens;
        }
        let pick = |all: &[u32], some: &mut Vec<u32>| {
            some.clear();
            some.extend(all[first..].iter().step_by(step));
        };
        pick(tokens.starts, &mut self.starts);
        pick(tokens.ends, &mut self.ends);
        Tokens { text: tokens.text, starts: &self.starts, ends: &self.ends }
    }
}

/// Assembles columns from their words and the missing bits of all blocks.
fn assemble(
    words: Array<u64>,
    kinds: &[ColumnKind],
    rows: usize,
    counts: &[(u64, usize)],
    masks: Vec<Masks>,
) -> Vec<Column> {
    let words = Bytes::from_owner(Shared(words));
    let column = |(index, &kind): (usize, &ColumnKind)| {
        let values = words.slice(index * rows * 8..(index + 1) * rows * 8);
        let (validity, nulls) = validity(rows, counts, masks.iter().map(|it| it.get(index)));
        Column { kind, values, validity, nulls, are_singles: false }
    };
    kinds.iter().enumerate().map(column).collect()
}

/// Returns the validity bits of one column, and how many are 0.
fn validity<'m>(
    rows: usize,
    counts: &[(u64, usize)],
    masks: impl Iterator<Item = Option<&'m Vec<u8>>>,
) -> (Option<Bytes>, usize) {
    let (mut bits, mut nulls, mut first) = (Vec::new(), 0, 0);
    for (mask, &(_, count)) in masks.zip(counts) {
        let mask = mask.into_iter().flatten();
        for (at, &byte) in mask.enumerate().filter(|(_, byte)| **byte != 0) {
            if bits.is_empty() {
                bits = vec![0xff_u8; rows.div_ceil(8)];
            }
            nulls += byte.count_ones() as usize;
            let row = first + at * 8;
            let both = u16::from(byte) << (row % 8);
            let [low, high] = both.to_le_bytes();
            bits[row / 8] &= !low;
            if high != 0 {
                bits[row / 8 + 1] &= !high;
            }
        }
        first += count;
    }
    if bits.is_empty() {
        return (None, 0);
    }
    // The bits after the last row are zeros.
    if let (Some(last), used @ 1..) = (bits.last_mut(), rows % 8) {
        *last &= (1 << used) - 1;
    }
    (Some(Bytes::from(bits)), nulls)
}
