//! Cuts batches into pieces of rows that workers take: splits large batches, joins small ones.
//!
//! ```text
//! batches  |     1000 rows     | 10 | 10 | 10 |  500  |
//! pieces   |   400   |   400   |      230 …     | 400
//! ```
//!
//! A piece has as many rows as are estimated to fill a block of text. So pieces depend only on the
//! batches and the options, not on which worker takes them.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, OffsetSizeTrait, RecordBatch};
use arrow_schema::DataType;

use super::given::Given;
use crate::error::Result;

/// Some rows of one batch.
#[derive(Clone, Debug)]
pub(super) struct BatchPart {
    pub(super) batch: Arc<RecordBatch>,
    pub(super) rows: Range<usize>,
}

/// The rows that a worker formats at a time.
#[derive(Debug, Default)]
pub(super) struct RowPiece {
    pub(super) index: usize,
    /// Rows of all earlier pieces.
    pub(super) first: u64,
    pub(super) parts: Vec<BatchPart>,
}

/// The pieces of all batches.
pub(super) struct Pieces<'g, 'i> {
    given: &'g mut Given<'i>,
    /// Estimated bytes of text per piece.
    block_size: u64,
    /// Bytes of a row besides those of its values.
    around: u64,
    /// The rest of a batch, and the estimated bytes of a row.
    rest: Option<(BatchPart, u64)>,
    index: usize,
    first: u64,
    has_failed: bool,
}

impl<'g, 'i> Pieces<'g, 'i> {
    pub(super) fn new(given: &'g mut Given<'i>, block_size: u64, around: u64) -> Self {
        Self { given, block_size, around, rest: None, index: 0, first: 0, has_failed: false }
    }

    /// Whether a piece has been taken.
    pub(super) fn is_begun(&self) -> bool {
        self.index > 0
    }

    /// Returns the rest of the batch, or the next one.
    fn rest(&mut self) -> Result<Option<(BatchPart, u64)>> {
        if let Some(rest) = self.rest.take() {
            return Ok(Some(rest));
        }
        for batch in self.given.by_ref() {
            let batch = batch?;
            let rows = 0..batch.num_rows();
            if !rows.is_empty() {
                let row = estimate_row(&batch) + self.around;
                return Ok(Some((BatchPart { batch: Arc::new(batch), rows }, row)));
            }
        }
        Ok(None)
    }

    fn piece(&mut self) -> Result<Option<RowPiece>> {
        let mut piece = RowPiece { index: self.index, first: self.first, parts: Vec::new() };
        let mut room = self.block_size;
        while let Some((BatchPart { batch, rows }, row)) = self.rest()? {
            let fit = usize::try_from(room / row.max(1)).unwrap_or(usize::MAX);
            // At least one row, but rows of a further batch only if they fit.
            let count = rows.len().min(fit.max(usize::from(piece.parts.is_empty())));
            let middle = rows.start + count;
            if count > 0 {
                room = room.saturating_sub(count as u64 * row);
                self.first += count as u64;
                piece
                    .parts
                    .push(BatchPart { batch: Arc::clone(&batch), rows: rows.start..middle });
            }
            if middle < rows.end {
                self.rest = Some((BatchPart { batch, rows: middle..rows.end }, row));
                break;
            }
        }
        self.index += usize::from(!piece.parts.is_empty());
        Ok((!piece.parts.is_empty()).then_some(piece))
    }
}

impl Iterator for Pieces<'_, '_> {
    type Item = Result<RowPiece>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let piece = self.piece();
        self.has_failed = piece.is_err();
        piece.transpose()
    }
}

/// Estimates the bytes of text of a row.
pub(super) fn estimate_row(batch: &RecordBatch) -> u64 {
    let rows = batch.num_rows().max(1) as u64;
    let bytes: u64 = batch.columns().iter().map(estimate).sum();
    bytes.div_ceil(rows)
}

/// Estimates the bytes of text of a column, delimiters included.
fn estimate(array: &ArrayRef) -> u64 {
    let each = match array.data_type() {
        DataType::Null => 1,
        DataType::Boolean => 6,
        DataType::Int8 | DataType::UInt8 => 4,
        DataType::Int16 | DataType::UInt16 => 6,
        DataType::Date32 | DataType::Date64 | DataType::Int32 | DataType::UInt32 => 11,
        DataType::Timestamp(..) => 28,
        DataType::Utf8 => return texts(array.as_string::<i32>().value_offsets()),
        DataType::LargeUtf8 => return texts(array.as_string::<i64>().value_offsets()),
        DataType::Utf8View => {
            let lengths = array.as_string_view().lengths();
            return lengths.map(|len| u64::from(len) + 1).sum();
        }
        DataType::Binary => return texts(array.as_binary::<i32>().value_offsets()),
        DataType::LargeBinary => return texts(array.as_binary::<i64>().value_offsets()),
        DataType::BinaryView => {
            let lengths = array.as_binary_view().lengths();
            return lengths.map(|len| u64::from(len) + 1).sum();
        }
        DataType::FixedSizeBinary(len) => u64::try_from(*len).unwrap_or(0),
        DataType::Dictionary(..) => {
            let values = array.as_any_dictionary().values();
            estimate(values) / values.len().max(1) as u64 + 1
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            return nested(list.value_offsets(), list.values());
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            return nested(list.value_offsets(), list.values());
        }
        DataType::FixedSizeList(..) => return estimate(array.as_fixed_size_list().values()),
        DataType::Struct(_) => {
            return array.as_struct().columns().iter().map(|it| estimate(it) + 16).sum();
        }
        _ => 14,
    };
    each * array.len() as u64
}

fn texts<O: OffsetSizeTrait>(offsets: &[O]) -> u64 {
    (span(offsets) + offsets.len()) as u64
}

/// Counts values outside of the slice too.
fn nested<O: OffsetSizeTrait>(offsets: &[O], values: &ArrayRef) -> u64 {
    let each = estimate(values) / values.len().max(1) as u64 + 1;
    each * span(offsets) as u64 + 2 * offsets.len() as u64
}

fn span<O: OffsetSizeTrait>(offsets: &[O]) -> usize {
    match offsets {
        [first, .., last] => last.as_usize() - first.as_usize(),
        _ => 0,
    }
}
