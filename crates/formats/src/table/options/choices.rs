//! The values of options: encodings, ragged records, comments, headers, words, delimiters.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use encoding_rs::{Encoding as Standard, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use swath_simd::LONGEST_DELIMITER;

/// How the bytes of a text become characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Encoding {
    /// By a byte order mark at the start; UTF-8 without one.
    #[default]
    Auto,
    /// UTF-8.
    Utf8,
    /// Latin-1, in fact windows-1252: every byte is a character.
    Latin1,
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
    /// Another encoding of the WHATWG's Encoding Standard, such as `shift_jis`.
    Other(OtherEncoding),
}

/// An encoding of the [Encoding Standard](https://encoding.spec.whatwg.org/); obtained by parsing
/// [`Encoding`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OtherEncoding(pub(in crate::table) &'static Standard);

impl Encoding {
    /// All choices, with the names that users write.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("auto", Self::Auto),
        ("utf-8", Self::Utf8),
        ("latin-1", Self::Latin1),
        ("utf-16le", Self::Utf16Le),
        ("utf-16be", Self::Utf16Be),
    ];
}

impl fmt::Display for Encoding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other(other) => out.write_str(&other.0.name().to_ascii_lowercase()),
            usual => {
                let found = Self::WORDS.iter().find(|(_, it)| it == usual);
                out.write_str(found.map_or("", |(word, _)| word))
            }
        }
    }
}

impl FromStr for Encoding {
    type Err = String;

    /// Reads one of [`WORDS`](Self::WORDS), or a label of the Encoding Standard, in any case:
    /// `windows-1251`, `sjis`, `big5`. As there, `latin1`, `iso-8859-1` and `ascii` are windows-1252.
    ///
    /// ```
    /// use swath_formats::table::Encoding;
    ///
    /// let encoding: Encoding = "x-sjis".parse()?;
    /// assert_eq!(encoding.to_string(), "shift_jis");
    /// assert_eq!("cp1252".parse(), Ok(Encoding::Latin1));
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    ///
    /// For other words, and for `utf-16`, which leaves the byte order open.
    fn from_str(word: &str) -> Result<Self, String> {
        if let Some(&(_, usual)) = Self::WORDS.iter().find(|(known, _)| *known == word) {
            return Ok(usual);
        }
        match Standard::for_label_no_replacement(word.as_bytes()) {
            Some(found) if found == WINDOWS_1252 => Ok(Self::Latin1),
            Some(found) if found == UTF_8 => Ok(Self::Utf8),
            Some(found) if found == UTF_16BE => Ok(Self::Utf16Be),
            Some(found) if found == UTF_16LE && word.eq_ignore_ascii_case("utf-16le") => {
                Ok(Self::Utf16Le)
            }
            Some(found) if found == UTF_16LE => Err(format!(
                "`{word}` does not say which byte of a unit is first: use utf-16le or utf-16be, or auto for \
                 a text with a byte order mark"
            )),
            Some(found) => Ok(Self::Other(OtherEncoding(found))),
            None => Err(format!(
                "`{word}` is not an encoding; use utf-8, latin-1, utf-16le, utf-16be, or a label of the \
                 WHATWG's Encoding Standard, such as windows-1251 or shift_jis"
            )),
        }
    }
}

/// How to treat bytes outside the encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EncodingErrors {
    /// An error in fields that are read.
    #[default]
    Refuse,
    /// Replaced with U+FFFD; the report counts them.
    Replace,
}

impl EncodingErrors {
    /// All choices, with the names that users write.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("error", Self::Refuse), ("replace", Self::Replace)];
}

/// How to treat a record with more or fewer fields than the table has columns; in text of fixed
/// width, one with text outside of the columns; in JSON Lines, a line that is not an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ragged {
    /// It is an error.
    #[default]
    Refuse,
    /// Fields that it lacks are missing values; additional fields, or other text, are an error.
    Pad,
    /// It is set aside; the report has its line.
    SetAside,
    /// Fields that it lacks are missing values; additional fields, or other text, are dropped, and
    /// the report counts such records.
    Drop,
}

impl Ragged {
    /// All choices, with the names that users write.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("error", Self::Refuse),
        ("pad", Self::Pad),
        ("set-aside", Self::SetAside),
        ("drop", Self::Drop),
    ];

    /// Whether a record with this many fields is a row of a table with this many columns.
    pub(in crate::table) fn takes(self, found: usize, columns: usize) -> bool {
        found == columns || self == Self::Drop || (self == Self::Pad && found < columns)
    }
}

/// The columns of text that become dictionaries, which hold each distinct text once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dictionary {
    /// Those of the given type [`ColumnType::Dictionary`](crate::table::ColumnType::Dictionary).
    #[default]
    Told,
    /// All.
    All,
}

impl Dictionary {
    /// All choices, with the names that users write.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("given", Self::Told), ("all", Self::All)];
}

/// The lines that are comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) enum CommentRule {
    /// Lines that begin with `#`, if the other lines are numbers.
    Auto,
    /// Lines that begin with this byte.
    Given(Option<u8>),
}

impl CommentRule {
    /// Returns the byte in the options.
    pub(in crate::table) fn given(self) -> Option<u8> {
        match self {
            Self::Auto => None,
            Self::Given(byte) => byte,
        }
    }
}

/// The meaning of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::table) enum WordMeaning {
    Missing,
    True,
    False,
}

impl WordMeaning {
    /// Returns the name of the option that sets its words.
    pub(in crate::table) fn words(self) -> &'static str {
        match self {
            Self::Missing => "null_values",
            Self::True => "true_values",
            Self::False => "false_values",
        }
    }
}

/// The lines that name the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) enum HeaderLines {
    Auto,
    /// This many, from 0.
    Lines(usize),
}

/// Whether the first line names the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HeaderLine {
    /// By the first lines: it does if one of its fields is a text above values, or none is a value
    /// like those below.
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

/// The separator between the fields of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Delimiter {
    /// This byte: two in a row have a missing value between them.
    Byte(u8),
    /// These bytes, found from left to right: `||` splits `a|||b` into `a` and `|b`.
    Text(LongDelimiter),
    /// Runs of spaces and tabs; those before and after a line are ignored.
    Blanks,
}

/// A separator of several bytes, such as `||` or `\u{a7}`. Obtained by [`parse`](str::parse) as a
/// [`Delimiter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LongDelimiter {
    bytes: [u8; LONGEST_DELIMITER],
    len: usize,
}

impl LongDelimiter {
    /// Takes a text of 2 to 16 bytes. Letters and digits alone are refused: those would be words.
    pub(in crate::table) fn new(text: &str) -> Option<Self> {
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

/// The value that replaces a missing value in an array.
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
