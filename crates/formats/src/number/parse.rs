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

use swath_simd::{Decimal, append_digits, decimal};

use crate::error::FormatReason;

/// Digits that always fit 64 bits.
const SAFE: usize = 19;

/// Returns the number that `token` is; `None` if it is none, or 2^64 or more.
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
    // Nineteen digits for certain, and one that may be too much.
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
    match decimal(token).and_then(Decimal::to_double) {
        Some(value) => Some(value),
        None => exactly(token),
    }
}

/// What [`refusal`] says of a token that no type of number has.
pub(crate) const NO_NUMBER: &str = "not a number";

/// Says what is wrong with a token that [`double`] or, with a `type_name` to tell, an integer
/// parser refused.
pub(crate) fn refusal(token: &[u8], type_name: &str) -> (FormatReason, String) {
    let digits = token.strip_prefix(b"-").or(token.strip_prefix(b"+")).unwrap_or(token);
    let is_integer = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let is_double = || std::str::from_utf8(token).is_ok_and(|text| text.parse::<f64>().is_ok());
    if token.is_empty() {
        (FormatReason::Malformed, String::from("a number is missing"))
    } else if token.contains(&0) {
        (FormatReason::Malformed, String::from("a NUL byte in the text"))
    } else if is_integer && !type_name.starts_with('f') && token[0] == b'-' {
        (FormatReason::TooLarge, format!("a number below what {type_name} holds"))
    } else if is_integer || (type_name.starts_with('f') && is_double()) {
        (FormatReason::TooLarge, format!("a number beyond what {type_name} holds"))
    } else if is_double() {
        (FormatReason::Malformed, format!("not an integer, where {type_name} is wanted"))
    } else {
        (FormatReason::Malformed, String::from(NO_NUMBER))
    }
}

/// By the standard library, which knows every length.
#[cold]
fn exactly(token: &[u8]) -> Option<f64> {
    let value: f64 = std::str::from_utf8(token).ok()?.parse().ok()?;
    let is_word = || token.iter().any(|byte| matches!(byte, b'n' | b'N'));
    (!value.is_infinite() || is_word()).then_some(value)
}

#[cfg(test)]
mod tests;
