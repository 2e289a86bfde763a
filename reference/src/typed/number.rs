//! Field → value: numbers, digit by digit.

/// The marks of numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    /// The decimal point.
    pub decimal: u8,
    /// The byte between groups of three digits.
    pub thousands: Option<u8>,
}

/// A number in its original form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    sign: Option<char>,
    /// The digits before the point, with groups joined; empty if there are none.
    whole: String,
    /// The digits after the point, if there is a point.
    fraction: Option<String>,
    /// The sign and digits after `e`.
    exponent: Option<String>,
}

impl Number {
    /// Parses a text; `None` if it is not a number in digits.
    #[must_use]
    pub(super) fn parse(text: &[u8], marks: Marks) -> Option<Self> {
        let mut rest = NumberRest(text);
        let sign = rest.sign();
        let whole = rest.whole(marks.thousands)?;
        let fraction = rest.take(&[marks.decimal]).map(|_| rest.digits());
        if whole.is_empty() && fraction.as_ref().is_none_or(String::is_empty) {
            return None;
        }
        let mut exponent = None;
        if rest.take(b"eE").is_some() {
            let sign = rest.sign();
            let digits = rest.digits();
            if digits.is_empty() {
                return None;
            }
            exponent = Some(sign.into_iter().chain(digits.chars()).collect());
        }
        rest.0.is_empty().then_some(Self { sign, whole, fraction, exponent })
    }

    /// Whether it has neither a point nor an exponent.
    #[must_use]
    pub(super) fn is_whole(&self) -> bool {
        self.fraction.is_none() && self.exponent.is_none()
    }

    /// Whether zeros precede other digits, or another zero, before the point.
    #[must_use]
    pub(super) fn has_leading_zeros(&self) -> bool {
        self.whole.len() > 1 && self.whole.starts_with('0')
    }

    /// Whether it has a `+`.
    #[must_use]
    pub(super) fn has_plus(&self) -> bool {
        self.sign == Some('+')
    }

    /// Whether it has a `-`.
    #[must_use]
    pub(super) fn has_minus(&self) -> bool {
        self.sign == Some('-')
    }

    /// Returns a whole number; `None` if it has a point or an exponent, or exceeds 128 bits.
    #[must_use]
    pub(super) fn to_whole(&self) -> Option<i128> {
        if !self.is_whole() {
            return None;
        }
        let mut value: i128 = 0;
        for digit in self.whole.chars() {
            let digit = i128::from(digit.to_digit(10)?);
            value = value.checked_mul(10)?.checked_add(digit)?;
        }
        Some(if self.has_minus() { -value } else { value })
    }

    /// Returns the equal whole number, for any form; `None` if it has a fraction, or exceeds 128
    /// bits.
    #[must_use]
    pub(super) fn to_integral(&self) -> Option<i128> {
        let fraction = self.fraction.as_deref().unwrap_or_default();
        let exponent = self.exponent.as_deref().unwrap_or("0");
        let digits = format!("{}{fraction}", self.whole);
        if digits.bytes().all(|digit| digit == b'0') {
            return Some(0);
        }
        // No other number with so large an exponent fits 128 bits without a fraction.
        let exponent = exponent.parse::<i64>().ok().filter(|it| it.abs() < 100_000)?;
        let point = usize::try_from(i64::try_from(self.whole.len()).ok()? + exponent).ok()?;
        let digits = format!("{digits}{}", "0".repeat(point.saturating_sub(digits.len())));
        let (whole, fraction) = digits.split_at(point);
        if fraction.bytes().any(|digit| digit != b'0') {
            return None;
        }
        let whole =
            Self { whole: whole.to_owned(), fraction: None, exponent: None, ..self.clone() };
        whole.to_whole()
    }

    /// Whether it is a whole number that differs from this double.
    #[must_use]
    pub(super) fn is_between(&self, double: f64) -> bool {
        let digits = self.whole.trim_start_matches('0');
        let digits = if digits.is_empty() { "0" } else { digits };
        self.is_whole() && format!("{:.0}", double.abs()) != digits
    }

    /// Whether it has leading zeros or a plus, which a number loses.
    #[must_use]
    pub(super) fn is_padded(&self) -> bool {
        self.has_leading_zeros() || (self.is_whole() && self.has_plus())
    }

    /// Whether it is not a whole number, and this double has different digits if the same number of
    /// digits is printed. Halfway between two numbers of this length, the digits of both are
    /// accepted.
    #[must_use]
    pub(super) fn is_rounded(&self, double: f64) -> bool {
        let digits = format!("{}{}", self.whole, self.fraction.as_deref().unwrap_or_default());
        let digits = digits.trim_matches('0');
        if self.is_whole() || digits.is_empty() {
            return false;
        }
        // No double has more digits.
        let (Some((before, last)), true) =
            (digits.split_at_checked(digits.len() - 1), digits.len() < 767)
        else {
            return true;
        };
        let printed = |places: usize| {
            let printed = format!("{:.*e}", places - 1, double.abs()).replace('.', "");
            printed.split('e').next().unwrap_or_default().to_owned()
        };
        let all = printed(767);
        let (near, rest) = all.split_at(digits.len());
        let is_half = rest.trim_end_matches('0') == "5";
        let next = |digit: &str| digit.bytes().map(|digit| char::from(digit + 1)).collect();
        let is_next = near.split_at(before.len()) == (before, last)
            || near.strip_prefix(before).map(next) == Some(last.to_owned());
        printed(digits.len()) != digits && !(is_half && is_next)
    }

    /// Returns the nearest double; `None` if that is infinite.
    #[must_use]
    pub(super) fn to_double(&self) -> Option<f64> {
        self.plain().parse().ok().filter(|value: &f64| value.is_finite())
    }

    /// Returns the nearest single; `None` if that is infinite.
    #[must_use]
    pub(super) fn to_single(&self) -> Option<f32> {
        self.plain().parse().ok().filter(|value: &f32| value.is_finite())
    }

    /// Returns a text that `std` parses, which rounds correctly.
    fn plain(&self) -> String {
        let sign = if self.has_minus() { "-" } else { "" };
        let fraction = self.fraction.as_deref().unwrap_or("");
        let exponent = self.exponent.as_deref().unwrap_or("0");
        format!("{sign}0{}.{fraction}0e{exponent}", self.whole)
    }
}

/// Returns the double for a word: infinity, or not a number.
#[must_use]
pub(super) fn word(text: &[u8]) -> Option<f64> {
    let text = text.to_ascii_lowercase();
    let (is_negative, name) = match text.as_slice() {
        [b'-', name @ ..] => (true, name),
        [b'+', name @ ..] => (false, name),
        name => (false, name),
    };
    let value = match name {
        b"inf" | b"infinity" => f64::INFINITY,
        b"nan" => f64::NAN,
        _ => return None,
    };
    Some(if is_negative { -value } else { value })
}

/// The remaining bytes.
struct NumberRest<'t>(&'t [u8]);

impl NumberRest<'_> {
    /// Takes one byte if it is one of these.
    fn take(&mut self, any: &[u8]) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        if !any.contains(&first) {
            return None;
        }
        self.0 = rest;
        Some(first)
    }

    fn sign(&mut self) -> Option<char> {
        self.take(b"+-").map(char::from)
    }

    fn digits(&mut self) -> String {
        let mut digits = String::new();
        while let Some(digit) = self.take(b"0123456789") {
            digits.push(char::from(digit));
        }
        digits
    }

    /// Takes digits, or one to three of them and then groups of three; `None` if a group is
    /// invalid.
    fn whole(&mut self, thousands: Option<u8>) -> Option<String> {
        let mut whole = self.digits();
        let Some(thousands) = thousands else { return Some(whole) };
        let first = whole.len();
        while self.take(&[thousands]).is_some() {
            let group = self.digits();
            if group.len() != 3 || first == 0 || first > 3 {
                return None;
            }
            whole.push_str(&group);
        }
        Some(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Marks = Marks { decimal: b'.', thousands: None };
    const GERMAN: Marks = Marks { decimal: b',', thousands: Some(b'.') };

    fn number(text: &str, marks: Marks) -> Option<Number> {
        Number::parse(text.as_bytes(), marks)
    }

    #[test]
    fn numbers_are_those_of_the_grammar() {
        for text in ["0", "-0", "+5", "007", "5.", ".5", "-.5e3", "5.e-3", "1E+06", "12345"] {
            let number = number(text, PLAIN).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(number.to_double(), Some(text.parse().expect("std")), "{text}");
        }
        for text in
            ["", "+", ".", "e5", ".e5", "5e", "5e+", "--5", "1_0", "0x1", "1 ", "inf", "1.2.3"]
        {
            assert_eq!(number(text, PLAIN), None, "{text}");
        }
    }

    #[test]
    fn groups_have_three_digits_and_are_only_in_the_whole_part() {
        let value = |text| number(text, GERMAN).and_then(|it| it.to_double());
        assert_eq!(value("1.234.567,5"), Some(1_234_567.5));
        assert_eq!(value("1234567,5"), Some(1_234_567.5));
        assert_eq!(value("-12.345e1"), Some(-123_450.0));
        for text in ["1.23", "1.2345", "1234.567", ".234", "1..234", "1.234,567.8", "1.234."] {
            assert_eq!(value(text), None, "{text}");
        }
        assert!(number("0.123", GERMAN).expect("a number").has_leading_zeros());
    }

    #[test]
    fn what_no_double_holds_is_none() {
        let value = |text: &str| number(text, PLAIN).and_then(|it| it.to_double());
        assert_eq!(value("1e400"), None);
        assert_eq!(value(&"9".repeat(400)), None);
        assert_eq!(value("1e-400"), Some(0.0));
        assert_eq!(number("1e39", PLAIN).expect("a number").to_single(), None);
    }

    #[test]
    fn words_are_in_any_case_with_a_sign() {
        assert_eq!(word(b"-INFinity"), Some(f64::NEG_INFINITY));
        assert_eq!(word(b"+inf"), Some(f64::INFINITY));
        assert!(word(b"NaN").is_some_and(f64::is_nan));
        assert!(word(b"infinit").is_none() && word(b"").is_none() && word(b"+-inf").is_none());
    }
}
