//! The form of a table, and the requested result.

use std::borrow::Cow;

use super::types::Type;
use super::widths::Span;

/// The delimiter of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// One byte.
    Byte(u8),
    /// Several bytes, one of [`LONG`](Self::LONG).
    Text(&'static str),
    /// Runs of spaces and tabs.
    Blanks,
    /// Nothing: a line is a field.
    Nothing,
}

impl Between {
    /// The delimiters of several bytes in vectors and drawn tables.
    pub const LONG: [&'static str; 7] = ["||", "~|~", "::", "\t\t", "\u{a7}", ", ", "-+-+-"];

    /// Returns its notation in options; empty for nothing.
    #[must_use]
    pub fn word(self) -> String {
        match self {
            Self::Byte(byte) => char::from(byte).to_string(),
            Self::Text(text) => text.to_owned(),
            Self::Blanks => "blanks".to_owned(),
            Self::Nothing => String::new(),
        }
    }

    /// Returns the length of the delimiter at the start of a text; 0 if there is none.
    #[must_use]
    pub(super) fn len_in(self, text: &[u8]) -> usize {
        let is_first = |is_it: &dyn Fn(u8) -> bool| text.first().is_some_and(|&it| is_it(it));
        match self {
            Self::Byte(delimiter) => usize::from(is_first(&|byte| byte == delimiter)),
            Self::Text(delimiter) if text.starts_with(delimiter.as_bytes()) => delimiter.len(),
            Self::Blanks => usize::from(is_first(&|byte| byte == b' ' || byte == b'\t')),
            Self::Text(_) | Self::Nothing => 0,
        }
    }

    /// Whether a byte is part of the delimiter.
    #[must_use]
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Self::Text(delimiter) => delimiter.as_bytes().contains(&byte),
            _ => self.len_in(&[byte]) > 0,
        }
    }
}

/// The form of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Fields with delimiters between them.
    Separated,
    /// One object per line.
    JsonLines,
    /// Fixed character positions for each column.
    Fixed,
}

/// The places of columns of fixed width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fixed {
    /// The positions at which not all lines of the sample are blank.
    Found,
    /// Adjacent columns, from the start of the line.
    Widths(Vec<usize>),
    /// Anywhere, in order.
    Positions(Vec<Span>),
}

/// The records that are names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// The first record, if it looks like names.
    Auto,
    /// The first records, of this number.
    Lines(usize),
}

/// The encoding of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// By the byte order mark; without one, UTF-8.
    Auto,
    /// UTF-8.
    Utf8,
    /// Latin-1, which is read as windows-1252.
    Latin1,
    /// UTF-16, the low byte first.
    Utf16Le,
    /// UTF-16, the high byte first.
    Utf16Be,
    /// windows-1253, with three unassigned bytes.
    Greek,
    /// Shift_JIS, of which only ASCII, syllables and Greek are supported here.
    ShiftJis,
}

impl Encoding {
    /// All encodings, with their words in options and answers.
    const WORDS: [(&'static str, Self); 7] = [
        ("auto", Self::Auto),
        ("utf-8", Self::Utf8),
        ("latin-1", Self::Latin1),
        ("utf-16le", Self::Utf16Le),
        ("utf-16be", Self::Utf16Be),
        ("windows-1253", Self::Greek),
        ("shift_jis", Self::ShiftJis),
    ];

    /// Returns the encoding of a word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::WORDS.into_iter().find(|one| one.0 == word).map(|one| one.1)
    }

    /// Returns its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS.into_iter().find(|one| one.1 == self).map_or("", |one| one.0)
    }
}

/// The treatment of records in which the number of fields differs from the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ragged {
    /// An error.
    Error,
    /// Missing fields are missing values; too many are an error.
    Pad,
    /// They are left out and reported.
    SetAside,
    /// Missing fields are missing values; surplus fields are ignored.
    Drop,
}

/// The lines that are comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comment {
    /// Lines that begin with `#`, if the others are numbers.
    Auto,
    /// None.
    None,
    /// Lines that begin with this byte.
    Byte(u8),
}

/// A column of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// By its name, before renaming.
    Name(String),
    /// By its index, from 0.
    Index(usize),
}

/// The meaning of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A missing value.
    Missing,
    /// True.
    True,
    /// False.
    False,
}

/// The form of a table, and the requested result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The form of records.
    pub form: Form,
    /// The places of columns of fixed width.
    pub fixed: Fixed,
    /// The delimiter; `None` finds it in the text.
    pub delimiter: Option<Between>,
    /// The records that are names.
    pub header: Header,
    /// The lines that are skipped.
    pub comment: Comment,
    /// The byte around fields.
    pub quote: Option<u8>,
    /// The byte that makes the next one literal.
    pub escape: Option<u8>,
    /// The columns of the result.
    pub columns: Option<Vec<Key>>,
    /// The given types.
    pub types: Vec<(Key, Type)>,
    /// The type of every other column.
    pub all_types: Option<Type>,
    /// The forms of dates and timestamps of given types.
    pub formats: Vec<(Key, String)>,
    /// The number of lines to skip first.
    pub skip_rows: usize,
    /// The number of records to skip at the end.
    pub skip_footer: usize,
    /// The maximum number of records in the result.
    pub rows: Option<usize>,
    /// New names.
    pub rename: Vec<(Key, String)>,
    /// Words for missing values.
    pub nulls: Vec<String>,
    /// Words for true.
    pub trues: Vec<String>,
    /// Words for false.
    pub falses: Vec<String>,
    /// Words of one column that replace those.
    pub words_of: Vec<(Key, Meaning, Vec<String>)>,
    /// The decimal point.
    pub decimal: u8,
    /// The byte between groups of three digits.
    pub thousands: Option<u8>,
    /// The encoding of the text.
    pub encoding: Encoding,
    /// Whether invalid bytes become U+FFFD.
    pub replaces: bool,
    /// The treatment of ragged records.
    pub ragged: Ragged,
    /// The number of fields of a record; `None` for that of the first one.
    pub fields: Option<usize>,
    /// Whether `NaN` and infinities are JSON numbers.
    pub json_nan: bool,
    /// Whether objects and arrays are structs and lists.
    pub json_nested: bool,
    /// The bytes in which the selected records begin: the first, and the one after the last.
    pub starting_in: Option<(usize, usize)>,
}

impl Options {
    /// Returns the defaults for one object per line, without words.
    #[must_use]
    pub fn json_lines() -> Self {
        let (nulls, trues, falses) = (Vec::new(), Vec::new(), Vec::new());
        Self { form: Form::JsonLines, nulls, trues, falses, ..Self::default() }
    }

    /// Returns the options with the words given by the index of a column.
    #[must_use]
    pub(super) fn of_index(&self, index: usize) -> Cow<'_, Self> {
        match self.words_of.is_empty() {
            true => Cow::Borrowed(self),
            false => Cow::Owned(self.of_column(|key| *key == Key::Index(index))),
        }
    }

    /// Returns the options with the words of the column with these keys.
    #[must_use]
    pub(super) fn of_column(&self, is_its: impl Fn(&Key) -> bool) -> Self {
        let mut options = self.clone();
        for (_, meaning, words) in self.words_of.iter().filter(|(key, ..)| is_its(key)) {
            options.words_mut(*meaning).clone_from(words);
        }
        options
    }

    pub(super) fn words_mut(&mut self, meaning: Meaning) -> &mut Vec<String> {
        match meaning {
            Meaning::Missing => &mut self.nulls,
            Meaning::True => &mut self.trues,
            Meaning::False => &mut self.falses,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        Self {
            form: Form::Separated,
            fixed: Fixed::Found,
            delimiter: None,
            header: Header::Auto,
            comment: Comment::Auto,
            quote: Some(b'"'),
            escape: None,
            columns: None,
            types: Vec::new(),
            all_types: None,
            formats: Vec::new(),
            skip_rows: 0,
            skip_footer: 0,
            rows: None,
            rename: Vec::new(),
            nulls: words(&["", "NA", "N/A", "null", "NULL"]),
            trues: words(&["true", "True", "TRUE"]),
            falses: words(&["false", "False", "FALSE"]),
            words_of: Vec::new(),
            decimal: b'.',
            thousands: None,
            encoding: Encoding::Auto,
            replaces: false,
            ragged: Ragged::Error,
            fields: None,
            json_nan: false,
            json_nested: false,
            starting_in: None,
        }
    }
}
