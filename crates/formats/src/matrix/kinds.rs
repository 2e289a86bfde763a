//! The kinds of matrices in files.

/// The arrangement of entries in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Matrix Market: row, column and value of each entry.
    Coordinate,
    /// Matrix Market: all values, column by column; for a symmetric matrix those from the diagonal
    /// down.
    Array,
    /// Two ids, possibly a weight.
    Edges,
}

/// The type of the values in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Field {
    /// No values.
    Pattern,
    /// Integers.
    Integer,
    /// Non-negative integers.
    Unsigned,
    /// Decimal numbers.
    Real,
    /// Pairs of decimal numbers.
    Complex,
}

/// The entries that a file leaves out because others determine them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Symmetry {
    /// Nothing is left out.
    General,
    /// Entries above the diagonal equal those below it.
    Symmetric,
    /// Entries above the diagonal are those below it, negated; the diagonal is empty.
    SkewSymmetric,
    /// Entries above the diagonal are those below it, conjugated.
    Hermitian,
}

impl Symmetry {
    /// All kinds, with their words in a banner.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("general", Self::General),
        ("symmetric", Self::Symmetric),
        ("skew-symmetric", Self::SkewSymmetric),
        ("hermitian", Self::Hermitian),
    ];

    /// Returns the word for it in a banner.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, known)| *known == self).map_or("", |&(word, _)| word)
    }
}
