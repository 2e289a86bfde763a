//! Columns of texts.
//!
//! ```text
//! text      a,"b ""c""",NA,d        the fields of a block
//! values    ab "c"d                 their bytes, concatenated, without quotes
//! offsets   0 1 6 6 7               the start of each, and the end of the last
//! ```
//!
//! Most fields are short: 32 bytes are copied whatever the length, which is faster than copying
//! only some, and the next field overwrites the excess. All new bytes are checked to be UTF-8
//! at once.
//!
//! This is Arrow's `LargeUtf8`. Views (`Utf8View`) would take more memory for short texts.
//! Without unsafe code each view is checked on its own, which takes longer than everything
//! else.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, LargeStringArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};

use super::field::{RawFields, TextField, is_blank};
use super::fill::{Fill, taken};
use super::flags::{Flags, Note, note_nested};
use super::misfit::{FieldFit, Misfit, MisfitAt};
use super::rules::{ByteSet, FieldRules};
use super::validity::Validity;

/// Bytes copied for a short field.
const CHUNK: usize = 32;
/// Fields whose validity is appended at a time.
const BATCH: usize = 64;

/// A column of texts, each stored separately.
pub(super) struct TextsFill {
    /// Bytes past the last offset have no meaning.
    values: Vec<u8>,
    offsets: Vec<i64>,
    /// The last offset.
    end: usize,
}

impl TextsFill {
    pub(super) fn new(capacity: usize) -> Self {
        let mut offsets = Vec::with_capacity(capacity + 1);
        offsets.push(0);
        Self { values: Vec::new(), offsets, end: 0 }
    }

    /// Reserves room for some bytes and a chunk after them.
    fn make_room(&mut self, more: usize) {
        let needed = self.end + more + CHUNK;
        if self.values.len() < needed {
            self.values.resize(needed, 0);
        }
    }

    /// Appends the bytes of `text` up to `end`; the room is reserved.
    #[inline]
    fn copy(&mut self, text: &[u8], start: usize, end: usize) {
        let (at, len) = (self.end, end - start);
        match text[start..].first_chunk::<CHUNK>() {
            Some(chunk) if len <= CHUNK => {
                self.values[at..at + CHUNK].copy_from_slice(chunk);
            }
            _ => self.values[at..at + len].copy_from_slice(&text[start..end]),
        }
        self.end += len;
    }

    /// Ends a value, missing or not. The cast is lossless, since no memory has 2^63 bytes.
    #[inline]
    fn end_value(&mut self) {
        self.offsets.push(i64::try_from(self.end).unwrap_or(i64::MAX));
    }

    /// Appends up to 64 fields. Returns which are present, and which of these are objects or
    /// arrays.
    fn push_some(
        &mut self,
        fields: RawFields<'_>,
        rules: &FieldRules,
        special: ByteSet,
        scratch: &mut Vec<u8>,
    ) -> (u64, u64) {
        let (mut there, mut nested) = (0, 0);
        for (bit, (&start, &end)) in fields.starts.iter().zip(fields.ends).enumerate() {
            let (start, end) = (start as usize, end as usize);
            let is_there = match fields.text.get(start..end).map(<[u8]>::first) {
                None => false,
                Some(None) => !rules.nulls.has_empty(),
                Some(Some(&first)) if special.has(first) => {
                    let is_there = self.push_special(fields.text, start..end, rules, scratch);
                    let is_nested = is_there && rules.has_nested(&[first]);
                    nested |= u64::from(is_nested) << bit;
                    is_there
                }
                Some(Some(_)) => {
                    self.copy(fields.text, start, end);
                    true
                }
            };
            self.end_value();
            there |= u64::from(is_there) << bit;
        }
        (there, nested)
    }

    /// Appends the bytes of a field that may be quoted, escaped or missing. Returns whether it
    /// is present.
    fn push_special(
        &mut self,
        text: &[u8],
        raw: Range<usize>,
        rules: &FieldRules,
        scratch: &mut Vec<u8>,
    ) -> bool {
        match simple(text, raw.clone(), rules) {
            Simple::Missing => return false,
            Simple::Text(inner) => {
                self.copy(text, inner.start, inner.end);
                return true;
            }
            Simple::Not => {}
        }
        let field = rules.quoting.field(&text[raw], scratch);
        let is_text = field.is_quoted && !rules.quoting.is_json;
        let is_there = is_text || !rules.is_missing(field);
        if is_there {
            self.copy(field.bytes, 0, field.bytes.len());
        }
        is_there
    }

    /// Checks the texts from `first` on; returns the index of the first that is not UTF-8.
    fn check(&self, first: usize) -> Result<(), usize> {
        let start = |index: usize| usize::try_from(self.offsets[index]).unwrap_or(usize::MAX);
        let bytes = &self.values[..self.end];
        let begin = start(first);
        if bytes[begin..].is_ascii() {
            return Ok(());
        }
        // Valid as a whole, and no character crosses the end of a text.
        let text = std::str::from_utf8(&bytes[begin..]);
        let is_apart = |text: &str| {
            (first..self.offsets.len()).all(|at| text.is_char_boundary(start(at) - begin))
        };
        if text.is_ok_and(is_apart) {
            return Ok(());
        }
        let wrong = (first..self.offsets.len() - 1)
            .position(|at| std::str::from_utf8(&bytes[start(at)..start(at + 1)]).is_err());
        wrong.map_or(Ok(()), Err)
    }

    /// Removes all but `count` texts.
    fn keep(&mut self, count: usize) {
        self.offsets.truncate(count + 1);
        let end = self.offsets.last().copied().unwrap_or(0);
        self.end = usize::try_from(end).unwrap_or(0);
    }
}

/// The usual kinds of fields.
enum Simple {
    Missing,
    Text(Range<usize>),
    /// Not simple: it may have escapes, doubled quotes, or blanks around a word for a missing
    /// value.
    Not,
}

/// Returns the kind of a field that begins with a quote, or like a word for a missing value.
#[inline]
fn simple(text: &[u8], raw: Range<usize>, rules: &FieldRules) -> Simple {
    let (first, last) = (text[raw.start], text[raw.end - 1]);
    if rules.quoting.is_json {
        return simple_json(text, raw, rules);
    }
    if rules.quoting.escape.is_some() || is_blank(first) || is_blank(last) {
        return Simple::Not;
    }
    if Some(first) != rules.quoting.quote {
        let is_missing = rules.nulls.has_at(text, raw.start, raw.end);
        return if is_missing { Simple::Missing } else { Simple::Text(raw) };
    }
    let inner = raw.start + 1..raw.end - 1;
    let is_whole = first == last && inner.start <= inner.end;
    if is_whole && !has_byte(text, inner.clone(), first) {
        Simple::Text(inner)
    } else {
        Simple::Not
    }
}

/// Returns the kind of a simple value of JSON.
#[inline]
fn simple_json(text: &[u8], raw: Range<usize>, rules: &FieldRules) -> Simple {
    let is_string = text[raw.start] == b'"';
    let word = if is_string { raw.start + 1..raw.end - 1 } else { raw };
    if is_string && has_byte(text, word.clone(), b'\\') {
        return Simple::Not;
    }
    let is_null = !is_string && &text[word.clone()] == b"null";
    let is_missing = is_null || rules.nulls.has_at(text, word.start, word.end);
    if is_missing { Simple::Missing } else { Simple::Text(word) }
}

/// Whether a byte occurs in a range of a text.
#[inline]
fn has_byte(text: &[u8], range: Range<usize>, byte: u8) -> bool {
    let len = range.len();
    match text[range.start..].first_chunk::<CHUNK>() {
        Some(chunk) if len <= CHUNK => first_byte(chunk, byte) < len,
        _ => swath_simd::find(&text[range], byte).is_some(),
    }
}

/// The first place of a byte in a chunk; the chunk's length if it has none.
#[inline]
fn first_byte(chunk: &[u8; CHUNK], byte: u8) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const LOW: u64 = 0x7f * ONES;
    let (words, _) = chunk.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let other = u64::from_le_bytes(*word) ^ (ONES * u64::from(byte));
        // The top bit of each byte that is zero.
        let zeros = !(((other & LOW) + LOW) | other | LOW);
        if zeros != 0 {
            return index * 8 + zeros.trailing_zeros() as usize / 8;
        }
    }
    CHUNK
}

impl Fill for TextsFill {
    fn is_text(&self) -> bool {
        true
    }

    fn push(
        &mut self,
        field: TextField<'_>,
        rules: &FieldRules,
        note: &mut Note<'_>,
    ) -> FieldFit {
        std::str::from_utf8(field.bytes).map_err(|_| Misfit::Encoding)?;
        note_nested(field, rules, note);
        self.make_room(field.bytes.len());
        self.copy(field.bytes, 0, field.bytes.len());
        self.end_value();
        Ok(())
    }

    fn push_missing(&mut self) {
        self.end_value();
    }

    fn push_all(
        &mut self,
        fields: RawFields<'_>,
        rules: &FieldRules,
        validity: &mut Validity,
        note: &mut Note<'_>,
    ) -> Result<(), MisfitAt> {
        let (first, mut scratch) = (self.offsets.len() - 1, Vec::new());
        let mut words = Vec::with_capacity(fields.len().div_ceil(BATCH));
        let special = rules.special_firsts();
        self.make_room(fields.bytes());
        for (number, batch) in fields.batches(BATCH).enumerate() {
            let (there, as_text) = self.push_some(batch, rules, special, &mut scratch);
            words.push((there, batch.len()));
            if as_text != 0 {
                note(number * BATCH, Flags { as_text, ..Flags::default() });
            }
        }
        let checked = self.check(first);
        let fit = checked.err().unwrap_or(fields.len());
        self.keep(first + fit);
        validity.push_words(&words, fit);
        checked.map_err(|index| MisfitAt { index, misfit: Misfit::Encoding })
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> ArrayRef {
        self.values.truncate(self.end);
        let values = Buffer::from_vec(taken(&mut self.values));
        let offsets = OffsetBuffer::new(taken(&mut self.offsets).into());
        Arc::new(LargeStringArray::new(offsets, values, nulls))
    }
}
