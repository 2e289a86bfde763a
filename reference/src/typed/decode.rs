//! Text → lines, rule 1: bytes to UTF-8.

use super::options::{Encoding, Options};

/// A text in UTF-8, which may contain invalid bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    /// The text, without a byte order mark.
    pub text: Vec<u8>,
    /// The offset of its first byte for errors: after the mark of UTF-8, otherwise 0.
    pub first: usize,
    /// The encoding that was used, never `Auto`.
    pub encoding: Encoding,
    /// The number of replacements by U+FFFD.
    pub replaced: usize,
}

const MARKS: [(&[u8], Encoding); 3] = [
    (b"\xef\xbb\xbf", Encoding::Utf8),
    (b"\xff\xfe", Encoding::Utf16Le),
    (b"\xfe\xff", Encoding::Utf16Be),
];

/// The characters of windows-1252 for the bytes 80 to 9F, by the encoding standard of the web.
const HIGH: [u32; 32] = [
    0x20ac, 0x81, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8d, 0x017d, 0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013,
    0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d, 0x017e, 0x0178,
];

/// The characters of windows-1253 for the bytes 80 to FF, by the same standard; a space for
/// unassigned ones.
const GREEK: &str = "€\u{81}‚ƒ„…†‡\u{88}‰\u{8a}‹\u{8c}\u{8d}\u{8e}\u{8f}\u{90}‘’“”•–—\u{98}™\u{9a}›\u{9c}\u{9d}\u{9e}\u{9f}\u{a0}΅Ά£¤¥¦§¨© «¬\u{ad}®―°±²³΄µ¶·ΈΉΊ»Ό½ΎΏΐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡ ΣΤΥΦΧΨΩΪΫάέήίΰαβγδεζηθικλμνξοπρςστυφχψωϊϋόύώ ";

/// Decodes `bytes`. Removes a byte order mark. Invalid parts become the byte FF, which is invalid
/// in UTF-8 too, or U+FFFD.
#[must_use]
pub(super) fn decode(bytes: &[u8], options: &Options) -> Decoded {
    let marked = MARKS.iter().find(|(mark, _)| bytes.starts_with(mark)).copied();
    let (encoding, mark) = match (options.encoding, marked) {
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
        Encoding::Greek => (greek(rest), 0),
        Encoding::ShiftJis => (shift_jis(rest), 0),
    };
    if !options.replaces || std::str::from_utf8(&text).is_ok() {
        return Decoded { text, first, encoding, replaced: 0 };
    }
    let (mut replaced, mut whole) = (0, String::new());
    for chunk in text.utf8_chunks() {
        whole.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            replaced += 1;
            whole.push('\u{fffd}');
        }
    }
    Decoded { text: whole.into_bytes(), first: 0, encoding, replaced }
}

fn greek(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for &byte in bytes {
        let high = byte.checked_sub(0x80).and_then(|at| GREEK.chars().nth(usize::from(at)));
        match high {
            None => text.push(byte),
            Some(' ') => text.push(0xff),
            Some(letter) => text.extend(letter.to_string().into_bytes()),
        }
    }
    text
}

/// Decodes Shift_JIS: an ASCII byte that does not fit the byte before it stands for itself.
fn shift_jis(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        let letter = match byte {
            0..=0x80 => Some(u32::from(byte)),
            0xa1..=0xdf => Some(u32::from(byte) - 0xa1 + 0xff61),
            0x81..=0x9f | 0xe0..=0xfc => {
                let next = bytes.get(at).copied();
                let found = next.and_then(|next| pair(byte, next));
                if found.is_some() || next.is_some_and(|next| next >= 0x80) {
                    at += 1;
                }
                found
            }
            _ => None,
        };
        match letter.and_then(char::from_u32) {
            Some(letter) => text.extend(letter.to_string().into_bytes()),
            None => text.push(0xff),
        }
    }
    text
}

fn pair(first: u8, second: u8) -> Option<u32> {
    let second = u32::from(second);
    match (first, second) {
        (0x82, 0x9f..=0xf1) => Some(second - 0x9f + 0x3041),
        (0x83, 0x40..=0x7e) => Some(second - 0x40 + 0x30a1),
        (0x83, 0x80..=0x96) => Some(second - 0x41 + 0x30a1),
        // Greek, without the other sigma.
        (0x83, 0x9f..=0xaf) => Some(second - 0x9f + 0x391),
        (0x83, 0xb0..=0xb6) => Some(second - 0xb0 + 0x3a3),
        (0x83, 0xbf..=0xcf) => Some(second - 0xbf + 0x3b1),
        (0x83, 0xd0..=0xd6) => Some(second - 0xd0 + 0x3c3),
        _ => None,
    }
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
        decode(bytes, &Options { encoding, ..Options::default() }).text
    }

    #[test]
    fn marks_decide_and_are_removed() {
        let utf8 = decode(b"\xef\xbb\xbfa", &Options::default());
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
    fn greek_and_syllables_are_those_of_the_standard() {
        assert_eq!(text(b"\xc1\xfe,\xd2\xff", Encoding::Greek), b"\xce\x91\xcf\x8e,\xff\xff");
        let syllables = text(b"\x82\xa0\x83\x5c\x83|\xb1\x83,\x83\xff\xfd", Encoding::ShiftJis);
        assert_eq!(syllables, ["あソポｱ".as_bytes(), b"\xff,\xff\xff"].concat());
        let greek = b"\x83\x9f\x83\xaf\x83\xb0\x83\xb6\x83\xbf\x83\xcf\x83\xd0\x83\xd6";
        assert_eq!(text(greek, Encoding::ShiftJis), "ΑΡΣΩαρσω".as_bytes());
    }

    #[test]
    fn latin1_is_windows_1252() {
        assert_eq!(text(b"\xe9\x80\x81", Encoding::Latin1), "é€\u{81}".as_bytes());
    }
}
