//! The double nearest to a decimal number of up to nineteen digits.
//!
//! From Lemire, *Number parsing at a gigabyte per second* (2021), with the proof of Mushtak and
//! Lemire, *Fast number parsing without fallback* (2023), that the truncated product always
//! suffices. Numbers below the smallest normal double are left to the caller, so there is one form
//! of rounding.

use super::powers::{FIRST, LAST, POWERS};

/// Powers of ten that are doubles; those up to [`MOST_PLACES`] are used.
const EXACT: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
const MOST_PLACES: i32 = 12;

/// The bits of a double's mantissa, without the leading one.
const BITS: u32 = 52;

/// Returns the double nearest to `digits * 10^exponent`; the even one of two equally near ones.
///
/// `None` if it is infinite, or smaller than the normal doubles and not zero: the caller has a
/// slower way for those. The caller applies the sign.
///
/// ```
/// assert_eq!(swath_simd::nearest_double(12345, -2), Some(123.45));
/// assert_eq!(swath_simd::nearest_double(1, 400), None);
/// ```
#[must_use]
#[inline(always)]
pub fn nearest_double(digits: u64, exponent: i32) -> Option<f64> {
    nearest(digits, exponent, &mut false)
}

/// Returns the nearest double. Sets `doubt` if the double may differ from the number by more than
/// half a unit of its last digit.
#[inline(always)]
pub(super) fn nearest(digits: u64, exponent: i32, doubt: &mut bool) -> Option<f64> {
    // Numbers with few decimals mostly have few digits as well; some with many decimals have more,
    // and then a branch costs more than it saves.
    if (-MOST_PLACES..=0).contains(&exponent) && digits >> BITS == 0 {
        // Both are doubles, so one operation rounds once.
        let power = EXACT[exponent.unsigned_abs() as usize & 15];
        return Some(digits.cast_signed() as f64 / power);
    }
    if digits == 0 {
        return Some(0.0);
    }
    nearest_wide(digits, exponent, doubt)
}

/// Computes the double by a product of 128 bits with a truncated power of five.
#[inline(always)]
fn nearest_wide(digits: u64, exponent: i32, doubt: &mut bool) -> Option<f64> {
    if !(FIRST..=LAST).contains(&exponent) {
        return None;
    }
    let power = POWERS[usize::try_from(exponent - FIRST).unwrap_or(0)];
    let zeros = digits.leading_zeros();
    let (high, low) = product(digits << zeros, power);
    let upper = u32::from(high >> 63 == 1);
    let shift = upper + 64 - BITS - 3;
    let mut mantissa = high >> shift;
    // Exactly between two doubles: only small powers of five can cause that.
    let halfway = low <= 1 && mantissa & 3 == 1 && mantissa << shift == high;
    if halfway && (-4..=23).contains(&exponent) {
        mantissa &= !1;
    }
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    *doubt |=
        is_apart(joined(high, low), u128::from(mantissa) << (shift + 65), unit(power, zeros));
    // The integer part of log2(10^exponent), by a fraction that is exact enough within the table.
    let binary = ((217_706 * exponent) >> 16) + 63;
    let mut biased = binary + upper.cast_signed() - zeros.cast_signed() + 1023;
    if mantissa >> (BITS + 1) == 1 {
        mantissa >>= 1;
        biased += 1;
    }
    if !(1..2047).contains(&biased) {
        return None;
    }
    let fraction = mantissa & ((1 << BITS) - 1);
    Some(f64::from_bits(fraction | u64::from(biased.unsigned_abs()) << BITS))
}

/// Returns a unit of the last digit, by the same product.
#[inline(always)]
fn unit([high, low]: [u64; 2], zeros: u32) -> u128 {
    joined(high, low) >> (64 - zeros)
}

/// Whether two numbers may be further apart than half of `unit`: all are truncated.
#[inline(always)]
fn is_apart(one: u128, other: u128, unit: u128) -> bool {
    const TRUNCATED: u128 = 8;
    let apart = one.wrapping_sub(other).cast_signed().unsigned_abs();
    2 * apart + TRUNCATED > unit
}

fn joined(high: u64, low: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// Returns the upper 128 bits of `digits * power`.
///
/// The upper half of the power alone would nearly always suffice, but the text of a double with all
/// its digits is next to that double: then half of the numbers need the lower half, and predicting
/// which costs more than a product.
#[inline(always)]
fn product(digits: u64, [high, low]: [u64; 2]) -> (u64, u64) {
    let upper = halves(u128::from(digits) * u128::from(high));
    let (carry, _) = halves(u128::from(digits) * u128::from(low));
    let (low, carried) = upper.1.overflowing_add(carry);
    (upper.0 + u64::from(carried), low)
}

/// Returns the upper and the lower half.
#[inline(always)]
fn halves(wide: u128) -> (u64, u64) {
    let bytes = wide.to_le_bytes();
    let half = |at: usize| {
        let mut half = [0; 8];
        half.copy_from_slice(&bytes[at..at + 8]);
        u64::from_le_bytes(half)
    };
    (half(8), half(0))
}
