//! Columns of fixed-size values: numbers, dates, times, booleans, and nulls.

use std::ops::Range;

use arrow_array::BooleanArray;
use arrow_buffer::NullBuffer;
use swath_simd::{Span, put_short_doubles};

use super::fields::FieldTexts;
use super::source::{Around, FillResult, Source, Unwritable};
use crate::number::format::room::{NumberRoom, ROOM, put_f64, put_text};

/// The treatment of a value without a text.
#[derive(Clone, Copy, Debug)]
pub(super) enum Otherwise {
    /// An error.
    Refused { detail: &'static str, hint: &'static str },
    /// Written as missing, and counted.
    Missing,
}

/// Puts values into rooms.
pub(super) trait Put<T>: Send + Sync {
    /// Puts each of at most 64 values into its room, and the length of its text into `lens`: 0 if
    /// it has none.
    fn many(&self, values: &[T], rooms: &mut [NumberRoom], lens: &mut [usize]);
}

/// Puts values one after another.
impl<T: Copy, P: Fn(&mut NumberRoom, T) -> usize + Send + Sync> Put<T> for P {
    fn many(&self, values: &[T], rooms: &mut [NumberRoom], lens: &mut [usize]) {
        for ((value, room), len) in values.iter().zip(rooms).zip(lens) {
            *len = self(room, *value);
        }
    }
}

/// Doubles as their shortest text.
pub(super) struct Doubles {
    /// Whether NaN and infinity have a text.
    pub(super) has_all: bool,
}

impl Put<f64> for Doubles {
    fn many(&self, values: &[f64], rooms: &mut [NumberRoom], lens: &mut [usize]) {
        debug_assert!(values.len() <= BATCH, "the others would have no text");
        // If doubles have all their digits, few are short: then the rest is not tried.
        let first = values.len().min(FIRST);
        put_short_doubles(&values[..first], &mut rooms[..first], &mut lens[..first]);
        match lens[..first].iter().any(|len| *len > 0) {
            true => {
                put_short_doubles(&values[first..], &mut rooms[first..], &mut lens[first..])
            }
            false => lens[first..].fill(0),
        }
        // Formats all before copying one: reading bytes just stored one by one would stall.
        let mut buffers: [_; BATCH] = std::array::from_fn(|_| zmij::Buffer::new());
        let mut texts = [""; BATCH];
        let each = values.iter().zip(&*lens).zip(texts.iter_mut().zip(&mut buffers));
        for ((value, &len), (text, buffer)) in each {
            if len == 0 && value.is_finite() {
                *text = buffer.format_finite(*value);
            }
        }
        for (((value, room), len), text) in values.iter().zip(rooms).zip(lens).zip(texts) {
            if !text.is_empty() {
                *len = put_text(room, text.as_bytes());
            } else if *len == 0 && self.has_all {
                *len = put_f64(room, *value);
            }
        }
    }
}

/// Doubles that are first tried as short ones.
const FIRST: usize = 8;
/// Values put at a time.
const BATCH: usize = 64;

/// A column of values with short texts, and `put`, which puts them into rooms.
pub(super) struct Short<'a, T, P> {
    pub(super) values: &'a [T],
    pub(super) nulls: Option<NullBuffer>,
    pub(super) around: Around,
    pub(super) otherwise: Otherwise,
    pub(super) put: P,
}

impl<T, P> Source for Short<'_, T, P>
where
    T: Copy + Send + Sync,
    P: Put<T>,
{
    fn fill<'s>(&'s self, rows: Range<usize>, fields: &mut FieldTexts<'s>) -> FillResult {
        let Around { before, after, missing } = &self.around;
        let is_whole = match before.is_empty() && after.is_empty() {
            true => self.put_bare(&rows, fields),
            false => self.put_around(&rows, fields),
        };
        if !is_whole {
            self.leave_out(&rows, fields)?;
        }
        fields.mark_missing(self.nulls.as_ref(), rows, missing.len());
        Ok(())
    }
}

impl<T, P> Short<'_, T, P>
where
    T: Copy,
    P: Put<T>,
{
    /// Puts each value into its own room; returns whether all have a text.
    fn put_bare(&self, rows: &Range<usize>, fields: &mut FieldTexts<'_>) -> bool {
        let missing = &self.around.missing;
        fields.make_room(missing, rows.len() * ROOM, rows.len());
        let (rooms, _) = fields.own[missing.len()..].as_chunks_mut::<ROOM>();
        let (mut start, mut is_whole) = (missing.len(), true);
        let mut lens = [0; BATCH];
        let values = self.values[rows.clone()].chunks(BATCH);
        let batches = rooms.chunks_mut(BATCH).zip(fields.spans.chunks_mut(BATCH));
        for (values, (rooms, spans)) in values.zip(batches) {
            let lens = &mut lens[..values.len()];
            self.put.many(values, rooms, lens);
            for (span, &len) in spans.iter_mut().zip(&*lens) {
                *span = Span { start, end: start.wrapping_add(len) };
                start = start.wrapping_add(ROOM);
                is_whole &= len > 0;
            }
        }
        is_whole
    }

    /// Puts values one after another, with bytes around each; returns whether all have a text.
    fn put_around(&self, rows: &Range<usize>, fields: &mut FieldTexts<'_>) -> bool {
        let Around { before, after, missing } = &self.around;
        let each = before.len() + ROOM + after.len();
        fields.make_room(missing, rows.len() * each, rows.len());
        let (mut at, mut is_whole) = (missing.len(), true);
        let (mut rooms, mut lens) = ([[0; ROOM]; BATCH], [0; BATCH]);
        let values = self.values[rows.clone()].chunks(BATCH);
        for (values, spans) in values.zip(fields.spans.chunks_mut(BATCH)) {
            let lens = &mut lens[..values.len()];
            self.put.many(values, &mut rooms, lens);
            for ((room, &len), span) in rooms.iter().zip(&*lens).zip(spans) {
                span.start = at;
                fields.own[at..at + before.len()].copy_from_slice(before);
                at += before.len();
                fields.own[at..at + ROOM].copy_from_slice(room);
                is_whole &= len > 0;
                at += len;
                fields.own[at..at + after.len()].copy_from_slice(after);
                at += after.len();
                span.end = at;
            }
        }
        is_whole
    }
}

impl<T, P> Short<'_, T, P> {
    /// Handles values without a text; missing ones need none.
    #[cold]
    fn leave_out(&self, rows: &Range<usize>, fields: &mut FieldTexts<'_>) -> FillResult {
        let around = self.around.before.len() + self.around.after.len();
        for (row, span) in rows.clone().zip(&mut fields.spans) {
            if span.len() > around {
                continue;
            }
            if self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) {
                match self.otherwise {
                    Otherwise::Refused { detail, hint } => {
                        return Err(Unwritable { row, detail, hint });
                    }
                    Otherwise::Missing => fields.not_finite += 1,
                }
            }
            *span = Span { start: 0, end: self.around.missing.len() };
        }
        Ok(())
    }
}

/// A column of values with texts of any length, and a function that appends one. It returns `false`
/// for a value without a text, which is then written as missing.
pub(super) struct LongTexts<'a, T, P> {
    pub(super) values: &'a [T],
    pub(super) nulls: Option<NullBuffer>,
    pub(super) around: Around,
    pub(super) push: P,
}

impl<T, P> Source for LongTexts<'_, T, P>
where
    T: Copy + Send + Sync,
    P: Fn(&mut Vec<u8>, T) -> bool + Send + Sync,
{
    fn fill<'s>(&'s self, rows: Range<usize>, fields: &mut FieldTexts<'s>) -> FillResult {
        let Around { before, after, missing } = &self.around;
        fields.begin(missing);
        for (row, value) in rows.clone().zip(&self.values[rows.clone()]) {
            let start = fields.own.len();
            fields.own.extend_from_slice(before);
            let is_written = (self.push)(&mut fields.own, *value);
            fields.own.extend_from_slice(after);
            if is_written {
                fields.push(start);
                continue;
            }
            fields.spans.push(Span { start: 0, end: missing.len() });
            let is_valid = self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
            fields.not_finite += u64::from(is_valid);
        }
        fields.mark_missing(self.nulls.as_ref(), rows, missing.len());
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
        // Padding: a short copy from here reads a fixed number of bytes.
        text.resize(text.len() + 64, 0);
        Self { values, missing: around.missing.len(), text, no, yes }
    }
}

impl Source for Booleans<'_> {
    fn fill<'s>(&'s self, rows: Range<usize>, fields: &mut FieldTexts<'s>) -> FillResult {
        fields.begin(b"");
        fields.lent = Some(&self.text);
        let bits = self.values.values().slice(rows.start, rows.len());
        fields.spans.extend(bits.iter().map(|bit| if bit { self.yes } else { self.no }));
        fields.mark_missing(arrow_array::Array::nulls(self.values), rows, self.missing);
        Ok(())
    }
}

/// A column without values.
pub(super) struct NullTexts {
    pub(super) missing: Vec<u8>,
}

impl Source for NullTexts {
    fn fill<'s>(&'s self, rows: Range<usize>, fields: &mut FieldTexts<'s>) -> FillResult {
        fields.begin(&self.missing);
        fields.spans.resize(rows.len(), Span { start: 0, end: self.missing.len() });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::format::push_f64_shortest;

    #[test]
    fn doubles_are_those_that_are_pushed() {
        let mut next = swath_reference::splitmix(42);
        let mut values =
            vec![0.0, f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE, 5e-324];
        for digits in 0..17 {
            for decimals in 0..20 {
                for _ in 0..100 {
                    let number = (next() % 10_u64.pow(digits)).to_string();
                    values.push(format!("{number}e-{decimals}").parse().expect("a number"));
                }
            }
        }
        values.extend((0..50_000).map(|_| f64::from_bits(next())));
        let near = |value: f64| [value, -value, value.next_up(), value.next_down()];
        let values: Vec<f64> = values.into_iter().flat_map(near).collect();
        for has_all in [false, true] {
            for values in values.chunks(BATCH) {
                let (mut rooms, mut lens) = ([[b'x'; ROOM]; BATCH], [0; BATCH]);
                Doubles { has_all }.many(values, &mut rooms, &mut lens);
                for ((value, room), len) in values.iter().zip(rooms).zip(lens) {
                    let mut wanted = Vec::new();
                    if has_all || value.is_finite() {
                        push_f64_shortest(&mut wanted, *value);
                    }
                    assert_eq!(room[..len], wanted, "{value:e}");
                }
            }
        }
    }
}
