//! Formats one piece: some hundred rows of each column, assembles these rows, and goes on.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef};
use swath_simd::{Values, push_rows};

use super::column::source;
use super::fields::FieldTexts;
use super::pieces::{BatchPart, RowPiece};
use super::plan::WritePlan;
use super::source::{Source, Unwritable};
use super::style::Style;
use crate::error::{Error, FormatReason, Result};

/// Fields formatted before their rows are assembled: their text stays in the cache.
const FIELDS: usize = 1024;
/// The most rows at a time.
const ROWS: usize = 1024;

/// The state that all workers share.
pub(super) struct PieceWriter<'p> {
    plan: &'p WritePlan,
    style: &'p Style,
    path: &'p Path,
    not_finite: AtomicU64,
}

impl<'p> PieceWriter<'p> {
    pub(super) fn new(plan: &'p WritePlan, style: &'p Style, path: &'p Path) -> Self {
        Self { plan, style, path, not_finite: AtomicU64::new(0) }
    }

    /// Estimates the bytes of a row besides its values.
    pub(super) fn around(&self) -> u64 {
        self.plan.around()
    }

    pub(super) fn not_finite(self) -> u64 {
        self.not_finite.into_inner()
    }

    /// Appends the text of a piece; the first one begins with the header.
    pub(super) fn push(&self, piece: &RowPiece, text: &mut Vec<u8>) -> Result<()> {
        if piece.index == 0 && self.plan.has_header {
            self.plan.push_header(text, self.style);
        }
        let mut first = piece.first;
        for part in &piece.parts {
            self.push_part(part, first, text)?;
            first += part.rows.len() as u64;
        }
        Ok(())
    }

    /// Appends rows of one batch; `first` rows were written before them.
    fn push_part(&self, part: &BatchPart, first: u64, text: &mut Vec<u8>) -> Result<()> {
        let rows = &part.rows;
        // The values of a row in each column: all of them if the rows are lists.
        let each = self.plan.names.len() / part.batch.num_columns().max(1);
        let values = |column: &ArrayRef| {
            let some = column.slice(rows.start, rows.len());
            let list = some.as_fixed_size_list_opt().filter(|_| each > 1);
            list.map(|list| Arc::clone(list.values())).unwrap_or(some)
        };
        let columns: Vec<ArrayRef> = part.batch.columns().iter().map(values).collect();
        let named = columns.iter().zip(&self.plan.names);
        let sources: Vec<Box<dyn Source + '_>> =
            named.filter_map(|(column, name)| source(column, self.style, name)).collect();
        let mut fields: Vec<FieldTexts<'_>> = Vec::new();
        fields.resize_with(sources.len(), FieldTexts::default);
        let step = (FIELDS / self.plan.names.len().max(1)).clamp(1, ROWS);
        for start in (0..rows.len()).step_by(step) {
            let end = rows.len().min(start + step);
            let filled = fill(&sources, &mut fields, &(start * each..end * each));
            filled.map_err(|(column, why)| self.unwritable(first, column, &why))?;
            let values: Vec<Values<'_>> = fields.iter().map(FieldTexts::values).collect();
            push_rows(text, &values, end - start, self.style.frame);
        }
        let not_finite = fields.iter().map(|column| column.not_finite).sum();
        // Relaxed: it is read after all workers have ended.
        self.not_finite.fetch_add(not_finite, Ordering::Relaxed);
        Ok(())
    }

    fn unwritable(&self, first: u64, column: usize, why: &Unwritable) -> Error {
        let name = self.plan.names.get(column).map_or("", String::as_str);
        let row = first + why.row as u64 + 1;
        let detail = format!("row {row} of column `{name}`: {}", why.detail);
        let error = Error::writing(self.path, FormatReason::Unsupported, detail).hint(why.hint);
        match self.style.may_quote() {
            // Quoted newlines may precede it.
            true => error,
            false => error.on_line(row + u64::from(self.plan.has_header)),
        }
    }
}

/// Formats some rows of all columns. Of several values that cannot be written, reports the one in
/// the first row, with its column.
fn fill<'s>(
    sources: &'s [Box<dyn Source + 's>],
    fields: &mut [FieldTexts<'s>],
    rows: &Range<usize>,
) -> std::result::Result<(), (usize, Unwritable)> {
    let mut found: Option<(usize, Unwritable)> = None;
    for (column, (source, fields)) in sources.iter().zip(fields).enumerate() {
        let Err(why) = source.fill(rows.clone(), fields) else { continue };
        if found.as_ref().is_none_or(|(_, first)| why.row < first.row) {
            found = Some((column, why));
        }
    }
    found.map_or(Ok(()), Err)
}
