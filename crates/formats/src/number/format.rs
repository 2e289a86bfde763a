//! Numbers to text, behind what is in the buffer already: whole ones, the shortest text that means
//! a double, and C's `%.Nf`.
//!
//! ```text
//! push_u64            18446744073709551615
//! push_i64            -42
//! push_f64_shortest   0.1   3.0   1e+23   -0.0   inf   nan
//! push_f64_fixed      0.100000000000000006   (18 decimals: the exact value, rounded once)
//! ```
//!
//! All text is ASCII, and every one but `nan` means exactly its number to `number::parse`, except
//! that fixed decimals may be too few for it. What takes this long is not to compute a digit but to
//! guess wrong how many there are: eight digits are made at a time, and those that are not wanted
//! are cut off, which needs no branch.

mod fixed;

pub(crate) use fixed::push_f64_fixed;

use swath_simd::digits::{ASCII, eight};

/// One more than eight digits can say.
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

/// Appends a whole number, behind `-` if it is below 0.
#[inline]
pub(crate) fn push_i64(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    push_u64(out, value.unsigned_abs());
}

/// Appends the shortest text that means this double and no other; of several, the nearest to it.
///
/// A whole number keeps its point (`3.0`), so that who reads it back sees a column of doubles, not
/// of integers. Very large and very small ones have an exponent: `1e+16`, `1.5e-9`. Infinity is
/// `inf` or `-inf`; all that are no number are `nan`, whatever their sign and payload.
#[inline]
pub(crate) fn push_f64_shortest(out: &mut Vec<u8>, value: f64) {
    if value.is_finite() {
        out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
    } else {
        push_f64_unusual(out, value);
    }
}

/// What has no digits.
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
    // The first digit lies in the lowest byte. Of 0, the last one stays.
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
