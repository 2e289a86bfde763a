//! Texts in other encodings than UTF-8.

use std::io::Read;

use encoding_rs::{Decoder, DecoderResult, UTF_16BE, UTF_16LE, WINDOWS_1252};
use swath::ReadOptions;

use super::options::Encoding;
use crate::error::{Error, FormatReason, Result};
use crate::input::Text;

/// Bytes that are decoded at a time.
const BLOCK: usize = 256 << 10;
/// What replaces bytes that are not valid: it is not valid in UTF-8 either, so that a field with it
/// is an error if it is read.
const INVALID: u8 = 0xff;

/// Decodes a text from the byte `begin` on.
pub(super) fn decoded(text: &Text, encoding: Encoding, begin: u64) -> Result<Text> {
    let mut decoder = match encoding {
        Encoding::Utf16Le => UTF_16LE.new_decoder_without_bom_handling(),
        Encoding::Utf16Be => UTF_16BE.new_decoder_without_bom_handling(),
        Encoding::Auto | Encoding::Utf8 | Encoding::Latin1 => {
            WINDOWS_1252.new_decoder_without_bom_handling()
        }
    };
    let read = ReadOptions::new().with_offset(begin);
    let mut reader = read.reader(text.source())?;
    let mut bytes = vec![0; BLOCK];
    let mut out = Vec::new();
    loop {
        let len =
            reader.read(&mut bytes).map_err(|error| Error::from_io(error, text.path()))?;
        // Where first bytes are cut, the rest of a character may follow.
        let is_last = len == 0 && !text.is_cut();
        decode(&mut decoder, &bytes[..len], is_last, &mut out)
            .ok_or_else(|| no_memory(text))?;
        if len == 0 {
            return text.replaced(out);
        }
    }
}

fn no_memory(text: &Text) -> Error {
    let detail = "there is not enough memory for the text in UTF-8";
    let error = Error::reading(text.path(), FormatReason::TooLarge, detail);
    error.hint("convert it to a file in UTF-8 first, with `iconv`")
}

/// Appends the decoded bytes; `None` if there is not enough memory.
fn decode(decoder: &mut Decoder, bytes: &[u8], is_last: bool, out: &mut Vec<u8>) -> Option<()> {
    let mut rest = bytes;
    loop {
        let most = decoder.max_utf8_buffer_length_without_replacement(rest.len())?;
        out.try_reserve(most).ok()?;
        let from = out.len();
        out.resize(from + most, 0);
        let (result, read, written) =
            decoder.decode_to_utf8_without_replacement(rest, &mut out[from..], is_last);
        out.truncate(from + written);
        rest = &rest[read..];
        match result {
            DecoderResult::InputEmpty => return Some(()),
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => out.push(INVALID),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_valid_is_not_valid_afterwards_either() {
        let text = |bytes: &[u8], mut decoder: Decoder| {
            let mut out = Vec::new();
            for byte in bytes.chunks(1) {
                decode(&mut decoder, byte, false, &mut out).expect("room");
            }
            decode(&mut decoder, b"", true, &mut out).expect("room");
            out
        };
        let little = || UTF_16LE.new_decoder_without_bom_handling();
        assert_eq!(text(b"a\0\xac\x20", little()), "a\u{20ac}".as_bytes());
        assert_eq!(text(b"a\0\x00\xd8b\0", little()), b"a\xffb");
        assert_eq!(text(b"a\0\x3d\xd8\x00\xde", little()), "a\u{1f600}".as_bytes());
        assert_eq!(text(b"a\0b", little()), b"a\xff");
        let latin = WINDOWS_1252.new_decoder_without_bom_handling();
        assert_eq!(text(b"\xe9\x80\x81", latin), "\u{e9}\u{20ac}\u{81}".as_bytes());
    }
}
