//! Words of options that several rooms of tables share.

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
    /// Runs of spaces and tabs; those around a line are ignored.
    Blanks,
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
