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

use bytemuck::cast_slice;
use bytes::Bytes;
use swath::Array;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// All fields that are not missing are integers.
    I64,
    /// One of them has a point or an exponent, or is no finite number.
    F64,
}

/// The values of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Values<'c> {
    /// Of [`Kind::I64`].
    I64(&'c [i64]),
    /// Of [`Kind::F64`].
    F64(&'c [f64]),
}

/// One column of a table. Cheap to clone: the memory is shared.
#[derive(Clone, Debug)]
pub struct Column {
    pub(super) kind: Kind,
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
        Self::of(Kind::I64, values)
    }

    /// A column of doubles, all there.
    #[must_use]
    pub fn of_f64(values: Array<f64>) -> Self {
        Self::of(Kind::F64, values)
    }

    fn of<T: bytemuck::Pod + Send>(kind: Kind, values: Array<T>) -> Self
    where
        Array<T>: Send,
    {
        Self { kind, values: Bytes::from_owner(Shared(values)), validity: None, nulls: 0 }
    }

    /// Its type.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its values; what stands where one is missing is zero.
    #[must_use]
    pub fn values(&self) -> Values<'_> {
        // An empty slice of bytes need not be aligned as values are.
        match (self.kind, self.values.is_empty()) {
            (Kind::I64, true) => Values::I64(&[]),
            (Kind::F64, true) => Values::F64(&[]),
            (Kind::I64, false) => Values::I64(cast_slice(&self.values)),
            (Kind::F64, false) => Values::F64(cast_slice(&self.values)),
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

impl Columns {
    /// Puts columns together; `None` unless all have one length, and a name each, or none.
    #[must_use]
    pub fn new(names: Option<Vec<String>>, columns: Vec<Column>) -> Option<Self> {
        let len = columns.first().map_or(0, |column| column.values.len());
        let fit = columns.iter().all(|column| column.values.len() == len)
            && names.as_ref().is_none_or(|names| names.len() == columns.len());
        fit.then_some(Self { rows: len / 8, names, columns })
    }
}

/// An array as bytes.
pub(super) struct Shared<T: bytemuck::Pod>(pub(super) Array<T>);

impl<T: bytemuck::Pod> AsRef<[u8]> for Shared<T> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}
