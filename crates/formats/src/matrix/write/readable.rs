//! Rejects entries that could be written but not read back.

use std::ops::Range;
use std::path::Path;

use super::listing::Listing;
use crate::error::{Error, FormatReason, Result};
use crate::matrix::id::Id;
use crate::matrix::kinds::Symmetry;
use crate::matrix::value::Values;

/// Fails at an entry of half a matrix whose mirror image is impossible: it could not be read back.
pub(super) fn check_images(
    matrix: &impl Listing,
    path: &Path,
    range: Range<u64>,
) -> Result<()> {
    if !matches!(matrix.symmetry(), Symmetry::SkewSymmetric | Symmetry::Hermitian) {
        return Ok(());
    }
    let is_skew = matrix.symmetry() == Symmetry::SkewSymmetric;
    let (mut at, mut wrong) = (range.start, None);
    matrix.list(range, |row, column| {
        let index = at.index();
        let (is_real_zero, is_real, has_negative) = match matrix.values() {
            Values::None => (false, true, true),
            Values::I64(values) => (values[index] == 0, true, values[index] != i64::MIN),
            Values::U64(values) => (values[index] == 0, true, values[index] <= 1 << 63),
            Values::F32(values) => (values[index] == 0.0, true, true),
            Values::F64(values) => (values[index] == 0.0, true, true),
            Values::Complex(values) => {
                (values[index] == [0.0; 2], values[index][1] == 0.0, true)
            }
        };
        let fits = match (is_skew, row == column) {
            (true, true) => is_real_zero,
            (true, false) => has_negative,
            (false, true) => is_real,
            (false, false) => true,
        };
        if !fits {
            wrong = wrong.or(Some((at, row, column)));
        }
        at += 1;
    });
    let Some((at, row, column)) = wrong else { return Ok(()) };
    let what = match (is_skew, row == column) {
        (true, true) => "is on the diagonal, which must be zero in a skew-symmetric matrix",
        (true, false) => {
            "has a value whose negative, needed for the other half, does not fit its type"
        }
        _ => "has an imaginary part on the diagonal of a Hermitian matrix",
    };
    let detail = format!("entry {at}, at row {row}, column {column}, counted from 0, {what}");
    let error = Error::writing(path, FormatReason::Invalid, detail);
    Err(error.hint("write it as a general matrix"))
}

/// Returns the error for the first entry outside of the matrix: it could not be read back.
pub(super) fn outside(matrix: &impl Listing, path: &Path, range: Range<u64>) -> Error {
    let (rows, columns) = matrix.size();
    let (mut at, mut first) = (range.start, None);
    matrix.list(range, |row, column| {
        let is_outside = row >= rows || column >= columns;
        first = first.or_else(|| is_outside.then_some((at, row, column)));
        at += 1;
    });
    let (at, row, column) = first.unwrap_or_default();
    let detail = format!(
        "entry {at} is at row {row}, column {column}, counted from 0, but the matrix has {rows} rows \
         and {columns} columns"
    );
    Error::writing(path, FormatReason::Invalid, detail).hint("declare more rows or columns")
}
