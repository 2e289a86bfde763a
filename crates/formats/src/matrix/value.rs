//! The values of entries.

use bytemuck::Pod;
use swath::Array;

use crate::matrix::kinds::Field;
use crate::matrix::line::LineCursor;

/// A complex number: its real and its imaginary part.
pub type Complex = [f64; 2];

/// The values of all entries, in order.
#[derive(Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Values {
    /// Entries have no values.
    #[default]
    None,
    /// Integers.
    I64(Array<i64>),
    /// Unsigned integers.
    U64(Array<u64>),
    /// Single-precision numbers.
    F32(Array<f32>),
    /// Double-precision numbers.
    F64(Array<f64>),
    /// Real and imaginary parts.
    Complex(Array<Complex>),
}

impl Values {
    /// Returns the values, if they are `i64`.
    pub fn as_i64(&self) -> Option<&[i64]> {
        if let Self::I64(values) = self { Some(values) } else { None }
    }

    /// Returns the values, if they are `u64`.
    pub fn as_u64(&self) -> Option<&[u64]> {
        if let Self::U64(values) = self { Some(values) } else { None }
    }

    /// Returns the values, if they are `f32`.
    pub fn as_f32(&self) -> Option<&[f32]> {
        if let Self::F32(values) = self { Some(values) } else { None }
    }

    /// Returns the values, if they are `f64`.
    pub fn as_f64(&self) -> Option<&[f64]> {
        if let Self::F64(values) = self { Some(values) } else { None }
    }

    /// Returns the values, if they are complex.
    pub fn as_complex(&self) -> Option<&[Complex]> {
        if let Self::Complex(values) = self { Some(values) } else { None }
    }

    /// Returns the number of values.
    pub fn count(&self) -> usize {
        match self {
            Self::None => 0,
            Self::I64(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Complex(values) => values.len(),
        }
    }

    /// Returns the length of one value in bytes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::None => 0,
            Self::F32(_) => 4,
            Self::I64(_) | Self::U64(_) | Self::F64(_) => 8,
            Self::Complex(_) => 16,
        }
    }
}

mod sealed {
    pub trait SealedValue {}
    impl SealedValue for () {}
    impl SealedValue for i64 {}
    impl SealedValue for u64 {}
    impl SealedValue for f32 {}
    impl SealedValue for f64 {}
    impl SealedValue for [f64; 2] {}
}

/// The type of a value: `()` for no value, `i64`, `u64`, `f32`, `f64` or [`Complex`].
pub trait Value: Pod + Send + Sync + PartialEq + std::fmt::Debug + sealed::SealedValue {
    /// The type's name in messages.
    #[doc(hidden)]
    const NAME: &'static str;

    /// The value of an entry that has no value in the file.
    #[doc(hidden)]
    const ONE: Self;

    /// Parses the value of an entry; `None` if there is no such value, or it does not fit.
    #[doc(hidden)]
    fn take(cursor: &mut Words<'_, '_>, field: Field) -> Option<Self>;

    #[doc(hidden)]
    fn wrap(values: Array<Self>) -> Values;

    /// Returns `None` if the result does not fit.
    #[doc(hidden)]
    fn negated(self) -> Option<Self>;

    #[doc(hidden)]
    fn conjugated(self) -> Self {
        self
    }

    /// Returns `None` if the result does not fit.
    #[doc(hidden)]
    fn plus(self, other: Self) -> Option<Self>;
}

/// The words of a line; only [`Value::take`] uses it.
#[derive(Debug)]
pub struct Words<'c, 'b>(pub(super) &'c mut LineCursor<'b>);

impl Words<'_, '_> {
    #[inline(always)]
    pub(super) fn complex(&mut self) -> Option<Complex> {
        let real = self.0.double()?;
        self.0.skip_blanks();
        Some([real, self.0.double()?])
    }
}

impl Value for () {
    const NAME: &'static str = "64 bits";
    const ONE: Self = ();

    fn take(words: &mut Words<'_, '_>, field: Field) -> Option<Self> {
        match field {
            Field::Pattern => Some(()),
            Field::Integer | Field::Unsigned => words.0.integer().map(drop),
            Field::Real => words.0.nearest().map(drop),
            Field::Complex => words.complex().map(drop),
        }
    }

    fn wrap(_: Array<Self>) -> Values {
        Values::None
    }

    fn negated(self) -> Option<Self> {
        Some(())
    }

    fn plus(self, (): Self) -> Option<Self> {
        Some(())
    }
}

/// Implements value types that are one number: parsing, negation and addition.
macro_rules! numbers {
    ($(
        $(#[$how:meta])? $type:ident in $variant:ident, one $one:literal, read by $read:ident,
        |$it:ident| $negated:expr, |$left:ident, $right:ident| $plus:expr;
    )+) => {$(
        impl Value for $type {
            const NAME: &'static str = stringify!($type);
            const ONE: Self = $one;

            $(#[$how])?
            fn take(words: &mut Words<'_, '_>, field: Field) -> Option<Self> {
                if field == Field::Pattern { Some(Self::ONE) } else { words.0.$read() }
            }

            fn wrap(values: Array<Self>) -> Values {
                Values::$variant(values)
            }

            fn negated(self) -> Option<Self> {
                let $it = self;
                $negated
            }

            fn plus(self, $right: Self) -> Option<Self> {
                let $left = self;
                $plus
            }
        }
    )+};
}

numbers! {
    i64 in I64, one 1, read by signed, |it| it.checked_neg(), |it, other| it.checked_add(other);
    u64 in U64, one 1, read by natural, |it| it.checked_neg(), |it, other| it.checked_add(other);
    f32 in F32, one 1.0, read by single, |it| Some(-it), |it, other| Some(it + other);
    #[inline(always)]
    f64 in F64, one 1.0, read by double, |it| Some(-it), |it, other| Some(it + other);
}

impl Value for Complex {
    const NAME: &'static str = "two doubles";
    const ONE: Self = [1.0, 0.0];

    fn take(words: &mut Words<'_, '_>, field: Field) -> Option<Self> {
        match field {
            Field::Pattern => Some(Self::ONE),
            Field::Integer | Field::Unsigned | Field::Real => Some([words.0.double()?, 0.0]),
            Field::Complex => words.complex(),
        }
    }

    fn wrap(values: Array<Self>) -> Values {
        Values::Complex(values)
    }

    fn negated(self) -> Option<Self> {
        Some(self.map(|part| -part))
    }

    fn conjugated(self) -> Self {
        [self[0], -self[1]]
    }

    fn plus(self, other: Self) -> Option<Self> {
        Some([self[0] + other[0], self[1] + other[1]])
    }
}
