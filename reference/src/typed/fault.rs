//! The faults of a text, and their places.

/// The kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Bytes that are not valid in the encoding.
    Encoding,
    /// A carriage return that does not end a line.
    Return,
    /// Text after a closing quote.
    AfterQuote,
    /// A quote that is never closed.
    OpenQuote,
    /// An escape with nothing after it.
    OpenEscape,
    /// A record with another number of fields than the table.
    Ragged {
        /// How many it has.
        found: usize,
        /// How many the table has.
        expected: usize,
    },
    /// Text outside of columns of fixed width.
    Outside,
    /// A first line of numbers, one of them in a notation that tables do not have.
    Notation,
    /// A value that the told type does not have.
    Misfit,
    /// Not JSON, or not an object.
    Json,
    /// A key twice in an object.
    Twice,
    /// A NUL byte in the name of a column.
    Nul,
    /// There is no record, or fewer than lines of the header.
    Empty,
    /// An option names a column that does not exist, or names it twice.
    Column,
}

impl Wrong {
    /// A word for it.
    #[must_use]
    pub fn word(self) -> String {
        match self {
            Self::Encoding => "encoding".to_owned(),
            Self::Return => "return".to_owned(),
            Self::AfterQuote => "after quote".to_owned(),
            Self::OpenQuote => "open quote".to_owned(),
            Self::OpenEscape => "open escape".to_owned(),
            Self::Ragged { found, expected } => format!("ragged {found} not {expected}"),
            Self::Outside => "outside".to_owned(),
            Self::Notation => "notation".to_owned(),
            Self::Misfit => "misfit".to_owned(),
            Self::Json => "json".to_owned(),
            Self::Twice => "twice".to_owned(),
            Self::Nul => "nul".to_owned(),
            Self::Empty => "empty".to_owned(),
            Self::Column => "column".to_owned(),
        }
    }
}

/// A fault, and its place. An error of options has neither line nor byte: both are 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What.
    pub wrong: Wrong,
    /// The line, from 1, on which the record begins; of an open quote, the line of the quote.
    pub line: usize,
    /// The byte of the field; of a carriage return, of an open escape, its own; of a ragged record,
    /// that of the record.
    pub byte: usize,
    /// The column's name in the file, if the fault is a field's.
    pub column: Option<String>,
}

impl Fault {
    /// A fault that is not that of a named column.
    #[must_use]
    pub fn new(wrong: Wrong, line: usize, byte: usize) -> Self {
        Self { wrong, line, byte, column: None }
    }

    /// A fault of the options.
    #[must_use]
    pub fn of_options() -> Self {
        Self::new(Wrong::Column, 0, 0)
    }
}
