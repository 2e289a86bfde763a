//! A matrix stored column by column, lent out by ranges of rows.
//!
//! ```text
//! memory   a a a b b b c c c     three columns of three rows
//! parts    0 0 1 0 0 1 0 0 1     two rows to one worker, one to another
//! ```
//!
//! Safe slices cannot express this: the rows of a part are not adjacent in memory.

use std::marker::PhantomData;

/// Adjacent rows of all columns, with exclusive access.
#[derive(Debug)]
pub struct RowsMut<'m, T> {
    /// The first of these rows, in the first column.
    start: *mut T,
    /// Distance from one column to the next.
    stride: usize,
    columns: usize,
    rows: usize,
    life: PhantomData<&'m mut [T]>,
}

// SAFETY: it is the only access to its rows, as a `&mut [T]` of them would be.
unsafe impl<T: Send> Send for RowsMut<'_, T> {}

impl<T> RowsMut<'_, T> {
    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns these rows of one column.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    #[must_use]
    pub fn column(&mut self, index: usize) -> &mut [T] {
        assert!(index < self.columns, "column {index} of {}", self.columns);
        let start = self.start.wrapping_add(index * self.stride);
        // SAFETY: these rows of this column are in the matrix, in no other part, and borrowed as
        // long as this one is.
        unsafe { std::slice::from_raw_parts_mut(start, self.rows) }
    }
}

/// Splits a matrix with columns of `rows` values into adjacent parts with the numbers of rows in
/// `lens`. Rows after the last part are not returned.
///
/// ```
/// let mut matrix = [0; 6]; // two columns of three rows
/// let mut parts = swath_simd::split_rows(&mut matrix, 3, [2, 1]);
/// parts[0].column(1).fill(7);
/// parts[1].column(0).fill(9);
/// assert_eq!(matrix, [0, 0, 9, 7, 7, 0]);
/// ```
///
/// # Panics
///
/// If `lens` has more rows in total.
pub fn split_rows<T>(
    matrix: &mut [T],
    rows: usize,
    lens: impl IntoIterator<Item = usize>,
) -> Vec<RowsMut<'_, T>> {
    let columns = matrix.len().checked_div(rows).unwrap_or(0);
    let (start, mut done) = (matrix.as_mut_ptr(), 0);
    let cut = |len: usize| {
        assert!(len <= rows - done, "{len} rows of {rows}, after {done}");
        let part = RowsMut {
            start: start.wrapping_add(done),
            stride: rows,
            columns,
            rows: len,
            life: PhantomData,
        };
        done += len;
        part
    };
    lens.into_iter().map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_disjoint_and_cover_their_rows() {
        let mut matrix = [0; 4 * 10];
        let mut parts = split_rows(&mut matrix, 10, [3, 0, 6]);
        std::thread::scope(|scope| {
            for (value, part) in (1..).zip(&mut parts) {
                scope.spawn(move || {
                    for column in 0..4 {
                        part.column(column).fill(value * 10 + column);
                    }
                });
            }
        });
        for (column, values) in matrix.chunks(10).enumerate() {
            let (one, three) = (10 + column, 30 + column);
            let wanted = [one, one, one, three, three, three, three, three, three, 0];
            assert_eq!(values, wanted);
        }
    }

    #[test]
    #[should_panic(expected = "column 0 of 0")]
    fn nothing_has_no_columns() {
        let mut parts = split_rows::<u8>(&mut [], 0, [0]);
        assert_eq!(parts[0].rows(), 0);
        let _ = parts[0].column(0);
    }

    #[test]
    #[should_panic(expected = "2 rows of 3, after 2")]
    fn more_rows_than_there_are_are_refused() {
        let _ = split_rows(&mut [0; 6], 3, [2, 2]);
    }
}
