//! Finds decimals whose nearest double, or single, has other digits, and whole numbers that no
//! double, or single, equals.

use swath_simd::{Decimal, Tokens, decimal};

use super::parse::{is_rounded, is_whole, unsigned_part};

/// The highest power of five that fits in 64 bits.
const MOST: u32 = 27;

/// Doubles represent all whole numbers up to this one.
pub(crate) const ALL_DOUBLES: f64 = 9_007_199_254_740_992.0;
/// Singles represent all whole numbers up to this one.
pub(crate) const ALL_SINGLES: f64 = 16_777_216.0;

/// Returns the number of values before the first that differs from the whole number of its token.
/// The type represents all up to `all`.
pub(crate) fn before_rounded<T: Copy + Into<f64>>(
    tokens: Tokens<'_>,
    values: &[T],
    all: f64,
) -> usize {
    // No early exit, so that the loop is vectorised.
    let is_large = |&value: &T| value.into().abs() >= all;
    if !values.iter().fold(false, |found, value| found | is_large(value)) {
        return values.len();
    }
    let is_wrong = |(value, (&start, &end)): (&T, (&u32, &u32))| {
        let token = tokens.text.get(start as usize..end as usize);
        is_large(value) && token.is_some_and(|token| is_rounded(token, (*value).into()))
    };
    let places = tokens.starts.iter().zip(tokens.ends);
    values.iter().zip(places).position(is_wrong).unwrap_or(values.len())
}

/// Whether `value`, the number of its type nearest to a decimal, differs from it when printed with
/// as many significant digits, zeros at either end apart: it is further away than half a unit of
/// the last one. Words and whole numbers never do.
pub(crate) fn is_changed(token: &[u8], value: f64) -> bool {
    if !value.is_finite() || is_whole(token) {
        return false;
    }
    let is_near = decimal(token).and_then(|decimal| is_near(decimal, value.abs()));
    !is_near.unwrap_or_else(|| is_printed(token, value.abs()))
}

/// Whether a number is within half a unit of the last digit of a decimal; `None` if 128 bits do not
/// suffice.
fn is_near(Decimal { mut digits, mut exponent, .. }: Decimal, value: f64) -> Option<bool> {
    const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;
    if digits == 0 || !value.is_normal() {
        return (digits == 0 && value == 0.0).then_some(true);
    }
    while digits.is_multiple_of(10) {
        (digits, exponent) = (digits / 10, exponent + 1);
    }
    let power = exponent.unsigned_abs();
    let five = (power <= MOST).then(|| u128::from(5_u64.pow(power)))?;
    let mantissa = u128::from(value.to_bits() & ((1 << FRACTION) - 1) | 1 << FRACTION);
    // Both are multiplied by the same power of ten, and so is the unit.
    let (text, value_of, unit) = match exponent {
        ..0 => (u128::from(digits), mantissa * five, 1),
        0.. => (u128::from(digits) * five, mantissa, five),
    };
    let binary = i32::try_from(value.to_bits() >> FRACTION).ok()? - 1075 - exponent;
    let by = |number: u128, power: i32| {
        let power = power.max(0).unsigned_abs();
        (number.leading_zeros() > power + 1).then(|| number << power)
    };
    let (text, unit) = (by(text, -binary)?, by(unit, -binary)?);
    let twice = 2 * text.abs_diff(by(value_of, binary)?);
    Some(twice <= unit)
}

/// Whether a number of any length is within half a unit of the last digit of a decimal.
#[cold]
fn is_printed(token: &[u8], value: f64) -> bool {
    /// The most digits of a double.
    const DIGITS: usize = 767;
    let end = token.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(token.len());
    let mantissa = unsigned_part(&token[..end]);
    let digits: Vec<u8> = mantissa.iter().copied().filter(|&byte| byte != b'.').collect();
    let Some(first) = digits.iter().position(|&digit| digit != b'0') else { return true };
    let last = digits.iter().rposition(|&digit| digit != b'0').unwrap_or(first);
    let digits = &digits[first..=last];
    if digits.len() > DIGITS {
        return false;
    }
    let printed = |count: usize| {
        let mut printed = format!("{value:.*e}", count - 1).into_bytes();
        printed.truncate(printed.iter().position(|&byte| byte == b'e').unwrap_or(0));
        printed.retain(|&byte| byte != b'.');
        printed
    };
    let all = printed(DIGITS + 1);
    let (near, rest) = all.split_at(digits.len());
    let is_half = matches!(rest, [b'5', rest @ ..] if rest.iter().all(|&byte| byte == b'0'));
    if !is_half {
        return printed(digits.len()) == digits;
    }
    // It has the digits of both neighbours.
    let (last, before) = digits.split_last().unwrap_or((&0, &[]));
    near == digits
        || (near.starts_with(before) && near.last().map(|it| it + 1) == Some(*last))
        || printed(digits.len()) == digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_is_changed_if_the_double_prints_other_digits() {
        for (token, wanted) in [
            ("0.1", false),
            ("0.10000000000000000", false),
            ("0.1000000000000000055", true),
            ("0.1000000000000000056", false),
            ("0.10000000000000000555", false),
            ("0.100000000000000005551115123125782702118158340454101562", false),
            ("0.1000000000000000055511151231257827021181583404541015625", false),
            ("0.1000000000000000055511151231257827021181583404541015624", true),
            ("123456789012345.678", true),
            ("-123456789012345.67", false),
            ("1125899906842624.2", false),
            ("1125899906842624.3", false),
            ("1125899906842624.1", true),
            ("4503599627370497.5", true),
            ("1125899906842624.25", false),
            ("1.8626451492309570311e-9", true),
            ("1.8626451492309570312e-9", false),
            ("1.8626451492309570313e-9", false),
            ("1.8626451492309570314e-9", true),
            ("5.820766091346740722656e-11", false),
            ("5.820766091346740722657e-11", true),
            ("1.0000000000000001", true),
            ("9007199254740993.0", true),
            ("9007199254740993e0", true),
            ("9007199254740993", false),
            ("1.7976931348623157e308", false),
            ("1.79769313486231571e308", false),
            ("1.79769313486231573e308", true),
            ("5e-324", false),
            ("3e-324", true),
            ("1e-400", true),
            ("0e-400", false),
            ("0.0", false),
            ("2.2250738585072014e-308", false),
            ("6.62607015000000001e-34", true),
            ("1.2345678901234567e-30", false),
            ("1.2345678901234567e+30", false),
            ("inf", false),
            ("nan", false),
        ] {
            let value: f64 = token.parse().expect("a number");
            assert_eq!(is_changed(token.as_bytes(), value), wanted, "{token}");
        }
    }

    #[test]
    fn the_fast_way_is_the_slow_one() {
        let mut next = swath_reference::splitmix(7);
        for _ in 0..200_000 {
            let value = f64::from_bits(next() & !(1 << 63));
            let digits = usize::try_from(next() % 19).expect("few");
            let value = if next().is_multiple_of(2) { value } else { value % 1e6 };
            if !value.is_finite() {
                continue;
            }
            let mut token = format!("{value:.digits$e}");
            if next().is_multiple_of(4) {
                // Another last digit.
                let at = token.find('e').expect("an exponent") - 1;
                token.replace_range(at..=at, "7");
            }
            let Ok(nearest) = token.parse::<f64>() else { continue };
            for nearest in [nearest, f64::from(token.parse::<f32>().expect("a number"))] {
                if nearest.is_finite() && nearest.is_normal() {
                    let found = decimal(token.as_bytes());
                    let fast = found.and_then(|it| is_near(it, nearest));
                    let slow = is_printed(token.as_bytes(), nearest);
                    assert_eq!(fast.unwrap_or(slow), slow, "{token} {nearest:e}");
                }
            }
        }
    }
}
