//! Splits whole records of a text into rows of fields.
//!
//! ```text
//! text      a,b¶¶c¶d,e,f¶          three columns, short records padded
//! starts    0     5  7             the start of each row
//! ends       1 3 2   6 …  8 10 12  the end of each field, row by row; an absent one ends
//!                                  before it begins
//! ```

mod views;

use std::ops::AddAssign;

use swath_simd::{Cuts, LONGEST_DELIMITER, WordLines, WordPlaces, find};

use super::dialect::{Between, Dialect};
use super::record::{FieldPlace, RecordFault, RecordKind};
use super::shape::RecordShape;
use crate::table::json::{Cells, JsonFaultAt, ObjectMembers};
use crate::table::options::choices::Ragged;

/// The fault of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) enum RowFault {
    Record(RecordFault),
    /// The record that begins at `at` has this many fields.
    Ragged {
        at: usize,
        found: usize,
    },
    /// The line that begins at `record` is not an object.
    Json {
        record: usize,
        fault: JsonFaultAt,
    },
    /// The text is too long for offsets of 32 bits.
    TooLong,
}

/// The counts of records.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::table) struct RecordCounts {
    /// Lines that were skipped as comments.
    pub(in crate::table) comments: u64,
    /// Records with additional fields, which were dropped.
    pub(in crate::table) dropped: u64,
}

impl AddAssign for RecordCounts {
    fn add_assign(&mut self, other: Self) {
        self.comments += other.comments;
        self.dropped += other.dropped;
    }
}

/// The fields of some rows; the memory is reused.
#[derive(Debug, Default)]
pub(in crate::table) struct Rows {
    columns: usize,
    /// Bytes of a delimiter.
    gap: u32,
    starts: Vec<u32>,
    ends: Vec<u32>,
    /// The start of each field; empty if each begins one delimiter after the end of the field
    /// before.
    begins: Vec<u32>,
    /// The starts of records that were set aside.
    pub(in crate::table) aside: Vec<usize>,
    pub(in crate::table) counts: RecordCounts,
    cuts: Cuts,
    words: WordPlaces,
    members: ObjectMembers,
    /// Whether the ends of all fields are in `cuts`.
    is_plain: bool,
}

/// Bytes of text split into fields before the first of them is parsed, so that the text stays in
/// the core's cache.
const PIECE: usize = 128 << 10;
/// Bytes to search after a comment misled the search.
const WINDOW: usize = 256;
/// The most fields found before they are parsed.
const FIELDS: usize = 64 << 10;

impl Rows {
    /// Returns the number of rows.
    pub(in crate::table) fn count(&self) -> usize {
        self.starts.len()
    }

    /// Returns the start of a row.
    pub(in crate::table) fn start(&self, row: usize) -> usize {
        self.starts[row] as usize
    }

    /// Splits the next records of `text`, which are whole, starting at `at`. Returns the start of
    /// the records after them.
    pub(in crate::table) fn fill(
        &mut self,
        text: &[u8],
        at: usize,
        shape: &RecordShape,
    ) -> Result<usize, RowFault> {
        self.fill_before(text, at, text.len().min(at.saturating_add(PIECE)), shape)
    }

    /// Splits records that begin before `end`, if any.
    pub(in crate::table) fn fill_before(
        &mut self,
        text: &[u8],
        at: usize,
        end: usize,
        shape: &RecordShape,
    ) -> Result<usize, RowFault> {
        self.begin(shape);
        self.gap = short(shape.dialect.delimiter_bytes().len().max(1));
        // The start of an absent field must fit too.
        if u32::try_from(text.len().saturating_add(LONGEST_DELIMITER)).is_err() {
            return Err(RowFault::TooLong);
        }
        if let Some(keys) = &shape.keys {
            self.members.begin(keys);
            return self.add_objects(text, at, end, shape);
        }
        let end = whole_lines(text, at, end);
        let (mut at, mut window) = (at, PIECE.max(end.saturating_sub(at)));
        if shape.dialect.between == Between::Blanks {
            at = self.add_words(text, at, end, shape);
        }
        while at < end && self.ends.len() < FIELDS {
            at = match shape.dialect.between {
                Between::Blanks | Between::Fixed => self.add(text, at, shape)?,
                Between::Byte(_) | Between::Text(_) | Between::Nothing | Between::Json => {
                    self.add_many(text, at, end, &mut window, shape)?
                }
            };
        }
        Ok(at)
    }

    /// Splits lines that are records without quotes, escapes and comments, if each seems to have a
    /// field for every column. Only counting tells whether there are as many records as lines, and
    /// only parsing whether a field has a carriage return.
    pub(in crate::table) fn fill_plain(
        &mut self,
        text: &[u8],
        at: usize,
        shape: &RecordShape,
    ) -> Option<usize> {
        let (Between::Byte(delimiter), Ragged::Refuse) = (shape.dialect.between, shape.ragged)
        else {
            return None;
        };
        let end = whole_lines(text, at, text.len().min(at.saturating_add(PIECE)));
        if u32::try_from(end).is_err() || text[at..end].last() != Some(&b'\n') {
            return None;
        }
        self.begin(shape);
        (self.gap, self.is_plain) = (1, true);
        self.cuts.ends.clear();
        self.cuts.ends.find(&text[..end], at, delimiter);
        let rows = self.cuts.ends.as_slice().chunks_exact(shape.columns);
        if !rows.remainder().is_empty() {
            return None;
        }
        let mut start = short(at);
        for row in rows {
            let newline = row[shape.columns - 1];
            let [.., before, b'\n'] = &text[..=newline as usize] else { return None };
            if *before == b'\r' {
                return None;
            }
            self.starts.push(start);
            // An offset in the text, so it is below the maximum.
            start = newline.wrapping_add(1);
        }
        Some(end)
    }

    fn begin(&mut self, shape: &RecordShape) {
        self.columns = shape.columns;
        self.starts.clear();
        self.ends.clear();
        self.begins.clear();
        self.aside.clear();
        self.counts = RecordCounts::default();
        self.is_plain = false;
    }

    /// Adds records of words between blanks that begin at or after `at` and before `end`. Returns
    /// the start of the first one that needs more care.
    fn add_words(&mut self, text: &[u8], at: usize, end: usize, shape: &RecordShape) -> usize {
        let Dialect { quote, escape, comment, .. } = shape.dialect;
        let last = end.saturating_sub(1).max(at);
        let until = find(&text[last..], b'\n').map_or(text.len(), |len| last + len + 1);
        let lines = &text[at..until];
        let has = |byte| find(lines, byte).is_some();
        let kind = WordLines::of(lines, comment);
        if kind.odd || kind.lone_return || quote.is_some_and(has) || escape.is_some_and(has) {
            return at;
        }
        self.words.clear();
        self.words.find(&text[..until], at);
        if text[until - 1] != b'\n' {
            if self.words.ends.as_slice().len() < self.words.starts.as_slice().len() {
                self.words.ends.push(short(until));
            }
            self.words.newlines.push(short(until));
        }
        let (starts, ends) = (self.words.starts.as_slice(), self.words.ends.as_slice());
        let (mut line, mut first) = (at, 0);
        for &newline in self.words.newlines.as_slice() {
            let after = first + shape.columns;
            let is_row = ends.get(after - 1).is_some_and(|&end| end <= newline)
                && starts.get(after).is_none_or(|&start| start > newline);
            if !is_row {
                break;
            }
            self.starts.push(short(line));
            (line, first) = ((newline as usize + 1).min(text.len()), after);
        }
        self.begins.extend_from_slice(&starts[..first]);
        self.ends.extend_from_slice(&ends[..first]);
        line
    }

    /// Adds the objects in lines that begin before `end`.
    fn add_objects(
        &mut self,
        text: &[u8],
        at: usize,
        end: usize,
        shape: &RecordShape,
    ) -> Result<usize, RowFault> {
        let mut cells = Cells {
            starts: std::mem::take(&mut self.begins),
            ends: std::mem::take(&mut self.ends),
        };
        let mut at = at;
        let mut fault = None;
        while at < end && cells.ends.len() < FIELDS {
            let before = cells.ends.len();
            match self.members.line(text, at, &mut cells) {
                Ok((next, has_object)) => {
                    if has_object {
                        self.starts.push(short(at));
                    }
                    at = next;
                }
                Err(found) if self.is_aside(text, at, found, shape) => {
                    cells.starts.truncate(before);
                    cells.ends.truncate(before);
                    self.members.forget_line();
                    self.aside.push(at);
                    let newline = swath_simd::find(&text[found.at..], b'\n');
                    at = newline.map_or(text.len(), |len| found.at + len + 1);
                }
                Err(found) => {
                    if found.is_new() {
                        shape.keys.iter().for_each(|keys| keys.refuse());
                    }
                    fault = Some(RowFault::Json { record: at, fault: found });
                    break;
                }
            }
        }
        (self.begins, self.ends) = (cells.starts, cells.ends);
        fault.map_or(Ok(at), Err)
    }

    /// Whether the line at `at`, which has this fault, is set aside.
    fn is_aside(
        &self,
        text: &[u8],
        at: usize,
        fault: JsonFaultAt,
        shape: &RecordShape,
    ) -> bool {
        // A new key may be followed by another fault.
        let is_wrong = || !fault.is_new() || !self.members.is_object(text, at);
        shape.ragged == Ragged::SetAside && is_wrong()
    }

    /// Returns the keys of objects that are not columns, and the offset at which each first
    /// appeared.
    pub(in crate::table) fn others(&self) -> impl Iterator<Item = (&[u8], usize)> {
        self.members.others()
    }

    /// Whether splitting the next records forgets these keys.
    pub(in crate::table) fn has_many_others(&self) -> bool {
        self.members.has_many_others()
    }

    /// Forgets these keys.
    pub(in crate::table) fn forget_others(&mut self) {
        self.members.forget();
    }

    /// Returns the fields of a row; an absent one ends before it begins.
    pub(in crate::table) fn row(&self, row: usize) -> impl Iterator<Item = FieldPlace> {
        let fields = row * self.columns..(row + 1) * self.columns;
        let places = self.begins[fields.clone()].iter().zip(&self.ends[fields]);
        places.map(|(&start, &end)| FieldPlace { start: start as usize, end: end as usize })
    }

    /// Adds at least one record, and those that begin before `end`. Returns the start of the next
    /// one.
    fn add_many(
        &mut self,
        text: &[u8],
        at: usize,
        end: usize,
        window: &mut usize,
        shape: &RecordShape,
    ) -> Result<usize, RowFault> {
        let mut cuts = std::mem::take(&mut self.cuts);
        let until = end.min(at.saturating_add(*window));
        let searched = cuts.find(text, at, until, shape.marks());
        let found = self.take(text, at, &mut cuts, searched.has_returns, shape);
        self.cuts = cuts;
        let (next, is_misled) = found?;
        // Otherwise each such comment would cause another search of the whole piece.
        *window = if is_misled { WINDOW } else { window.saturating_mul(2) };
        // The record is longer than the searched text, or the search stopped at it.
        let is_left = next == at || (searched.is_stopped && next < end);
        if is_left { self.add(text, next, shape) } else { Ok(next) }
    }

    /// Takes the records found. Returns the start of the record after them, and whether the search
    /// was misled: it finds quotes and escapes in comments too.
    fn take(
        &mut self,
        text: &[u8],
        at: usize,
        cuts: &mut Cuts,
        has_returns: bool,
        shape: &RecordShape,
    ) -> Result<(usize, bool), RowFault> {
        let columns = shape.columns;
        let (mut start, mut first) = (at, 0);
        let newlines = cuts.newlines.as_slice();
        let mut line = 0;
        if !has_returns && !shape.may_be_odd() {
            let lasts = cuts.ends.as_slice().iter().skip(columns - 1).step_by(columns);
            line =
                newlines.iter().zip(lasts).take_while(|(newline, end)| newline == end).count();
            first = line * columns;
            self.starts.push(short(at));
            // A newline is an offset in the text, so it is below the maximum.
            self.starts.extend(newlines[..line].iter().map(|newline| newline.wrapping_add(1)));
            start = self.starts.pop().map_or(at, |start| start as usize);
        }
        while let Some(&newline) = newlines.get(line) {
            let ends = cuts.ends.as_mut_slice();
            let is_row = ends.get(first + columns - 1) == Some(&newline)
                && !shape.is_odd(text, start, newline as usize);
            if !is_row {
                break;
            }
            if has_returns && text[newline as usize - usize::from(newline > 0)] == b'\r' {
                ends[first + columns - 1] = newline - 1;
            }
            self.starts.push(short(start));
            (start, first, line) = (newline as usize + 1, first + columns, line + 1);
        }
        self.ends.extend_from_slice(&cuts.ends.as_slice()[..first]);
        while let Some(&newline) = newlines.get(line) {
            let ends = &cuts.ends.as_slice()[first..];
            let is_longer = shape.ragged == Ragged::Drop
                && ends.get(columns - 1).is_some_and(|&end| end < newline)
                && ends.binary_search(&newline).is_ok();
            let is_row = (is_longer || ends.get(columns - 1) == Some(&newline))
                && !shape.is_odd(text, start, newline as usize);
            let next = if is_row {
                self.starts.push(short(start));
                self.ends.extend_from_slice(&ends[..columns]);
                self.counts.dropped += u64::from(is_longer);
                if let Some(last) = self.ends.last_mut()
                    && !is_longer
                    && has_returns
                    && text[newline as usize - 1] == b'\r'
                {
                    *last -= 1;
                }
                newline as usize + 1
            } else {
                self.add(text, start, shape)?
            };
            if next <= newline as usize {
                return Ok((next, true));
            }
            first += ends.iter().take_while(|&&end| (end as usize) < next).count();
            line += newlines[line..].iter().take_while(|&&end| (end as usize) < next).count();
            start = next;
            if self.ends.len() >= FIELDS && !is_row {
                break;
            }
        }
        Ok((start, false))
    }

    /// Adds the record at `at`; returns the start of the next one.
    fn add(&mut self, text: &[u8], at: usize, shape: &RecordShape) -> Result<usize, RowFault> {
        let records = shape.records(text);
        let has_begins = matches!(shape.dialect.between, Between::Blanks | Between::Fixed);
        let before = self.ends.len();
        let mut found = 0;
        let split = records.split(at, |FieldPlace { start, end }| {
            found += 1;
            if found <= shape.columns {
                self.ends.push(short(end));
                if has_begins {
                    self.begins.push(short(start));
                }
            }
        });
        let (line, next) = match split {
            Err(RecordFault::Outside(_)) if shape.ragged == Ragged::SetAside => {
                self.set_aside(at, before, has_begins);
                return Ok(records.end(at).unwrap_or(text.len()));
            }
            split => split.map_err(RowFault::Record)?,
        };
        if line == RecordKind::Skipped {
            self.counts.comments += u64::from(records.is_comment(at));
            return Ok(next);
        }
        if shape.ragged.takes(found, shape.columns) {
            if found < shape.columns {
                let last = self.ends.last().copied().unwrap_or(0);
                self.ends.resize(before + shape.columns, last);
                if has_begins {
                    self.begins.resize(before + shape.columns, last + 1);
                }
            }
            self.counts.dropped += u64::from(found > shape.columns);
            self.starts.push(short(at));
            return Ok(next);
        }
        match shape.ragged {
            Ragged::SetAside => self.set_aside(at, before, has_begins),
            _ => return Err(RowFault::Ragged { at, found }),
        }
        Ok(next)
    }

    /// Sets aside the record at `at`; `before` is the number of fields before it.
    fn set_aside(&mut self, at: usize, before: usize, has_begins: bool) {
        self.ends.truncate(before);
        self.begins.truncate(if has_begins { before } else { 0 });
        self.aside.push(at);
    }
}

/// Converts an offset into a text already known to be short enough.
fn short(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Returns the end of the line that is open at `end`, if `end` is after `at` and the line is not
/// too long.
fn whole_lines(text: &[u8], at: usize, end: usize) -> usize {
    let is_inside = end > at && text[end - 1] != b'\n';
    let more = &text[end..text.len().min(end.saturating_add(PIECE))];
    find(more, b'\n').filter(|_| is_inside).map_or(end, |len| end + len + 1)
}
