//! The meaning of words and bytes in the fields of a column.

use super::field::{QuoteBytes, TextField, trim};
use super::formats::MomentFormat;
use crate::number::parse::double;

/// The rules by which the fields of a column are read.
#[derive(Clone, Debug)]
pub(in crate::table) struct FieldRules {
    /// Words for missing values, among them the empty one if empty fields are missing.
    pub(in crate::table) nulls: WordSet,
    pub(in crate::table) trues: WordSet,
    pub(in crate::table) falses: WordSet,
    pub(in crate::table) quoting: QuoteBytes,
    /// The decimal point.
    pub(in crate::table) decimal: u8,
    pub(in crate::table) thousands: Option<u8>,
    /// The format of dates and timestamps, if not the usual one.
    pub(in crate::table) format: Option<MomentFormat>,
    /// Whether the caller gave the type: then leading zeros and `+` may precede whole numbers.
    pub(in crate::table) is_told: bool,
    /// Whether objects and arrays are read as more than text.
    pub(in crate::table) is_nested: bool,
}

impl Default for FieldRules {
    fn default() -> Self {
        Self {
            nulls: WordSet::new(["", "NA", "N/A", "null", "NULL"]),
            trues: WordSet::new(["true", "True", "TRUE"]),
            falses: WordSet::new(["false", "False", "FALSE"]),
            quoting: QuoteBytes { quote: Some(b'"'), escape: None, is_json: false },
            decimal: b'.',
            thousands: None,
            format: None,
            is_told: false,
            is_nested: false,
        }
    }
}

impl FieldRules {
    /// Whether numbers are written like `1234.5`.
    pub(super) fn has_usual_numbers(&self) -> bool {
        self.decimal == b'.' && self.thousands.is_none()
    }

    /// Whether a field is missing in all types, or in all but text if it is quoted and not
    /// JSON.
    #[inline]
    pub(in crate::table) fn is_missing(&self, field: TextField<'_>) -> bool {
        if self.quoting.is_json && !field.is_quoted && field.raw == b"null" {
            return true;
        }
        let word = if field.is_quoted { field.bytes } else { trim(field.raw) };
        self.nulls.has(word)
    }

    /// Returns the first bytes of fields that are not simply their own text.
    pub(super) fn special_firsts(&self) -> ByteSet {
        if self.quoting.escape.is_some() {
            return ByteSet::ALL;
        }
        let mut firsts = self.nulls.firsts;
        let json = self.quoting.is_json.then_some(*b"\"n{[").into_iter().flatten();
        for byte in [b' ', b'\t'].into_iter().chain(self.quoting.quote).chain(json) {
            firsts.insert(byte);
        }
        firsts
    }

    /// Whether a field that looks like a number or a date may be missing, or a boolean.
    pub(super) fn has_odd_words(&self) -> bool {
        self.nulls.has_values() || self.has_odd_booleans()
    }

    /// Whether a boolean looks like a number or a date. In a column with a given type it is a
    /// value of that type.
    pub(super) fn has_odd_booleans(&self) -> bool {
        !self.is_told && (self.trues.has_values() || self.falses.has_values())
    }

    /// Whether a field is a boolean, which a column of another type refuses.
    pub(super) fn is_refused(&self, field: TextField<'_>) -> bool {
        self.has_odd_booleans() && self.boolean(field).is_some()
    }

    /// Whether a field is an object or an array of JSON.
    #[inline]
    pub(super) fn has_nested(&self, raw: &[u8]) -> bool {
        self.quoting.is_json && matches!(raw.first(), Some(b'{' | b'['))
    }

    /// Returns the boolean of a field.
    pub(super) fn boolean(&self, field: TextField<'_>) -> Option<bool> {
        let word = field.trimmed();
        if self.quoting.is_json && !field.is_quoted {
            match word {
                b"true" => return Some(true),
                b"false" => return Some(false),
                _ => {}
            }
        }
        if self.trues.has(word) { Some(true) } else { self.falses.has(word).then_some(false) }
    }
}

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    pub(super) const ALL: Self = Self([u64::MAX; 4]);

    pub(super) fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    #[inline]
    pub(super) fn has(self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }
}

/// A set of words, tuned for words that it does not have.
#[derive(Clone, Debug)]
pub(in crate::table) struct WordSet {
    words: Vec<Vec<u8>>,
    /// The keys of the short words, see [`key`].
    keys: Vec<u64>,
    firsts: ByteSet,
    has_empty: bool,
    has_values: bool,
}

impl WordSet {
    pub(in crate::table) fn new<W: AsRef<[u8]>>(words: impl IntoIterator<Item = W>) -> Self {
        Self::from_words(words.into_iter().map(|word| word.as_ref().to_vec()).collect())
    }

    fn from_words(words: Vec<Vec<u8>>) -> Self {
        let mut firsts = ByteSet::default();
        words.iter().filter_map(|word| word.first()).for_each(|&first| firsts.insert(first));
        let has_empty = words.iter().any(Vec::is_empty);
        let has_values = words.iter().any(|word| is_like_a_value(word));
        let keys = words.iter().filter_map(|word| key_of(word)).collect();
        Self { words, keys, firsts, has_empty, has_values }
    }

    /// Whether a word is in the set.
    #[inline]
    pub(super) fn has(&self, word: &[u8]) -> bool {
        match word.first() {
            None => self.has_empty,
            Some(&first) => {
                self.firsts.has(first) && self.words.iter().any(|each| each == word)
            }
        }
    }

    /// As [`has`](Self::has), for a word between two offsets of a text.
    #[inline]
    pub(super) fn has_at(&self, text: &[u8], start: usize, end: usize) -> bool {
        match key(text, start, end) {
            Some(key) => self.keys.contains(&key),
            None => self.has(&text[start..end]),
        }
    }

    /// Whether the empty word is in the set.
    #[inline]
    pub(super) fn has_empty(&self) -> bool {
        self.has_empty
    }

    /// Whether a word is in both sets.
    pub(super) fn meets(&self, other: &WordSet) -> bool {
        self.words.iter().any(|word| other.has(word))
    }

    /// Whether one of the words may be a number or a date as well.
    pub(super) fn has_values(&self) -> bool {
        self.has_values
    }
}

/// The most bytes of a word that fit into a machine word together with their number.
const SHORT: usize = 7;

/// Returns the bytes between two offsets and their number, if they are few and more bytes
/// follow.
#[inline]
fn key(text: &[u8], start: usize, end: usize) -> Option<u64> {
    let len = end - start;
    if len > SHORT {
        return None;
    }
    let bytes = u64::from_le_bytes(*text[start..].first_chunk()?);
    Some(bytes & ((1 << (8 * len)) - 1) | (len as u64) << (8 * SHORT))
}

fn key_of(word: &[u8]) -> Option<u64> {
    let mut padded = [0; 2 * SHORT + 1];
    padded.get_mut(..word.len())?.copy_from_slice(word);
    key(&padded, 0, word.len())
}

fn is_like_a_value(word: &[u8]) -> bool {
    let is_odd = |&byte: &u8| byte.is_ascii_digit() || b"+-., \t".contains(&byte);
    word.first().is_some_and(is_odd) || double(word).is_some()
}
