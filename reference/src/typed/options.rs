//! How a table is written, and what is wanted of it.

use std::borrow::Cow;

use super::types::Type;
use super::widths::Span;

/// The delimiter of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// This byte.
    Byte(u8),
    /// These bytes, one of [`LONG`](Self::LONG).
    Text(&'static str),
    /// Runs of spaces and tabs.
    Blanks,
    /// Nothing: a line is a field.
    Nothing,
}

impl Between {
    /// The delimiters of several bytes that vectors and drawn tables have.
    pub const LONG: [&'static str; 7] = ["||", "~|~", "::", "\t\t", "\u{a7}", ", ", "-+-+-"];

    /// How users write it; empty for nothing.
    #[must_use]
    pub fn word(self) -> String {
        match self {
            Self::Byte(byte) => char::from(byte).to_string(),
            Self::Text(text) => text.to_owned(),
            Self::Blanks => "blanks".to_owned(),
            Self::Nothing => String::new(),
        }
    }

    /// How long the delimiter is with which a text begins; 0 if it does not begin with one.
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

/// How records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Fields with something between them.
    Separated,
    /// An object on each line.
    JsonLines,
    /// Fixed characters of each line for a column.
    Fixed,
}

/// Where columns of fixed width are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fixed {
    /// Where not all lines of the sample are blank.
    Found,
    /// Beside each other, from the start of the line.
    Widths(Vec<usize>),
    /// Anywhere, in order.
    Positions(Vec<Span>),
}

/// Which records are names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// The first record, if it looks like names.
    Auto,
    /// This many, from the first on.
    Lines(usize),
}

/// How the text is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As its byte order mark says; without one, UTF-8.
    Auto,
    /// UTF-8.
    Utf8,
    /// Latin-1, which is read as windows-1252.
    Latin1,
    /// UTF-16, the low byte first.
    Utf16Le,
    /// UTF-16, the high byte first.
    Utf16Be,
    /// windows-1253, of which three bytes are no character.
    Greek,
    /// Shift_JIS, of which only ASCII, syllables and Greek are known here.
    ShiftJis,
}

impl Encoding {
    /// All of them, with the words of options and answers.
    const WORDS: [(&'static str, Self); 7] = [
        ("auto", Self::Auto),
        ("utf-8", Self::Utf8),
        ("latin-1", Self::Latin1),
        ("utf-16le", Self::Utf16Le),
        ("utf-16be", Self::Utf16Be),
        ("windows-1253", Self::Greek),
        ("shift_jis", Self::ShiftJis),
    ];

    /// The encoding of a word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::WORDS.into_iter().find(|one| one.0 == word).map(|one| one.1)
    }

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS.into_iter().find(|one| one.1 == self).map_or("", |one| one.0)
    }
}

/// How to treat records with another number of fields than the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ragged {
    /// An error.
    Error,
    /// Missing fields are missing values; too many are an error.
    Pad,
    /// They are left out, and the report says so.
    SetAside,
    /// Missing fields are missing values; those that are too many do not count.
    Drop,
}

/// Which lines are comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comment {
    /// Those that begin with `#`, if the others are numbers.
    Auto,
    /// None.
    None,
    /// Those that begin with this byte.
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

/// How a table is written, and what is wanted of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How records are written.
    pub form: Form,
    /// Where columns of fixed width are.
    pub fixed: Fixed,
    /// `None` finds it in the text.
    pub delimiter: Option<Between>,
    /// Which records are names.
    pub header: Header,
    /// Which lines are skipped.
    pub comment: Comment,
    /// The byte around fields.
    pub quote: Option<u8>,
    /// The byte before one that is taken literally.
    pub escape: Option<u8>,
    /// The columns of the result.
    pub columns: Option<Vec<Key>>,
    /// Told types.
    pub types: Vec<(Key, Type)>,
    /// The type of every other column.
    pub all_types: Option<Type>,
    /// How dates and timestamps of told types are written.
    pub formats: Vec<(Key, String)>,
    /// Lines that are skipped first.
    pub skip_rows: usize,
    /// Records that are skipped at the end.
    pub skip_footer: usize,
    /// The most records of the result.
    pub rows: Option<usize>,
    /// New names.
    pub rename: Vec<(Key, String)>,
    /// Words for missing values.
    pub nulls: Vec<String>,
    /// Words for true.
    pub trues: Vec<String>,
    /// Words for false.
    pub falses: Vec<String>,
    /// Words of one column, instead of those.
    pub words_of: Vec<(Key, Meaning, Vec<String>)>,
    /// The decimal point.
    pub decimal: u8,
    /// The byte between groups of three digits.
    pub thousands: Option<u8>,
    /// How the text is encoded.
    pub encoding: Encoding,
    /// Whether bytes that are not valid become U+FFFD.
    pub replaces: bool,
    /// How to treat ragged records.
    pub ragged: Ragged,
    /// How many fields a record has; `None` for as many as the first one.
    pub fields: Option<usize>,
    /// Whether `NaN` and infinities are numbers of JSON.
    pub json_nan: bool,
    /// Whether objects and arrays are structs and lists.
    pub json_nested: bool,
    /// Only records that begin in these bytes: the first, and the one after the last.
    pub starting_in: Option<(usize, usize)>,
}

impl Options {
    /// The defaults for an object on each line: there are no words.
    #[must_use]
    pub fn json_lines() -> Self {
        let (nulls, trues, falses) = (Vec::new(), Vec::new(), Vec::new());
        Self { form: Form::JsonLines, nulls, trues, falses, ..Self::default() }
    }

    /// The options with the words that are given by the index of a column.
    #[must_use]
    pub(super) fn of_index(&self, index: usize) -> Cow<'_, Self> {
        match self.words_of.is_empty() {
            true => Cow::Borrowed(self),
            false => Cow::Owned(self.of_column(|key| *key == Key::Index(index))),
        }
    }

    /// The options with the words of the column with these keys.
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
