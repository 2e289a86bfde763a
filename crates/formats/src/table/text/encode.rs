//! Texts in encodings other than UTF-8.

use std::io::Read;

use encoding_rs::{Decoder, DecoderResult, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use swath::ReadOptions;

use crate::error::{Error, FormatReason, Result};
use crate::input::{Flaws, InputText};
use crate::table::options::{Encoding, EncodingErrors};

/// Bytes that are decoded at a time.
const BLOCK: usize = 256 << 10;
/// The byte that replaces invalid bytes if those are an error. It is not valid in UTF-8 either, so
/// a field with it is an error if it is read.
const INVALID: u8 = 0xff;

/// A text being decoded.
struct Decoding {
    decoder: Decoder,
    errors: EncodingErrors,
    /// Bytes of the file that the decoder has taken.
    taken: u64,
    out: Vec<u8>,
    /// The invalid bytes: their places in the file or, if they are replaced, in the text.
    flaws: Flaws,
}

/// Decodes a text, starting at byte `begin`.
pub(in crate::table) fn decoded(
    text: &InputText,
    encoding: Encoding,
    errors: EncodingErrors,
    begin: u64,
) -> Result<InputText> {
    let mut decoding = Decoding::new(encoding, errors, begin);
    each_block(text, begin, |bytes, is_last| decoding.take(bytes, is_last))?;
    text.decoded(decoding.out, decoding.flaws)
}

/// Whether a text, starting at byte `begin`, is UTF-8.
pub(in crate::table) fn is_utf_8(text: &InputText, begin: u64) -> Result<bool> {
    let mut decoding = Decoding::new(Encoding::Utf8, EncodingErrors::Refuse, begin);
    each_block(text, begin, |bytes, is_last| {
        decoding.out.clear();
        // The first invalid byte is enough.
        if decoding.flaws.count > 0 { Some(()) } else { decoding.take(bytes, is_last) }
    })?;
    Ok(decoding.flaws.count == 0)
}

/// Passes a text block by block to `take`, which returns `None` if there is not enough memory.
fn each_block(
    text: &InputText,
    begin: u64,
    mut take: impl FnMut(&[u8], bool) -> Option<()>,
) -> Result<()> {
    let read = ReadOptions::new().with_offset(begin);
    let mut reader = read.reader(text.source())?;
    let mut bytes = vec![0; BLOCK];
    loop {
        let len =
            reader.read(&mut bytes).map_err(|error| Error::from_io(error, text.path()))?;
        // If only the first bytes are there, the rest of a character may follow.
        let is_last = len == 0 && !text.is_cut();
        take(&bytes[..len], is_last).ok_or_else(|| no_memory(text))?;
        if len == 0 {
            return Ok(());
        }
    }
}

fn no_memory(text: &InputText) -> Error {
    let detail = "there is not enough memory for the text in UTF-8";
    let error = Error::reading(text.path(), FormatReason::OutOfMemory, detail);
    error.hint("convert it to a file in UTF-8 first, with `iconv`")
}

impl Decoding {
    fn new(encoding: Encoding, errors: EncodingErrors, begin: u64) -> Self {
        let standard = match encoding {
            Encoding::Auto | Encoding::Utf8 => UTF_8,
            Encoding::Latin1 => WINDOWS_1252,
            Encoding::Utf16Le => UTF_16LE,
            Encoding::Utf16Be => UTF_16BE,
            Encoding::Other(other) => other.0,
        };
        let decoder = standard.new_decoder_without_bom_handling();
        let flaws = Flaws::new(encoding.to_string());
        Self { decoder, errors, taken: begin, out: Vec::new(), flaws }
    }

    /// Appends the decoded bytes; `None` if there is not enough memory.
    fn take(&mut self, bytes: &[u8], is_last: bool) -> Option<()> {
        let mut rest = bytes;
        loop {
            let most = self.decoder.max_utf8_buffer_length_without_replacement(rest.len())?;
            self.out.try_reserve(most).ok()?;
            let from = self.out.len();
            self.out.resize(from + most, 0);
            let (result, read, written) = self.decoder.decode_to_utf8_without_replacement(
                rest,
                &mut self.out[from..],
                is_last,
            );
            self.out.truncate(from + written);
            rest = &rest[read..];
            self.taken += read as u64;
            match result {
                DecoderResult::InputEmpty => return Some(()),
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(len, after) => self.flaw(len + after)?,
            }
        }
    }

    /// Replaces invalid bytes, or records their place: the first is `before` bytes back.
    fn flaw(&mut self, before: u8) -> Option<()> {
        match self.errors {
            EncodingErrors::Refuse => {
                self.flaws.push(self.taken - u64::from(before))?;
                self.out.push(INVALID);
            }
            EncodingErrors::Replace => {
                self.flaws.push(self.out.len() as u64)?;
                self.out.extend_from_slice("\u{fffd}".as_bytes());
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_valid_is_not_valid_afterwards_either_and_has_its_place() {
        let text = |bytes: &[u8], encoding: Encoding| {
            let mut decoding = Decoding::new(encoding, EncodingErrors::Refuse, 2);
            for byte in bytes.chunks(1) {
                decoding.take(byte, false).expect("room");
            }
            decoding.take(b"", true).expect("room");
            (decoding.out, decoding.flaws.at(0))
        };
        let little = |bytes| text(bytes, Encoding::Utf16Le);
        assert_eq!(little(b"a\0\xac\x20"), ("a\u{20ac}".into(), None));
        assert_eq!(little(b"a\0\x00\xd8b\0"), (b"a\xffb".to_vec(), Some(4)));
        assert_eq!(little(b"a\0\x3d\xd8\x00\xde"), ("a\u{1f600}".into(), None));
        assert_eq!(little(b"a\0b"), (b"a\xff".to_vec(), Some(4)));
        assert_eq!(
            text(b"\xe9\x80\x81", Encoding::Latin1),
            ("\u{e9}\u{20ac}\u{81}".into(), None)
        );
        let sjis = "shift_jis".parse().expect("an encoding");
        assert_eq!(
            text(b"\x83\x5c,\x83,\xff\xb1", sjis),
            (b"\xe3\x82\xbd,\xff,\xff\xef\xbd\xb1".to_vec(), Some(5))
        );
    }
}
