//! The header of a gzip member: RFC 1952, section 2.3.

use libdeflater::crc32;

const HAS_CRC: u8 = 2;
const HAS_EXTRA: u8 = 4;
const HAS_NAME: u8 = 8;
const HAS_COMMENT: u8 = 16;
const RESERVED: u8 = 0xe0;
/// Number of bytes before the optional fields.
const FIXED: usize = 10;

/// The result of parsing a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HeaderParse<'b> {
    Header(GzipHeader<'b>),
    /// The bytes are the beginning of a header.
    Short,
    /// Not a member, and the reason.
    Foreign(&'static str),
}

/// The parts of a header that are needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GzipHeader<'b> {
    pub(crate) len: usize,
    /// Length of the whole member in bytes, if it is recorded.
    pub(crate) size: Option<usize>,
    /// Whether it is recorded as in BGZF.
    pub(crate) bgzf: bool,
    /// Our index, or a part of it.
    pub(crate) index: Option<&'b [u8]>,
}

/// Reads the header at the start of `bytes`.
pub(crate) fn parse(bytes: &[u8]) -> HeaderParse<'_> {
    let known = [0x1f, 0x8b, 8];
    let there = bytes.len().min(3);
    if bytes[..there] != known[..there] {
        return HeaderParse::Foreign(match bytes {
            [0x1f, 0x8b, ..] => "the member is compressed by a method other than deflate",
            _ => "this is not the start of a gzip member",
        });
    }
    let Some(&flags) = bytes.get(3) else { return HeaderParse::Short };
    if flags & RESERVED != 0 {
        return HeaderParse::Foreign("the member's header has reserved flags set");
    }
    parse_fields(bytes, flags)
}

fn parse_fields(bytes: &[u8], flags: u8) -> HeaderParse<'_> {
    let mut header = GzipHeader { len: FIXED, size: None, bgzf: false, index: None };
    if flags & HAS_EXTRA != 0 {
        let Some(&[l0, l1]) = bytes.get(FIXED..FIXED + 2) else { return HeaderParse::Short };
        let start = FIXED + 2;
        header.len = start + usize::from(u16::from_le_bytes([l0, l1]));
        let Some(extra) = bytes.get(start..header.len) else { return HeaderParse::Short };
        take_subfields(extra, &mut header);
    }
    for text in [HAS_NAME, HAS_COMMENT] {
        if flags & text != 0 {
            let rest = bytes.get(header.len..).unwrap_or_default();
            let Some(len) = rest.iter().position(|&byte| byte == 0) else {
                return HeaderParse::Short;
            };
            header.len += len + 1;
        }
    }
    if flags & HAS_CRC != 0 {
        let end = header.len;
        let Some(&[c0, c1]) = bytes.get(end..end + 2) else { return HeaderParse::Short };
        if crc32(&bytes[..end]).to_le_bytes()[..2] != [c0, c1] {
            return HeaderParse::Foreign("the checksum of the member's header is wrong");
        }
        header.len += 2;
    }
    if bytes.len() < header.len { HeaderParse::Short } else { HeaderParse::Header(header) }
}

/// Skips fields that are malformed or unknown, as every tool does.
fn take_subfields<'b>(mut extra: &'b [u8], header: &mut GzipHeader<'b>) {
    while let [s1, s2, l0, l1, rest @ ..] = extra {
        let len = usize::from(u16::from_le_bytes([*l0, *l1]));
        let Some((field, rest)) = rest.split_at_checked(len) else { return };
        match ([*s1, *s2], field) {
            ([b'B', b'C'], &[b0, b1]) => {
                header.size = Some(usize::from(u16::from_le_bytes([b0, b1])) + 1);
                header.bgzf = true;
            }
            ([b'I', b'G'], &[b0, b1, b2, b3]) => {
                header.size = usize::try_from(u32::from_le_bytes([b0, b1, b2, b3])).ok();
            }
            ([b'S', b'W'], field) => header.index = Some(field),
            _ => {}
        }
        extra = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(len: usize) -> GzipHeader<'static> {
        GzipHeader { len, size: None, bgzf: false, index: None }
    }

    #[test]
    fn every_optional_field_is_stepped_over() {
        let plain = b"\x1f\x8b\x08\x00\0\0\0\0\0\x03";
        assert_eq!(parse(plain), HeaderParse::Header(header(10)));
        let named = b"\x1f\x8b\x08\x18\0\0\0\0\0\x03name\0comment\0rest";
        assert_eq!(parse(named), HeaderParse::Header(header(23)));
        let extra = b"\x1f\x8b\x08\x04\0\0\0\0\0\x03\x05\0XY\x01\0z";
        assert_eq!(parse(extra), HeaderParse::Header(header(17)));
        let mut checked = Vec::from(*b"\x1f\x8b\x08\x02\0\0\0\0\0\x03");
        let crc = crc32(&checked);
        checked.extend_from_slice(&crc.to_le_bytes()[..2]);
        assert_eq!(parse(&checked), HeaderParse::Header(header(12)));
        checked[10] ^= 1;
        assert!(matches!(parse(&checked), HeaderParse::Foreign(_)));
    }

    #[test]
    fn every_beginning_of_a_header_is_short() {
        let whole = b"\x1f\x8b\x08\x1c\0\0\0\0\0\x03\x05\0XY\x01\0zname\0comment\0";
        for len in 0..whole.len() {
            assert_eq!(parse(&whole[..len]), HeaderParse::Short, "{len}");
        }
        assert_eq!(parse(whole), HeaderParse::Header(header(whole.len())));
        for foreign in
            [&b"\x1f\x8c"[..], b"x", b"\x1f\x8b\x07", b"\x1f\x8b\x08\x20", b"\x1f\x8b\x08\x80"]
        {
            assert!(matches!(parse(foreign), HeaderParse::Foreign(_)), "{foreign:?}");
        }
    }

    #[test]
    fn sizes_are_taken_from_either_field() {
        let sized = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x08\0IG\x04\0\x01\x02\0\0";
        assert_eq!(
            parse(sized),
            HeaderParse::Header(GzipHeader { size: Some(513), ..header(20) })
        );
        let bgzf = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\xff\xff";
        let blocked = GzipHeader { size: Some(65_536), bgzf: true, ..header(18) };
        assert_eq!(parse(bgzf), HeaderParse::Header(blocked));
        // A field that claims to be longer than the rest.
        let wrong = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x03\0\xff\xff";
        assert_eq!(parse(wrong), HeaderParse::Header(header(18)));
    }
}
