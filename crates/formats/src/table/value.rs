//! The number types of tables.

use bytemuck::Pod;
use swath_simd::{
    Padding, Tokens, Unpadded, column_doubles, column_integers, parse_doubles, parse_integers,
    unpadded,
};

use crate::number::format::{push_f64_fixed, push_f64_shortest, push_i64, push_u64};
use crate::number::parse::{double, integral, is_rounded, signed, unsigned};

/// A number of a table: [`f64`], [`f32`], and all integers of up to 64 bits.
pub trait Value: Pod + Send + Sync + PartialEq + std::fmt::Debug + sealed::Value {}

/// How doubles are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Decimals {
    /// The shortest text that parses back to the same number.
    #[default]
    Shortest,
    /// This many digits after the point, at most 1,074, correctly rounded: C's `%.Nf`.
    Fixed(usize),
}

/// How many numbers are parsed before they are stored.
const BATCH: usize = 64;

pub(super) mod sealed {
    use super::{Decimals, Padding, Tokens};

    pub trait Value: Sized {
        /// Its name in messages.
        const NAME: &'static str;

        /// Parses a token strictly; `None` if it is not a number of this type.
        fn parse(token: &[u8]) -> Option<Self>;

        /// Parses plain tokens; returns how many precede the first that is not plain.
        fn parse_many(tokens: Tokens<'_>, out: &mut [Self]) -> usize;

        /// As [`parse_many`](Self::parse_many), for fields of which those that are empty are zero.
        fn parse_column(tokens: Tokens<'_>, padding: Padding, out: &mut [Self]) -> usize;

        /// Appends it as text.
        fn push(self, text: &mut Vec<u8>, decimals: Decimals);

        /// Returns the value that means "missing", if the type has one.
        fn natural() -> Option<Self>;

        /// Converts this value, if the type can represent it.
        fn exactly(value: f64) -> Option<Self>;
    }
}

impl Value for f64 {}

impl sealed::Value for f64 {
    const NAME: &'static str = "f64";

    fn parse(token: &[u8]) -> Option<Self> {
        double(token).filter(|&value| !is_rounded(token, value))
    }

    fn parse_many(tokens: Tokens<'_>, out: &mut [Self]) -> usize {
        let count = parse_doubles(tokens, out);
        before_rounded(tokens, &out[..count], ALL_DOUBLES)
    }

    fn parse_column(tokens: Tokens<'_>, padding: Padding, out: &mut [Self]) -> usize {
        let count = column_doubles(tokens, padding, out);
        before_rounded(tokens, &out[..count], ALL_DOUBLES)
    }

    fn push(self, text: &mut Vec<u8>, decimals: Decimals) {
        push_double(text, self, decimals);
    }

    fn natural() -> Option<Self> {
        Some(Self::NAN)
    }

    fn exactly(value: f64) -> Option<Self> {
        Some(value)
    }
}

impl Value for f32 {}

impl sealed::Value for f32 {
    const NAME: &'static str = "f32";

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

    fn parse_many(tokens: Tokens<'_>, out: &mut [Self]) -> usize {
        let count = by_batch(tokens, out, parse_doubles, single);
        before_rounded(tokens, &out[..count], ALL_SINGLES)
    }

    fn parse_column(tokens: Tokens<'_>, padding: Padding, out: &mut [Self]) -> usize {
        let parse = |tokens: Tokens<'_>, out: &mut [f64]| column_doubles(tokens, padding, out);
        let count = by_batch(tokens, out, parse, single);
        before_rounded(tokens, &out[..count], ALL_SINGLES)
    }

    fn push(self, text: &mut Vec<u8>, decimals: Decimals) {
        match decimals {
            Decimals::Shortest if self.is_finite() => {
                text.extend_from_slice(zmij::Buffer::new().format_finite(self).as_bytes());
            }
            _ => push_double(text, f64::from(self), decimals),
        }
    }

    fn natural() -> Option<Self> {
        Some(Self::NAN)
    }

    fn exactly(value: f64) -> Option<Self> {
        let narrow = rounded(value);
        (f64::from(narrow) == value || value.is_nan()).then_some(narrow)
    }
}

/// Doubles have all whole numbers up to this one.
const ALL_DOUBLES: f64 = 9_007_199_254_740_992.0;
/// Singles have all whole numbers up to this one.
const ALL_SINGLES: f64 = 16_777_216.0;

/// Returns how many values precede the first that is not the whole number of its token. All up to `all` are.
fn before_rounded<T: Copy + Into<f64>>(tokens: Tokens<'_>, values: &[T], all: f64) -> usize {
    // Without an early exit, so that the loop is vectorised.
    let is_large = |&value: &T| value.into().abs() >= all;
    if !values.iter().fold(false, |found, value| found | is_large(value)) {
        return values.len();
    }
    let is_wrong = |(value, (&start, &end)): (&T, (&u32, &u32))| {
        let token = tokens.text.get(start as usize..end as usize);
        is_large(value) && token.is_some_and(|token| is_rounded(token, (*value).into()))
    };
    let places = tokens.starts.iter().zip(tokens.ends);
    values.iter().zip(places).position(is_wrong).unwrap_or(values.len())
}

/// Appends a double.
pub(super) fn push_double(text: &mut Vec<u8>, value: f64, decimals: Decimals) {
    match decimals {
        Decimals::Shortest => push_f64_shortest(text, value),
        Decimals::Fixed(places) => push_f64_fixed(text, value, places),
    }
}

/// Rounds to nearest, as all conversions do.
#[expect(clippy::cast_possible_truncation, reason = "rounding is intended")]
pub(super) fn rounded(value: f64) -> f32 {
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
    ($($integer:ident by $parse:ident $push:ident),+) => {$(
        impl Value for $integer {}

        impl sealed::Value for $integer {
            const NAME: &'static str = stringify!($integer);

            fn parse(token: &[u8]) -> Option<Self> {
                match $parse(token) {
                    Some(value) => Self::try_from(value).ok(),
                    // Types without a sign have no `-0`.
                    None if Self::MIN == 0 && token.starts_with(b"-") => None,
                    None => Self::try_from(integral(token)?).ok(),
                }
            }

            fn parse_many(tokens: Tokens<'_>, out: &mut [Self]) -> usize {
                by_batch(tokens, out, parse_integers, |wide: i64| Self::try_from(wide).ok())
            }

            fn parse_column(tokens: Tokens<'_>, padding: Padding, out: &mut [Self]) -> usize {
                let parse =
                    |tokens: Tokens<'_>, out: &mut [i64]| column_integers(tokens, padding, out);
                by_batch(tokens, out, parse, |wide: i64| Self::try_from(wide).ok())
            }

            fn push(self, text: &mut Vec<u8>, _: Decimals) {
                $push(text, self.into());
            }

            fn natural() -> Option<Self> {
                None
            }

            fn exactly(value: f64) -> Option<Self> {
                // By way of text, since no conversion checks for exactness.
                Self::parse(format!("{value}").as_bytes())
            }
        }
    )+};
}

integers!(i32 by signed push_i64, i16 by signed push_i64, i8 by signed push_i64);
integers!(u32 by unsigned push_u64, u16 by unsigned push_u64, u8 by unsigned push_u64);

impl Value for u64 {}

impl sealed::Value for u64 {
    const NAME: &'static str = "u64";

    fn parse(token: &[u8]) -> Option<Self> {
        match unsigned(token) {
            None if token.starts_with(b"-") => None,
            None => Self::try_from(integral(token)?).ok(),
            value => value,
        }
    }

    /// Numbers above those of an `i64` are mostly followed by more of them: then one by one.
    fn parse_many(tokens: Tokens<'_>, out: &mut [Self]) -> usize {
        let done = by_batch(tokens, out, parse_integers, |wide: i64| Self::try_from(wide).ok());
        let places = tokens.starts.iter().zip(tokens.ends).zip(out).skip(done);
        let mut count = done;
        for ((&start, &end), slot) in places {
            let token = tokens.text.get(start as usize..end as usize);
            match token.and_then(unsigned) {
                Some(value) => *slot = value,
                None => return count,
            }
            count += 1;
        }
        count
    }

    fn parse_column(tokens: Tokens<'_>, padding: Padding, out: &mut [Self]) -> usize {
        let parse = |tokens: Tokens<'_>, out: &mut [i64]| column_integers(tokens, padding, out);
        let done = by_batch(tokens, out, parse, |wide: i64| Self::try_from(wide).ok());
        let (starts, ends) = (&tokens.starts[done..], &tokens.ends[done..]);
        let plain = match padding {
            Padding::Taken => starts.len(),
            Padding::Refused => unpadded(Tokens { starts, ends, ..tokens }, Unpadded::Whole),
        };
        let mut count = done;
        let places = starts.iter().zip(ends).zip(&mut out[done..]).take(plain);
        for ((&start, &end), slot) in places {
            let token = tokens.text.get(start as usize..end as usize).unwrap_or_default();
            match unsigned(token) {
                _ if token.is_empty() => *slot = 0,
                Some(value) => *slot = value,
                None => return count,
            }
            count += 1;
        }
        count
    }

    fn push(self, text: &mut Vec<u8>, _: Decimals) {
        push_u64(text, self);
    }

    fn natural() -> Option<Self> {
        None
    }

    fn exactly(value: f64) -> Option<Self> {
        unsigned(format!("{value}").as_bytes())
    }
}

impl Value for i64 {}

impl sealed::Value for i64 {
    const NAME: &'static str = "i64";

    fn parse(token: &[u8]) -> Option<Self> {
        signed(token).or_else(|| Self::try_from(integral(token)?).ok())
    }

    fn parse_many(tokens: Tokens<'_>, out: &mut [Self]) -> usize {
        parse_integers(tokens, out)
    }

    fn parse_column(tokens: Tokens<'_>, padding: Padding, out: &mut [Self]) -> usize {
        column_integers(tokens, padding, out)
    }

    fn push(self, text: &mut Vec<u8>, _: Decimals) {
        push_i64(text, self);
    }

    fn natural() -> Option<Self> {
        None
    }

    fn exactly(value: f64) -> Option<Self> {
        signed(format!("{value}").as_bytes())
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
