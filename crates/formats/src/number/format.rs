//! Appends numbers as text to a buffer: whole numbers, the shortest text of a double, and C's
//! `%.Nf`.
//!
//! ```text
//! push_u64            18446744073709551615
//! push_i64            -42
//! push_f64_shortest   0.1   3.0   1e+23   -0.0   inf   nan
//! push_f64_fixed      0.100000000000000006   (18 decimals: the exact value, rounded once)
//! ```
//!
//! All text is ASCII. Everything but `nan` parses back to the same number with `number::parse`,
//! unless a fixed number of decimals was too small for it. Computing digits is not slow;
//! mispredicting their number is. So eight digits are computed at a time and the surplus is cut
//! off, without a branch.

mod fixed;
#[cfg(feature = "arrow")]
pub(crate) mod room;

pub(crate) use fixed::push_f64_fixed;

use swath_simd::digits::{ASCII, eight};

/// The first number with more than eight digits.
const EIGHT: u64 = 100_000_000;

/// Appends a whole number.
#[inline]
pub(crate) fn push_u64(out: &mut Vec<u8>, value: u64) {
    if value < EIGHT {
        push_up_to_eight(out, value);
    } else {
        push_more_than_eight(out, value);
    }
}

/// Appends a whole number, with `-` in front if it is negative.
#[inline]
pub(crate) fn push_i64(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    push_u64(out, value.unsigned_abs());
}

/// Appends the shortest text that parses back to exactly this double; if there are several, the one
/// nearest to it.
///
/// A whole number keeps its point (`3.0`), so that a reader sees a column of doubles, not of
/// integers. Very large and very small numbers have an exponent: `1e+16`, `1.5e-9`. Infinity is
/// `inf` or `-inf`; every NaN is `nan`, whatever its sign and payload.
#[inline]
pub(crate) fn push_f64_shortest(out: &mut Vec<u8>, value: f64) {
    if value.is_finite() {
        out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
    } else {
        push_f64_unusual(out, value);
    }
}

/// Appends the shortest text that parses back to the same single.
#[cfg(feature = "arrow")]
pub(crate) fn push_f32_shortest(out: &mut Vec<u8>, value: f32) {
    match value.is_finite() {
        true => out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes()),
        false => push_f64_shortest(out, value.into()),
    }
}

/// Appends infinity or NaN.
#[cold]
fn push_f64_unusual(out: &mut Vec<u8>, value: f64) {
    let text = match value {
        f64::INFINITY => "inf",
        f64::NEG_INFINITY => "-inf",
        _ => "nan",
    };
    out.extend_from_slice(text.as_bytes());
}

#[inline(always)]
fn push_up_to_eight(out: &mut Vec<u8>, value: u64) {
    let digits = eight(value);
    // The first digit is in the lowest byte. The last digit of 0 is kept.
    let zeros = (digits | 1 << 56).trailing_zeros() / 8;
    let text = (digits | ASCII) >> (8 * zeros);
    out.extend_from_slice(&text.to_le_bytes());
    out.truncate(out.len().wrapping_sub(zeros as usize));
}

fn push_more_than_eight(out: &mut Vec<u8>, value: u64) {
    let (high, low) = (value / EIGHT, value % EIGHT);
    if high < EIGHT {
        push_up_to_eight(out, high);
    } else {
        push_up_to_eight(out, high / EIGHT);
        out.extend_from_slice(&(eight(high % EIGHT) | ASCII).to_le_bytes());
    }
    out.extend_from_slice(&(eight(low) | ASCII).to_le_bytes());
}

#[cfg(test)]
mod tests;
