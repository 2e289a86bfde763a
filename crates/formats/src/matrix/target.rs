//! Where the entries of a block go.

use crate::matrix::id::Id;
use crate::matrix::value::Value;

/// Where entries go. There are no values where their type has no size.
pub(super) struct Target<'t, I, V> {
    pub(super) rows: &'t mut [I],
    pub(super) columns: &'t mut [I],
    pub(super) values: &'t mut [V],
}

impl<I: Id, V: Value> Target<'_, I, V> {
    /// Cuts off its first `count` places, or as many as there are.
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
