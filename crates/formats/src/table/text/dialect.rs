//! The notation of records and fields in a table.

use crate::table::options::choices::{Delimiter, LongDelimiter};
use crate::table::types::QuoteBytes;

/// The separator between the fields of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) enum Between {
    /// This byte.
    Byte(u8),
    /// These bytes.
    Text(LongDelimiter),
    /// Runs of blanks, also before and after a record.
    Blanks,
    /// There is no separator: one column.
    Nothing,
    /// The separators between the members of a JSON object.
    Json,
    /// There is no separator: columns are at fixed places of each line.
    Fixed,
}

impl From<Delimiter> for Between {
    fn from(delimiter: Delimiter) -> Self {
        match delimiter {
            Delimiter::Byte(byte) => Self::Byte(byte),
            Delimiter::Text(long) => Self::Text(long),
            Delimiter::Blanks => Self::Blanks,
        }
    }
}

/// The notation of a table: separators, quotes, escapes and comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) struct Dialect {
    pub(in crate::table) between: Between,
    pub(in crate::table) quote: Option<u8>,
    /// Differs from the quote.
    pub(in crate::table) escape: Option<u8>,
    pub(in crate::table) comment: Option<u8>,
}

impl Dialect {
    /// An object on each line.
    pub(in crate::table) const JSON: Self =
        Self { between: Between::Json, quote: None, escape: None, comment: None };

    /// Returns the bytes of the delimiter: none for blanks, or without a delimiter.
    pub(in crate::table) fn delimiter_bytes(&self) -> &[u8] {
        match &self.between {
            Between::Byte(delimiter) => std::slice::from_ref(delimiter),
            Between::Text(long) => long.as_bytes(),
            Between::Blanks | Between::Nothing | Between::Json | Between::Fixed => &[],
        }
    }

    /// Returns the length of the separator at the start of the text, which ends a field within a
    /// record: for blanks, 1. 0 if the text does not begin with one.
    #[inline]
    pub(in crate::table) fn separator(&self, text: &[u8]) -> usize {
        match &self.between {
            Between::Byte(delimiter) => usize::from(text.first() == Some(delimiter)),
            Between::Text(long) if text.starts_with(long.as_bytes()) => long.as_bytes().len(),
            Between::Blanks => usize::from(matches!(text, [b' ' | b'\t', ..])),
            Between::Text(_) | Between::Nothing | Between::Json | Between::Fixed => 0,
        }
    }

    /// Whether a byte is a blank that may follow a closing quote. A blank that begins a delimiter
    /// of several bytes is not.
    pub(in crate::table) fn is_blank(&self, byte: u8) -> bool {
        matches!(byte, b' ' | b'\t') && self.separator(&[byte]) == 0
    }

    /// Whether a line that begins like this is a comment. If blanks separate fields, some may
    /// precede it.
    pub(in crate::table) fn begins_comment(&self, line: &[u8]) -> bool {
        let Some(comment) = self.comment else { return false };
        let is_blank = |byte: &&u8| self.between == Between::Blanks && b" \t".contains(byte);
        line.iter().find(|byte| !is_blank(byte)) == Some(&comment)
    }

    /// Whether newlines may be part of a field.
    pub(in crate::table) fn has_long_lines(&self) -> bool {
        self.quote.is_some() || self.escape.is_some()
    }

    /// Returns the bytes that quote and escape.
    pub(in crate::table) fn quoting(&self) -> QuoteBytes {
        let is_json = self.between == Between::Json;
        QuoteBytes { quote: self.quote, escape: self.escape, is_json }
    }

    /// Returns the delimiter for the report.
    pub(in crate::table) fn delimiter(&self) -> Option<Delimiter> {
        match self.between {
            Between::Byte(byte) => Some(Delimiter::Byte(byte)),
            Between::Text(long) => Some(Delimiter::Text(long)),
            Between::Blanks => Some(Delimiter::Blanks),
            Between::Nothing | Between::Json | Between::Fixed => None,
        }
    }
}

/// Trims blanks at both ends.
pub(in crate::table) fn trim(mut bytes: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = bytes {
        bytes = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = bytes {
        bytes = rest;
    }
    bytes
}
