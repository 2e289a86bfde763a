//! The text of one column for some rows, and how the columns of a row are put together.
//!
//! ```text
//! text    7-12105abc…      formatted here, or lent by an array
//! spans   0..1 1..4 4..7   where the value of each row is; a missing one is anywhere
//! ```
//!
//! Columns are formatted one after the other, and then put together row by row. So neither loop
//! has to ask for each field which type it has.

use std::ops::Range;

use arrow_buffer::NullBuffer;

/// Copies of up to this many bytes are made without a call.
const SHORT: usize = 32;

/// The bytes of one value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Span {
    pub(super) fn len(self) -> usize {
        self.end - self.start
    }

    pub(super) fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start..self.end]
    }
}

/// The values of one column as text.
#[derive(Debug, Default)]
pub(super) struct Fields<'a> {
    /// The text, if it did not have to be written.
    pub(super) lent: Option<&'a [u8]>,
    /// The text otherwise. It begins with the word for missing values.
    pub(super) own: Vec<u8>,
    pub(super) spans: Vec<Span>,
    /// Numbers that the form does not have, written as missing.
    pub(super) not_finite: u64,
}

impl<'a> Fields<'a> {
    /// Removes all values, and writes the word for missing ones.
    pub(super) fn begin(&mut self, missing: &[u8]) {
        self.lent = None;
        self.own.clear();
        self.own.extend_from_slice(missing);
        self.spans.clear();
    }

    pub(super) fn text(&self) -> &[u8] {
        self.lent.unwrap_or(&self.own)
    }

    /// The value of a row.
    pub(super) fn value(&self, row: usize) -> &[u8] {
        self.spans[row].of(self.text())
    }

    /// Ends the value that begins at `start` of our own text.
    #[inline(always)]
    pub(super) fn push(&mut self, start: usize) {
        self.spans.push(Span { start, end: self.own.len() });
    }

    /// Makes the values of missing rows the word for them, which has `missing` bytes.
    pub(super) fn mark_missing(
        &mut self,
        nulls: Option<&NullBuffer>,
        rows: Range<usize>,
        missing: usize,
    ) {
        let Some(nulls) = some_missing(nulls, rows.clone()) else { return };
        let word = Span { start: 0, end: missing };
        for (row, span) in rows.zip(&mut self.spans) {
            // Without a branch: which rows are missing cannot be predicted.
            *span = if nulls.is_null(row) { word } else { *span };
        }
    }

    fn bytes(&self) -> usize {
        self.spans.iter().map(|span| span.len()).sum()
    }
}

/// The validity of these rows, if one of them is missing.
pub(super) fn some_missing(
    nulls: Option<&NullBuffer>,
    rows: Range<usize>,
) -> Option<&NullBuffer> {
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0)?;
    let valid = nulls.inner().slice(rows.start, rows.len()).count_set_bits();
    (valid < rows.len()).then_some(nulls)
}

/// What stands around the fields of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) open: &'static [u8],
    pub(super) separator: u8,
    pub(super) close: &'static [u8],
}

/// Appends `rows` rows: the fields of each, separated.
pub(super) fn push_rows(out: &mut Vec<u8>, columns: &[Fields<'_>], rows: usize, frame: Frame) {
    let around = frame.open.len() + frame.close.len() + columns.len();
    let bytes = columns.iter().map(Fields::bytes).sum::<usize>() + rows * around;
    let mut at = out.len();
    out.resize(at + bytes + SHORT, 0);
    let columns: Vec<(&[u8], &[Span])> =
        columns.iter().map(|it| (it.text(), &it.spans[..])).collect();
    for row in 0..rows {
        at = put(out, at, frame.open);
        for (text, spans) in &columns {
            at = copy(out, at, text, spans[row]);
            out[at] = frame.separator;
            at += 1;
        }
        // Without columns there is no separator to replace.
        at -= usize::from(!columns.is_empty());
        at = put(out, at, frame.close);
    }
    out.truncate(at);
}

/// Copies a value; returns where it ends.
#[inline(always)]
fn copy(out: &mut [u8], at: usize, text: &[u8], span: Span) -> usize {
    let len = span.len();
    let from = text.get(span.start..).and_then(|it| it.first_chunk::<SHORT>());
    let to = out.get_mut(at..).and_then(|it| it.first_chunk_mut::<SHORT>());
    match (from, to) {
        (Some(from), Some(to)) if len <= SHORT => *to = *from,
        _ => out[at..at + len].copy_from_slice(span.of(text)),
    }
    at + len
}

#[inline(always)]
fn put(out: &mut [u8], at: usize, bytes: &[u8]) -> usize {
    for (slot, byte) in out[at..].iter_mut().zip(bytes) {
        *slot = *byte;
    }
    at + bytes.len()
}

/// Appends a value; short ones without a call, if as many bytes follow in `text`.
#[inline(always)]
pub(super) fn push_short(out: &mut Vec<u8>, text: &[u8], span: Span) {
    let end = out.len() + span.len();
    match text.get(span.start..).and_then(|it| it.first_chunk::<SHORT>()) {
        Some(from) if span.len() <= SHORT => {
            out.extend_from_slice(from);
            out.truncate(end);
        }
        _ => out.extend_from_slice(span.of(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(values: &[&str]) -> Fields<'static> {
        let mut fields = Fields::default();
        fields.begin(b"NA");
        for value in values {
            let start = fields.own.len();
            fields.own.extend_from_slice(value.as_bytes());
            fields.push(start);
        }
        fields
    }

    #[test]
    fn rows_are_put_together_whatever_the_lengths() {
        for len in [0, 1, 31, 32, 33, 100] {
            let long = "x".repeat(len);
            let columns = [fields(&["1", &long, "3"]), fields(&[&long, "", &long])];
            let mut out = b"before\n".to_vec();
            let frame = Frame { open: b"[", separator: b',', close: b"]\r\n" };
            push_rows(&mut out, &columns, 3, frame);
            let wanted = format!("before\n[1,{long}]\r\n[{long},]\r\n[3,{long}]\r\n");
            assert_eq!(String::from_utf8(out).expect("text"), wanted);
        }
    }

    #[test]
    fn missing_rows_have_the_word_and_others_keep_their_value() {
        let mut column = fields(&["1", "2", "3", "4"]);
        let nulls = NullBuffer::from(vec![false, true, false, true, true, false, true]);
        column.mark_missing(Some(&nulls), 3..7, 2);
        let values: Vec<_> = (0..4).map(|row| column.value(row)).collect();
        assert_eq!(values, [&b"1"[..], b"2", b"NA", b"4"]);
        assert!(some_missing(Some(&nulls), 3..5).is_none());
        assert!(some_missing(None, 0..9).is_none());
    }
}
