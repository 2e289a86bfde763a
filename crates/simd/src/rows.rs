//! Assembles rows of text from the values of columns.
//!
//! ```text
//! columns   12|7|105    Oslo|Rome|Bonn        text, and the place of each value in it
//! rows      12,Oslo¶7,Rome¶105,Bonn¶
//! ```
//!
//! Most values are short. They are copied as 32 bytes; the bytes after the value are overwritten by
//! the following text: neither a call nor a branch depends on their length.

use std::ptr;

use crate::level::{Level, detected};
use crate::masks::{Kernel, Masks, run};

/// Values of up to this many bytes are copied as this many.
const SHORT: usize = 32;

/// The place of a value in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The offset of its first byte.
    pub start: usize,
    /// The offset after its last byte.
    pub end: usize,
}

impl Span {
    /// Returns the length of the value.
    #[inline(always)]
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "nothing asks")]
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Returns the value.
    ///
    /// # Panics
    ///
    /// If it is not in the text.
    #[inline(always)]
    #[must_use]
    pub fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start..self.end]
    }
}

/// The values of one column.
#[derive(Clone, Copy, Debug)]
pub struct Values<'t> {
    /// The text that contains them.
    pub text: &'t [u8],
    /// One span per row; a single column has one per value, row by row.
    pub spans: &'t [Span],
}

/// The bytes around the values of a row.
#[derive(Clone, Copy, Debug)]
pub struct RowFrame {
    /// The bytes before the first value.
    pub open: &'static [u8],
    /// The byte between two values.
    pub separator: u8,
    /// The bytes after the last value.
    pub close: &'static [u8],
}

/// Appends `rows` rows.
///
/// ```
/// use swath_simd::{RowFrame, Span, Values, push_rows};
///
/// let spans = [Span { start: 0, end: 1 }, Span { start: 1, end: 3 }];
/// let numbers = Values { text: b"712", spans: &spans };
/// let words = Values { text: b"abc", spans: &spans };
/// let mut out = Vec::new();
/// let frame = RowFrame { open: b"", separator: b',', close: b"\n" };
/// push_rows(&mut out, &[numbers, words], 2, frame);
/// assert_eq!(out, b"7,a\n12,bc\n");
/// ```
///
/// # Panics
///
/// If a column has a different number of values, or a value is not in its text.
pub fn push_rows(out: &mut Vec<u8>, columns: &[Values<'_>], rows: usize, frame: RowFrame) {
    run(detected(), Push { out, columns, rows, frame });
}

/// Like [`push_rows`], with the kernel of one `level`, to compare levels.
///
/// # Panics
///
/// Like [`push_rows`], and if `level` is not [available](Level::available).
pub fn push_rows_at(
    level: Level,
    out: &mut Vec<u8>,
    columns: &[Values<'_>],
    rows: usize,
    frame: RowFrame,
) {
    run(level.detected(), Push { out, columns, rows, frame });
}

struct Push<'p, 't> {
    out: &'p mut Vec<u8>,
    columns: &'p [Values<'t>],
    rows: usize,
    frame: RowFrame,
}

impl Kernel for Push<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Masks>(self, _: M) {
        let Self { out, columns, rows, frame } = self;
        let around = frame.open.len() + frame.close.len();
        let mut bytes = rows.saturating_mul(around).saturating_add(SHORT);
        for column in columns {
            let are_rows = column.spans.len() == rows || columns.len() == 1;
            assert!(are_rows, "of several columns, each has one value for each row");
            let between = column.spans.len();
            bytes = bytes.saturating_add(between).saturating_add(column.checked(rows));
        }
        out.reserve(bytes);
        let start = out.len();
        // SAFETY: the offset is at most the vector's capacity.
        let mut to = unsafe { out.as_mut_ptr().add(start) };
        for row in 0..rows {
            to = match columns {
                [all] if all.spans.len() > rows => {
                    let each = all.spans.len() / rows;
                    let spans = all.spans[row * each..(row + 1) * each].iter();
                    // SAFETY: `bytes` counts the bytes around each row, and every value of it; so
                    // there is room for this row, and for `SHORT` bytes after it. All values were
                    // checked.
                    unsafe { push_row(to, spans.map(|span| (all.text, *span)), frame) }
                }
                _ => {
                    // SAFETY: each column has a span for this row.
                    let span = |it: &Values<'_>| unsafe { *it.spans.get_unchecked(row) };
                    let fields = columns.iter().map(|it| (it.text, span(it)));
                    // SAFETY: as above.
                    unsafe { push_row(to, fields, frame) }
                }
            };
        }
        // SAFETY: both point into the vector's memory.
        let len = unsafe { to.offset_from_unsigned(out.as_ptr()) };
        // SAFETY: everything before `to` has been written, and is within the capacity.
        unsafe { out.set_len(len) };
    }
}

impl Values<'_> {
    /// Checks that all values are in the text, and returns the number of their bytes.
    #[inline(always)]
    fn checked(&self, rows: usize) -> usize {
        assert!(self.spans.len().is_multiple_of(rows.max(1)), "all rows have as many values");
        let most = self.text.len().checked_mul(self.spans.len());
        assert!(most.is_some(), "the sum of the lengths does not overflow");
        // Without a branch, so that the loop is vectorised.
        let (mut is_right, mut bytes) = (true, 0_usize);
        for span in self.spans {
            is_right &= (span.start <= span.end) & (span.end <= self.text.len());
            bytes = bytes.wrapping_add(span.end.wrapping_sub(span.start));
        }
        assert!(is_right, "each value is in the text");
        bytes
    }
}

/// Writes a row of fields, each with the text that contains it; returns the end of the row.
///
/// # Safety
///
/// All fields are within their texts. There is room at `to` for the row, and for `SHORT` bytes
/// after it, none of which belong to the texts.
#[inline(always)]
unsafe fn push_row<'t>(
    to: *mut u8,
    fields: impl Iterator<Item = (&'t [u8], Span)>,
    frame: RowFrame,
) -> *mut u8 {
    // SAFETY: the caller promises room for the row.
    let mut to = unsafe { put(to, frame.open) };
    for (index, (text, span)) in fields.enumerate() {
        if index > 0 {
            // SAFETY: there is room for the separator.
            unsafe { to.write(frame.separator) };
            // SAFETY: this byte is part of the row.
            to = unsafe { to.add(1) };
        }
        // SAFETY: the span is within the text.
        let from = unsafe { text.as_ptr().add(span.start) };
        let len = span.end - span.start;
        if len <= SHORT && text.len() - span.start >= SHORT {
            // SAFETY: the text has this many bytes from here on, and there is room for as many.
            unsafe { ptr::copy_nonoverlapping(from, to, SHORT) };
        } else {
            // SAFETY: the span is within the text, and there is room for the value.
            unsafe { ptr::copy_nonoverlapping(from, to, len) };
        }
        // SAFETY: the value is part of the row.
        to = unsafe { to.add(len) };
    }
    // SAFETY: the caller promises room for the row.
    unsafe { put(to, frame.close) }
}

/// Writes a few bytes; returns their end.
///
/// # Safety
///
/// There is room for them.
#[inline(always)]
unsafe fn put(mut to: *mut u8, bytes: &[u8]) -> *mut u8 {
    for byte in bytes {
        // SAFETY: the caller promises room for it.
        unsafe { to.write(*byte) };
        // SAFETY: there was room for the byte.
        to = unsafe { to.add(1) };
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a text of all values, each `gap` bytes after the other, and their spans.
    fn column(values: &[&str], gap: usize) -> (Vec<u8>, Vec<Span>) {
        let (mut text, mut spans) = (Vec::new(), Vec::new());
        for value in values {
            text.resize(text.len() + gap, b'?');
            let start = text.len();
            text.extend_from_slice(value.as_bytes());
            spans.push(Span { start, end: text.len() });
        }
        (text, spans)
    }

    #[test]
    fn rows_are_put_together_whatever_the_lengths() {
        for len in [0, 1, 31, 32, 33, 100] {
            for gap in [0, 1, 40] {
                let long = "x".repeat(len);
                let (one, two) =
                    (column(&["1", &long, "3"], gap), column(&[&long, "", &long], gap));
                let columns = [&one, &two].map(|it| Values { text: &it.0, spans: &it.1 });
                for (open, close) in [("", "\n"), ("{", "}\r\n")] {
                    let frame = RowFrame {
                        open: open.as_bytes(),
                        separator: b',',
                        close: close.as_bytes(),
                    };
                    let wanted = format!(
                        "before\n{open}1,{long}{close}{open}{long},{close}{open}3,{long}{close}"
                    );
                    for level in Level::ALL.into_iter().filter(|it| it.available()) {
                        let mut out = b"before\n".to_vec();
                        push_rows_at(level, &mut out, &columns, 3, frame);
                        assert_eq!(String::from_utf8(out).expect("text"), wanted, "{level}");
                    }
                }
            }
        }
    }

    #[test]
    fn values_row_by_row_become_rows() {
        let (text, spans) = column(&["1", "22", "", "4", "5", "6"], 1);
        let all = Values { text: &text, spans: &spans };
        let frame = RowFrame { open: b"", separator: b',', close: b"\n" };
        for level in Level::ALL.into_iter().filter(|it| it.available()) {
            let mut out = Vec::new();
            push_rows_at(level, &mut out, &[all], 2, frame);
            assert_eq!(out, b"1,22,\n4,5,6\n", "{level}");
        }
    }

    #[test]
    #[should_panic(expected = "all rows have as many values")]
    fn values_that_do_not_divide_into_rows_are_refused() {
        let column = Values { text: b"abc", spans: &[Span { start: 0, end: 1 }; 3] };
        let frame = RowFrame { open: b"", separator: b',', close: b"" };
        push_rows(&mut Vec::new(), &[column], 2, frame);
    }

    #[test]
    fn rows_without_columns_are_what_stands_around_them() {
        let mut out = Vec::new();
        push_rows(&mut out, &[], 2, RowFrame { open: b"{", separator: b',', close: b"}" });
        assert_eq!(out, b"{}{}");
    }

    #[test]
    #[should_panic(expected = "each value is in the text")]
    fn a_value_past_the_end_is_refused() {
        let column = Values { text: b"abc", spans: &[Span { start: 2, end: 4 }] };
        push_rows(
            &mut Vec::new(),
            &[column],
            1,
            RowFrame { open: b"", separator: b',', close: b"" },
        );
    }

    #[test]
    #[should_panic(expected = "each value is in the text")]
    fn a_value_that_ends_before_it_begins_is_refused() {
        let column = Values { text: b"abc", spans: &[Span { start: 2, end: 1 }] };
        push_rows(
            &mut Vec::new(),
            &[column],
            1,
            RowFrame { open: b"", separator: b',', close: b"" },
        );
    }
}
