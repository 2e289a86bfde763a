//! What an entry is worth.

use bytemuck::Pod;
use swath::Array;

use crate::matrix::kinds::Field;
use crate::matrix::line::Cursor;

/// A complex number: its real and its imaginary part.
pub type Complex = [f64; 2];

/// The values of all entries, in their order.
#[derive(Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Values {
    /// Entries are there or not, and nothing else.
    #[default]
    None,
    /// Integers.
    I64(Array<i64>),
    /// Integers without a sign.
    U64(Array<u64>),
    /// Singles.
    F32(Array<f32>),
    /// Doubles.
    F64(Array<f64>),
    /// Real and imaginary parts.
    Complex(Array<Complex>),
}

impl Values {
    /// The values, if they are integers.
    pub fn as_i64(&self) -> Option<&[i64]> {
        if let Self::I64(values) = self { Some(values) } else { None }
    }

    /// The values, if they are integers without a sign.
    pub fn as_u64(&self) -> Option<&[u64]> {
        if let Self::U64(values) = self { Some(values) } else { None }
    }

    /// The values, if they are singles.
    pub fn as_f32(&self) -> Option<&[f32]> {
        if let Self::F32(values) = self { Some(values) } else { None }
    }

    /// The values, if they are doubles.
    pub fn as_f64(&self) -> Option<&[f64]> {
        if let Self::F64(values) = self { Some(values) } else { None }
    }

    /// The values, if they are complex.
    pub fn as_complex(&self) -> Option<&[Complex]> {
        if let Self::Complex(values) = self { Some(values) } else { None }
    }

    /// Bytes of one.
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
    pub trait Sealed {}
    impl Sealed for () {}
    impl Sealed for i64 {}
    impl Sealed for u64 {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
    impl Sealed for [f64; 2] {}
}

/// The type of a value: `()` for none, `i64`, `u64`, `f32`, `f64` or [`Complex`].
pub trait Value: Pod + Send + Sync + PartialEq + std::fmt::Debug + sealed::Sealed {
    /// What messages call it.
    #[doc(hidden)]
    const NAME: &'static str;

    /// What an entry is worth that has no value in the file.
    #[doc(hidden)]
    const ONE: Self;

    /// Reads what the file has for a value; `None` if it is none, or does not fit.
    #[doc(hidden)]
    fn take(cursor: &mut Words<'_, '_>, field: Field) -> Option<Self>;

    #[doc(hidden)]
    fn wrap(values: Array<Self>) -> Values;

    /// `None` if it does not fit.
    #[doc(hidden)]
    fn negated(self) -> Option<Self>;

    #[doc(hidden)]
    fn conjugated(self) -> Self {
        self
    }

    /// `None` if it does not fit.
    #[doc(hidden)]
    fn plus(self, other: Self) -> Option<Self>;
}

/// The words of a line, for [`Value::take`] alone.
#[derive(Debug)]
pub struct Words<'c, 'b>(pub(super) &'c mut Cursor<'b>);

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
            Field::Real => words.0.double().map(drop),
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

/// Values that are one number: what one of them is, how they are read, negated and added up.
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
