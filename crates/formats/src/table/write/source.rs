//! The sources of a column's text, some rows at a time.

use std::ops::Range;

use super::fields::FieldTexts;

/// A column that can be written.
pub(super) trait Source: Send + Sync {
    /// Replaces `fields` with the text of these rows.
    fn fill<'s>(&'s self, rows: Range<usize>, fields: &mut FieldTexts<'s>) -> FillResult;
}

/// Success, or the first row that cannot be written.
pub(super) type FillResult = Result<(), Unwritable>;

/// A value that cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unwritable {
    /// The row, counted from the first of the array.
    pub(super) row: usize,
    pub(super) detail: &'static str,
    pub(super) hint: &'static str,
}

/// The bytes around each value of a column, and its word for missing ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Around {
    pub(super) before: Vec<u8>,
    pub(super) after: &'static [u8],
    pub(super) missing: Vec<u8>,
}
