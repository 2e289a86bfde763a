//! Tables as columns: each of integers or of doubles, as its fields say, with a bit for each value
//! that is there.
//!
//! ```text
//! n,x,y             names  n            x               y
//! 1,2.5,            types  i64          f64             i64
//! 2,3,7             values 1 2          2.5 3.0         0 7
//!                   valid  -            -               0 1
//! ```
//!
//! The memory is laid out as Arrow's is: values side by side, bits from the lowest on.

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
    /// Integers without a sign, which text never becomes.
    U64,
    /// One of them has a point or an exponent, or is no finite number.
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

/// One column of a table. Cheap to clone: the memory is shared.
#[derive(Clone, Debug)]
pub struct Column {
    pub(super) kind: ColumnKind,
    /// As many words as there are rows.
    pub(super) values: Bytes,
    /// One bit for each row, if any is missing.
    pub(super) validity: Option<Bytes>,
    pub(super) nulls: usize,
}

impl Column {
    /// A column of integers, all there.
    #[must_use]
    pub fn of_i64(values: Array<i64>) -> Self {
        Self::of(ColumnKind::I64, values)
    }

    /// A column of integers without a sign, all there.
    #[must_use]
    pub fn of_u64(values: Array<u64>) -> Self {
        Self::of(ColumnKind::U64, values)
    }

    /// A column of doubles, all there.
    #[must_use]
    pub fn of_f64(values: Array<f64>) -> Self {
        Self::of(ColumnKind::F64, values)
    }

    fn of<T: bytemuck::Pod + Send>(kind: ColumnKind, values: Array<T>) -> Self
    where
        Array<T>: Send,
    {
        Self { kind, values: Bytes::from_owner(Shared(values)), validity: None, nulls: 0 }
    }

    /// The same column without the values of rows for which `is_missing` is true: a copy, if there
    /// are any.
    ///
    /// # Errors
    ///
    /// There is not enough memory for the copy.
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
        Ok(Self { kind: self.kind, values, validity: Some(Bytes::from(bits)), nulls })
    }

    /// Some of its rows: the values are shared, bits are copied.
    fn slice(&self, rows: Range<usize>) -> Self {
        let values = self.values.slice(rows.start * 8..rows.end * 8);
        let (mut bits, mut nulls, len) = (Vec::new(), 0, rows.len());
        for (at, _) in rows.enumerate().filter(|&(_, row)| !self.is_valid(row)) {
            clear(&mut bits, at, len);
            nulls += 1;
        }
        let validity = (nulls > 0).then(|| Bytes::from(bits));
        Self { kind: self.kind, values, validity, nulls }
    }

    /// Its type.
    #[must_use]
    pub fn kind(&self) -> ColumnKind {
        self.kind
    }

    /// Its values; what stands where one is missing is zero.
    #[must_use]
    pub fn values(&self) -> Values<'_> {
        // An empty slice of bytes need not be aligned as values are.
        match (self.kind, self.values.is_empty()) {
            (ColumnKind::I64, true) => Values::I64(&[]),
            (ColumnKind::U64, true) => Values::U64(&[]),
            (ColumnKind::F64, true) => Values::F64(&[]),
            (ColumnKind::I64, false) => Values::I64(cast_slice(&self.values)),
            (ColumnKind::U64, false) => Values::U64(cast_slice(&self.values)),
            (ColumnKind::F64, false) => Values::F64(cast_slice(&self.values)),
        }
    }

    /// How many values are missing.
    #[must_use]
    pub fn nulls(&self) -> usize {
        self.nulls
    }

    /// Whether the value of a row is there.
    #[must_use]
    pub fn is_valid(&self, row: usize) -> bool {
        self.validity.as_ref().is_none_or(|bits| bits[row / 8] >> (row % 8) & 1 == 1)
    }

    /// One bit for each row, from the lowest of the first byte on, that is 1 if its value is
    /// there; `None` if all are.
    #[must_use]
    pub fn validity(&self) -> Option<&Bytes> {
        self.validity.as_ref()
    }

    /// The values as bytes, little-endian, eight for each row: to be shared without a copy.
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

/// A table of columns of one length.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Columns {
    /// Values of each column.
    pub rows: usize,
    /// What the header calls them, if there is one.
    pub names: Option<Vec<String>>,
    /// In the order of the file.
    pub columns: Vec<Column>,
}

/// What columns are called that have no names.
pub(super) fn numbered(columns: usize) -> Vec<String> {
    (1..=columns).map(|number| format!("column_{number}")).collect()
}

impl Columns {
    /// What its columns are called: their names, or `column_1` and so on.
    pub fn labels(&self) -> Vec<String> {
        self.names.clone().unwrap_or_else(|| numbered(self.columns.len()))
    }

    /// Puts columns together; `None` unless all have one length, and a name each, or none.
    #[must_use]
    pub fn new(names: Option<Vec<String>>, columns: Vec<Column>) -> Option<Self> {
        let len = columns.first().map_or(0, |column| column.values.len());
        let fit = columns.iter().all(|column| column.values.len() == len)
            && names.as_ref().is_none_or(|names| names.len() == columns.len());
        fit.then_some(Self { rows: len / 8, names, columns })
    }

    /// Some rows of all columns; the values are shared. Rows past the last one are left out.
    #[must_use]
    pub fn rows(&self, rows: Range<usize>) -> Self {
        let end = rows.end.min(self.rows);
        let rows = rows.start.min(end)..end;
        let columns = self.columns.iter().map(|column| column.slice(rows.clone())).collect();
        Self { rows: rows.len(), names: self.names.clone(), columns }
    }

    /// Some columns, by their numbers and in this order; `None` if there is no such number.
    #[must_use]
    pub fn select(&self, numbers: &[usize]) -> Option<Self> {
        let pick = |number: &usize| self.columns.get(*number).cloned();
        let columns = numbers.iter().map(pick).collect::<Option<_>>()?;
        let pick = |names: &Vec<String>| numbers.iter().map(|&at| names[at].clone()).collect();
        Some(Self { rows: self.rows, names: self.names.as_ref().map(pick), columns })
    }
}

/// Clears the bit of a row that is missing, of `rows` bits that are set at first.
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
