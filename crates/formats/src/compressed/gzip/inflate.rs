//! Decodes members that are in memory as a whole, and checks their trailers.
//!
//! libdeflate accepts a few streams that zlib refuses, such as one without a code for its end.
//! Their bytes match the checksum and the length in the trailer.

use libdeflater::crc32;
use swath_simd::{InflateTrouble, Inflater};

use super::TRAILER;
use super::header::{HeaderParse, parse};
use crate::compressed::work::{BytesFault, Decode, EncodedFrames};

/// Decodes consecutive whole members.
pub(crate) struct MemberDecoder(Inflater);

impl MemberDecoder {
    /// `None` without memory.
    pub(crate) fn new() -> Option<Self> {
        Inflater::new().map(Self)
    }

    /// Decodes the member at the start of `bytes` and returns its length.
    fn member(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<usize, BytesFault> {
        let wrong = |what: &str| Err(BytesFault::corrupt(0, what));
        let mut at = match parse(bytes) {
            HeaderParse::Header(header) => header.len,
            HeaderParse::Short => return wrong("the member's header is incomplete"),
            HeaderParse::Foreign(what) => return wrong(what),
        };
        let begin = out.len();
        at += match self.0.append_stream(&bytes[at..], out) {
            Ok(len) => len,
            Err(InflateTrouble::NoRoom) => {
                return wrong("the member is longer than its header says");
            }
            Err(InflateTrouble::Damaged) => {
                return wrong("the deflate stream is damaged or ends too early");
            }
        };
        let Some(trailer) = bytes[at..].first_chunk::<TRAILER>() else {
            return wrong("the member is not as long as its header says");
        };
        let decoded = &out[begin..];
        check(*trailer, crc32(decoded), decoded.len() as u64)
            .map_err(|what| BytesFault::corrupt(0, what))?;
        Ok(at + TRAILER)
    }
}

/// Compares a trailer with the decoded bytes.
pub(crate) fn check(trailer: [u8; TRAILER], crc: u32, len: u64) -> Result<(), &'static str> {
    let [c0, c1, c2, c3, l0, l1, l2, l3] = trailer;
    if u32::from_le_bytes([c0, c1, c2, c3]) != crc {
        return Err("the member's checksum is wrong");
    }
    // The length is kept modulo 2^32.
    if u64::from(u32::from_le_bytes([l0, l1, l2, l3])) != len & u64::from(u32::MAX) {
        return Err("the member's length differs from the one in its trailer");
    }
    Ok(())
}

impl Decode for MemberDecoder {
    fn decode(&mut self, encoded: &EncodedFrames, out: &mut Vec<u8>) -> Result<(), BytesFault> {
        // Leave a little room, so that a stream that just fits can end.
        out.try_reserve(encoded.most + 64).map_err(|_| BytesFault::no_memory())?;
        let mut at = 0;
        while at < encoded.bytes.len() {
            let member = self.member(&encoded.bytes[at..], out);
            at += member.map_err(|wrong| BytesFault { at: at + wrong.at, ..wrong })?;
        }
        match out.len() > encoded.most {
            true => Err(BytesFault::corrupt(0, "the member is longer than its header says")),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compressed::frame::Encode;
    use crate::compressed::gzip::{GzipEncoder, MemberKind};

    fn decoded(bytes: Vec<u8>, most: usize) -> Result<Vec<u8>, BytesFault> {
        let mut out = Vec::new();
        MemberDecoder::new()
            .unwrap()
            .decode(&EncodedFrames { offset: 0, bytes, most, cut: None }, &mut out)?;
        Ok(out)
    }

    fn member(block: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        GzipEncoder::new(6, MemberKind::Sized).unwrap().encode(block, &mut out).unwrap();
        out
    }

    #[test]
    fn members_one_behind_the_other_are_decoded_as_one() {
        let bytes = [member(b"one "), member(b""), member(b"two")].concat();
        assert_eq!(decoded(bytes, 7).expect("three members"), b"one two");
    }

    #[test]
    fn a_member_that_is_not_what_it_says_is_refused() {
        let whole = member(b"some text, some text");
        for at in 20..whole.len() {
            let mut wrong = whole.clone();
            wrong[at] ^= 0x10;
            // The bits that pad the last byte have no meaning.
            match decoded(wrong, 20) {
                Ok(plain) => assert_eq!(plain, b"some text, some text", "{at}"),
                Err(wrong) => assert_eq!(wrong.at, 0),
            }
        }
        for len in 0..whole.len() {
            let short = decoded(whole[..len].to_vec(), 20);
            assert!(if len == 0 { short.is_ok() } else { short.is_err() }, "{len}");
        }
        assert!(decoded(whole.clone(), 19).is_err(), "more than the header says");
        let hidden = [&whole[..], b"\0"].concat();
        assert_eq!(decoded(hidden, 20).expect_err("a byte after it").at, whole.len());
    }
}
