//! A double with a fixed number of decimals, as C's `%.Nf` prints it.
//!
//! A double is `m * 2^-s` with `m` below 2^53. Up to 19 decimals its fraction is therefore scaled
//! exactly by one multiplication of two words, and cut once, where the binary point is:
//!
//! ```text
//! m          |  whole  |  rest  |             s bits of rest
//! rest * 10^N          |  digits of the fraction  |  what is cut  |
//!                                                  rounds up if above one half, or on it and odd
//! ```
//!
//! More decimals, and numbers from 2^64 on, go the library's exact and slower way.

use std::io::Write;

use swath_simd::digits::{ASCII, eight};

use super::{EIGHT, push_f64_unusual, push_u64};

/// Ten to the power of the index; two words are enough to scale by the last one.
const POWERS: [u64; 20] = {
    let mut powers = [1; 20];
    let mut index = 1;
    while index < powers.len() {
        powers[index] = 10 * powers[index - 1];
        index += 1;
    }
    powers
};

/// No double has more: behind them are zeros.
const MOST_DECIMALS: usize = 1074;

/// Appends `value` with so many digits behind its point, and no point if there are none.
///
/// The text is that of C's `%.Nf` for any number of decimals: the exact value rounded once, to
/// nearest, ties to even; `-0.00` for what is negative and rounds to nothing; `inf` and `-inf`.
/// Only what is no number is always `nan`, where C libraries may or may not show a sign.
#[inline]
pub(crate) fn push_f64_fixed(out: &mut Vec<u8>, value: f64, decimals: usize) {
    let Some(power) = POWERS.get(decimals) else {
        return push_slowly(out, value, decimals);
    };
    let Some((whole, fraction)) = split(value, *power) else {
        return push_slowly(out, value, decimals);
    };
    if value.is_sign_negative() {
        out.push(b'-');
    }
    push_u64(out, whole);
    if decimals > 0 {
        push_fraction(out, fraction, decimals);
    }
}

/// Splits the magnitude into a whole number and as many units of `1 / power` as are nearest, or
/// `None` if it is no number, or not below 2^64.
#[inline]
fn split(value: f64, power: u64) -> Option<(u64, u64)> {
    let bits = value.to_bits();
    let (exponent, rest) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
    let (mantissa, exponent) = match exponent {
        0 => (rest, 1),
        _ => (rest | 1 << 52, exponent),
    };
    // `mantissa * 2^-shift`; of less than 2^-127, nothing is left in 19 decimals.
    if exponent >= 1075 {
        let shift = exponent - 1075;
        return (shift < 12).then(|| (mantissa << shift, 0));
    }
    let shift = (1075 - exponent).min(127);
    if shift > 63 {
        return Some((0, round(u128::from(mantissa) * u128::from(power), shift)));
    }
    let (whole, rest) = (mantissa >> shift, mantissa & ((1 << shift) - 1));
    let scaled = u128::from(rest) * u128::from(power);
    // Of whole numbers, the last digit that stays is in front of the point.
    let odd = if power == 1 { u128::from(whole & 1) << shift } else { 0 };
    let fraction = round_narrow(scaled | odd, shift) - low(odd >> shift);
    Some(if fraction == power { (whole + 1, 0) } else { (whole, fraction) })
}

/// Returns `scaled / 2^shift`, to nearest, ties to even, which must be below 2^64; `shift` is from
/// 1 to 127.
#[inline]
fn round(scaled: u128, shift: u64) -> u64 {
    const HALF: u128 = 1 << 127;
    let kept = low(scaled >> shift);
    let cut = scaled << (128 - shift);
    kept + u64::from(cut > HALF || (cut == HALF && kept & 1 == 1))
}

/// As [`round`], for a `shift` of at most 63: by words.
#[inline]
fn round_narrow(scaled: u128, shift: u64) -> u64 {
    const HALF: u64 = 1 << 63;
    let (high, low) = (low(scaled >> 64), low(scaled));
    let kept = high << (64 - shift) | low >> shift;
    let cut = low << (64 - shift);
    kept + u64::from(cut > HALF || (cut == HALF && kept & 1 == 1))
}

/// The lower half.
#[inline]
fn low(value: u128) -> u64 {
    let [low, _]: [u64; 2] = bytemuck::cast(value.to_le_bytes());
    u64::from_le(low)
}

/// Appends the point and the digits of a fraction of less than `10^decimals`, of which there are
/// 1 to 19.
#[inline]
fn push_fraction(out: &mut Vec<u8>, fraction: u64, decimals: usize) {
    // Digits fill eight from the left; what is behind them is cut off.
    let mut text = [b'0'; 32];
    text[0] = b'.';
    let mut put = |index: usize, digits: u64| {
        let at = 1 + 8 * index;
        text[at..at + 8].copy_from_slice(&(eight(digits) | ASCII).to_le_bytes());
    };
    let end = out.len() + 1 + decimals;
    if decimals <= 8 {
        put(0, fraction * POWERS[8 - decimals]);
    } else if decimals <= 16 {
        let sixteen = fraction * POWERS[16 - decimals];
        put(0, sixteen / EIGHT);
        put(1, sixteen % EIGHT);
    } else {
        let (sixteen, more) = match decimals {
            17 => (fraction / 10, fraction % 10 * 10_000_000),
            18 => (fraction / 100, fraction % 100 * 1_000_000),
            _ => (fraction / 1000, fraction % 1000 * 100_000),
        };
        put(0, sixteen / EIGHT);
        put(1, sixteen % EIGHT);
        put(2, more);
    }
    out.extend_from_slice(&text);
    out.truncate(end);
}

/// As [`push_f64_fixed`], of everything.
#[cold]
fn push_slowly(out: &mut Vec<u8>, value: f64, decimals: usize) {
    if !value.is_finite() {
        return push_f64_unusual(out, value);
    }
    let digits = decimals.min(MOST_DECIMALS);
    write!(out, "{value:.digits$}").expect("a vector takes everything");
    out.resize(out.len() + decimals - digits, b'0');
}
