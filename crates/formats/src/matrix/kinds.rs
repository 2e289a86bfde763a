//! What kinds of matrices files hold.

/// How entries stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Matrix Market: row, column, and a value.
    Coordinate,
    /// Matrix Market: all values, column after column; of a symmetric matrix those from the
    /// diagonal down.
    Array,
    /// Two ids, perhaps a weight.
    Edges,
}

/// What values are in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Field {
    /// There are none.
    Pattern,
    /// Integers.
    Integer,
    /// Integers that are not negative.
    Unsigned,
    /// Decimal numbers.
    Real,
    /// Pairs of decimal numbers.
    Complex,
}

/// Which entries a file leaves out because others say what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Symmetry {
    /// None.
    General,
    /// Those above the diagonal are those below it.
    Symmetric,
    /// They are those below it, negated; on it there is nothing.
    SkewSymmetric,
    /// They are those below it, conjugated.
    Hermitian,
}

impl Symmetry {
    /// All of them, with the words of a banner.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("general", Self::General),
        ("symmetric", Self::Symmetric),
        ("skew-symmetric", Self::SkewSymmetric),
        ("hermitian", Self::Hermitian),
    ];

    /// Returns its word.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, known)| *known == self).map_or("", |&(word, _)| word)
    }
}
