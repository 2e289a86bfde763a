//! Tables as columns: each of integers or of doubles, depending on its fields, with a validity bit
//! for each value.
//!
//! ```text
//! n,x,y             names  n            x               y
//! 1,2.5,            types  i64          f64             i64
//! 2,3,7             values 1 2          2.5 3.0         0 7
//!                   valid  -            -               0 1
//! ```
//!
//! The memory has Arrow's layout: consecutive values, and bits from the lowest on.

use std::ops::Range;

use bytemuck::cast_slice;
use bytes::Bytes;
use swath::Array;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ColumnKind {
    /// All fields that are not missing are integers.
    I64,
    /// Unsigned integers. Text never becomes these.
    U64,
    /// At least one field has a point or an exponent, or is infinite or NaN.
    F64,
}

/// The values of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Values<'c> {
    /// Of [`ColumnKind::I64`].
    I64(&'c [i64]),
    /// Of [`ColumnKind::U64`].
    U64(&'c [u64]),
    /// Of [`ColumnKind::F64`].
    F64(&'c [f64]),
}

/// One column of a table. Cloning is cheap, since the memory is shared.
#[derive(Clone, Debug)]
pub struct Column {
    pub(super) kind: ColumnKind,
    /// One 64-bit word per row.
    pub(super) values: Bytes,
    /// One bit per row, if any value is missing.
    pub(super) validity: Option<Bytes>,
    pub(super) nulls: usize,
    /// Whether the doubles are singles, widened.
    pub(super) are_singles: bool,
}

impl Column {
    /// Returns a column of integers with no value missing.
    #[must_use]
    pub fn of_i64(values: Array<i64>) -> Self {
        Self::of(ColumnKind::I64, values)
    }

    /// Returns a column of unsigned integers with no value missing.
    #[must_use]
    pub fn of_u64(values: Array<u64>) -> Self {
        Self::of(ColumnKind::U64, values)
    }

    /// Returns a column of doubles with no value missing.
    #[must_use]
    pub fn of_f64(values: Array<f64>) -> Self {
        Self::of(ColumnKind::F64, values)
    }

    /// Returns a column of doubles that were singles, with no value missing. Each is written as the
    /// shortest text that reads back as the same single; columns are equal or not without regard to it.
    ///
    /// ```
    /// use swath_formats::table::{self, Column, Columns};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("singles.csv");
    /// let mut values = swath::Array::zeroed(1)?;
    /// values[0] = f64::from(0.1_f32);
    /// let column = Column::of_singles(values);
    /// table::write_columns(&path, &Columns::new(None, vec![column]).expect("one column"))?;
    /// assert_eq!(std::fs::read_to_string(&path)?, "0.1\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn of_singles(values: Array<f64>) -> Self {
        Self { are_singles: true, ..Self::of_f64(values) }
    }

    fn of<T: bytemuck::Pod + Send>(kind: ColumnKind, values: Array<T>) -> Self
    where
        Array<T>: Send,
    {
        let values = Bytes::from_owner(Shared(values));
        Self { kind, values, validity: None, nulls: 0, are_singles: false }
    }

    /// Whether the doubles were singles.
    #[must_use]
    pub fn are_singles(&self) -> bool {
        self.are_singles
    }

    /// Marks the values of rows for which `is_missing` is true as missing. Copies the column if
    /// there are any.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("points.csv");
    /// std::fs::write(&path, "7\n8\n9\n")?;
    /// let column = swath_formats::table::read_columns(&path)?.columns[0].clone();
    /// let column = column.without(|row| row == 1)?;
    /// assert_eq!((column.nulls(), column.is_valid(1)), (1, false));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there is not enough memory for the copy.
    pub fn without(self, is_missing: impl Fn(usize) -> bool) -> swath::Result<Self> {
        let rows = self.values.len() / 8;
        let gone = |row: &usize| !self.is_valid(*row) || is_missing(*row);
        let Some(first) = (0..rows).find(gone) else { return Ok(self) };
        let mut words = Array::<u64>::zeroed(rows)?;
        let target: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        target.copy_from_slice(&self.values);
        let (mut bits, mut nulls) = (Vec::new(), 0);
        for row in (first..rows).filter(gone) {
            words[row] = 0;
            clear(&mut bits, row, rows);
            nulls += 1;
        }
        let values = Bytes::from_owner(Shared(words));
        Ok(Self { values, validity: Some(Bytes::from(bits)), nulls, ..self })
    }

    /// Returns some of its rows; values are shared, bits are copied.
    fn slice(&self, rows: Range<usize>) -> Self {
        let values = self.values.slice(rows.start * 8..rows.end * 8);
        let (mut bits, mut nulls, len) = (Vec::new(), 0, rows.len());
        for (at, _) in rows.enumerate().filter(|&(_, row)| !self.is_valid(row)) {
            clear(&mut bits, at, len);
            nulls += 1;
        }
        let validity = (nulls > 0).then(|| Bytes::from(bits));
        Self { kind: self.kind, values, validity, nulls, are_singles: self.are_singles }
    }

    /// Returns the type of the column.
    #[must_use]
    pub fn kind(&self) -> ColumnKind {
        self.kind
    }

    /// Returns the values. A missing value is zero there.
    #[must_use]
    pub fn values(&self) -> Values<'_> {
        // An empty slice of bytes may not be aligned for values.
        match (self.kind, self.values.is_empty()) {
            (ColumnKind::I64, true) => Values::I64(&[]),
            (ColumnKind::U64, true) => Values::U64(&[]),
            (ColumnKind::F64, true) => Values::F64(&[]),
            (ColumnKind::I64, false) => Values::I64(cast_slice(&self.values)),
            (ColumnKind::U64, false) => Values::U64(cast_slice(&self.values)),
            (ColumnKind::F64, false) => Values::F64(cast_slice(&self.values)),
        }
    }

    /// Returns the number of missing values.
    #[must_use]
    pub fn nulls(&self) -> usize {
        self.nulls
    }

    /// Whether the value of a row is present.
    #[must_use]
    pub fn is_valid(&self, row: usize) -> bool {
        self.validity.as_ref().is_none_or(|bits| bits[row / 8] >> (row % 8) & 1 == 1)
    }

    /// Returns one bit per row, starting at the lowest bit of the first byte: 1 if the value is
    /// present. `None` if all are.
    #[must_use]
    pub fn validity(&self) -> Option<&Bytes> {
        self.validity.as_ref()
    }

    /// Returns the values as bytes, little-endian, eight per row, to be shared without a copy.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.values
    }
}

impl PartialEq for Column {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, &self.values, self.nulls) == (other.kind, &other.values, other.nulls)
            && self.validity == other.validity
    }
}

/// A table of columns of the same length.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Columns {
    /// Number of values in each column.
    pub rows: usize,
    /// The names in the header, if there is one.
    pub names: Option<Vec<String>>,
    /// The columns, in the order of the file.
    pub columns: Vec<Column>,
}

/// Returns names for columns that have no names.
pub(super) fn numbered(columns: usize) -> Vec<String> {
    (1..=columns).map(|number| format!("column_{number}")).collect()
}

impl Columns {
    /// Returns the names of the columns, or `column_1` and so on.
    pub fn labels(&self) -> Vec<String> {
        self.names.clone().unwrap_or_else(|| numbered(self.columns.len()))
    }

    /// Combines columns into a table. `None` unless all have the same length, and `names` has one
    /// name per column.
    #[must_use]
    pub fn new(names: Option<Vec<String>>, columns: Vec<Column>) -> Option<Self> {
        let len = columns.first().map_or(0, |column| column.values.len());
        let fit = columns.iter().all(|column| column.values.len() == len)
            && names.as_ref().is_none_or(|names| names.len() == columns.len());
        fit.then_some(Self { rows: len / 8, names, columns })
    }

    /// Returns some rows of all columns. Values are shared. Rows past the last one are left out.
    #[must_use]
    pub fn rows(&self, rows: Range<usize>) -> Self {
        let end = rows.end.min(self.rows);
        let rows = rows.start.min(end)..end;
        let columns = self.columns.iter().map(|column| column.slice(rows.clone())).collect();
        Self { rows: rows.len(), names: self.names.clone(), columns }
    }

    /// Returns some columns, by index and in this order; `None` if an index is out of range.
    #[must_use]
    pub fn select(&self, numbers: &[usize]) -> Option<Self> {
        let pick = |number: &usize| self.columns.get(*number).cloned();
        let columns = numbers.iter().map(pick).collect::<Option<_>>()?;
        let pick = |names: &Vec<String>| numbers.iter().map(|&at| names[at].clone()).collect();
        Some(Self { rows: self.rows, names: self.names.as_ref().map(pick), columns })
    }
}

/// Clears the bit of a missing row in `rows` bits that are initially set.
pub(super) fn clear(bits: &mut Vec<u8>, row: usize, rows: usize) {
    if bits.is_empty() {
        bits.resize(rows.div_ceil(8), 0xff);
        if let (Some(last), used @ 1..) = (bits.last_mut(), rows % 8) {
            *last = (1 << used) - 1;
        }
    }
    bits[row / 8] &= !(1 << (row % 8));
}

/// An array as bytes.
pub(super) struct Shared<T: bytemuck::Pod>(pub(super) Array<T>);

impl<T: bytemuck::Pod> AsRef<[u8]> for Shared<T> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Columns {
        let mut values = Array::zeroed(20).expect("room");
        values.iter_mut().zip(1_i64..).for_each(|(slot, value)| *slot = value);
        let whole = Column::of_i64(values);
        let some = whole.clone().without(|row| row % 3 == 0).expect("room");
        Columns::new(Some(vec!["whole".into(), "some".into()]), vec![whole, some])
            .expect("fits")
    }

    #[test]
    fn what_is_missing_is_zero_and_has_no_bit() {
        let some = &table().columns[1];
        assert_eq!(some.nulls(), 7);
        let Values::I64(values) = some.values() else { panic!("integers") };
        for ((row, value), there) in (0..20).zip(values).zip(1..) {
            let wanted = if row % 3 == 0 { 0 } else { there };
            assert_eq!((*value, some.is_valid(row)), (wanted, row % 3 != 0), "row {row}");
        }
        let both = some.clone().without(|row| row % 3 == 1).expect("room");
        assert_eq!(
            (0..20).filter(|&row| both.is_valid(row)).collect::<Vec<_>>(),
            [2, 5, 8, 11, 14, 17]
        );
        let bits = both.validity().expect("bits");
        assert_eq!((bits.len(), bits[2] >> 4), (3, 0), "zeros after the last row");
    }

    #[test]
    fn parts_of_a_table_are_those_rows_and_columns() {
        let table = table();
        for start in 0..22 {
            for end in start..22 {
                let part = table.rows(start..end);
                let rows: Vec<usize> = (start..end.min(20)).collect();
                assert_eq!((part.rows, &part.names), (rows.len(), &table.names));
                let Values::I64(values) = part.columns[1].values() else { panic!("integers") };
                for (at, &row) in rows.iter().enumerate() {
                    assert_eq!(part.columns[1].is_valid(at), row % 3 != 0, "row {row}");
                    assert!(row % 3 == 0 || Ok(values[at]) == i64::try_from(row + 1));
                }
                assert_eq!(part.columns[1].validity().is_some(), part.columns[1].nulls() > 0);
            }
        }
        let picked = table.select(&[1, 0, 1]).expect("all there");
        assert_eq!(picked.names.expect("names"), ["some", "whole", "some"]);
        assert_eq!(picked.columns[0], table.columns[1]);
        assert_eq!(table.select(&[2]), None);
    }
}
