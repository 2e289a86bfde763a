//! Columns whose values have a fixed size: numbers, dates, times, booleans, and nothing at all.

use std::ops::Range;

use arrow_array::BooleanArray;
use arrow_buffer::NullBuffer;

use super::fields::{Fields, Span};
use super::source::{Around, Filled, Source, Unwritable};

/// What becomes of a value that has no text.
#[derive(Clone, Copy, Debug)]
pub(super) enum Otherwise {
    /// An error.
    Refused { detail: &'static str, hint: &'static str },
    /// It is written as missing, and counted.
    Missing,
}

/// A column of plain values, and what appends one. That returns `false` if a value has no text.
pub(super) struct Plain<'a, T, P> {
    pub(super) values: &'a [T],
    pub(super) nulls: Option<NullBuffer>,
    pub(super) around: Around,
    pub(super) otherwise: Otherwise,
    pub(super) push: P,
}

impl<T, P> Source for Plain<'_, T, P>
where
    T: Copy + Send + Sync,
    P: Fn(&mut Vec<u8>, T) -> bool + Send + Sync,
{
    fn fill<'s>(&'s self, rows: Range<usize>, fields: &mut Fields<'s>) -> Filled {
        fields.begin(&self.around.missing);
        let is_bare = self.around.is_nothing();
        for (row, value) in rows.clone().zip(&self.values[rows.clone()]) {
            let start = fields.own.len();
            let is_written = if is_bare {
                (self.push)(&mut fields.own, *value)
            } else {
                fields.own.extend_from_slice(&self.around.before);
                let is_written = (self.push)(&mut fields.own, *value);
                fields.own.extend_from_slice(self.around.after);
                is_written
            };
            if is_written {
                fields.push(start);
            } else {
                self.leave_out(row, fields)?;
            }
        }
        fields.mark_missing(self.nulls.as_ref(), rows, self.around.missing.len());
        Ok(())
    }
}

impl<T, P> Plain<'_, T, P> {
    /// A value without a text. That of a missing one does not matter.
    #[cold]
    fn leave_out(&self, row: usize, fields: &mut Fields<'_>) -> Filled {
        if self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) {
            match self.otherwise {
                Otherwise::Refused { detail, hint } => {
                    return Err(Unwritable { row, detail, hint });
                }
                Otherwise::Missing => fields.not_finite += 1,
            }
        }
        fields.spans.push(Span { start: 0, end: self.around.missing.len() });
        Ok(())
    }
}

/// A column of booleans.
pub(super) struct Booleans<'a> {
    values: &'a BooleanArray,
    missing: usize,
    /// The word for missing values, and both texts.
    text: Vec<u8>,
    no: Span,
    yes: Span,
}

impl<'a> Booleans<'a> {
    pub(super) fn new(values: &'a BooleanArray, around: &Around) -> Self {
        let mut text = around.missing.clone();
        let mut put = |word: &[u8]| {
            let start = text.len();
            text.extend_from_slice(&[&around.before, word, around.after].concat());
            Span { start, end: text.len() }
        };
        let (no, yes) = (put(b"false"), put(b"true"));
        // Whole copies of a few bytes are made from here.
        text.resize(text.len() + 64, 0);
        Self { values, missing: around.missing.len(), text, no, yes }
    }
}

impl Source for Booleans<'_> {
    fn fill<'s>(&'s self, rows: Range<usize>, fields: &mut Fields<'s>) -> Filled {
        fields.begin(b"");
        fields.lent = Some(&self.text);
        let bits = self.values.values().slice(rows.start, rows.len());
        fields.spans.extend(bits.iter().map(|bit| if bit { self.yes } else { self.no }));
        fields.mark_missing(arrow_array::Array::nulls(self.values), rows, self.missing);
        Ok(())
    }
}

/// A column without values.
pub(super) struct Nothing {
    pub(super) missing: Vec<u8>,
}

impl Source for Nothing {
    fn fill<'s>(&'s self, rows: Range<usize>, fields: &mut Fields<'s>) -> Filled {
        fields.begin(&self.missing);
        fields.spans.resize(rows.len(), Span { start: 0, end: self.missing.len() });
        Ok(())
    }
}
