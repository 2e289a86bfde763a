//! Doubles as text, digit by digit, like on paper.

/// Returns the text of C's `%.Nf`; NaN is `nan`.
///
/// The double is written exactly, in whole units of `10^-1074`, and then rounded once.
#[must_use]
pub fn fixed(value: f64, decimals: usize) -> String {
    if value.is_nan() {
        return String::from("nan");
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_infinite() {
        return format!("{sign}inf");
    }
    let bits = value.abs().to_bits();
    let (exponent, mantissa) = match bits >> 52 {
        0 => (1, bits),
        exponent => (exponent, bits & ((1 << 52) - 1) | 1 << 52),
    };
    // The value is mantissa * 2^(exponent - 1075); the lowest digit comes first. In units of
    // 10^-1074 it is mantissa * 2^(exponent - 1) * 5^1074 / 2^(0), as 2^-1074 = 5^1074 / 10^1074.
    let mut digits: Vec<u8> = mantissa.to_string().bytes().rev().map(|it| it - b'0').collect();
    for _ in 1..exponent {
        multiply(&mut digits, 2);
    }
    for _ in 0..1074 {
        multiply(&mut digits, 5);
    }
    digits.resize(digits.len().max(1075), 0);
    if decimals < 1074 {
        round(&mut digits, 1074 - decimals);
    }
    let text: String = digits.iter().rev().map(|&digit| char::from(b'0' + digit)).collect();
    let (whole, fraction) = text.split_at(text.len() - decimals.min(1074));
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let zeros = "0".repeat(decimals.saturating_sub(1074));
    let point = if decimals == 0 { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}{zeros}")
}

fn multiply(digits: &mut Vec<u8>, by: u8) {
    let mut carry = 0;
    for digit in digits.iter_mut() {
        let product = *digit * by + carry;
        *digit = product % 10;
        carry = product / 10;
    }
    if carry > 0 {
        digits.push(carry);
    }
}

/// Removes the lowest `count` digits; rounds to nearest, ties to even.
fn round(digits: &mut Vec<u8>, count: usize) {
    let kept = digits.split_off(count);
    let cut = std::mem::replace(digits, kept);
    let (top, below) = cut.split_last().expect("at least one digit is removed");
    let is_tie = *top == 5 && below.iter().all(|&digit| digit == 0);
    let is_odd = digits[0] % 2 == 1;
    if *top < 5 || (is_tie && !is_odd) {
        return;
    }
    for digit in digits.iter_mut() {
        *digit += 1;
        if *digit < 10 {
            return;
        }
        *digit = 0;
    }
    digits.push(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_on_paper_is_what_the_library_does() {
        let mut next = crate::splitmix(1);
        for round in 0..100 {
            let bits = next();
            let decimals = usize::try_from(next() % 40).expect("few");
            let narrow = 1 << 62 | (bits >> 10 & ((1 << 56) - 1)) | bits << 63;
            let value = f64::from_bits(if round % 2 == 0 { bits } else { narrow });
            if value.is_finite() {
                assert_eq!(fixed(value, decimals), format!("{value:.decimals$}"));
            }
        }
    }

    #[test]
    fn the_known_ones_are_known() {
        assert_eq!(fixed(0.1, 20), "0.10000000000000000555");
        assert_eq!(fixed(2.5, 0), "2");
        assert_eq!(fixed(3.5, 0), "4");
        assert_eq!(fixed(-0.001, 2), "-0.00");
        assert_eq!(fixed(999.96, 1), "1000.0");
        assert_eq!(fixed(f64::NEG_INFINITY, 1), "-inf");
        assert_eq!(fixed(-f64::NAN, 1), "nan");
        assert!(fixed(5e-324, 1076).ends_with("562500"));
        assert_eq!(fixed(0.0, 3), "0.000");
    }
}
