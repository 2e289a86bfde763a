//! Parses numbers from text: whole tokens, strict, correctly rounded.
//!
//! ```text
//! integer   [+-] digits                                  unsigned: no -
//! double    [+-] digits [. [digits]] [e [+-] digits]     or .digits; e or E
//!           [+-] inf | infinity | nan                    in any case
//! ```
//!
//! This is what `std` accepts, with the same results: a value halfway between two doubles goes to
//! the even one, and one that is too small becomes 0. One that is too large is an error rather than
//! infinity: only `inf` and `infinity` are infinite. Spaces, `_` and thousands separators are
//! rejected.

use swath_simd::{Decimal, append_digits, decimal};

use crate::error::FormatReason;

/// This many digits always fit in 64 bits.
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

/// The detail of [`refusal`] for a token that is not a number of any type.
pub(crate) const NO_NUMBER: &str = "not a number";

/// Says why [`double`], or an integer parser for `type_name`, rejected `token`.
pub(crate) fn refusal(token: &[u8], type_name: &str) -> (FormatReason, String) {
    let digits = token.strip_prefix(b"-").or(token.strip_prefix(b"+")).unwrap_or(token);
    let is_integer = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let is_double = || std::str::from_utf8(token).is_ok_and(|text| text.parse::<f64>().is_ok());
    if token.is_empty() {
        (FormatReason::Malformed, String::from("a number is missing"))
    } else if token.contains(&0) {
        (FormatReason::Malformed, String::from("a NUL byte in the text"))
    } else if is_integer && !type_name.starts_with('f') && token[0] == b'-' {
        (FormatReason::TooLarge, format!("the number is too small for {type_name}"))
    } else if is_integer || (type_name.starts_with('f') && is_double()) {
        (FormatReason::TooLarge, format!("the number is too large for {type_name}"))
    } else if is_double() {
        (FormatReason::Malformed, format!("not an integer, as {type_name} requires"))
    } else {
        (FormatReason::Malformed, String::from(NO_NUMBER))
    }
}

/// With the standard library, which accepts any length.
#[cold]
fn exactly(token: &[u8]) -> Option<f64> {
    let value: f64 = std::str::from_utf8(token).ok()?.parse().ok()?;
    let is_word = || token.iter().any(|byte| matches!(byte, b'n' | b'N'));
    (!value.is_infinite() || is_word()).then_some(value)
}

#[cfg(test)]
mod tests;
