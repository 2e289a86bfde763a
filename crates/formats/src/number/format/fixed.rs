//! A double with a fixed number of decimals, as C's `%.Nf` prints it.
//!
//! A double is `m * 2^-s` with `m` below 2^53. For up to 19 decimals, one multiplication of two
//! words scales its fraction exactly, and one cut at the binary point rounds it:
//!
//! ```text
//! m          |  whole  |  rest  |             s bits of rest
//! rest * 10^N          |  digits of the fraction  |  cut off     |
//!                                                  rounds up above one half, or at it if odd
//! ```
//!
//! More decimals, and numbers of 2^64 and above, take the standard library's exact but slower path.

use std::io::Write;

use swath_simd::digits::{ASCII, eight};

use super::{EIGHT, push_f64_unusual, push_u64};

/// Powers of ten by exponent. Two words suffice to scale by the largest.
const POWERS: [u64; 20] = {
    let mut powers = [1; 20];
    let mut index = 1;
    while index < powers.len() {
        powers[index] = 10 * powers[index - 1];
        index += 1;
    }
    powers
};

/// The most decimals of a double; further digits are zeros.
const MOST_DECIMALS: usize = 1074;

/// Appends `value` with this many decimals, and without a point if `decimals` is 0.
///
/// The text is that of C's `%.Nf` for any number of decimals: the exact value rounded once, to
/// nearest, ties to even; `-0.00` for a negative value that rounds to zero; `inf` and `-inf`. NaN
/// is always `nan`, where C libraries may or may not print a sign.
#[inline]
pub(crate) fn push_f64_fixed(out: &mut Vec<u8>, value: f64, decimals: usize) {
    let Some(power) = POWERS.get(decimals) else { return push_slowly(out, value, decimals) };
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

/// Splits the magnitude into a whole number and the nearest count of units of `1 / power`. `None`
/// for NaN and infinity, and for 2^64 and above.
#[inline]
fn split(value: f64, power: u64) -> Option<(u64, u64)> {
    let bits = value.to_bits();
    let (exponent, rest) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
    let (mantissa, exponent) = match exponent {
        0 => (rest, 1),
        _ => (rest | 1 << 52, exponent),
    };
    // `mantissa * 2^-shift`; below 2^-127, all 19 decimals are 0.
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
    // Without decimals, the last digit kept is the one before the point.
    let odd = if power == 1 { u128::from(whole & 1) << shift } else { 0 };
    let fraction = round_narrow(scaled | odd, shift) - low(odd >> shift);
    Some(if fraction == power { (whole + 1, 0) } else { (whole, fraction) })
}

/// Returns `scaled / 2^shift`, to nearest, ties to even. The result must be below 2^64; `shift` is
/// 1 to 127.
#[inline]
fn round(scaled: u128, shift: u64) -> u64 {
    const HALF: u128 = 1 << 127;
    let kept = low(scaled >> shift);
    let cut = scaled << (128 - shift);
    kept + u64::from(cut > HALF || (cut == HALF && kept & 1 == 1))
}

/// Like [`round`], word by word, for a `shift` of at most 63.
#[inline]
fn round_narrow(scaled: u128, shift: u64) -> u64 {
    const HALF: u64 = 1 << 63;
    let (high, low) = (low(scaled >> 64), low(scaled));
    let kept = high << (64 - shift) | low >> shift;
    let cut = low << (64 - shift);
    kept + u64::from(cut > HALF || (cut == HALF && kept & 1 == 1))
}

/// Returns the lower half.
#[inline]
fn low(value: u128) -> u64 {
    let [low, _]: [u64; 2] = bytemuck::cast(value.to_le_bytes());
    u64::from_le(low)
}

/// Appends the point and the digits of a fraction below `10^decimals`; `decimals` is 1 to 19.
#[inline]
fn push_fraction(out: &mut Vec<u8>, fraction: u64, decimals: usize) {
    // Digits are written eight at a time from the left; the surplus is cut off.
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

/// Like [`push_f64_fixed`], for every value.
#[cold]
fn push_slowly(out: &mut Vec<u8>, value: f64, decimals: usize) {
    if !value.is_finite() {
        return push_f64_unusual(out, value);
    }
    let digits = decimals.min(MOST_DECIMALS);
    write!(out, "{value:.digits$}").expect("writing to a vector cannot fail");
    out.resize(out.len() + decimals - digits, b'0');
}
