//! Decodes strings: removes quotes and escapes.

/// Returns the bytes inside the quotes of a string; `None` for another value.
pub(in crate::table) fn unquoted(raw: &[u8]) -> Option<&[u8]> {
    match raw {
        [b'"', inner @ .., b'"'] => Some(inner),
        _ => None,
    }
}

/// Appends the inside of a string, with its escapes decoded; they have been checked.
pub(in crate::table) fn decode(inner: &[u8], out: &mut Vec<u8>) {
    let mut rest = inner;
    while let Some(at) = swath_simd::find(rest, b'\\') {
        out.extend_from_slice(&rest[..at]);
        let (letter, len) = escaped(&rest[at..]);
        out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[at + len..];
    }
    out.extend_from_slice(rest);
}

/// Returns the character of an escape, and its length in bytes.
fn escaped(text: &[u8]) -> (char, usize) {
    let letter = match text.get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return long(text),
        Some(&byte) => char::from(byte),
        None => return ('\\', 1),
    };
    (letter, 2)
}

fn long(text: &[u8]) -> (char, usize) {
    let found = unit(text).and_then(|high| {
        if let Some(letter) = char::from_u32(high) {
            return Some((letter, 6));
        }
        let low = unit(&text[6..])?;
        let code = 0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
        Some((char::from_u32(code)?, 12))
    });
    found.unwrap_or((char::REPLACEMENT_CHARACTER, text.len().min(6)))
}

/// Returns the UTF-16 unit written as `\uXXXX`.
pub(super) fn unit(text: &[u8]) -> Option<u32> {
    let digits = text.get(..6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, &digit| Some(unit * 16 + char::from(digit).to_digit(16)?))
}
