//! The shape of a file's records, which turns them into rows.

use std::sync::Arc;

use swath_simd::CutMarks;

use super::dialect::{Between, Dialect};
use super::fixed::FixedLayout;
use super::record::RecordText;
use crate::table::json::Keys;
use crate::table::options::choices::Ragged;

/// The shape of a file's records.
#[derive(Clone, Debug)]
pub(in crate::table) struct RecordShape {
    pub(in crate::table) dialect: Dialect,
    /// Columns of the file.
    pub(in crate::table) columns: usize,
    pub(in crate::table) ragged: Ragged,
    /// The columns of JSON.
    pub(in crate::table) keys: Option<Arc<Keys>>,
    /// The places of columns of fixed width.
    pub(in crate::table) layout: Option<Arc<FixedLayout>>,
    /// Whether the first record after the names has one field more than there are names.
    pub(in crate::table) lacks_name: bool,
    /// The column of each field, if columns of files are united by name.
    pub(in crate::table) fields: Option<ShapeFields>,
}

/// Columns and their fields in a file, by column, without those that the file lacks.
#[derive(Clone, Debug)]
pub(in crate::table) struct ShapeFields(Vec<(usize, usize)>);

impl ShapeFields {
    /// Takes the column of each field.
    pub(in crate::table) fn new(columns: &[usize]) -> Self {
        let mut fields: Vec<_> = columns.iter().copied().zip(0..).collect();
        fields.sort_unstable();
        Self(fields)
    }

    fn of(&self, column: usize) -> Option<usize> {
        let at = self.0.binary_search_by_key(&column, |&(column, _)| column).ok()?;
        Some(self.0[at].1)
    }
}

impl RecordShape {
    /// Returns the index of a column's field in a record, if the file has it.
    pub(in crate::table) fn field(&self, column: usize) -> Option<usize> {
        self.fields.as_ref().map_or(Some(column), |fields| fields.of(column))
    }

    /// Returns the records of a text that begins with one.
    pub(in crate::table) fn records<'t>(&'t self, text: &'t [u8]) -> RecordText<'t> {
        RecordText { text, dialect: self.dialect, layout: self.layout.as_deref() }
    }

    /// Returns the bytes with a special meaning.
    pub(in crate::table) fn marks(&self) -> CutMarks<'_> {
        let Dialect { quote, escape, .. } = self.dialect;
        CutMarks { delimiter: self.dialect.delimiter_bytes(), quote, escape }
    }

    /// Whether some lines may be [odd](Self::is_odd).
    pub(in crate::table) fn may_be_odd(&self) -> bool {
        self.columns == 1 || self.dialect.comment.is_some()
    }

    /// Whether a line is not a row although it may have the fields of one.
    #[inline]
    pub(in crate::table) fn is_odd(&self, text: &[u8], start: usize, newline: usize) -> bool {
        let line = &text[start..newline];
        let inner = line.strip_suffix(b"\r").unwrap_or(line);
        let is_empty =
            self.columns == 1 && inner.iter().all(|&byte| self.dialect.is_blank(byte));
        let is_kept = matches!(self.dialect.between, Between::Nothing) && !inner.is_empty();
        (is_empty && !is_kept)
            || (self.dialect.comment.is_some() && line.first() == self.dialect.comment.as_ref())
    }
}
