//! Columns of text: finds the values that need quotes or escapes for many rows at a time.
//!
//! ```text
//! memory   Oslo|Rome, Italy|Bonn|NA     the array's own, or gathered from its views
//! bits     ····|····1······|····|··     bytes that end a field or a line
//! care     0   |1          |0   |1      also texts that as a whole mean something else
//! ```
//!
//! Usually there are none: then the rows take their texts from the array's memory.

use std::ops::Range;

use arrow_array::types::ByteArrayType;
use arrow_array::{GenericByteArray, StringViewArray};
use arrow_buffer::{ArrowNativeType as _, NullBuffer};
use swath_simd::Span;

use super::fields::{FieldTexts, push_short, some_missing};
use super::options::Quoting;
use super::source::{Around, FillResult, Source, Unwritable};
use super::style::{Quotes, Style, Syntax};

/// Texts in an array.
pub(super) trait ArrayTexts: Send + Sync {
    /// Puts the places of the texts of `rows` into `spans`, ascending and without gaps: in the
    /// returned memory, or in `raw` if they were gathered there.
    fn find<'s>(
        &'s self,
        rows: Range<usize>,
        raw: &mut Vec<u8>,
        spans: &mut Vec<Span>,
    ) -> Option<&'s [u8]>;
}

impl<T: ByteArrayType> ArrayTexts for &GenericByteArray<T> {
    fn find<'s>(
        &'s self,
        rows: Range<usize>,
        _: &mut Vec<u8>,
        spans: &mut Vec<Span>,
    ) -> Option<&'s [u8]> {
        let offsets = &self.value_offsets()[rows.start..=rows.end];
        let first = offsets[0].as_usize();
        let last = offsets[rows.len()].as_usize();
        spans.extend(offsets.windows(2).map(|pair| Span {
            start: pair[0].as_usize() - first,
            end: pair[1].as_usize() - first,
        }));
        Some(&self.value_data()[first..last])
    }
}

impl ArrayTexts for &StringViewArray {
    fn find<'s>(
        &'s self,
        rows: Range<usize>,
        raw: &mut Vec<u8>,
        spans: &mut Vec<Span>,
    ) -> Option<&'s [u8]> {
        for row in rows {
            let start = raw.len();
            push_view(raw, self, row);
            spans.push(Span { start, end: raw.len() });
        }
        None
    }
}

/// The most bytes of a text that is stored in the view itself.
const INLINE: usize = 12;

/// Appends the text of a view.
#[inline(always)]
fn push_view(raw: &mut Vec<u8>, array: &StringViewArray, row: usize) {
    let [a, b, c, d, inline @ ..] = array.views()[row].to_le_bytes();
    let len = u32::from_le_bytes([a, b, c, d]) as usize;
    if len <= INLINE {
        raw.extend_from_slice(&inline);
        raw.truncate(raw.len() - (INLINE - len));
    } else {
        raw.extend_from_slice(array.value(row).as_bytes());
    }
}

/// Texts of a dictionary that is too large to format as a whole.
pub(super) struct PickedTexts<T> {
    pub(super) keys: Vec<usize>,
    pub(super) texts: T,
}

impl<T: ArrayTexts> ArrayTexts for PickedTexts<T> {
    fn find<'s>(
        &'s self,
        rows: Range<usize>,
        raw: &mut Vec<u8>,
        spans: &mut Vec<Span>,
    ) -> Option<&'s [u8]> {
        let (mut one, mut place) = (Vec::new(), Vec::new());
        for key in &self.keys[rows] {
            place.clear();
            one.clear();
            let start = raw.len();
            let text = self.texts.find(*key..key + 1, &mut one, &mut place);
            raw.extend_from_slice(place[0].of(text.unwrap_or(&one)));
            spans.push(Span { start, end: raw.len() });
        }
        None
    }
}

/// A column of text.
pub(super) struct TextColumn<'a, T> {
    pub(super) texts: T,
    pub(super) nulls: Option<NullBuffer>,
    pub(super) around: Around,
    pub(super) style: &'a Style,
}

impl<T: ArrayTexts> Source for TextColumn<'_, T> {
    fn fill<'s>(&'s self, rows: Range<usize>, fields: &mut FieldTexts<'s>) -> FillResult {
        fields.begin(&self.around.missing);
        let mut raw = Vec::new();
        let lent = self.texts.find(rows.clone(), &mut raw, &mut fields.spans);
        let text = lent.unwrap_or(&raw);
        let care = self.care(text, &fields.spans, rows.clone());
        match &self.style.syntax {
            Syntax::Json => self.push_json(text, &care, fields),
            Syntax::Separated(quotes) => {
                let is_plain = care.is_empty() && quotes.quoting != Quoting::All;
                // The word for missing values must be in the same memory as the texts.
                let has_word = !self.around.missing.is_empty()
                    && some_missing(self.nulls.as_ref(), rows.clone()).is_some();
                if is_plain && !has_word {
                    match lent {
                        Some(lent) => fields.lent = Some(lent),
                        None => fields.own = raw,
                    }
                } else {
                    self.refuse_quotes(quotes, &care, &rows)?;
                    push_quoted(quotes, text, &care, fields);
                }
            }
        }
        fields.mark_missing(self.nulls.as_ref(), rows, self.around.missing.len());
        Ok(())
    }
}

/// The rows of texts that cannot be copied as they are, one bit for each; empty if there are none.
#[derive(Default)]
struct Care(Vec<u64>);

impl Care {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, row: usize, rows: usize) {
        if self.0.is_empty() {
            self.0.resize(rows.div_ceil(64), 0);
        }
        self.0[row / 64] |= 1 << (row % 64);
    }

    fn has(&self, row: usize) -> bool {
        self.0.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }
}

impl<T> TextColumn<'_, T> {
    /// Finds the rows that need quotes or escapes. Missing rows may hold anything.
    fn care(&self, text: &[u8], spans: &[Span], rows: Range<usize>) -> Care {
        let mut care = Care::default();
        let is_valid = |row: usize| {
            self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(rows.start + row))
        };
        let mut bits = Vec::new();
        if self.style.special.find(text, &mut bits) {
            // Spans ascend: a text is examined only up to its first special byte.
            let mut at = 0;
            for (row, span) in spans.iter().enumerate() {
                at = at.max(span.start);
                at = next_bit(&bits, at);
                if at < span.end && is_valid(row) {
                    care.add(row, spans.len());
                }
            }
        }
        if let Syntax::Separated(quotes) = &self.style.syntax {
            for (row, span) in spans.iter().enumerate() {
                if quotes.is_mistaken(span.of(text)) && is_valid(row) {
                    care.add(row, spans.len());
                }
            }
        }
        care
    }

    /// Returns an error if quotes are needed and not allowed.
    fn refuse_quotes(&self, quotes: &Quotes, care: &Care, rows: &Range<usize>) -> FillResult {
        if quotes.quoting != Quoting::Never {
            return Ok(());
        }
        match (0..rows.len()).find(|row| care.has(*row)) {
            None => Ok(()),
            Some(row) => Err(Unwritable {
                row: rows.start + row,
                detail: "the text would need quotes to be read back, which the options rule out",
                hint: "choose another delimiter, or allow quotes",
            }),
        }
    }

    /// Appends strings of JSON.
    fn push_json(&self, text: &[u8], care: &Care, fields: &mut FieldTexts<'_>) {
        for row in 0..fields.spans.len() {
            let (span, start) = (fields.spans[row], fields.own.len());
            fields.own.extend_from_slice(&self.around.before);
            if care.has(row) {
                push_escaped(&mut fields.own, span.of(text));
            } else {
                push_short(&mut fields.own, text, span);
            }
            fields.own.extend_from_slice(self.around.after);
            fields.spans[row] = Span { start, end: fields.own.len() };
        }
    }
}

/// Returns the first set bit at or after `at`, or the number of bits.
#[inline(always)]
fn next_bit(bits: &[u64], at: usize) -> usize {
    let (mut word, rest) = (at / 64, at % 64);
    let Some(mut here) = bits.get(word).map(|it| it >> rest << rest) else {
        return bits.len() * 64;
    };
    while here == 0 {
        word += 1;
        match bits.get(word) {
            Some(next) => here = *next,
            None => return bits.len() * 64,
        }
    }
    word * 64 + here.trailing_zeros() as usize
}

/// Appends fields, some of them quoted.
fn push_quoted(quotes: &Quotes, text: &[u8], care: &Care, fields: &mut FieldTexts<'_>) {
    let is_every = quotes.quoting == Quoting::All;
    for row in 0..fields.spans.len() {
        let (span, start) = (fields.spans[row], fields.own.len());
        if is_every || care.has(row) {
            quote(&mut fields.own, span.of(text));
        } else {
            push_short(&mut fields.own, text, span);
        }
        fields.spans[row] = Span { start, end: fields.own.len() };
    }
}

/// Appends a quoted text, with its quotes doubled.
pub(super) fn quote(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    for part in text.split_inclusive(|&byte| byte == b'"') {
        out.extend_from_slice(part);
        if part.ends_with(b"\"") {
            out.push(b'"');
        }
    }
    out.push(b'"');
}

/// Appends the inside of a JSON string.
pub(super) fn push_escaped(out: &mut Vec<u8>, text: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for &byte in text {
        let short = match byte {
            b'"' | b'\\' => byte,
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x08 => b'b',
            0x0c => b'f',
            0..0x20 => {
                let low = HEX[usize::from(byte % 16)];
                out.extend_from_slice(&[b'\\', b'u', b'0', b'0', b'0' + byte / 16, low]);
                continue;
            }
            _ => {
                out.push(byte);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', short]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_set_bit_is_found_across_words() {
        let bits = [0, 1 << 5 | 1 << 63, 0, 1];
        let found: Vec<_> = [0, 64, 69, 70, 127, 128, 192, 193, 256, 1000]
            .into_iter()
            .map(|at| next_bit(&bits, at))
            .collect();
        assert_eq!(found, [69, 69, 69, 127, 127, 192, 192, 256, 256, 256]);
        assert_eq!(next_bit(&[], 0), 0);
    }

    #[test]
    fn quotes_are_doubled_and_control_bytes_escaped() {
        let mut out = Vec::new();
        quote(&mut out, b"say \"a\"\n");
        quote(&mut out, b"");
        assert_eq!(out, b"\"say \"\"a\"\"\n\"\"\"");
        out.clear();
        push_escaped(&mut out, "a\"\\\n\r\t\u{8}\u{c}\0\u{1f}\u{7f}é\u{2028}".as_bytes());
        let wanted = "a\\\"\\\\\\n\\r\\t\\b\\f\\u0000\\u001f\u{7f}é\u{2028}";
        assert_eq!(String::from_utf8(out).expect("text"), wanted);
    }
}
