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
    /// A record in which the number of fields differs from the table.
    Ragged {
        /// The number of its fields.
        found: usize,
        /// The number of columns of the table.
        expected: usize,
    },
    /// Text outside columns of fixed width.
    Outside,
    /// A first line of numbers, one of them in a notation that tables do not have.
    Notation,
    /// A value that is not of the given type.
    Misfit,
    /// Not JSON, or not an object.
    Json,
    /// A duplicate key in an object.
    Twice,
    /// A NUL byte in the name of a column.
    Nul,
    /// There is no record, or fewer lines than the header has.
    Empty,
    /// An option names a column that does not exist, or names it twice.
    Column,
}

impl Wrong {
    /// Returns a word for it.
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

/// A fault, and its place. For an error of options, line and byte are 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of fault.
    pub wrong: Wrong,
    /// The line, from 1, on which the record begins; of an open quote, the line of the quote.
    pub line: usize,
    /// The byte of the field; for a carriage return or an open escape, its own byte; for a ragged
    /// record, the first byte of the record.
    pub byte: usize,
    /// The column's name in the file, if a field has the fault.
    pub column: Option<String>,
}

impl Fault {
    /// Makes a fault without a column.
    #[must_use]
    pub fn new(wrong: Wrong, line: usize, byte: usize) -> Self {
        Self { wrong, line, byte, column: None }
    }

    /// Makes a fault of the options.
    #[must_use]
    pub fn of_options() -> Self {
        Self::new(Wrong::Column, 0, 0)
    }
}
