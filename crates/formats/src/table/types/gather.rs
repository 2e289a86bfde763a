//! Gathers the tokens of present fields, without blanks and quotes.

use std::ops::Range;

use swath_simd::Tokens;

use super::field::{RawFields, is_blank, trim};
use super::number::usual_form;
use super::rules::{ByteSet, FieldRules};
use crate::table::json::unquoted as unquoted_json;

/// Fields gathered at a time: the bits of a word of the validity.
pub(super) const BATCH: usize = 64;
/// Bytes before the first rewritten token: vector loads end where tokens do.
const CONTEXT: usize = 64;
/// Bytes copied for a short token.
const CHUNK: usize = 32;

/// Tokens in the order of their rows.
pub(super) struct Gathered {
    starts: [u32; BATCH],
    ends: [u32; BATCH],
    rows: [u8; BATCH],
    count: usize,
    /// The tokens in their usual form, if they are written in another one.
    rewritten: Option<Vec<u8>>,
    special: ByteSet,
}

impl Gathered {
    pub(super) fn new(rules: &FieldRules, is_rewritten: bool) -> Self {
        Self {
            starts: [0; BATCH],
            ends: [0; BATCH],
            rows: [0; BATCH],
            count: 0,
            rewritten: is_rewritten.then(Vec::new),
            special: rules.special_firsts(),
        }
    }

    /// Returns the tokens starting with `first`, in `text` unless they are rewritten.
    pub(super) fn tokens<'g>(&'g self, text: &'g [u8], first: usize) -> Tokens<'g> {
        Tokens {
            text: self.rewritten.as_deref().unwrap_or(text),
            starts: &self.starts[first..self.count],
            ends: &self.ends[first..self.count],
        }
    }

    /// Returns the rows of all tokens.
    pub(super) fn rows(&self) -> &[u8] {
        &self.rows[..self.count]
    }

    /// Gathers the fields that are not missing, without blanks and quotes. Returns their bits,
    /// and whether any field was more than a plain token.
    ///
    /// A field with an escape or a doubled quote keeps it: no parser accepts such a token.
    ///
    /// Strings of JSON are gathered only if they can be values.
    pub(super) fn carefully(
        &mut self,
        fields: RawFields<'_>,
        rules: &FieldRules,
        takes_strings: bool,
    ) -> (u64, bool) {
        let (mut there, mut is_odd) = (0, false);
        self.count = 0;
        if let Some(text) = &mut self.rewritten {
            text.clear();
            text.resize(CONTEXT, b',');
        }
        for (row, (&start, &end)) in (0..).zip(fields.starts.iter().zip(fields.ends)) {
            let (mut start, mut end) = (start as usize, end as usize);
            let Some(raw) = fields.text.get(start..end) else { continue };
            let is_plain = match raw {
                [] => false,
                [first, .., last] => !self.special.has(*first) && !is_blank(*last),
                [only] => !self.special.has(*only),
            };
            if !is_plain {
                is_odd |= !raw.is_empty();
                let (from, to) = match rules.quoting.is_json {
                    true => bare_json(raw, takes_strings),
                    false => bare(raw, rules),
                };
                (start, end) = (start + from, start + to);
                let is_json = rules.quoting.is_json;
                if is_json && raw == b"null" {
                    continue;
                }
                if (start < end || !is_json) && rules.nulls.has_at(fields.text, start, end) {
                    continue;
                }
            }
            there |= 1 << row;
            let place = self.rewritten(fields.text, start..end, rules);
            self.add(place, row);
        }
        (there, is_odd)
    }

    fn add(&mut self, place: Range<usize>, row: u8) {
        // The text has offsets of 32 bits.
        let [start, end] =
            [place.start, place.end].map(|at| u32::try_from(at).unwrap_or(u32::MAX));
        let at = self.count;
        (self.starts[at], self.ends[at], self.rows[at]) = (start, end, row);
        self.count += 1;
    }

    /// Appends the usual form of a token and a byte that ends it, if tokens are rewritten.
    /// Returns its place; a token without a usual form becomes empty, which no parser accepts.
    fn rewritten(
        &mut self,
        text: &[u8],
        token: Range<usize>,
        rules: &FieldRules,
    ) -> Range<usize> {
        let Some(copies) = &mut self.rewritten else { return token };
        let (start, len) = (copies.len(), token.len());
        let chunk = text[token.start..].first_chunk::<CHUNK>().filter(|_| len < CHUNK);
        let len = match chunk.filter(|_| rules.thousands.is_none()) {
            Some(chunk) => {
                copies.extend_from_slice(&with_point(chunk, rules.decimal));
                len
            }
            None => {
                copies.resize(start + len, 0);
                usual_form(&text[token], rules, &mut copies[start..]).unwrap_or(0)
            }
        };
        copies.truncate(start + len);
        copies.push(b',');
        start..start + len
    }
}

/// Replaces the column's decimal point with `.`, and `.` with a byte that no number has.
fn with_point(chunk: &[u8; CHUNK], decimal: u8) -> [u8; CHUNK] {
    chunk.map(|byte| match byte {
        _ if byte == decimal => b'.',
        b'.' => 0,
        _ => byte,
    })
}

/// Returns where a field begins and ends without its blanks or quotes.
fn bare(raw: &[u8], rules: &FieldRules) -> (usize, usize) {
    let is_quoted =
        rules.quoting.quote.is_some() && raw.first() == rules.quoting.quote.as_ref();
    let inner = if is_quoted { unquoted(raw, rules) } else { trim(raw) };
    let start = inner.as_ptr().addr() - raw.as_ptr().addr();
    (start, start + inner.len())
}

/// Returns where a value of JSON begins and ends without its quotes. The range is empty, so
/// that no parser accepts it, if the value has escapes or is a string where none is accepted.
fn bare_json(raw: &[u8], takes_strings: bool) -> (usize, usize) {
    match unquoted_json(raw) {
        None => (0, raw.len()),
        Some(inner) if takes_strings && !inner.contains(&b'\\') => (1, raw.len() - 1),
        Some(_) => (0, 0),
    }
}

/// Returns the bytes inside the quotes; all bytes if the last one is not a quote.
fn unquoted<'r>(raw: &'r [u8], rules: &FieldRules) -> &'r [u8] {
    match trim(raw) {
        [_, inner @ .., last] if Some(*last) == rules.quoting.quote => inner,
        _ => raw,
    }
}
