//! Finds the end of a zstd frame without decoding it: RFC 8878, section 3.1.
//!
//! ```text
//! magic | descriptor, window, dictionary, content size | 3 + block | 3 + block | .. | checksum
//! ```

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The most bytes that a block decodes to.
pub(crate) const MOST_BLOCK: u64 = 128 << 10;
/// The longest header.
pub(crate) const MOST_HEADER: usize = 18;

/// The kind of frame at the start of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    Frame(FrameHeader),
    /// A frame that decoders skip, with its length in bytes, header included.
    Skippable(u64),
    /// The beginning of either.
    Short,
    /// Neither.
    Foreign,
    /// A frame whose header sets reserved bits.
    Reserved,
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    pub(crate) len: usize,
    /// Decoded length in bytes, if it is recorded.
    pub(crate) content: Option<u64>,
    pub(crate) has_checksum: bool,
    /// 0 for no dictionary.
    pub(crate) dictionary: u32,
    /// The most bytes that a block of this frame decodes to.
    most_block: u64,
}

/// Whether these are the first bytes of a frame that is decoded while it is read.
#[cfg(feature = "arrow")]
pub(crate) fn is_long(bytes: &[u8]) -> bool {
    match start(bytes) {
        Start::Frame(header) => {
            header.content.is_none_or(|content| content > crate::compressed::MOST_BLOCK)
        }
        Start::Skippable(_) | Start::Short | Start::Foreign | Start::Reserved => false,
    }
}

/// Parses the header of a frame from its first bytes; [`MOST_HEADER`] are enough.
pub(crate) fn start(bytes: &[u8]) -> Start {
    match bytes {
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, s0, s1, s2, s3, ..] => {
            let size = u32::from_le_bytes([*s0, *s1, *s2, *s3]);
            Start::Skippable(8 + u64::from(size))
        }
        [first, ..] if bytes.len() < 4 => match (*first, &bytes[1..]) {
            (0x28, rest) if MAGIC[1..].starts_with(rest) => Start::Short,
            (0x50..=0x5f, rest) if [0x2a, 0x4d, 0x18].starts_with(rest) => Start::Short,
            _ => Start::Foreign,
        },
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] | [] => Start::Short,
        _ if bytes.starts_with(&MAGIC) => header(bytes),
        _ => Start::Foreign,
    }
}

fn header(bytes: &[u8]) -> Start {
    let Some(&descriptor) = bytes.get(4) else { return Start::Short };
    if descriptor & 0x08 != 0 {
        return Start::Reserved;
    }
    let single_segment = descriptor & 0x20 != 0;
    let window_len = usize::from(!single_segment);
    let dictionary_len = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let content_len = match (descriptor >> 6, single_segment) {
        (0, false) => 0,
        (0, true) => 1,
        (code, _) => 1 << code,
    };
    let dictionary_at = 5 + window_len;
    let content_at = dictionary_at + dictionary_len;
    let len = content_at + content_len;
    if bytes.len() < len {
        return Start::Short;
    }
    let number = |at: usize, len: usize| {
        bytes[at..at + len]
            .iter()
            .rev()
            .fold(0, |number: u64, &byte| number << 8 | u64::from(byte))
    };
    let content = match content_len {
        0 => None,
        // A two-byte size never repeats what one byte can hold.
        2 => Some(number(content_at, 2) + 256),
        len => Some(number(content_at, len)),
    };
    let window = match single_segment {
        true => content.unwrap_or(0),
        false => {
            let base = 1_u64 << (10 + (bytes[5] >> 3));
            base + base / 8 * u64::from(bytes[5] & 7)
        }
    };
    Start::Frame(FrameHeader {
        len,
        content,
        has_checksum: descriptor & 0x04 != 0,
        dictionary: u32::try_from(number(dictionary_at, dictionary_len)).unwrap_or(u32::MAX),
        most_block: window.min(MOST_BLOCK),
    })
}

/// Walks over the blocks of a frame as its bytes arrive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameWalk {
    header: FrameHeader,
    /// Offset of the next block, or of the end of the frame.
    at: usize,
    decoded: u64,
    ended: bool,
}

/// The progress of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walked {
    /// This many bytes of the frame are needed to continue.
    Needs(usize),
    /// The frame has `len` bytes and decodes to at most `decoded`.
    Whole { len: usize, decoded: u64 },
    /// The block at this offset in the frame is of an unknown type.
    Corrupt(usize),
}

impl FrameWalk {
    pub(crate) fn new(header: FrameHeader) -> Self {
        Self { header, at: header.len, decoded: 0, ended: false }
    }

    /// Returns the most bytes that the blocks passed can decode to.
    pub(crate) fn decoded(&self) -> u64 {
        self.decoded
    }

    /// Continues with the bytes of the frame that have arrived.
    pub(crate) fn go_on(&mut self, frame: &[u8]) -> Walked {
        while !self.ended {
            let Some(&[b0, b1, b2]) = frame.get(self.at..self.at + 3) else {
                return Walked::Needs(self.at + 3);
            };
            let head = u32::from_le_bytes([b0, b1, b2, 0]);
            let size = u64::from(head >> 3);
            let (stored, decoded) = match head >> 1 & 3 {
                0 => (size, size),
                1 => (1, size),
                2 => (size, self.header.most_block),
                _ => return Walked::Corrupt(self.at),
            };
            if size > self.header.most_block {
                return Walked::Corrupt(self.at);
            }
            self.at += 3 + usize::try_from(stored).unwrap_or(usize::MAX - self.at - 3);
            self.decoded += decoded;
            self.ended = head & 1 != 0;
        }
        let len = self.at + if self.header.has_checksum { 4 } else { 0 };
        match frame.len() < len {
            true => Walked::Needs(len),
            false => Walked::Whole { len, decoded: self.decoded },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zstd::zstd_safe::find_frame_compressed_size;

    fn packed(len: usize, level: i32, checksum: bool) -> Vec<u8> {
        let plain: Vec<u8> = (0..len).map(|n| u8::try_from(n * n % 251).unwrap()).collect();
        let mut encoder = zstd::Encoder::new(Vec::new(), level).unwrap();
        encoder.include_checksum(checksum).unwrap();
        encoder.include_contentsize(level > 1).unwrap();
        std::io::copy(&mut &plain[..], &mut encoder).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_walk_ends_where_the_library_says() {
        for len in [0, 1, 255, 256, 70_000, 131_072, 131_073, 1_000_000] {
            for (level, checksum) in [(1, false), (3, true), (19, true)] {
                let frame = packed(len, level, checksum);
                let Start::Frame(header) = start(&frame) else { panic!("a frame") };
                let mut walk = FrameWalk::new(header);
                // Byte by byte, with extra bytes after the frame.
                let mut there = 0;
                let (len_found, decoded) = loop {
                    match walk.go_on(&frame[..there]) {
                        Walked::Needs(more) => {
                            assert!(more > there && more <= frame.len(), "{more} {there}");
                            there = more;
                        }
                        Walked::Whole { len, decoded } => break (len, decoded),
                        Walked::Corrupt(at) => panic!("corrupt at {at}"),
                    }
                };
                assert_eq!(find_frame_compressed_size(&frame), Ok(len_found));
                assert_eq!(len_found, frame.len());
                assert!(decoded >= len as u64 && decoded <= (len as u64).max(1) + (1 << 20));
            }
        }
    }

    #[test]
    fn short_and_foreign_bytes_are_told_apart() {
        let frame = packed(1000, 3, true);
        for len in 0..6 {
            assert_eq!(start(&frame[..len]), Start::Short, "{len}");
        }
        assert!(matches!(start(&frame), Start::Frame(header) if header.dictionary == 0));
        assert_eq!(start(b"\x5a\x2a\x4d\x18\x05\0\0\0"), Start::Skippable(13));
        assert_eq!(start(b"\x5a\x2a\x4d\x18\xff\xff\xff\xff"), Start::Skippable((1 << 32) + 7));
        assert_eq!(start(b"\x5a\x2a\x4d\x18\x05\0\0"), Start::Short);
        for foreign in
            [&b"\x28\xb5\x2f\xfe"[..], b"\x28\xb6", b"x", b"\x4f\x2a\x4d\x18", b"\0\0\0\0"]
        {
            assert_eq!(start(foreign), Start::Foreign, "{foreign:?}");
        }
        assert_eq!(start(b"\x28\xb5\x2f\xfd\x08"), Start::Reserved);
    }

    #[test]
    fn a_content_size_of_any_length_is_read() {
        for (bytes, content) in [
            (&b"\x28\xb5\x2f\xfd\x00\x00"[..], None),
            (b"\x28\xb5\x2f\xfd\x20\x07", Some(7)),
            (b"\x28\xb5\x2f\xfd\x60\x01\x00", Some(257)),
            (b"\x28\xb5\x2f\xfd\xa0\x01\x00\x00\x00", Some(1)),
            (b"\x28\xb5\x2f\xfd\xe0\x00\x00\x00\x00\x00\x00\x00\x10", Some(1 << 60)),
        ] {
            let Start::Frame(header) = start(bytes) else { panic!("{bytes:?}") };
            assert_eq!((header.content, header.len), (content, bytes.len()));
        }
        let Start::Frame(header) = start(b"\x28\xb5\x2f\xfd\x02\x00\x34\x12") else { panic!() };
        assert_eq!(header.dictionary, 0x1234);
    }
}
