//! Fields, as they are in the text and without their quotes.

use swath_simd::Tokens;

use crate::table::json::{decode, unquoted};

/// A field without its quotes and escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) struct TextField<'t> {
    pub(in crate::table) bytes: &'t [u8],
    pub(in crate::table) is_quoted: bool,
    /// With quotes and escapes: compared with the words for missing values if unquoted.
    pub(in crate::table) raw: &'t [u8],
}

impl<'t> TextField<'t> {
    /// Returns the bytes; those of an unquoted field without the blanks around them.
    pub(in crate::table) fn trimmed(self) -> &'t [u8] {
        if self.is_quoted { self.bytes } else { trim(self.bytes) }
    }
}

/// The bytes that quote and escape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::table) struct QuoteBytes {
    pub(in crate::table) quote: Option<u8>,
    pub(in crate::table) escape: Option<u8>,
    /// Fields are values of JSON: strings are quoted.
    pub(in crate::table) is_json: bool,
}

impl QuoteBytes {
    /// Returns the field of a raw one; `scratch` holds its bytes if some had to be removed.
    ///
    /// The reader has checked that a quoted field is closed and followed by blanks only.
    pub(in crate::table) fn field<'t>(
        self,
        raw: &'t [u8],
        scratch: &'t mut Vec<u8>,
    ) -> TextField<'t> {
        if self.is_json {
            return json(raw, scratch);
        }
        let is_quoted = self.quote.is_some() && raw.first() == self.quote.as_ref();
        let inner = if is_quoted { &raw[1..] } else { raw };
        let is_special =
            |byte: &u8| Some(*byte) == self.escape || (is_quoted && Some(*byte) == self.quote);
        let Some(special) = inner.iter().position(is_special) else {
            return TextField { bytes: inner, is_quoted, raw };
        };
        let is_closing = is_quoted && Some(inner[special]) != self.escape;
        if is_closing && inner.get(special + 1).copied() != self.quote {
            return TextField { bytes: &inner[..special], is_quoted, raw };
        }
        self.unescape(inner, is_quoted, scratch);
        TextField { bytes: scratch, is_quoted, raw }
    }

    /// Copies the bytes inside the quotes, or all bytes of an unquoted field.
    #[cold]
    fn unescape(self, inner: &[u8], is_quoted: bool, scratch: &mut Vec<u8>) {
        scratch.clear();
        if let (Some(quote), None, true) = (self.quote, self.escape, is_quoted) {
            return undouble(inner, quote, scratch);
        }
        let mut rest = inner.iter().copied().peekable();
        while let Some(byte) = rest.next() {
            if Some(byte) == self.escape && rest.peek().is_some() {
                scratch.extend(rest.next());
            } else if is_quoted && Some(byte) == self.quote {
                match rest.next() {
                    Some(next) if next == byte => scratch.push(byte),
                    _ => return,
                }
            } else {
                scratch.push(byte);
            }
        }
    }
}

/// Appends quoted bytes, with one quote for each doubled one.
fn undouble(inner: &[u8], quote: u8, scratch: &mut Vec<u8>) {
    let mut rest = inner;
    while let Some(at) = rest.iter().position(|&byte| byte == quote) {
        let is_double = rest.get(at + 1) == Some(&quote);
        scratch.extend_from_slice(&rest[..at + usize::from(is_double)]);
        if !is_double {
            return;
        }
        rest = &rest[at + 2..];
    }
    scratch.extend_from_slice(rest);
}

/// Returns the field of a value of JSON.
fn json<'t>(raw: &'t [u8], scratch: &'t mut Vec<u8>) -> TextField<'t> {
    let Some(inner) = unquoted(raw) else {
        return TextField { bytes: raw, is_quoted: false, raw };
    };
    if swath_simd::find(inner, b'\\').is_none() {
        return TextField { bytes: inner, is_quoted: true, raw };
    }
    scratch.clear();
    decode(inner, scratch);
    TextField { bytes: scratch, is_quoted: true, raw }
}

/// Fields of one column in a text, in the order of rows: the bytes from `starts[i]` up to
/// `ends[i]`, with their quotes. A field that starts past its end is absent, thus missing.
#[derive(Clone, Copy, Debug)]
pub(in crate::table) struct RawFields<'t> {
    pub(in crate::table) text: &'t [u8],
    pub(in crate::table) starts: &'t [u32],
    pub(in crate::table) ends: &'t [u32],
}

impl<'t> RawFields<'t> {
    /// Returns the number of fields.
    pub(in crate::table) fn len(&self) -> usize {
        self.starts.len().min(self.ends.len())
    }

    /// Returns the number of bytes in all fields.
    pub(super) fn bytes(&self) -> usize {
        let lens = self.starts.iter().zip(self.ends);
        lens.map(|(&start, &end)| end.saturating_sub(start) as usize).sum()
    }

    /// Returns the fields as tokens.
    pub(super) fn tokens(&self) -> Tokens<'t> {
        Tokens { text: self.text, starts: self.starts, ends: self.ends }
    }

    /// Returns at most `count` fields, starting with `first`.
    pub(super) fn some(&self, first: usize, count: usize) -> Self {
        let end = self.len().min(first + count);
        let some = |places: &'t [u32]| &places[first.min(end)..end];
        Self { text: self.text, starts: some(self.starts), ends: some(self.ends) }
    }

    /// Returns all fields in batches of `size`.
    pub(super) fn batches(self, size: usize) -> impl Iterator<Item = Self> {
        (0..self.len()).step_by(size).map(move |first| self.some(first, size))
    }

    /// Returns the bytes of a field; `None` if it is absent.
    pub(super) fn raw(&self, index: usize) -> Option<&'t [u8]> {
        self.text.get(self.starts[index] as usize..self.ends[index] as usize)
    }
}

/// Whether a byte is a blank.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Trims blanks at both ends.
pub(super) fn trim(mut bytes: &[u8]) -> &[u8] {
    while let Some((_, rest)) = bytes.split_first().filter(|(byte, _)| is_blank(**byte)) {
        bytes = rest;
    }
    while let Some((_, rest)) = bytes.split_last().filter(|(byte, _)| is_blank(**byte)) {
        bytes = rest;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, quoting: QuoteBytes, bytes: &str, is_quoted: bool) {
        let mut scratch = Vec::new();
        let found = quoting.field(raw.as_bytes(), &mut scratch);
        let wanted = TextField { bytes: bytes.as_bytes(), is_quoted, raw: raw.as_bytes() };
        assert_eq!(found, wanted, "{raw}");
    }

    #[test]
    fn quotes_and_escapes_are_undone() {
        let quoting = QuoteBytes { quote: Some(b'"'), escape: None, is_json: false };
        check("", quoting, "", false);
        check(" a b ", quoting, " a b ", false);
        check("a\"b", quoting, "a\"b", false);
        check(" \"a\"", quoting, " \"a\"", false);
        check("\"\"", quoting, "", true);
        check("\"a,b\"", quoting, "a,b", true);
        check("\" a \" \t", quoting, " a ", true);
        check("\"a\"\"b\"\"\"", quoting, "a\"b\"", true);
        check("\"\"\"\"", quoting, "\"", true);
        check("a\\b", quoting, "a\\b", false);
        let quoting = QuoteBytes { quote: Some(b'\''), escape: Some(b'\\'), is_json: false };
        check("a\\,b", quoting, "a,b", false);
        check("a\\\\", quoting, "a\\", false);
        check("'a\\'b'", quoting, "a'b", true);
        check("'a''b\\\\' ", quoting, "a'b\\", true);
        check("\\'a'", quoting, "'a'", false);
        check("a\\", quoting, "a\\", false);
        check("\"a\"", QuoteBytes::default(), "\"a\"", false);
    }
}
