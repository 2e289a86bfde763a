//! Parses entries line by line: eight at a time as long as lines are plain, otherwise word by word.

use swath::Block;
use swath_simd::Bounds;

use crate::error::shown;
use crate::matrix::header::wrong_number;
use crate::matrix::id::Id;
use crate::matrix::job::{Failure, MatrixJob};
use crate::matrix::kinds::{Field, Layout, Symmetry};
use crate::matrix::line::LineCursor;
use crate::matrix::options::{Ids, Strictness};
use crate::matrix::plain::{self, Plain, Range};
use crate::matrix::target::Target;
use crate::matrix::value::{Complex, Value, Words};
use crate::number;
use crate::text::TextFault;

/// The error for a list of edges with commas between its fields.
const LIKE_A_TABLE: &str = "this looks like a table, not like a list of edges";

/// The rules for the lines of entries.
#[derive(Debug)]
pub(super) struct EntryRules {
    pub(super) layout: Layout,
    pub(super) field: Field,
    pub(super) symmetry: Symmetry,
    pub(super) expands: bool,
    strictness: Strictness,
    base: u64,
    /// Ids must be below these once the base is subtracted.
    pub(super) rows: u64,
    pub(super) columns: u64,
    /// Whether the file may be read again with wider ids.
    may_widen: bool,
    /// Limits for plain lines; `None` if each line must be checked.
    plain: Option<Bounds>,
    /// Limits for plain lines with a value.
    plain_values: Option<Range>,
    /// Whether lines have a value each, and nothing else to check.
    is_plain_array: bool,
}

impl EntryRules {
    pub(super) fn of(job: &MatrixJob<'_>) -> Self {
        let header = &job.header;
        let rows = header.row_count.unwrap_or(u64::MAX);
        let columns = header.column_count.unwrap_or(u64::MAX);
        let last = |count: u64| u32::try_from((count - 1).min(u64::from(u32::MAX))).ok();
        // Strict mode checks every line of a symmetric matrix.
        let is_plain = header.field == Field::Pattern
            && (header.symmetry == Symmetry::General
                || job.options.strictness == Strictness::Permissive);
        let plain = if is_plain && rows > 0 && columns > 0 {
            last(rows).zip(last(columns)).map(|(last_first, last_second)| Bounds {
                least: job.base(),
                last_first,
                last_second,
            })
        } else {
            None
        };
        let is_number = matches!(header.field, Field::Real | Field::Integer | Field::Unsigned);
        let is_array = header.layout == Layout::Array;
        // So does a diagonal that must be empty.
        let has_plain_values = is_number
            && !is_array
            && (header.symmetry == Symmetry::General
                || header.symmetry == Symmetry::Symmetric
                    && job.options.strictness == Strictness::Permissive);
        let range = Range { base: u64::from(job.base()), rows, columns };
        Self {
            plain_values: has_plain_values.then_some(range),
            is_plain_array: is_array && is_number && header.symmetry == Symmetry::General,
            layout: header.layout,
            field: header.field,
            symmetry: header.symmetry,
            expands: job.expands(),
            strictness: job.options.strictness,
            base: u64::from(job.base()),
            rows,
            columns,
            may_widen: job.options.ids == Ids::Auto && header.row_count.is_none(),
            plain,
        }
    }

    fn is_comment(&self, byte: u8) -> bool {
        byte == b'%' || byte == b'#' && self.layout == Layout::Edges
    }

    /// Returns the row and column of entry `index` of an array.
    pub(super) fn place(&self, index: u64) -> (u64, u64) {
        let n = u128::from(self.rows);
        let wanted = u128::from(index);
        // The number of values before a column.
        let before = |column: u128| match self.symmetry {
            Symmetry::General => column * n,
            Symmetry::Symmetric | Symmetry::Hermitian => {
                column * n - column * column.saturating_sub(1) / 2
            }
            Symmetry::SkewSymmetric => column * n - column * (column + 1) / 2,
        };
        let (mut low, mut high) = (0, u128::from(self.columns));
        while high - low > 1 {
            let middle = low.midpoint(high);
            if before(middle) <= wanted { low = middle } else { high = middle }
        }
        let first = match self.symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric | Symmetry::Hermitian => low,
            Symmetry::SkewSymmetric => low + 1,
        };
        let narrow = |number: u128| u64::try_from(number).unwrap_or(u64::MAX);
        (narrow(first + wanted - before(low)), narrow(low))
    }
}

/// The entries of one block.
pub(super) struct Entries<'r, 'b> {
    rules: &'r EntryRules,
    cursor: LineCursor<'b>,
    offset: u64,
    /// Row and column of the next entry of an array.
    place: (u64, u64),
    plain: Plain,
}

impl<'r, 'b> Entries<'r, 'b> {
    /// Starts at the first entry of a block, which has number `index`; it matters only for arrays.
    pub(super) fn of(rules: &'r EntryRules, block: Block<'b>, index: u64) -> Self {
        let place = if rules.layout == Layout::Array { rules.place(index) } else { (0, 0) };
        let cursor = LineCursor { bytes: block.bytes, at: 0 };
        Self { rules, cursor, offset: block.offset, place, plain: Plain::default() }
    }

    /// Parses entries into `target` until it is full or they end; returns their number.
    pub(super) fn fill<I: Id, V: Value>(
        &mut self,
        target: &mut Target<'_, I, V>,
    ) -> Result<usize, Failure> {
        const FEW: usize = 4;
        let has_values = self.rules.plain_values.is_some() || self.rules.is_plain_array;
        let may_be_plain = self.rules.plain.is_some() || has_values && plain::is_known::<V>();
        let (mut filled, mut patience) = (0, FEW);
        while filled < target.rows.len() {
            let slowly = if may_be_plain { patience } else { usize::MAX };
            for _ in 0..slowly.min(target.rows.len() - filled) {
                let Some((row, column, value)) = self.next()? else { return Ok(filled) };
                target.put(filled, row, column, value);
                filled += 1;
            }
            let taken = self.fill_plain(target, filled);
            // If lines are not plain, tries less often.
            patience = if taken == 0 { (2 * patience).min(1024) } else { FEW };
            filled += taken;
        }
        Ok(filled)
    }

    /// Appends plain lines to the `filled` entries of `target`.
    fn fill_plain<I: Id, V: Value>(
        &mut self,
        target: &mut Target<'_, I, V>,
        filled: usize,
    ) -> usize {
        if self.rules.is_plain_array {
            return self.fill_array(target, filled);
        }
        let Some(bounds) = self.rules.plain else { return self.fill_values(target, filled) };
        let rows = I::narrow(&mut target.rows[filled..]);
        let columns = I::narrow(&mut target.columns[filled..]);
        let Some((rows, columns)) = rows.zip(columns) else { return 0 };
        let at = self.cursor.at.min(self.cursor.bytes.len());
        let taken = swath_simd::pairs(self.cursor.bytes, at, bounds, rows, columns);
        self.cursor.at = taken.end;
        if size_of::<V>() > 0 {
            target.values[filled..filled + taken.lines].fill(V::ONE);
        }
        taken.lines
    }

    /// Appends plain lines with values to the `filled` entries of `target`.
    fn fill_values<I: Id, V: Value>(
        &mut self,
        target: &mut Target<'_, I, V>,
        filled: usize,
    ) -> usize {
        let Some(range) = self.rules.plain_values.filter(|_| plain::is_known::<V>()) else {
            return 0;
        };
        let text = self.cursor.bytes.get(self.cursor.at..).unwrap_or_default();
        let (lines, end) = self.plain.fill(text, range, target, filled);
        self.cursor.at += end;
        lines
    }

    /// Appends plain values of an array to the `filled` entries of `target`.
    fn fill_array<I: Id, V: Value>(
        &mut self,
        target: &mut Target<'_, I, V>,
        filled: usize,
    ) -> usize {
        let EntryRules { rows, columns, .. } = *self.rules;
        let (mut row, mut column) = self.place;
        if !plain::is_known::<V>() || I::from_u64(rows.max(columns)).is_none() {
            return 0;
        }
        // The file may have more values than places.
        let places = u128::from(columns.saturating_sub(column)) * u128::from(rows);
        let places = places.saturating_sub(u128::from(row));
        let values = &mut target.values[filled..];
        let room = values.len().min(usize::try_from(places).unwrap_or(usize::MAX));
        let text = self.cursor.bytes.get(self.cursor.at..).unwrap_or_default();
        let (count, end) = self.plain.fill_array(text, &mut values[..room]);
        self.cursor.at += end;
        let ids = target.rows[filled..].iter_mut().zip(&mut target.columns[filled..]);
        for (to_row, to_column) in ids.take(count) {
            let Some((first, second)) = I::from_u64(row).zip(I::from_u64(column)) else {
                break;
            };
            (*to_row, *to_column) = (first, second);
            row += 1;
            if row == rows {
                (row, column) = (0, column + 1);
            }
        }
        self.place = (row, column);
        count
    }

    /// Returns the next entry, with its ids in their type.
    #[inline(always)]
    fn next<I: Id, V: Value>(&mut self) -> Result<Option<(I, I, V)>, Failure> {
        let Some((row, column, value)) = self.entry()? else { return Ok(None) };
        match (I::from_u64(row), I::from_u64(column)) {
            (Some(row), Some(column)) => Ok(Some((row, column, value))),
            _ => {
                // The cursor has passed the line; any byte of the line will do.
                let offset = self.offset + self.cursor.at.saturating_sub(2) as u64;
                let fault = TextFault::too_large(offset, "an id needs more than 32 bits");
                Err(if self.rules.may_widen { Failure::Wide(fault) } else { fault.into() })
            }
        }
    }

    /// Returns the next entry, if any: row and column from 0, and the value.
    #[inline(always)]
    pub(super) fn entry<V: Value>(&mut self) -> Result<Option<(u64, u64, V)>, TextFault> {
        if !self.begin_line()? {
            return Ok(None);
        }
        let start = self.cursor.at;
        let (row, column) = if self.rules.layout == Layout::Array {
            self.next_place()?
        } else {
            let row = self.id("row", self.rules.rows)?;
            self.blanks("the column")?;
            let column = self.id("column", self.rules.columns)?;
            if self.rules.field != Field::Pattern {
                self.blanks("the value")?;
            }
            (row, column)
        };
        let at = self.cursor.at;
        let Some(value) = V::take(&mut Words(&mut self.cursor), self.rules.field) else {
            return Err(self.wrong_value::<V>(at));
        };
        self.cursor.skip_blanks();
        if !self.cursor.is_line_end() {
            return Err(self.fault(self.cursor.at, "the line has extra words after its entry"));
        }
        if self.rules.symmetry != Symmetry::General {
            self.check_symmetry(start, at, row, column, value)?;
        }
        self.cursor.at += 1;
        Ok(Some((row, column, value)))
    }

    /// Moves to the first word of the next line that has words; `false` at the end.
    #[inline(always)]
    fn begin_line(&mut self) -> Result<bool, TextFault> {
        loop {
            self.cursor.skip_blanks();
            match self.cursor.peek() {
                None => return Ok(false),
                Some(b'0'..=b'9') => return Ok(true),
                Some(b'\n') => self.cursor.at += 1,
                Some(byte) if self.rules.is_comment(byte) => {
                    let is_market = self.rules.layout != Layout::Edges;
                    if is_market && self.rules.strictness == Strictness::Strict {
                        let what = "a comment between entries, which the format does not allow";
                        return Err(self.fault(self.cursor.at, what));
                    }
                    self.cursor.skip_line();
                }
                Some(_) => return Ok(true),
            }
        }
    }

    #[inline(always)]
    fn id(&mut self, what: &str, count: u64) -> Result<u64, TextFault> {
        let start = self.cursor.at;
        let Some(number) = self.cursor.unsigned() else { return Err(self.no_id(start, what)) };
        let id = number.wrapping_sub(self.rules.base);
        if id < count && number >= self.rules.base {
            return Ok(id);
        }
        Err(self.out_of_range(start, number, what, count))
    }

    #[cold]
    fn no_id(&self, start: usize, what: &str) -> TextFault {
        let word = LineCursor { at: start, ..self.cursor }.word();
        if self.rules.layout == Layout::Edges && word.contains(&b',') {
            return self.fault(start, format!("the {what} is not a number: {LIKE_A_TABLE}"));
        }
        wrong_number(self.cursor.bytes, start, self.offset, &format!("the {what}"))
    }

    #[cold]
    fn out_of_range(&self, start: usize, number: u64, what: &str, count: u64) -> TextFault {
        let base = self.rules.base;
        let detail = if number < base {
            format!("{what} {number} is below {base}, the first id")
        } else if count == u64::MAX {
            format!("{what} {number} is too large")
        } else {
            let s = if count == 1 { "" } else { "s" };
            format!("{what} {number} is out of range: the matrix has {count} {what}{s}")
        };
        self.fault(start, detail)
    }

    #[inline(always)]
    fn blanks(&mut self, before: &str) -> Result<(), TextFault> {
        if self.cursor.skip_blanks() && !self.cursor.is_line_end() {
            return Ok(());
        }
        let what = if self.cursor.is_line_end() {
            format!("the line ends before {before}")
        } else if self.rules.layout == Layout::Edges
            && self.cursor.bytes.get(self.cursor.at) == Some(&b',')
        {
            format!("a comma before {before}: {LIKE_A_TABLE}")
        } else {
            format!("a space is missing before {before}")
        };
        Err(self.fault(self.cursor.at, what))
    }

    /// Returns the row and column of the next entry of an array.
    fn next_place(&mut self) -> Result<(u64, u64), TextFault> {
        let (row, column) = self.place;
        if column >= self.rules.columns || row >= self.rules.rows {
            return Err(self.fault(self.cursor.at, "more values than the header declares"));
        }
        self.place.0 += 1;
        if self.place.0 == self.rules.rows {
            let next = column + 1;
            let first = match self.rules.symmetry {
                Symmetry::General => 0,
                Symmetry::Symmetric | Symmetry::Hermitian => next,
                Symmetry::SkewSymmetric => next + 1,
            };
            self.place = (first, next);
        }
        Ok((row, column))
    }

    #[inline(never)]
    fn check_symmetry<V: Value>(
        &self,
        start: usize,
        value_at: usize,
        row: u64,
        column: u64,
        value: V,
    ) -> Result<(), TextFault> {
        let is_strict = self.rules.strictness == Strictness::Strict;
        let is_skew = self.rules.symmetry == Symmetry::SkewSymmetric;
        if is_strict && row < column {
            let what =
                "an entry above the diagonal; a symmetric file stores only the lower half";
            return Err(self.fault(start, what));
        }
        if row == column {
            return self.check_diagonal(start, value_at);
        }
        if is_skew && self.rules.expands && value.negated().is_none() {
            let what = format!("the negated value does not fit {}", V::NAME);
            return Err(TextFault::too_large(self.offset + start as u64, what));
        }
        Ok(())
    }

    /// Checks a value on the diagonal, which is its own mirror image.
    fn check_diagonal(&self, start: usize, value_at: usize) -> Result<(), TextFault> {
        // From the text: the value type may have dropped the part to check.
        let mut cursor = LineCursor { at: value_at, ..self.cursor };
        let parts = match self.rules.field {
            Field::Complex => Words(&mut cursor).complex(),
            _ => cursor.double().map(|real| [real, 0.0]),
        };
        let is_strict = self.rules.strictness == Strictness::Strict;
        let what = match (self.rules.symmetry, parts) {
            (Symmetry::SkewSymmetric, Some([0.0, 0.0])) if !is_strict => return Ok(()),
            (Symmetry::SkewSymmetric, _) => {
                "an entry on the diagonal of a skew-symmetric matrix, where all entries are zero"
            }
            (Symmetry::Hermitian, parts) if parts.is_none_or(|[_, part]| part != 0.0) => {
                "an imaginary part on the diagonal of a Hermitian matrix"
            }
            _ => return Ok(()),
        };
        Err(self.fault(start, what))
    }

    #[cold]
    fn wrong_value<V: Value>(&self, at: usize) -> TextFault {
        let word = LineCursor { at, ..self.cursor }.word();
        let is_negative = word.first() == Some(&b'-');
        let digits = word.strip_prefix(b"-").or(word.strip_prefix(b"+")).unwrap_or(word);
        let is_whole = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        let is_double = number::parse::double(word).is_some();
        let too_large = |what| TextFault::too_large(self.offset + at as u64, what);
        let kind = if V::NAME == Complex::NAME { <f64 as Value>::NAME } else { V::NAME };
        match self.rules.field {
            Field::Complex => self.fault(at, "the value is not a pair of numbers that fit"),
            _ if number::parse::is_between(word, kind) => {
                too_large(format!("no {kind} is the whole number {}", shown(word)))
            }
            Field::Integer | Field::Unsigned if is_whole => {
                let side = if is_negative { "small" } else { "large" };
                too_large(format!("the value is too {side} for {}", V::NAME))
            }
            Field::Integer | Field::Unsigned => self.fault(at, "the value is not an integer"),
            // The options request another type than the header names.
            _ if is_double => {
                let what = format!("the value does not fit {}", V::NAME);
                self.fault(at, what)
            }
            _ => {
                let (reason, detail) = number::parse::refusal(word, "f64");
                TextFault { offset: self.offset + at as u64, reason, detail }
            }
        }
    }

    #[cold]
    fn fault(&self, at: usize, detail: impl Into<String>) -> TextFault {
        if self.cursor.bytes.get(at) == Some(&0) {
            return TextFault::malformed(self.offset + at as u64, "a NUL byte");
        }
        TextFault::malformed(self.offset + at as u64, detail)
    }

    /// Returns the value on the other side of the diagonal.
    #[inline(always)]
    pub(super) fn mirrored<V: Value>(rules: &EntryRules, value: V) -> V {
        match rules.symmetry {
            Symmetry::General | Symmetry::Symmetric => value,
            // This was checked when the value was read.
            Symmetry::SkewSymmetric => value.negated().unwrap_or(value),
            Symmetry::Hermitian => value.conjugated(),
        }
    }

    /// Whether there is another entry; a malformed one counts.
    pub(super) fn has_more(&mut self) -> bool {
        self.begin_line().unwrap_or(true)
    }

    /// Skips to the next entry without parsing it, and returns its offset.
    pub(super) fn skip_entry(&mut self) -> Option<u64> {
        if !self.begin_line().unwrap_or(true) {
            return None;
        }
        let at = self.offset + self.cursor.at as u64;
        self.cursor.skip_line();
        Some(at)
    }
}
