//! One token at a time, by eight bytes if all of them are digits.

use super::nearest::nearest;
use super::{Tokens, each};

/// The number of digits that always fit 64 bits.
pub(super) const MOST_DIGITS: usize = 19;

pub(super) fn doubles(tokens: Tokens<'_>, out: &mut [f64]) -> usize {
    let count = tokens.count().min(out.len());
    each(&mut out[..count], |index| decimal(tokens.get(index)?)?.to_double())
}

pub(super) fn integers(tokens: Tokens<'_>, out: &mut [i64]) -> usize {
    let count = tokens.count().min(out.len());
    each(&mut out[..count], |index| decimal(tokens.get(index)?)?.to_integer())
}

/// The value of a token: `digits * 10^exponent`, with a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// The digits before and after the point, as one number.
    pub digits: u64,
    /// The exponent, minus the number of digits after the point.
    pub exponent: i32,
    /// Whether there is a minus.
    pub negative: bool,
    /// Whether there are only digits.
    pub integer: bool,
}

impl Decimal {
    /// Returns the nearest double; `None` if it is infinite or subnormal.
    #[inline(always)]
    #[must_use]
    pub fn to_double(self) -> Option<f64> {
        self.to_nearest(&mut false)
    }

    /// Returns the nearest double. Sets `doubt` if the double may differ from the number by more
    /// than half a unit of its last digit.
    #[inline(always)]
    pub(super) fn to_nearest(self, doubt: &mut bool) -> Option<f64> {
        let value = nearest(self.digits, self.exponent, doubt)?;
        Some(if self.negative { -value } else { value })
    }

    /// Returns the integer; `None` if it does not fit, or if there is more than a sign and digits.
    #[inline]
    #[must_use]
    pub fn to_integer(self) -> Option<i64> {
        if !self.integer {
            return None;
        }
        if self.negative {
            0_i64.checked_sub_unsigned(self.digits)
        } else {
            i64::try_from(self.digits).ok()
        }
    }
}

/// Parses a token: `[+-] digits [. [digits]] [e [+-] digits]`, or `.digits`; `e` or `E`.
///
/// `None` for all other forms, more than nineteen digits after leading zeros, or an exponent of
/// more than six digits.
#[inline]
#[must_use]
pub fn decimal(token: &[u8]) -> Option<Decimal> {
    let (negative, text) = match token.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, token),
    };
    let (mut digits, mut rest) = append_digits(text, 0);
    let mut count = text.len() - rest.len();
    let (mut exponent, mut integer) = (0, true);
    if let Some((b'.', fraction)) = rest.split_first() {
        (digits, rest) = append_digits(fraction, digits);
        let places = fraction.len() - rest.len();
        count += places;
        exponent = -i32::try_from(places).ok()?;
        integer = false;
    }
    if count == 0 || (count > MOST_DIGITS && significant(text) > MOST_DIGITS) {
        return None;
    }
    match rest.split_first() {
        None => {}
        Some((b'e' | b'E', power)) => {
            exponent = exponent.checked_add(self::exponent(power)?)?;
            integer = false;
        }
        Some(_) => return None,
    }
    Some(Decimal { digits, exponent, negative, integer })
}

/// Returns the number after an `e`: a sign, and one to six digits.
#[inline]
pub(super) fn exponent(text: &[u8]) -> Option<i32> {
    let (negative, digits) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, text),
    };
    if !(1..=6).contains(&digits.len()) {
        return None;
    }
    let mut value = 0;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i32::from(digit);
    }
    Some(if negative { -value } else { value })
}

/// Returns the number of digits of the mantissa, without leading zeros.
#[cold]
fn significant(text: &[u8]) -> usize {
    let mantissa = text.iter().take_while(|&&byte| byte.is_ascii_digit() || byte == b'.');
    let digits = mantissa.filter(|&&byte| byte != b'.');
    digits.skip_while(|&&byte| byte == b'0').count()
}

/// Appends the leading digits of `text` to those of `value`, modulo 2^64, and returns the rest.
#[inline]
#[must_use]
pub fn append_digits(mut text: &[u8], mut value: u64) -> (u64, &[u8]) {
    while let Some((eight, rest)) = text.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*eight);
        if !is_digits(word) {
            break;
        }
        value = value.wrapping_mul(100_000_000).wrapping_add(eight_digits(word));
        text = rest;
    }
    while let Some((&byte, rest)) = text.split_first() {
        if !byte.is_ascii_digit() {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
        text = rest;
    }
    (value, text)
}

/// Whether all eight bytes are digits: only 0x30 to 0x39 have a 3 in the upper half both before
/// and after 6 is added.
#[inline]
fn is_digits(word: u64) -> bool {
    const UPPER: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    const THREES: u64 = 0x3030_3030_3030_3030;
    const SIXES: u64 = 0x0606_0606_0606_0606;
    (word & UPPER) == THREES && (word.wrapping_add(SIXES) & UPPER) == THREES
}

/// Returns the number that eight digits represent, the first one in the lowest byte: pairs, fours,
/// all.
#[inline]
fn eight_digits(word: u64) -> u64 {
    const PAIRS: u64 = 0x00ff_00ff_00ff_00ff;
    const FOURS: u64 = 0x0000_ffff_0000_ffff;
    let digits = word & 0x0f0f_0f0f_0f0f_0f0f;
    let pairs = (digits.wrapping_mul(10).wrapping_add(digits >> 8)) & PAIRS;
    let fours = (pairs.wrapping_mul(100).wrapping_add(pairs >> 16)) & FOURS;
    fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff
}
