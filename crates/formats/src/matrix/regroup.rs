//! Coordinates that are in memory already, row by row.

use bytemuck::Pod;
use swath::Array;

use crate::error::Result;
use crate::matrix::id::Id;
use crate::matrix::sparse::{Coo, Csr};
use crate::matrix::value::Values;
use crate::memory::room_for;

impl<I: Id> Coo<I> {
    /// The same matrix row by row, entries of a row in their order here. One pass to count, one to
    /// place, by one worker: [`read_rows`](super::read_rows) is the fast way from a file.
    ///
    /// # Errors
    ///
    /// If there is no memory.
    ///
    /// # Panics
    ///
    /// If a row is none of `row_count`, which no matrix has that this crate made.
    pub fn to_rows(&self) -> Result<Csr<I>> {
        let rows = usize::try_from(self.row_count).unwrap_or(usize::MAX);
        let each = size_of::<u64>() + size_of::<I>() + self.values.size();
        let of_rows = rows.saturating_mul(2 * size_of::<u64>());
        room_for(self.entry_count().saturating_mul(each).saturating_add(of_rows))?;
        let mut offsets = Array::<u64>::zeroed(rows.saturating_add(1))?;
        for row in self.rows.iter() {
            offsets[row.index() + 1] += 1;
        }
        let mut before = 0;
        for offset in offsets.iter_mut() {
            before += *offset;
            *offset = before;
        }
        let mut places = Array::<u64>::zeroed(self.entry_count())?;
        let mut next = Array::<u64>::zeroed(rows)?;
        next.copy_from_slice(&offsets[..rows]);
        for (place, row) in places.iter_mut().zip(self.rows.iter()) {
            *place = next[row.index()];
            next[row.index()] += 1;
        }
        let values = match &self.values {
            Values::None => Values::None,
            Values::I64(values) => Values::I64(placed(values, &places)?),
            Values::U64(values) => Values::U64(placed(values, &places)?),
            Values::F32(values) => Values::F32(placed(values, &places)?),
            Values::F64(values) => Values::F64(placed(values, &places)?),
            Values::Complex(values) => Values::Complex(placed(values, &places)?),
        };
        Ok(Csr {
            row_count: self.row_count,
            column_count: self.column_count,
            symmetry: self.symmetry,
            offsets,
            columns: placed(&self.columns, &places)?,
            values,
        })
    }
}

fn placed<T: Pod>(items: &[T], places: &[u64]) -> Result<Array<T>> {
    let mut placed = Array::<T>::zeroed(items.len())?;
    for (&item, place) in items.iter().zip(places) {
        placed[place.index()] = item;
    }
    Ok(placed)
}
