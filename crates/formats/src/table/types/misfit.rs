//! Why a field is not a value of a column.

/// Whether a field is a value of the type of its column.
pub(super) type FieldFit = Result<(), Misfit>;

/// Why a field is not a value of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) enum Misfit {
    /// It does not have the form of the type.
    Form,
    /// It is a number, or a point in time, out of the type's range.
    Range,
    /// It is a whole number that no value of the type equals.
    Between,
    /// It has more digits after the second than the unit holds.
    Inexact,
    /// It is text, but not UTF-8.
    Encoding,
    /// It does not fit into the limits of Arrow.
    Room,
    /// It is missing, and the column has no substitute.
    Missing,
}

impl Misfit {
    /// Returns why bytes are not a value, if it is not for their range.
    #[cold]
    pub(super) fn of(bytes: &[u8]) -> Self {
        if std::str::from_utf8(bytes).is_err() { Self::Encoding } else { Self::Form }
    }
}

/// The first field that is not a value of a column, by its index among those given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) struct MisfitAt {
    pub(in crate::table) index: usize,
    pub(in crate::table) misfit: Misfit,
}
