//! Text → lines, rule 1: bytes to UTF-8.

use super::options::Encoding;

/// A text in UTF-8, which may contain bytes that are not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    /// The text, without a byte order mark.
    pub text: Vec<u8>,
    /// The place of its first byte, as errors count it: after the mark of UTF-8, otherwise 0.
    pub first: usize,
    /// The encoding that was used, never `Auto`.
    pub encoding: Encoding,
}

const MARKS: [(&[u8], Encoding); 3] = [
    (b"\xef\xbb\xbf", Encoding::Utf8),
    (b"\xff\xfe", Encoding::Utf16Le),
    (b"\xfe\xff", Encoding::Utf16Be),
];

/// What windows-1252 has in place of the bytes 80 to 9F, by the encoding standard of the web.
const HIGH: [u32; 32] = [
    0x20ac, 0x81, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8d, 0x017d, 0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013,
    0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d, 0x017e, 0x0178,
];

/// Decodes `bytes`. A mark of the encoding at their start is removed. What is not valid in UTF-16
/// becomes the byte FF, which is not valid in UTF-8 either.
#[must_use]
pub(super) fn decode(bytes: &[u8], encoding: Encoding) -> Decoded {
    let marked = MARKS.iter().find(|(mark, _)| bytes.starts_with(mark)).copied();
    let (encoding, mark) = match (encoding, marked) {
        (Encoding::Auto, Some((mark, found))) => (found, mark.len()),
        (Encoding::Auto, None) => (Encoding::Utf8, 0),
        (told, Some((mark, found))) if found == told => (told, mark.len()),
        (told, _) => (told, 0),
    };
    let rest = &bytes[mark..];
    let (text, first) = match encoding {
        Encoding::Auto | Encoding::Utf8 => (rest.to_vec(), mark),
        Encoding::Latin1 => (latin1(rest), 0),
        Encoding::Utf16Le => (utf16(rest, u16::from_le_bytes), 0),
        Encoding::Utf16Be => (utf16(rest, u16::from_be_bytes), 0),
    };
    Decoded { text, first, encoding }
}

fn latin1(bytes: &[u8]) -> Vec<u8> {
    let mut text = String::new();
    for &byte in bytes {
        let code = match byte {
            0x80..=0x9f => HIGH[usize::from(byte) - 0x80],
            _ => u32::from(byte),
        };
        text.push(char::from_u32(code).expect("none of these is a surrogate"));
    }
    text.into_bytes()
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let (pairs, half) = bytes.as_chunks::<2>();
    let mut text = Vec::new();
    for letter in char::decode_utf16(pairs.iter().map(|&pair| unit(pair))) {
        match letter {
            Ok(letter) => text.extend(letter.to_string().into_bytes()),
            Err(_) => text.push(0xff),
        }
    }
    if !half.is_empty() {
        text.push(0xff);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8], encoding: Encoding) -> Vec<u8> {
        decode(bytes, encoding).text
    }

    #[test]
    fn marks_decide_and_are_removed() {
        let utf8 = decode(b"\xef\xbb\xbfa", Encoding::Auto);
        assert_eq!((utf8.text, utf8.first, utf8.encoding), (b"a".to_vec(), 3, Encoding::Utf8));
        assert_eq!(text(b"\xff\xfea\0\xac\x20", Encoding::Auto), "a\u{20ac}".as_bytes());
        assert_eq!(text(b"\xfe\xff\0a", Encoding::Auto), b"a");
        assert_eq!(text(b"a\0", Encoding::Auto), b"a\0");
    }

    #[test]
    fn a_told_encoding_removes_its_own_mark_only() {
        assert_eq!(text(b"\xff\xfea\0", Encoding::Utf16Le), b"a");
        assert_eq!(text(b"a\0", Encoding::Utf16Le), b"a");
        assert_eq!(text(b"\xef\xbb\xbfa", Encoding::Utf8), b"a");
        assert_eq!(text(b"\xef\xbb\xbfa", Encoding::Latin1), "ï»¿a".as_bytes());
    }

    #[test]
    fn half_a_character_of_utf16_is_a_byte_that_is_not_valid() {
        assert_eq!(text(b"a\0\x00\xd8b\0", Encoding::Utf16Le), b"a\xffb");
        assert_eq!(text(b"a\0\x3d\xd8\x00\xde", Encoding::Utf16Le), "a😀".as_bytes());
        assert_eq!(text(b"a\0b", Encoding::Utf16Le), b"a\xff");
    }

    #[test]
    fn latin1_is_windows_1252() {
        assert_eq!(text(b"\xe9\x80\x81", Encoding::Latin1), "é€\u{81}".as_bytes());
    }
}
