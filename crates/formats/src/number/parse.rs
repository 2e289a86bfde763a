//! From text: whole tokens, strict, correctly rounded.
//!
//! ```text
//! integer   [+-] digits                                  no sign but + where it is unsigned
//! double    [+-] digits [. [digits]] [e [+-] digits]     or .digits; e or E
//!           [+-] inf | infinity | nan                    in any case
//! ```
//!
//! These are what `std` takes, and its results: of two doubles equally near the even one; what is
//! too small becomes 0. What is too large is refused instead of becoming infinite: only text that
//! says so is. No spaces, no `_`, no thousands.

use swath_simd::nearest_double;

use crate::error::Reason;

/// Digits that always fit 64 bits.
const SAFE: usize = 19;

/// Returns the number that `token` is; `None` if it is none, or 2^64 or more.
pub(crate) fn unsigned(token: &[u8]) -> Option<u64> {
    let digits = token.strip_prefix(b"+").unwrap_or(token);
    if digits.is_empty() {
        return None;
    }
    if digits.len() <= SAFE {
        let (value, rest) = leading(digits, 0);
        return rest.is_empty().then_some(value);
    }
    let zeros = digits.iter().take_while(|&&byte| byte == b'0').count();
    // Nineteen digits for certain, and one that may be too much.
    let (safe, rest) = digits.split_at(digits.len().min(zeros + SAFE));
    let (value, wrong) = leading(&safe[zeros.min(safe.len())..], 0);
    match (wrong, rest) {
        ([], []) => Some(value),
        ([], &[last]) if last.is_ascii_digit() => {
            value.checked_mul(10)?.checked_add(u64::from(last - b'0'))
        }
        _ => None,
    }
}

/// Returns the number that `token` is; `None` if it is none, or beyond 63 bits and a sign.
pub(crate) fn signed(token: &[u8]) -> Option<i64> {
    match token.split_first() {
        Some((b'-', digits)) if digits.first() != Some(&b'+') => {
            0_i64.checked_sub_unsigned(unsigned(digits)?)
        }
        _ => i64::try_from(unsigned(token)?).ok(),
    }
}

/// Returns the double nearest to what `token` says; `None` if it is no number, or too large.
pub(crate) fn double(token: &[u8]) -> Option<f64> {
    let (negative, digits) = match token.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, token),
    };
    match decimal(digits) {
        Decimal::Short { digits, exponent } => match nearest_double(digits, exponent) {
            Some(value) => Some(if negative { -value } else { value }),
            None => exactly(token),
        },
        Decimal::Long => exactly(token),
        Decimal::Wrong => None,
    }
}

/// Says what is wrong with a token that [`double`] or, with a `type_name` to tell, an integer
/// parser refused.
pub(crate) fn refusal(token: &[u8], type_name: &str) -> (Reason, String) {
    let digits = token.strip_prefix(b"-").or(token.strip_prefix(b"+")).unwrap_or(token);
    let is_integer = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let is_double = || std::str::from_utf8(token).is_ok_and(|text| text.parse::<f64>().is_ok());
    if token.is_empty() {
        (Reason::Malformed, String::from("a number is missing"))
    } else if token.contains(&0) {
        (Reason::Malformed, String::from("a NUL byte in the text"))
    } else if is_integer && !type_name.starts_with('f') && token[0] == b'-' {
        (Reason::TooLarge, format!("a number below what {type_name} holds"))
    } else if is_integer || (type_name.starts_with('f') && is_double()) {
        (Reason::TooLarge, format!("a number beyond what {type_name} holds"))
    } else if is_double() {
        (Reason::Malformed, format!("not an integer, where {type_name} is wanted"))
    } else {
        (Reason::Malformed, String::from("not a number"))
    }
}

/// Text without its sign.
enum Decimal {
    /// `digits * 10^exponent`.
    Short { digits: u64, exponent: i32 },
    /// More digits than fit, or a word, or wrong.
    Long,
    /// No number.
    Wrong,
}

fn decimal(text: &[u8]) -> Decimal {
    let (mut digits, mut rest) = leading(text, 0);
    let mut count = text.len() - rest.len();
    let mut exponent = 0;
    if let Some((b'.', fraction)) = rest.split_first() {
        (digits, rest) = leading(fraction, digits);
        let places = fraction.len() - rest.len();
        count += places;
        let Ok(places) = i32::try_from(places) else { return Decimal::Long };
        exponent = -places;
    }
    // Words too: the slow way knows them.
    if count == 0 || (count > SAFE && significant(text) > SAFE) {
        return Decimal::Long;
    }
    match rest.split_first() {
        None => Decimal::Short { digits, exponent },
        Some((b'e' | b'E', power)) => match signed(power) {
            Some(power) => {
                match i32::try_from(power).ok().and_then(|it| exponent.checked_add(it)) {
                    Some(exponent) => Decimal::Short { digits, exponent },
                    None => Decimal::Long,
                }
            }
            // An exponent of more digits than an integer has.
            None => Decimal::Long,
        },
        Some(_) => Decimal::Wrong,
    }
}

/// Digits of the mantissa, without zeros before it.
fn significant(text: &[u8]) -> usize {
    let mantissa = text.iter().take_while(|&&byte| byte.is_ascii_digit() || byte == b'.');
    let digits = mantissa.filter(|&&byte| byte != b'.');
    digits.skip_while(|&&byte| byte == b'0').count()
}

/// By the standard library, which knows every length.
#[cold]
fn exactly(token: &[u8]) -> Option<f64> {
    let value: f64 = std::str::from_utf8(token).ok()?.parse().ok()?;
    let is_word = || token.iter().any(|byte| matches!(byte, b'n' | b'N'));
    (!value.is_infinite() || is_word()).then_some(value)
}

/// Puts the digits that `text` begins with behind `value`, modulo 2^64, and returns the rest.
fn leading(mut text: &[u8], mut value: u64) -> (u64, &[u8]) {
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

/// Whether all eight bytes are digits: nothing but 0x30 to 0x39 stays 3 in the upper half, also
/// when 6 is added.
fn is_digits(word: u64) -> bool {
    const UPPER: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    const THREES: u64 = 0x3030_3030_3030_3030;
    const SIXES: u64 = 0x0606_0606_0606_0606;
    (word & UPPER) == THREES && (word.wrapping_add(SIXES) & UPPER) == THREES
}

/// The number that eight digits are, the first one in the lowest byte: pairs, then fours, then all.
fn eight_digits(word: u64) -> u64 {
    const PAIRS: u64 = 0x00ff_00ff_00ff_00ff;
    const FOURS: u64 = 0x0000_ffff_0000_ffff;
    let digits = word & 0x0f0f_0f0f_0f0f_0f0f;
    let pairs = (digits.wrapping_mul(10) + (digits >> 8)) & PAIRS;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & FOURS;
    (fours.wrapping_mul(10_000) + (fours >> 32)) & 0xffff_ffff
}

#[cfg(test)]
mod tests;
