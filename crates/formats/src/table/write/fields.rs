//! The text of one column in some rows.
//!
//! ```text
//! text    7-12105abc…      formatted here, or lent by an array
//! spans   0..1 1..4 4..7   the place of each row's value; a missing one may be anywhere
//! ```
//!
//! Columns are formatted one after another, then assembled row by row. So neither loop checks the
//! type of each field.

use std::ops::Range;

use arrow_buffer::NullBuffer;
use swath_simd::{Span, Values};

/// The most bytes that are copied without a call.
const SHORT: usize = 32;

/// The values of one column as text.
#[derive(Debug, Default)]
pub(super) struct FieldTexts<'a> {
    /// The text, if an array lends it.
    pub(super) lent: Option<&'a [u8]>,
    /// The text otherwise; it begins with the word for missing values.
    pub(super) own: Vec<u8>,
    pub(super) spans: Vec<Span>,
    /// NaN and infinities that the form lacks, written as missing.
    pub(super) not_finite: u64,
}

impl<'a> FieldTexts<'a> {
    /// Removes all values, and writes the word for missing ones.
    pub(super) fn begin(&mut self, missing: &[u8]) {
        self.lent = None;
        self.own.clear();
        self.own.extend_from_slice(missing);
        self.spans.clear();
    }

    /// Reserves `bytes` after the word for missing values, and `rows` spans. Their contents are
    /// unspecified.
    pub(super) fn make_room(&mut self, missing: &[u8], bytes: usize, rows: usize) {
        self.lent = None;
        let len = missing.len() + bytes;
        if self.own.len() < len {
            self.own.resize(len, 0);
        }
        self.own[..missing.len()].copy_from_slice(missing);
        self.spans.resize(rows, Span::default());
    }

    pub(super) fn text(&self) -> &[u8] {
        self.lent.unwrap_or(&self.own)
    }

    /// Returns the value of a row.
    pub(super) fn value(&self, row: usize) -> &[u8] {
        self.spans[row].of(self.text())
    }

    /// Ends the value that begins at `start` of the own text.
    #[inline(always)]
    pub(super) fn push(&mut self, start: usize) {
        self.spans.push(Span { start, end: self.own.len() });
    }

    /// Points the spans of missing rows to the word for them, which has `missing` bytes.
    pub(super) fn mark_missing(
        &mut self,
        nulls: Option<&NullBuffer>,
        rows: Range<usize>,
        missing: usize,
    ) {
        let Some(nulls) = some_missing(nulls, rows.clone()) else { return };
        let word = Span { start: 0, end: missing };
        for (row, span) in rows.zip(&mut self.spans) {
            // Branchless: missing rows cannot be predicted.
            *span = if nulls.is_null(row) { word } else { *span };
        }
    }

    /// Returns the values, ready to be assembled into rows.
    pub(super) fn values(&self) -> Values<'_> {
        Values { text: self.text(), spans: &self.spans }
    }
}

/// Returns the validity of these rows, if one of them is missing.
pub(super) fn some_missing(
    nulls: Option<&NullBuffer>,
    rows: Range<usize>,
) -> Option<&NullBuffer> {
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0)?;
    let valid = nulls.inner().slice(rows.start, rows.len()).count_set_bits();
    (valid < rows.len()).then_some(nulls)
}

/// Appends a value; a short one without a call, if enough bytes follow in `text`.
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

    fn fields(values: &[&str]) -> FieldTexts<'static> {
        let mut fields = FieldTexts::default();
        fields.begin(b"NA");
        for value in values {
            let start = fields.own.len();
            fields.own.extend_from_slice(value.as_bytes());
            fields.push(start);
        }
        fields
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
