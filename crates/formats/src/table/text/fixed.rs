//! Columns of fixed width: the same characters of each line.
//!
//! ```text
//! line      Zoë    12 x       columns 0..5, 5..9, 10..
//! fields    Zoë, 12, x        without the blanks around them
//! outside   9                 an error if there is text, unless the positions are given
//! ```
//!
//! A position counts characters (Unicode scalar values). In a line of ASCII these are bytes.

use std::ops::{Range, RangeFrom};

use super::dialect::trim;
use super::place::{FieldPlace, RecordFault};

/// A column of fixed width: in each line the characters from `start`, counted from 0, to before
/// `end` or to the end of the line.
///
/// ```
/// use swath_formats::table::FixedColumn;
///
/// assert_eq!(FixedColumn::from(3..8), FixedColumn { start: 3, end: Some(8) });
/// assert_eq!(FixedColumn::from(8..), FixedColumn { start: 8, end: None });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FixedColumn {
    /// The first character.
    pub start: usize,
    /// The character after the last one; `None` for the end of the line.
    pub end: Option<usize>,
}

impl From<Range<usize>> for FixedColumn {
    fn from(range: Range<usize>) -> Self {
        Self { start: range.start, end: Some(range.end) }
    }
}

impl From<RangeFrom<usize>> for FixedColumn {
    fn from(range: RangeFrom<usize>) -> Self {
        Self { start: range.start, end: None }
    }
}

/// The columns of a table, by position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::table) struct FixedLayout {
    /// At least one, in order.
    columns: Vec<FixedColumn>,
    /// Whether text outside of the columns is ignored.
    passes_others: bool,
    /// Whether such text is an additional field, so that the record has too many.
    has_further: bool,
}

/// The fault of a layout, and a hint.
type LayoutFault = (String, &'static str);

/// Limit on the characters of a line.
const LONGEST: usize = 1 << 31;

impl FixedLayout {
    /// Returns the layout with columns of these widths, without gaps.
    pub(in crate::table) fn of_widths(widths: &[usize]) -> Result<Self, LayoutFault> {
        let mut columns = Vec::with_capacity(widths.len());
        let mut start = 0_usize;
        for (index, &width) in widths.iter().enumerate() {
            if width == 0 {
                let detail = format!("column index {index} has the width 0");
                return Err((detail, "pass widths of at least 1, or `positions` for gaps"));
            }
            let end = start.saturating_add(width);
            columns.push(FixedColumn { start, end: Some(end) });
            start = end;
        }
        check(&columns)?;
        Ok(Self { columns, passes_others: false, has_further: false })
    }

    /// Returns the layout with columns at these positions; it ignores all other text.
    pub(in crate::table) fn of_positions(
        positions: &[FixedColumn],
    ) -> Result<Self, LayoutFault> {
        check(positions)?;
        Ok(Self { columns: positions.to_vec(), passes_others: true, has_further: false })
    }

    /// Returns the layout whose columns are the runs of positions with text in any line.
    fn of_text(has_text: &[bool]) -> Self {
        let mut columns = Vec::new();
        let mut start = 0;
        for run in has_text.chunk_by(|one, other| one == other) {
            let end = start + run.len();
            if run[0] {
                columns.push(FixedColumn { start, end: Some(end) });
            }
            start = end;
        }
        if columns.is_empty() {
            // There is no record, or the first one has a fault: the reader reports which.
            columns.push(FixedColumn::from(0..));
        }
        Self { columns, passes_others: false, has_further: false }
    }

    /// Sets whether other text is an additional field.
    pub(in crate::table) fn with_further(self, has_further: bool) -> Self {
        Self { has_further, ..self }
    }

    /// Returns the columns.
    pub(in crate::table) fn columns(&self) -> &[FixedColumn] {
        &self.columns
    }

    /// Splits the line at `at`, which has text; returns the start of the next one. A field past the
    /// end of the line is empty.
    pub(in crate::table) fn split(
        &self,
        text: &[u8],
        at: usize,
        field: impl FnMut(FieldPlace),
    ) -> Result<usize, RecordFault> {
        let FixedLine { text: line, next, is_ascii, fault } = FixedLine::at(text, at);
        let split = match is_ascii {
            true => self.fields(|to| to.min(line.len()), line, at, field),
            false => {
                let mut cursor = FixedCursor { line, at: 0, position: 0 };
                self.fields(|to| cursor.seek(to), line, at, field)
            }
        };
        split?;
        fault.map_or(Ok(next), Err)
    }

    /// Passes on the fields of a line that begins at `base`. `seek` returns the byte at a position;
    /// the positions only increase.
    fn fields(
        &self,
        mut seek: impl FnMut(usize) -> usize,
        line: &[u8],
        base: usize,
        mut field: impl FnMut(FieldPlace),
    ) -> Result<(), RecordFault> {
        let (mut before, mut further) = (0, None);
        for &FixedColumn { start, end } in &self.columns {
            let start = seek(start);
            further = further.or(self.check(line, before, start, base)?);
            let end = end.map_or(line.len(), &mut seek);
            let raw = &line[start..end];
            let blanks = raw.len() - trim_start(raw).len();
            let start = base + start + blanks;
            field(FieldPlace { start, end: start + trim(&raw[blanks..]).len() });
            before = end;
        }
        further.or(self.check(line, before, line.len(), base)?).into_iter().for_each(field);
        Ok(())
    }

    /// Refuses text between or after the columns, or returns its place.
    fn check(
        &self,
        line: &[u8],
        from: usize,
        to: usize,
        base: usize,
    ) -> Result<Option<FieldPlace>, RecordFault> {
        if self.passes_others || from >= to {
            return Ok(None);
        }
        let gap = &line[from..to];
        match trim_start(gap) {
            [] => Ok(None),
            rest if self.has_further => {
                Ok(Some(FieldPlace { start: base + to - rest.len(), end: base + to }))
            }
            rest => Err(RecordFault::Outside(base + to - rest.len())),
        }
    }
}

/// The positions at which lines have text.
#[derive(Debug, Default)]
pub(in crate::table) struct TextPositions {
    has_text: Vec<bool>,
}

impl TextPositions {
    /// Adds the line at `at`; returns the start of the next one.
    pub(in crate::table) fn add(
        &mut self,
        text: &[u8],
        at: usize,
    ) -> Result<usize, RecordFault> {
        let FixedLine { text: line, next, fault, .. } = FixedLine::at(text, at);
        if let Some(fault) = fault {
            return Err(fault);
        }
        // A line without a fault is UTF-8.
        for (position, character) in String::from_utf8_lossy(line).chars().enumerate() {
            if position == self.has_text.len() {
                self.has_text.push(false);
            }
            self.has_text[position] |= !matches!(character, ' ' | '\t');
        }
        Ok(next)
    }

    /// Returns the layout common to all lines.
    pub(in crate::table) fn layout(&self) -> FixedLayout {
        FixedLayout::of_text(&self.has_text)
    }
}

/// A line, up to the first fault in it.
struct FixedLine<'t> {
    text: &'t [u8],
    next: usize,
    is_ascii: bool,
    fault: Option<RecordFault>,
}

impl<'t> FixedLine<'t> {
    fn at(text: &'t [u8], at: usize) -> Self {
        let rest = &text[at..];
        let (line, next) = match swath_simd::find(rest, b'\n') {
            Some(len) => {
                let line = &rest[..len];
                (line.strip_suffix(b"\r").unwrap_or(line), at + len + 1)
            }
            None => (rest, text.len()),
        };
        let returns = swath_simd::find(line, b'\r');
        let before = &line[..returns.unwrap_or(line.len())];
        let is_ascii = before.is_ascii();
        let wrong = match is_ascii {
            true => None,
            false => std::str::from_utf8(before).err().map(|error| error.valid_up_to()),
        };
        let fault = match (wrong, returns) {
            (Some(len), _) => Some((len, RecordFault::Encoding(at + len))),
            (None, Some(len)) => Some((len, RecordFault::LoneReturn(at + len))),
            (None, None) => None,
        };
        let len = fault.map_or(line.len(), |(len, _)| len);
        let fault = fault.map(|(_, wrong)| wrong);
        Self { text: &line[..len], next, is_ascii, fault }
    }
}

/// A position in a line of UTF-8.
struct FixedCursor<'t> {
    line: &'t [u8],
    at: usize,
    position: usize,
}

impl FixedCursor<'_> {
    /// Advances to a position, or to the end of the line; returns the byte.
    fn seek(&mut self, to: usize) -> usize {
        while self.position < to && self.at < self.line.len() {
            self.at += 1;
            while self.line.get(self.at).is_some_and(|&byte| matches!(byte, 0x80..=0xbf)) {
                self.at += 1;
            }
            self.position += 1;
        }
        self.at
    }
}

fn trim_start(mut bytes: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = bytes {
        bytes = rest;
    }
    bytes
}

/// Refuses columns that are out of order, overlap, or are empty.
fn check(columns: &[FixedColumn]) -> Result<(), LayoutFault> {
    const ORDER: &str = "pass `positions` as start and end, in order: the end is the position after the last one";
    if columns.is_empty() {
        let detail = "no column of fixed width is given".to_owned();
        return Err((
            detail,
            "pass `widths` or `positions`, or none of them to find the columns",
        ));
    }
    let mut before = Some(0);
    for (index, &FixedColumn { start, end }) in columns.iter().enumerate() {
        let Some(earliest) = before else {
            let detail =
                format!("column index {} has no end, and another one follows", index - 1);
            return Err((detail, "give only the last column without an end"));
        };
        if start < earliest {
            let detail = format!(
                "column index {index} begins at position {start}, before the end {earliest} of the \
                 one before it"
            );
            return Err((detail, ORDER));
        }
        if end.is_some_and(|end| end <= start) {
            let end = end.unwrap_or(start);
            let detail =
                format!("column index {index} begins at position {start} and ends at {end}");
            return Err((detail, ORDER));
        }
        if start.max(end.unwrap_or(0)) > LONGEST {
            let detail = format!("column index {index} is beyond position {LONGEST}");
            return Err((detail, "pass smaller `widths` or `positions`"));
        }
        before = end;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(layout: &FixedLayout, line: &[u8]) -> Result<Vec<String>, RecordFault> {
        let mut fields = Vec::new();
        let next = layout.split(line, 0, |FieldPlace { start, end }| {
            fields.push(String::from_utf8_lossy(&line[start..end]).into_owned());
        })?;
        assert_eq!(next, line.len());
        Ok(fields)
    }

    #[test]
    fn fields_are_the_characters_of_their_columns() {
        let widths = FixedLayout::of_widths(&[3, 2]).expect("right");
        let split = |line: &str| fields(&widths, line.as_bytes());
        assert_eq!(split("abcde\n"), Ok(vec!["abc".into(), "de".into()]));
        assert_eq!(split("\u{e9}b de \t\r\n"), Ok(vec!["\u{e9}b".into(), "de".into()]));
        assert_eq!(
            split("\u{65e5}\u{1f600}cd"),
            Ok(vec!["\u{65e5}\u{1f600}c".into(), "d".into()])
        );
        assert_eq!(split(" a"), Ok(vec!["a".into(), String::new()]));
        assert_eq!(split("abcdef\n"), Err(RecordFault::Outside(5)));
        assert_eq!(split("\u{e9}bcde  f\n"), Err(RecordFault::Outside(8)));
        assert_eq!(split("ab\rde\n"), Err(RecordFault::LoneReturn(2)));
        assert_eq!(fields(&widths, b"ab\xff\rd\n"), Err(RecordFault::Encoding(2)));
        assert_eq!(fields(&widths, b"abcdef\xff\n"), Err(RecordFault::Outside(5)));
        let positions = [FixedColumn::from(1..2), FixedColumn::from(4..)];
        let positions = FixedLayout::of_positions(&positions).expect("right");
        let split = |line: &str| fields(&positions, line.as_bytes());
        assert_eq!(split("abcdefg\n"), Ok(vec!["b".into(), "efg".into()]));
        assert_eq!(split("\u{e9}\u{e9}\n"), Ok(vec!["\u{e9}".into(), String::new()]));
    }

    #[test]
    fn columns_are_found_where_lines_have_text() {
        let found = |lines: &[&str]| {
            let mut found = TextPositions::default();
            lines.iter().for_each(|line| {
                found.add(line.as_bytes(), 0).expect("right");
            });
            found.layout().columns
        };
        assert_eq!(found(&["ab c\n", "a  cd"]), [(0..2).into(), FixedColumn::from(3..5)]);
        assert_eq!(found(&[" \u{e9}\tx"]), [(1..2).into(), FixedColumn::from(3..4)]);
        assert_eq!(found(&[]), [FixedColumn::from(0..)]);
    }

    #[test]
    fn columns_that_overlap_or_are_nothing_are_refused() {
        let refused = |columns: &[FixedColumn]| {
            FixedLayout::of_positions(columns).map(drop).expect_err("wrong").0
        };
        for (columns, words) in [
            (&[][..], "no column"),
            (&[(0..3).into(), (2..5).into()], "begins at position 2, before the end 3"),
            (&[(3..5).into(), (0..2).into()], "before the end 5"),
            (&[(3..3).into()], "begins at position 3 and ends at 3"),
            (&[(0..).into(), (2..5).into()], "column index 0 has no end"),
            (&[(0..usize::MAX).into()], "is beyond position"),
        ] {
            assert!(refused(columns).contains(words), "{}", refused(columns));
        }
        assert!(FixedLayout::of_widths(&[1, 0]).is_err());
        assert!(FixedLayout::of_widths(&[]).is_err());
        assert!(FixedLayout::of_widths(&[usize::MAX, usize::MAX]).is_err());
        assert!(FixedLayout::of_positions(&[(0..3).into(), (3..).into()]).is_ok());
    }
}
