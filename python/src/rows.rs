//! Merges rows of a matrix from several processes.

use std::borrow::Cow;

use bytemuck::Pod;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use swath::Array;

use crate::bytes::Borrowed;
use crate::error::Failure;
use crate::memory::{Buffer, NumberKind};
use crate::work::detached;

/// Puts the entries of rows together that several processes have read: those of the first one come first in
/// each row.
///
/// ``counts`` has the entries of each row, for each process; rows that it leaves out have none. ``items`` has the
/// bytes of the entries, ``size`` bytes for each. Returns the offsets of the rows, and the entries as numbers of 4
/// or 8 bytes.
#[pyfunction]
pub(crate) fn merge_rows(
    py: Python<'_>,
    rows: usize,
    counts: Vec<Borrowed>,
    items: Vec<Borrowed>,
    size: usize,
) -> PyResult<(Buffer, Buffer)> {
    let counts: Vec<Cow<'_, [u64]>> =
        detached(py, || counts.iter().map(Borrowed::numbers).collect::<Result<_, Failure>>())?;
    match size {
        4 => merged::<u32>(py, rows, &counts, &items, 1),
        8 | 16 => merged::<u64>(py, rows, &counts, &items, size / 8),
        _ => Err(PyValueError::new_err("entries have 4, 8 or 16 bytes")),
    }
}

fn merged<T: NumberKind + Pod>(
    py: Python<'_>,
    rows: usize,
    counts: &[Cow<'_, [u64]>],
    items: &[Borrowed],
    width: usize,
) -> PyResult<(Buffer, Buffer)> {
    let (offsets, entries) = detached(py, || {
        let items: Vec<Cow<'_, [T]>> =
            items.iter().map(Borrowed::numbers).collect::<Result<_, Failure>>()?;
        let offsets = offsets(rows, counts, &items, width)?;
        let total = usize::try_from(offsets[rows]).unwrap_or(usize::MAX);
        let mut entries = Array::<T>::zeroed(total * width)?;
        let mut rest: Vec<&[T]> = items.iter().map(|items| &**items).collect();
        let mut place = &mut entries[..];
        for row in 0..rows {
            for (counts, rest) in counts.iter().zip(&mut rest) {
                let count = counts.get(row).copied().unwrap_or(0);
                // Checked by `offsets`: the sum fits the memory.
                let count = usize::try_from(count).unwrap_or(usize::MAX) * width;
                let (now, later) = rest.split_at(count);
                let (into, after) = place.split_at_mut(count);
                into.copy_from_slice(now);
                (*rest, place) = (later, after);
            }
        }
        Ok::<_, Failure>((offsets, entries))
    })?;
    Ok((Buffer::of_values(offsets, None)?, Buffer::of_values(entries, None)?))
}

/// Returns the start of each row, and the end of the last. Fails if counts and entries do not match.
fn offsets<T: Clone>(
    rows: usize,
    counts: &[Cow<'_, [u64]>],
    items: &[Cow<'_, [T]>],
    width: usize,
) -> Result<Array<u64>, Failure> {
    let wrong = || {
        let text = "the counts of rows do not fit their entries";
        Failure::Python(PyValueError::new_err(text))
    };
    let fits = |(counts, items): (&Cow<'_, [u64]>, &Cow<'_, [T]>)| {
        let sum = counts.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count));
        counts.len() <= rows
            && sum.and_then(|it| it.checked_mul(width as u64)) == Some(items.len() as u64)
    };
    if counts.len() != items.len() || !counts.iter().zip(items).all(fits) {
        return Err(wrong());
    }
    let mut offsets = Array::<u64>::zeroed(rows + 1)?;
    for counts in counts {
        for (count, after) in counts.iter().zip(&mut offsets[1..]) {
            *after += count;
        }
    }
    let mut sum = 0;
    for offset in &mut offsets[..] {
        sum += *offset;
        *offset = sum;
    }
    Ok(offsets)
}
