//! Parses numbers from text: whole tokens, strict, correctly rounded.
//!
//! ```text
//! integer   [+-] digits                                  unsigned: no -
//! double    [+-] digits [. [digits]] [e [+-] digits]     or .digits; e or E
//!           [+-] inf | infinity | nan                    in any case
//! ```
//!
//! Accepts what `std` accepts, with the same results: a value halfway between two doubles goes to
//! the even one, and one that is too small becomes 0. One that is too large is an error rather than
//! infinity: only `inf` and `infinity` are infinite. Spaces, `_` and thousands separators are
//! rejected.

use swath_simd::{Decimal, append_digits, decimal};

use crate::error::FormatReason;

/// The number of digits that always fit in 64 bits.
const SAFE: usize = 19;

/// Parses an unsigned number; `None` if `token` is not one, or is 2^64 or more.
pub(crate) fn unsigned(token: &[u8]) -> Option<u64> {
    let digits = token.strip_prefix(b"+").unwrap_or(token);
    if digits.is_empty() {
        return None;
    }
    if digits.len() <= SAFE {
        let (value, rest) = append_digits(digits, 0);
        return rest.is_empty().then_some(value);
    }
    let zeros = digits.iter().take_while(|&&byte| byte == b'0').count();
    // Nineteen digits that always fit, and one that may overflow.
    let (safe, rest) = digits.split_at(digits.len().min(zeros + SAFE));
    let (value, wrong) = append_digits(&safe[zeros.min(safe.len())..], 0);
    match (wrong, rest) {
        ([], []) => Some(value),
        ([], &[last]) if last.is_ascii_digit() => {
            value.checked_mul(10)?.checked_add(u64::from(last - b'0'))
        }
        _ => None,
    }
}

/// Parses a signed number; `None` if `token` is not one, or does not fit in 64 bits.
pub(crate) fn signed(token: &[u8]) -> Option<i64> {
    match token.split_first() {
        Some((b'-', digits)) if digits.first() != Some(&b'+') => {
            0_i64.checked_sub_unsigned(unsigned(digits)?)
        }
        _ => i64::try_from(unsigned(token)?).ok(),
    }
}

/// Parses a double, rounded to nearest; `None` if `token` is not a number, or is too large.
pub(crate) fn double(token: &[u8]) -> Option<f64> {
    match decimal(token).and_then(Decimal::to_double) {
        Some(value) => Some(value),
        None => exactly(token),
    }
}

/// Returns the value of a whole number in the form of a double, such as `8.0` or `1e3`.
#[cold]
pub(crate) fn integral(token: &[u8]) -> Option<i128> {
    /// A number with more digits, trailing zeros included, has more than 128 bits.
    const MOST: usize = 40;
    double(token)?;
    let digits = unsigned_part(token);
    let end =
        digits.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(digits.len());
    let (mantissa, exponent) = digits.split_at(end);
    let exponent = exponent.get(1..).filter(|text| !text.is_empty()).unwrap_or(b"0");
    let point = mantissa.iter().position(|&byte| byte == b'.').unwrap_or(mantissa.len());
    let digits: Vec<u8> = mantissa.iter().copied().filter(u8::is_ascii_digit).collect();
    if digits.len() + usize::from(point < mantissa.len()) != mantissa.len() {
        // A word, such as `inf`.
        return None;
    }
    let Some(first) = digits.iter().position(|&digit| digit != b'0') else { return Some(0) };
    let last = digits.iter().rposition(|&digit| digit != b'0')?;
    // Zeros between the last digit and the point.
    let point = i64::try_from(point).ok()?.checked_add(signed(exponent)?)?;
    let zeros = usize::try_from(point.checked_sub(i64::try_from(last + 1).ok()?)?).ok()?;
    if zeros + last - first >= MOST {
        return None;
    }
    let digits = digits[first..=last].iter().map(|digit| i128::from(digit - b'0'));
    let value = digits
        .chain((0..zeros).map(|_| 0))
        .try_fold(0_i128, |value, digit| value.checked_mul(10)?.checked_add(digit))?;
    Some(if token[0] == b'-' { -value } else { value })
}

/// Whether a token has leading zeros, or a plus before a whole number, which parsing loses.
pub(crate) fn is_padded(token: &[u8]) -> bool {
    let digits = token.strip_prefix(b"-").or(token.strip_prefix(b"+")).unwrap_or(token);
    let has_zeros = matches!(digits, [b'0', b'0'..=b'9', ..]);
    has_zeros || (token.first() == Some(&b'+') && is_whole(token))
}

/// Whether a token consists of digits, after an optional sign.
pub(crate) fn is_whole(token: &[u8]) -> bool {
    let digits = unsigned_part(token);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Whether a token is a whole number and differs from `value`, the nearest one of its type.
pub(crate) fn is_rounded(token: &[u8], value: f64) -> bool {
    /// Numbers with this many digits fit in 128 bits.
    const SHORT: usize = 38;
    if !is_whole(token) {
        return false;
    }
    let digits = unsigned_part(token);
    let zeros = digits.iter().take_while(|&&byte| byte == b'0').count();
    let digits = &digits[zeros.min(digits.len() - 1)..];
    if digits.len() > SHORT {
        return format!("{:.0}", value.abs()).as_bytes() != digits;
    }
    let number =
        digits.iter().fold(0, |number: u128, &digit| number * 10 + u128::from(digit - b'0'));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, below 2^127"
    )]
    let value = value.abs() as u128;
    number != value
}

/// Returns a token without its sign.
pub(super) fn unsigned_part(token: &[u8]) -> &[u8] {
    token.strip_prefix(b"-").or(token.strip_prefix(b"+")).unwrap_or(token)
}

/// The detail of [`refusal`] for a token that is not a number of any type.
pub(crate) const NO_NUMBER: &str = "not a number";

/// Returns why a parser for `type_name` rejected `token`.
pub(crate) fn refusal(token: &[u8], type_name: &str) -> (FormatReason, String) {
    let is_integer = is_whole(token);
    let is_double = || std::str::from_utf8(token).is_ok_and(|text| text.parse::<f64>().is_ok());
    if token.is_empty() {
        (FormatReason::Malformed, String::from("a number is missing"))
    } else if token.contains(&0) {
        (FormatReason::Malformed, String::from("a NUL byte in the text"))
    } else if is_integer && !type_name.starts_with('f') && token[0] == b'-' {
        (FormatReason::TooLarge, format!("the number is too small for {type_name}"))
    } else if is_between(token, type_name) {
        (FormatReason::TooLarge, format!("no {type_name} is this whole number"))
    } else if is_integer || (type_name.starts_with('f') && is_double()) {
        (FormatReason::TooLarge, format!("the number is too large for {type_name}"))
    } else if is_double() {
        (FormatReason::Malformed, format!("not an integer, as {type_name} requires"))
    } else {
        (FormatReason::Malformed, String::from(NO_NUMBER))
    }
}

/// Whether a token is a whole number in a range where the type has only some of them.
pub(crate) fn is_between(token: &[u8], type_name: &str) -> bool {
    let most = if type_name == "f32" { f64::from(f32::MAX) } else { f64::MAX };
    let is_in_range = || double(token).is_some_and(|value| value.abs() <= most);
    type_name.starts_with('f') && is_whole(token) && is_in_range()
}

/// Parses with the standard library, which accepts any length.
#[cold]
fn exactly(token: &[u8]) -> Option<f64> {
    let value: f64 = std::str::from_utf8(token).ok()?.parse().ok()?;
    let is_word = || token.iter().any(|byte| matches!(byte, b'n' | b'N'));
    (!value.is_infinite() || is_word()).then_some(value)
}

#[cfg(test)]
mod tests;
