//! The number types of tables.

use bytemuck::Pod;
use swath_simd::{Padding, Tokens, column_doubles, column_integers};

use crate::number::parse::{double, integral, is_padded, is_rounded, signed, unsigned};
use crate::number::rounding::{ALL_DOUBLES, ALL_SINGLES, before_rounded, is_changed};

/// A number of a table: [`f64`], [`f32`], and all integers of up to 64 bits.
pub trait Value:
    Pod + Send + Sync + PartialEq + std::fmt::Debug + sealed::SealedNumber
{
    /// Returns a column of these values.
    #[cfg(feature = "arrow")]
    fn column(values: Vec<Self>) -> arrow_array::ArrayRef {
        Self::to_column(values)
    }
}

/// The notation of doubles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Decimals {
    /// The shortest text that parses back to the same number.
    #[default]
    Shortest,
    /// This many digits after the point, at most 1,074, correctly rounded: C's `%.Nf`.
    Fixed(usize),
}

/// Numbers parsed before they are stored.
const BATCH: usize = 64;

pub(super) mod sealed {
    use super::{Padding, Tokens};

    pub trait SealedNumber: Copy + Default + PartialEq {
        /// The type's name in messages.
        const NAME: &'static str;
        /// Whether the type has no fractions.
        const IS_WHOLE: bool;
        /// Whether the type has no negative numbers.
        const IS_UNSIGNED: bool;

        /// Parses a token strictly; `None` if it is not a number of this type.
        fn parse(token: &[u8]) -> Option<Self>;

        /// Parses at most 64 plain tokens, empty ones as zero; returns how many precede the first
        /// that is neither. Sets the bits in `rounded` of those that are
        /// [rounded](Self::is_rounded).
        fn parse_column(
            tokens: Tokens<'_>,
            padding: Padding,
            out: &mut [Self],
            rounded: &mut u64,
        ) -> usize;

        /// Whether the value has other digits than its token.
        fn is_rounded(self, _token: &[u8]) -> bool {
            false
        }

        /// Returns the value that means "missing", if the type has one.
        fn natural() -> Option<Self>;

        /// Converts this value, if the type can represent it.
        fn exactly(value: f64) -> Option<Self>;

        /// Returns a column of these values.
        #[cfg(feature = "arrow")]
        fn to_column(values: Vec<Self>) -> arrow_array::ArrayRef;
    }
}

impl Value for f64 {}

impl sealed::SealedNumber for f64 {
    const NAME: &'static str = "f64";
    const IS_WHOLE: bool = false;
    const IS_UNSIGNED: bool = false;

    fn parse(token: &[u8]) -> Option<Self> {
        double(token).filter(|&value| !is_rounded(token, value))
    }

    fn parse_column(
        tokens: Tokens<'_>,
        padding: Padding,
        out: &mut [Self],
        rounded: &mut u64,
    ) -> usize {
        let mut doubt = false;
        let count = column_doubles(tokens, padding, out, &mut doubt);
        let count = before_rounded(tokens, &out[..count], ALL_DOUBLES);
        if doubt {
            *rounded = rounded_ones(tokens, &out[..count], 17);
        }
        count
    }

    fn is_rounded(self, token: &[u8]) -> bool {
        is_changed(token, self)
    }

    fn natural() -> Option<Self> {
        Some(Self::NAN)
    }

    fn exactly(value: f64) -> Option<Self> {
        Some(value)
    }

    #[cfg(feature = "arrow")]
    fn to_column(values: Vec<Self>) -> arrow_array::ArrayRef {
        std::sync::Arc::new(arrow_array::Float64Array::from(values))
    }
}

impl Value for f32 {}

impl sealed::SealedNumber for f32 {
    const NAME: &'static str = "f32";
    const IS_WHOLE: bool = false;
    const IS_UNSIGNED: bool = false;

    fn parse(token: &[u8]) -> Option<Self> {
        let wide = double(token)?;
        let value = match single(wide) {
            Some(value) => value,
            None if !wide.is_finite() => rounded(wide),
            None => {
                let value: Self = std::str::from_utf8(token).ok()?.parse().ok()?;
                value.is_finite().then_some(value)?
            }
        };
        (!is_rounded(token, value.into())).then_some(value)
    }

    fn parse_column(
        tokens: Tokens<'_>,
        padding: Padding,
        out: &mut [Self],
        rounded: &mut u64,
    ) -> usize {
        let parse = |tokens: Tokens<'_>, out: &mut [f64]| {
            column_doubles(tokens, padding, out, &mut false)
        };
        let count = by_batch(tokens, out, parse, single);
        let count = before_rounded(tokens, &out[..count], ALL_SINGLES);
        *rounded = rounded_ones(tokens, &out[..count], 9);
        count
    }

    fn is_rounded(self, token: &[u8]) -> bool {
        is_changed(token, self.into())
    }

    fn natural() -> Option<Self> {
        Some(Self::NAN)
    }

    fn exactly(value: f64) -> Option<Self> {
        let narrow = rounded(value);
        (f64::from(narrow) == value || value.is_nan()).then_some(narrow)
    }

    #[cfg(feature = "arrow")]
    fn to_column(values: Vec<Self>) -> arrow_array::ArrayRef {
        std::sync::Arc::new(arrow_array::Float32Array::from(values))
    }
}

/// Returns the bits of the rounded values. A rounded token has at least `least` bytes.
fn rounded_ones<T: Value>(tokens: Tokens<'_>, values: &[T], least: u32) -> u64 {
    let places = tokens.starts.iter().zip(tokens.ends);
    let bit = |(index, (value, (&start, &end))): (u32, (&T, (&u32, &u32)))| {
        let is_long = end.saturating_sub(start) >= least;
        let token = tokens.text.get(start as usize..end as usize).filter(|_| is_long);
        u64::from(token.is_some_and(|token| value.is_rounded(token))).rotate_left(index)
    };
    (0..).zip(values.iter().zip(places)).fold(0, |bits, one| bits | bit(one))
}

/// Rounds to nearest, as all conversions do.
#[expect(clippy::cast_possible_truncation, reason = "rounding is intended")]
fn rounded(value: f64) -> f32 {
    value as f32
}

/// Returns the single nearest to the number whose nearest double is `wide`. `None` if `wide` does
/// not determine it, or it is infinite or subnormal.
fn single(wide: f64) -> Option<f32> {
    // Exactly between two singles: the number itself may lie on either side.
    const DROPPED: u64 = (1 << 29) - 1;
    let halfway = wide.to_bits() & DROPPED == 1 << 28;
    let value = rounded(wide);
    ((value.is_normal() && !halfway) || wide == 0.0).then_some(value)
}

macro_rules! integers {
    ($($integer:ident as $array:ident by $parse:ident),+) => {$(
        impl Value for $integer {}

        impl sealed::SealedNumber for $integer {
            const NAME: &'static str = stringify!($integer);
            const IS_WHOLE: bool = true;
            const IS_UNSIGNED: bool = Self::MIN == 0;

            fn parse(token: &[u8]) -> Option<Self> {
                match $parse(token) {
                    Some(value) => Self::try_from(value).ok(),
                    // Types without a sign have no `-0`.
                    None if Self::MIN == 0 && token.starts_with(b"-") => None,
                    None => Self::try_from(integral(token)?).ok(),
                }
            }

            fn parse_column(
                tokens: Tokens<'_>,
                padding: Padding,
                out: &mut [Self],
                _: &mut u64,
            ) -> usize {
                let parse =
                    |tokens: Tokens<'_>, out: &mut [i64]| column_integers(tokens, padding, out);
                by_batch(tokens, out, parse, |wide: i64| Self::try_from(wide).ok())
            }

            fn natural() -> Option<Self> {
                None
            }

            fn exactly(value: f64) -> Option<Self> {
                // Goes through text, since no conversion checks for exactness.
                Self::parse(format!("{value}").as_bytes())
            }

            #[cfg(feature = "arrow")]
            fn to_column(values: Vec<Self>) -> arrow_array::ArrayRef {
                std::sync::Arc::new(arrow_array::$array::from(values))
            }
        }
    )+};
}

integers!(i32 as Int32Array by signed, i16 as Int16Array by signed, i8 as Int8Array by signed);
integers!(u32 as UInt32Array by unsigned, u16 as UInt16Array by unsigned);
integers!(u8 as UInt8Array by unsigned);

impl Value for u64 {}

impl sealed::SealedNumber for u64 {
    const NAME: &'static str = "u64";
    const IS_WHOLE: bool = true;
    const IS_UNSIGNED: bool = true;

    fn parse(token: &[u8]) -> Option<Self> {
        match unsigned(token) {
            None if token.starts_with(b"-") => None,
            None => Self::try_from(integral(token)?).ok(),
            value => value,
        }
    }

    /// A number above the `i64` range is usually followed by more: then parses one by one.
    fn parse_column(
        tokens: Tokens<'_>,
        padding: Padding,
        out: &mut [Self],
        _: &mut u64,
    ) -> usize {
        let parse = |tokens: Tokens<'_>, out: &mut [i64]| column_integers(tokens, padding, out);
        let done = by_batch(tokens, out, parse, |wide: i64| Self::try_from(wide).ok());
        let (starts, ends) = (&tokens.starts[done..], &tokens.ends[done..]);
        let mut count = done;
        for ((&start, &end), slot) in starts.iter().zip(ends).zip(&mut out[done..]) {
            let token = tokens.text.get(start as usize..end as usize).unwrap_or_default();
            match unsigned(token) {
                _ if token.is_empty() => *slot = 0,
                _ if padding == Padding::Refused && is_padded(token) => return count,
                Some(value) => *slot = value,
                None => return count,
            }
            count += 1;
        }
        count
    }

    fn natural() -> Option<Self> {
        None
    }

    fn exactly(value: f64) -> Option<Self> {
        unsigned(format!("{value}").as_bytes())
    }

    #[cfg(feature = "arrow")]
    fn to_column(values: Vec<Self>) -> arrow_array::ArrayRef {
        std::sync::Arc::new(arrow_array::UInt64Array::from(values))
    }
}

impl Value for i64 {}

impl sealed::SealedNumber for i64 {
    const NAME: &'static str = "i64";
    const IS_WHOLE: bool = true;
    const IS_UNSIGNED: bool = false;

    fn parse(token: &[u8]) -> Option<Self> {
        signed(token).or_else(|| Self::try_from(integral(token)?).ok())
    }

    fn parse_column(
        tokens: Tokens<'_>,
        padding: Padding,
        out: &mut [Self],
        _: &mut u64,
    ) -> usize {
        column_integers(tokens, padding, out)
    }

    fn natural() -> Option<Self> {
        None
    }

    fn exactly(value: f64) -> Option<Self> {
        signed(format!("{value}").as_bytes())
    }

    #[cfg(feature = "arrow")]
    fn to_column(values: Vec<Self>) -> arrow_array::ArrayRef {
        std::sync::Arc::new(arrow_array::Int64Array::from(values))
    }
}

/// Parses into a wider type, and narrows the results.
fn by_batch<W: Pod, T>(
    tokens: Tokens<'_>,
    out: &mut [T],
    parse: impl Fn(Tokens<'_>, &mut [W]) -> usize,
    narrow: impl Fn(W) -> Option<T>,
) -> usize {
    let mut wide = [W::zeroed(); BATCH];
    let count = tokens.starts.len().min(tokens.ends.len()).min(out.len());
    let mut done = 0;
    while done < count {
        let end = count.min(done + BATCH);
        let batch = Tokens {
            starts: &tokens.starts[done..end],
            ends: &tokens.ends[done..end],
            ..tokens
        };
        let found = parse(batch, &mut wide);
        for (wide, slot) in wide[..found].iter().zip(&mut out[done..end]) {
            match narrow(*wide) {
                Some(value) => *slot = value,
                None => return done,
            }
            done += 1;
        }
        if done < end {
            return done;
        }
    }
    done
}
