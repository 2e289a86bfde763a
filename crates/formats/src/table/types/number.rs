//! Numbers: in the strict form that makes a column one of numbers, and in the forms that a
//! column with a given type accepts in addition.

use swath_simd::Tokens;

use super::field::TextField;
use super::misfit::Misfit;
use super::rules::FieldRules;
use crate::error::FormatReason;
use crate::number::parse::{
    self, double, is_between, is_padded, is_rounded, is_whole, signed, unsigned,
};
use crate::table::value::sealed::SealedNumber;

/// Bytes of a number that are copied to the stack.
const SHORT: usize = 64;

/// The kind of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// A whole number that an `i64` holds.
    Signed(i64),
    /// A larger one that a `u64` holds.
    Unsigned(u64),
    /// A whole number that neither holds, and whether a double is that number.
    Long(bool),
    /// One with a point or exponent, a negative zero, an infinity or NaN.
    Decimal,
}

impl Number {
    /// Returns the kind of the number in a token; `None` if it makes a column text.
    pub(super) fn of(token: &[u8], rules: &FieldRules) -> Option<Self> {
        with_point(token, rules, |token| {
            (!is_padded(token)).then_some(())?;
            if token == b"-0" || !is_whole(token) {
                return double(token).map(|_| Self::Decimal);
            }
            if let Some(value) = signed(token) {
                return Some(Self::Signed(value));
            }
            match unsigned(token) {
                Some(value) => Some(Self::Unsigned(value)),
                None => double(token).map(|value| Self::Long(!is_rounded(token, value))),
            }
        })
    }
}

/// The numbers that a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberForm {
    Whole,
    Any,
}

/// Parses a token with `parse`, which gets its usual form: with a point and without separators
/// between thousands. Also checks that the form is strict, unless the caller gave the type.
pub(super) fn parse<T>(
    token: &[u8],
    rules: &FieldRules,
    form: NumberForm,
    parse: impl FnOnce(&[u8]) -> Option<T>,
) -> Option<T> {
    with_point(token, rules, |token| {
        // `-0` is a double; so is `8.0`, unless an integer was requested.
        let fits = form == NumberForm::Any || (is_whole(token) && token != b"-0");
        (rules.is_told || (!is_padded(token) && fits)).then_some(())?;
        parse(token)
    })
}

/// Whether a field is present and a number of any form, even one that no type holds.
pub(in crate::table) fn is_number(field: TextField<'_>, rules: &FieldRules) -> bool {
    // The standard library accepts the same forms.
    let is_one = |token: &[u8]| std::str::from_utf8(token).ok()?.parse::<f64>().ok();
    !rules.is_missing(field) && with_point(field.trimmed(), rules, is_one).is_some()
}

/// Returns the whole number in a field, of up to 128 bits.
pub(in crate::table) fn whole(field: TextField<'_>, rules: &FieldRules) -> Option<i128> {
    let whole = |token: &[u8]| std::str::from_utf8(token).ok()?.parse().ok();
    with_point(field.trimmed(), rules, whole)
}

/// Returns why [`parse`] refused a token as a number of this type.
#[cold]
pub(super) fn refusal(token: &[u8], rules: &FieldRules, type_name: &str) -> Misfit {
    let reason =
        |token: &[u8]| Some((parse::refusal(token, type_name).0, is_between(token, type_name)));
    match with_point(token, rules, reason) {
        Some((FormatReason::TooLarge, true)) => Misfit::Between,
        Some((FormatReason::TooLarge, false)) => Misfit::Range,
        _ => Misfit::of(token),
    }
}

/// Returns the bits of the tokens that lost digits or signs as these values.
pub(super) fn bits_of_lost<T: SealedNumber>(tokens: Tokens<'_>, values: &[T]) -> u64 {
    let places = tokens.starts.iter().zip(tokens.ends).zip(values);
    (0..).zip(places).fold(0, |bits, (index, ((&start, &end), &value))| {
        let token = tokens.text.get(start as usize..end as usize);
        bits | u64::from(token.is_some_and(|it| has_lost(it, value))).rotate_left(index)
    })
}

/// Whether a token lost leading zeros or a plus, or the minus of a whole zero.
pub(super) fn has_lost<T: SealedNumber>(token: &[u8], value: T) -> bool {
    is_padded(token) || is_minus_zero(token, value)
}

/// Whether a token is a whole zero with a minus, which whole numbers do not have.
pub(super) fn is_minus_zero<T: SealedNumber>(token: &[u8], value: T) -> bool {
    T::IS_WHOLE && value == T::default() && token.first() == Some(&b'-')
}

/// Calls `parse` with the usual form of a token.
fn with_point<T>(
    token: &[u8],
    rules: &FieldRules,
    parse: impl FnOnce(&[u8]) -> Option<T>,
) -> Option<T> {
    if rules.has_usual_numbers() {
        return parse(token);
    }
    let (mut short, mut long) = ([0; SHORT], Vec::new());
    let copy = if token.len() <= SHORT {
        &mut short[..token.len()]
    } else {
        long.resize(token.len(), 0);
        &mut long[..]
    };
    let len = usual_form(token, rules, copy)?;
    parse(&copy[..len])
}

/// Writes the usual form of a token and returns its length; `None` if its point is not the
/// column's, or a group of thousands does not have three digits.
pub(super) fn usual_form(token: &[u8], rules: &FieldRules, copy: &mut [u8]) -> Option<usize> {
    let mut len = 0;
    // Digits since the start or a separator; whether there was a separator; whether this is the
    // whole part.
    let (mut digits, mut is_grouped, mut is_whole) = (0, false, true);
    for &byte in token {
        if is_whole && Some(byte) == rules.thousands {
            let fits = if is_grouped { digits == 3 } else { (1..=3).contains(&digits) };
            fits.then_some(())?;
            (digits, is_grouped) = (0, true);
            continue;
        }
        let is_digit = byte.is_ascii_digit();
        let is_sign = len == 0 && matches!(byte, b'+' | b'-');
        if is_whole && !is_digit && !is_sign {
            (!is_grouped || digits == 3).then_some(())?;
            is_whole = false;
        }
        digits += usize::from(is_digit);
        if byte == b'.' && rules.decimal != b'.' {
            return None;
        }
        *copy.get_mut(len)? = if byte == rules.decimal { b'.' } else { byte };
        len += 1;
    }
    (!is_whole || !is_grouped || digits == 3).then_some(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(token: &str) -> Option<Number> {
        Number::of(token.as_bytes(), &FieldRules::default())
    }

    #[test]
    fn only_the_strict_form_makes_a_column_of_numbers() {
        use Number::{Decimal, Long, Signed, Unsigned};
        for (token, wanted) in [
            ("0", Some(Signed(0))),
            ("-1", Some(Signed(-1))),
            ("9223372036854775807", Some(Signed(i64::MAX))),
            ("9223372036854775808", Some(Unsigned(1 << 63))),
            ("-9223372036854775808", Some(Signed(i64::MIN))),
            ("-9223372036854775809", Some(Long(false))),
            ("18446744073709551615", Some(Unsigned(u64::MAX))),
            ("18446744073709551616", Some(Long(true))),
            ("-0", Some(Decimal)),
            ("-0.0", Some(Decimal)),
            ("0.5", Some(Decimal)),
            (".5", Some(Decimal)),
            ("5.", Some(Decimal)),
            ("+5.", Some(Decimal)),
            ("+1e5", Some(Decimal)),
            ("0e5", Some(Decimal)),
            ("nan", Some(Decimal)),
            ("-INF", Some(Decimal)),
            ("+Infinity", Some(Decimal)),
            ("1e-400", Some(Decimal)),
            ("1e400", None),
            ("00", None),
            ("007", None),
            ("-00", None),
            ("+0", None),
            ("+7", None),
            ("00.5", None),
            ("-01e5", None),
            ("+00.5", None),
            ("", None),
            ("-", None),
            (".", None),
            ("1 ", None),
            ("1,5", None),
            ("0x1", None),
        ] {
            assert_eq!(of(token), wanted, "{token}");
        }
        assert_eq!(of(&"9".repeat(308)), Some(Long(false)));
        assert_eq!(of(&format!("1{}", "0".repeat(22))), Some(Long(true)));
        assert_eq!(of(&format!("1{}", "0".repeat(23))), Some(Long(false)));
        assert_eq!(of(&"9".repeat(309)), None);
    }

    #[test]
    fn points_and_thousands_are_those_of_the_rules() {
        let rules =
            FieldRules { decimal: b',', thousands: Some(b'.'), ..FieldRules::default() };
        let value = |token: &str| parse(token.as_bytes(), &rules, NumberForm::Any, double);
        for (token, wanted) in [
            ("1,5", Some(1.5)),
            ("-1.234,5", Some(-1234.5)),
            ("1.234.567", Some(1_234_567.0)),
            ("123.456e1", Some(1_234_560.0)),
            ("1234", Some(1234.0)),
            ("1234,5678", Some(1234.5678)),
            ("1234.567", None),
            ("1.23", None),
            ("1.2345", None),
            (".123", None),
            ("1..123", None),
            ("1.234.", None),
            ("1.234.,5", None),
            ("1,234.567", None),
            ("0.123", None),
            (",5", Some(0.5)),
            ("5,", Some(5.0)),
        ] {
            assert_eq!(value(token), wanted, "{token}");
        }
        let long = format!("1,{}", "0".repeat(100));
        assert_eq!(value(&long), Some(1.0));
        let told = FieldRules { is_told: true, ..rules };
        assert_eq!(parse(b"+0.123,5", &told, NumberForm::Any, double), Some(123.5));
    }
}
