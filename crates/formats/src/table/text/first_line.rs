//! First lines that are neither names nor data.
//!
//! ```text
//! sep=;            a directive of Excel, which is not part of the table
//! (1+2j) (3+4j)    unsupported numbers, which would pass for names
//! 1,5;2,5          decimal commas
//! ```

use crate::number::parse::double;

/// The byte order mark of UTF-8.
pub(in crate::table) const MARK: &[u8] = b"\xef\xbb\xbf";

/// The most bytes of a complex number that are recognised.
const MOST_COMPLEX: usize = 128;

/// A number in an unsupported notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) enum OddNumber {
    /// `(1+2j)`, as numpy and Python write it.
    Complex,
    /// With a typographic minus sign.
    Minus,
    /// With a comma as the decimal separator.
    Comma,
}

impl OddNumber {
    /// Returns the notation of the bare text of a field, if it is one of these.
    pub(in crate::table) fn of(field: &[u8]) -> Option<Self> {
        if is_complex(field) {
            Some(Self::Complex)
        } else if field.strip_prefix("\u{2212}".as_bytes()).is_some_and(begins_with_digit) {
            Some(Self::Minus)
        } else {
            has_decimal_comma(field).then_some(Self::Comma)
        }
    }

    /// Returns the detail of the error.
    pub(in crate::table) fn detail(self) -> &'static str {
        match self {
            Self::Complex => "a complex number, which a table cannot hold",
            Self::Minus => "a number with a typographic minus sign, U+2212",
            Self::Comma => "these look like numbers with decimal commas",
        }
    }

    /// Returns the hint of the error.
    pub(in crate::table) fn hint(self) -> &'static str {
        match self {
            Self::Complex => "write real and imaginary parts as two columns",
            Self::Minus => "replace the minus signs: sed 's/\u{2212}/-/g' <OLD >NEW",
            Self::Comma => {
                "pass `,` as `decimal`, and the delimiter; or set `header` if these are texts"
            }
        }
    }
}

/// Whether a field begins with a digit, or with a point and a digit.
fn begins_with_digit(field: &[u8]) -> bool {
    let field = field.strip_prefix(b".").unwrap_or(field);
    field.first().is_some_and(u8::is_ascii_digit)
}

/// Whether a field is like `(1+2j)`, or `(0+-1j)`, which numpy used to write.
fn is_complex(field: &[u8]) -> bool {
    let Some(inner) = field.strip_prefix(b"(").and_then(|it| it.strip_suffix(b"j)")) else {
        return false;
    };
    // Each sign is tried, so the length is limited.
    if inner.len() > MOST_COMPLEX {
        return false;
    }
    let is_number = |text: &[u8]| double(text).is_some();
    let parts = (1..inner.len()).filter(|&at| b"+-".contains(&inner[at]));
    is_number(inner)
        || parts.map(|at| inner.split_at(at)).any(|(real, imaginary)| {
            is_number(real) && (is_number(imaginary) || is_number(&imaginary[1..]))
        })
}

/// Whether a field is like `-1,5`: digits, one comma, digits.
fn has_decimal_comma(field: &[u8]) -> bool {
    let field = field.strip_prefix(b"-").or(field.strip_prefix(b"+")).unwrap_or(field);
    let mut parts = field.split(|&byte| byte == b',');
    let mut is_digits = || {
        parts.next().is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit))
    };
    is_digits() && is_digits() && parts.next().is_none()
}

/// Returns the delimiter of Excel's `sep=;` at the start of a text, and the length of that line.
pub(in crate::table) fn excels(text: &[u8]) -> Option<(u8, usize)> {
    let (word, rest) = text.split_at_checked(4)?;
    let (byte, rest) = rest.split_first()?;
    let len = match rest {
        [] => 5,
        [b'\n', ..] => 6,
        [b'\r', b'\n', ..] => 7,
        [b'\r'] => 6,
        _ => return None,
    };
    let is_delimiter = byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n');
    (word.eq_ignore_ascii_case(b"sep=") && is_delimiter).then_some((*byte, len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_excel_is_exactly_that() {
        assert_eq!(excels(b"sep=;\na"), Some((b';', 6)));
        assert_eq!(excels(b"SEP=\t\r\na"), Some((b'\t', 7)));
        assert_eq!(excels(b"sep=,"), Some((b',', 5)));
        for other in [&b"sep=\n"[..], b"sep=;;\n", b"sep", b"sep=\"\n", b"a\nsep=;\n"] {
            assert_eq!(excels(other), None);
        }
    }
}
