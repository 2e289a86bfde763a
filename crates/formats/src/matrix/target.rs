//! The places in which the entries of a block are stored.

use crate::matrix::id::Id;
use crate::matrix::value::Value;

/// Places for entries. `values` is empty if the value type has no size.
pub(super) struct Target<'t, I, V> {
    pub(super) rows: &'t mut [I],
    pub(super) columns: &'t mut [I],
    pub(super) values: &'t mut [V],
}

impl<I: Id, V: Value> Target<'_, I, V> {
    /// Splits off the first `count` places, or all of them if there are fewer.
    pub(super) fn split_off(&mut self, count: usize) -> Self {
        let count = count.min(self.rows.len());
        let values = count.min(self.values.len());
        Self {
            rows: self.rows.split_off_mut(..count).unwrap_or_default(),
            columns: self.columns.split_off_mut(..count).unwrap_or_default(),
            values: self.values.split_off_mut(..values).unwrap_or_default(),
        }
    }

    #[inline(always)]
    pub(super) fn put(&mut self, at: usize, row: I, column: I, value: V) {
        (self.rows[at], self.columns[at]) = (row, column);
        if size_of::<V>() > 0 {
            self.values[at] = value;
        }
    }
}
