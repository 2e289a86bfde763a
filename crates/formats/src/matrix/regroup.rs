//! Groups coordinates in memory by row.

use bytemuck::Pod;
use swath::Array;

use crate::error::Result;
use crate::matrix::id::Id;
use crate::matrix::sparse::{Coo, Csr};
use crate::matrix::value::Values;
use crate::memory::room_for;

impl<I: Id> Coo<I> {
    /// Returns the same matrix row by row; the entries of a row keep their order. One worker makes
    /// two passes, one to count and one to place. From a file, [`read_rows`](super::read_rows) is
    /// faster.
    ///
    /// ```
    /// use swath_formats::matrix::{self, AnyCoo};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("graph.el");
    /// std::fs::write(&path, "1 0\n0 2\n")?;
    /// let AnyCoo::U32(graph) = matrix::read(&path)? else { unreachable!("ids fit 32 bits") };
    /// assert_eq!(graph.to_rows()?.row(0), [2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    ///
    /// # Panics
    ///
    /// If a row id is not below `row_count`. This crate never builds such a matrix.
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
