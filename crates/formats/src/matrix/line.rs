//! One line: ids and values separated by blanks, parsed from left to right.

use swath_simd::leading_digits;

use crate::number;
use crate::number::parse::is_rounded;

/// Powers of ten by exponent.
const TENS: [u64; 9] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// A position in a text, and the parsers that start there.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineCursor<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) at: usize,
}

impl<'b> LineCursor<'b> {
    #[inline(always)]
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Skips blanks; returns whether there were any.
    #[inline(always)]
    pub(super) fn skip_blanks(&mut self) -> bool {
        let start = self.at;
        while let Some(b' ' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
        self.at > start
    }

    /// Whether the line ends here. Does not skip the newline.
    #[inline(always)]
    pub(super) fn is_line_end(&self) -> bool {
        matches!(self.peek(), None | Some(b'\n'))
    }

    /// Skips the rest of the line and its newline.
    pub(super) fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        let newline = rest.iter().position(|&byte| byte == b'\n');
        self.at += newline.map_or(rest.len(), |newline| newline + 1);
    }

    /// Returns the word that begins here, up to a blank or the end of the line.
    pub(super) fn word(&self) -> &'b [u8] {
        let rest = &self.bytes[self.at..];
        let is_end = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        &rest[..rest.iter().position(is_end).unwrap_or(rest.len())]
    }

    /// Returns the next eight bytes, padded with zeros at the end.
    #[inline(always)]
    fn eight(&self) -> u64 {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        if let Some((eight, _)) = rest.split_first_chunk() {
            return u64::from_le_bytes(*eight);
        }
        let mut eight = [0; 8];
        eight[..rest.len()].copy_from_slice(rest);
        u64::from_le_bytes(eight)
    }

    /// Parses a number without a sign; `None` if it is missing or needs more than 64 bits.
    #[inline(always)]
    pub(super) fn unsigned(&mut self) -> Option<u64> {
        let (mut count, mut number) = leading_digits(self.eight());
        if count == 0 {
            return None;
        }
        self.at += count;
        while count == 8 {
            let value;
            (count, value) = leading_digits(self.eight());
            number = number.checked_mul(TENS[count])?.checked_add(value)?;
            self.at += count;
        }
        Some(number)
    }

    /// Parses a whole word as a number with an optional sign: whether it is negative, and its
    /// digits.
    #[inline(always)]
    pub(super) fn integer(&mut self) -> Option<(bool, u64)> {
        let is_negative = self.sign();
        let magnitude = self.unsigned()?;
        self.is_word_end().then_some((is_negative, magnitude))
    }

    /// Parses a whole word as a number with an optional sign.
    pub(super) fn signed(&mut self) -> Option<i64> {
        match self.integer()? {
            (true, magnitude) => 0_i64.checked_sub_unsigned(magnitude),
            (false, magnitude) => magnitude.try_into().ok(),
        }
    }

    /// Parses a whole word as a non-negative number.
    pub(super) fn natural(&mut self) -> Option<u64> {
        let (is_negative, magnitude) = self.integer()?;
        (!is_negative || magnitude == 0).then_some(magnitude)
    }

    /// Parses a whole word as a double, correctly rounded; `None` for a whole number that no double
    /// equals.
    pub(super) fn double(&mut self) -> Option<f64> {
        let word = self.word();
        self.nearest().filter(|&value| !is_rounded(word, value))
    }

    /// Parses a whole word as the nearest double.
    pub(super) fn nearest(&mut self) -> Option<f64> {
        let word = self.word();
        self.at += word.len();
        number::parse::double(word)
    }

    /// Parses a whole word as a single, correctly rounded.
    ///
    /// Rejects numbers that are too large, and whole numbers that no single equals, as for doubles.
    pub(super) fn single(&mut self) -> Option<f32> {
        let word = self.word();
        self.at += word.len();
        let single: f32 = std::str::from_utf8(word).ok()?.parse().ok()?;
        let fits = !single.is_infinite() || !word.iter().any(u8::is_ascii_digit);
        (fits && !is_rounded(word, single.into())).then_some(single)
    }

    #[inline(always)]
    fn sign(&mut self) -> bool {
        let sign = self.peek();
        self.at += usize::from(matches!(sign, Some(b'-' | b'+')));
        sign == Some(b'-')
    }

    #[inline(always)]
    fn is_word_end(&self) -> bool {
        matches!(self.peek(), None | Some(b' ' | b'\t' | b'\r' | b'\n'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(text: &str) -> LineCursor<'_> {
        LineCursor { bytes: text.as_bytes(), at: 0 }
    }

    #[test]
    fn numbers_up_to_the_last_one_are_exact_and_larger_ones_refused() {
        for number in [0, 7, 99_999_999, 100_000_000, 1 << 53, u64::MAX - 1, u64::MAX] {
            for text in [format!("{number}"), format!("{number} 1"), format!("000{number}\n")] {
                assert_eq!(cursor(&text).unsigned(), Some(number), "{text}");
            }
        }
        for text in ["", " 1", "-1", "x", "18446744073709551616", "99999999999999999999999"] {
            assert_eq!(cursor(text).unsigned(), None, "{text}");
        }
        assert_eq!(cursor("-9223372036854775808").signed(), Some(i64::MIN));
        assert_eq!(cursor("9223372036854775807\n").signed(), Some(i64::MAX));
        for text in
            ["9223372036854775808", "-9223372036854775809", "1.0", "1x", "--1", "+-1", "-"]
        {
            assert_eq!(cursor(text).signed(), None, "{text}");
        }
    }

    #[test]
    fn numbers_without_a_sign_go_up_to_64_bits() {
        for (text, wanted) in [
            ("0", Some(0)),
            ("-0 ", Some(0)),
            ("+7\n", Some(7)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("-1", None),
            ("1.0", None),
            ("", None),
        ] {
            assert_eq!(cursor(text).natural(), wanted, "{text}");
        }
    }

    #[test]
    fn singles_are_rounded_once() {
        // Just above halfway between two singles; rounding to double first would lose that.
        let word = "1.00000005960464477539062500000000000001";
        assert_eq!(cursor(word).single(), Some(f32::from_bits(0x3f80_0001)));
        assert_eq!(cursor("1e39 ").single(), None);
        assert_eq!(cursor("-inf").single(), Some(f32::NEG_INFINITY));
    }

    #[test]
    fn doubles_are_those_of_the_standard_library_but_for_what_no_double_is() {
        let words = [
            "0",
            "-0",
            "1",
            "+1",
            "1.",
            ".5",
            "-.5",
            "1.5e3",
            "1E-3",
            "1e+22",
            "1e23",
            "1e-22",
            "9007199254740993",
            "9007199254740992.5",
            "0.1",
            "0.30000000000000004",
            "123456789.125",
            "1234567890123456789",
            "12345678901234567890",
            "0.00000000000000000000001",
            "1e400",
            "1e-400",
            "2.2250738585072014e-308",
            "4.9e-324",
            "inf",
            "-Infinity",
            "nan",
            "1e",
            "e5",
            ".",
            "",
            "-",
            "1.2.3",
            "1,5",
            "0x10",
            "1e5x",
            "1d5",
            "1_000",
            "00000000000000000001.5",
        ];
        let refused =
            ["1e400", "9007199254740993", "1234567890123456789", "12345678901234567890"];
        for word in words {
            for after in ["", " ", "\n", "\r\n", "\t7"] {
                let text = format!("{word}{after}");
                let got = cursor(&text).double().map(f64::to_bits);
                let expected =
                    word.parse().ok().filter(|_| !refused.contains(&word)).map(f64::to_bits);
                assert_eq!(got, expected, "{word}");
            }
        }
    }
}
