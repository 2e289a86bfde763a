//! What words and bytes mean in the fields of a column.

use super::field::{Field, Quoting, trim};
use super::formats::Format;

/// How the fields of a column are read.
#[derive(Clone, Debug)]
pub(in crate::table) struct Rules {
    /// Words for missing values; the empty field is one of them if it is here.
    pub(in crate::table) nulls: Words,
    pub(in crate::table) trues: Words,
    pub(in crate::table) falses: Words,
    pub(in crate::table) quoting: Quoting,
    /// The decimal point.
    pub(in crate::table) decimal: u8,
    pub(in crate::table) thousands: Option<u8>,
    /// How dates and timestamps are written, instead of the usual form.
    pub(in crate::table) format: Option<Format>,
    /// Whether the type is told: then leading zeros and `+` may precede whole numbers.
    pub(in crate::table) is_told: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            nulls: Words::new(["", "NA", "N/A", "null", "NULL"]),
            trues: Words::new(["true", "True", "TRUE"]),
            falses: Words::new(["false", "False", "FALSE"]),
            quoting: Quoting { quote: Some(b'"'), escape: None },
            decimal: b'.',
            thousands: None,
            format: None,
            is_told: false,
        }
    }
}

impl Rules {
    /// Whether a field is missing in all types, or, if it is quoted, in all but text.
    #[inline]
    pub(super) fn is_missing(&self, field: Field<'_>) -> bool {
        let word = if field.is_quoted { field.bytes } else { trim(field.raw) };
        self.nulls.has(word)
    }

    /// Returns the boolean that a field is.
    pub(super) fn boolean(&self, field: Field<'_>) -> Option<bool> {
        let word = field.trimmed();
        if self.trues.has(word) { Some(true) } else { self.falses.has(word).then_some(false) }
    }
}

/// A set of words, which mostly does not have what is asked.
#[derive(Clone, Debug)]
pub(in crate::table) struct Words {
    words: Vec<Vec<u8>>,
    /// One bit for each byte that a word begins with.
    firsts: [u64; 4],
    has_empty: bool,
}

impl Words {
    pub(in crate::table) fn new<W: AsRef<[u8]>>(words: impl IntoIterator<Item = W>) -> Self {
        let words: Vec<Vec<u8>> =
            words.into_iter().map(|word| word.as_ref().to_vec()).collect();
        let mut firsts = [0; 4];
        for &first in words.iter().filter_map(|word| word.first()) {
            firsts[usize::from(first >> 6)] |= 1 << (first & 63);
        }
        let has_empty = words.iter().any(Vec::is_empty);
        Self { words, firsts, has_empty }
    }

    /// Whether a word is in the set.
    #[inline]
    pub(super) fn has(&self, word: &[u8]) -> bool {
        match word.first() {
            None => self.has_empty,
            Some(&first) => self.begins(first) && self.words.iter().any(|each| each == word),
        }
    }

    /// Whether the empty word is in the set.
    #[inline]
    pub(super) fn has_empty(&self) -> bool {
        self.has_empty
    }

    /// Whether a word begins with this byte.
    #[inline]
    pub(super) fn begins(&self, first: u8) -> bool {
        self.firsts[usize::from(first >> 6)] >> (first & 63) & 1 == 1
    }
}
