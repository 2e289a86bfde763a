//! Words of options that several rooms of tables share.

use std::fmt::{self, Display, Formatter};

use swath_simd::LONGEST_DELIMITER;

/// Whether the first line names the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HeaderLine {
    /// As the first lines show: it does if one of its fields is a text, or none is a value as those below.
    #[default]
    Auto,
    /// It does.
    Present,
    /// It does not: it is data.
    Absent,
}

impl HeaderLine {
    /// All choices, with the names that users write.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("auto", Self::Auto), ("yes", Self::Present), ("no", Self::Absent)];
}

/// What separates the fields of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Delimiter {
    /// This byte, at every occurrence: two in a row have a missing value between them.
    Byte(u8),
    /// These bytes, found from left to right: of `a|||b`, `||` leaves `a` and `|b`.
    Text(LongDelimiter),
    /// Runs of spaces and tabs; those around a line are ignored.
    Blanks,
}

/// What separates fields, in more than one byte, as in `||` or `\u{a7}`. A text is made to one by
/// [`parse`](str::parse), as a [`Delimiter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LongDelimiter {
    bytes: [u8; LONGEST_DELIMITER],
    len: usize,
}

impl LongDelimiter {
    /// Takes a text of 2 to 16 bytes that are not all letters and digits: those would be words.
    pub(super) fn new(text: &str) -> Option<Self> {
        let is_word = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let mut bytes = [0; LONGEST_DELIMITER];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        let is_one = text.len() > 1 && !is_word && !text.contains('\0');
        is_one.then_some(Self { bytes, len: text.len() })
    }

    /// Returns the bytes, which are UTF-8.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl Display for Delimiter {
    /// Writes the characters, or `blanks`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Byte(byte) => char::from(*byte).fmt(f),
            Self::Text(long) => String::from_utf8_lossy(long.as_bytes()).fmt(f),
            Self::Blanks => "blanks".fmt(f),
        }
    }
}

impl From<u8> for Delimiter {
    fn from(byte: u8) -> Self {
        Self::Byte(byte)
    }
}

/// What replaces a missing value in an array.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Missing {
    /// NaN in an array of floats. Arrays of integers have no such value, so it is an error there.
    #[default]
    Natural,
    /// A missing value is an error.
    Refused,
    /// This value, which must fit the type.
    Value(f64),
}
