//! What is in a file of tensors, and that it cannot be anything else.
//!
//! ```text
//! | N: 8 bytes | N bytes of JSON, spaces at the end | data: tensor behind tensor, no hole |
//!               {"name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}, …}
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use super::dtype::Dtype;
use super::json::{self, Said, Text};
use crate::error::{Error, FormatReason, Result};

/// Bytes that a header may have at most, as the format says.
pub(super) const MOST_HEADER: u64 = 100_000_000;
/// Bytes before the header: its length.
pub(super) const PREFIX: u64 = 8;

const FETCH: &str = "fetch it again, or have it written again";

/// What a header says of one tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorInfo {
    /// Its name, of which there is one.
    pub name: String,
    /// What its elements are.
    pub dtype: Dtype,
    /// Elements along each axis, the last one densest; none for a scalar.
    pub shape: Vec<u64>,
    /// Its bytes, from the beginning of the data part on.
    pub data_offsets: Range<u64>,
}

/// A header that has been checked against the length of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorHeader {
    data_offset: u64,
    metadata: BTreeMap<String, String>,
    tensors: Vec<TensorInfo>,
}

/// How long the header is that begins with these bytes, without them.
pub(super) fn header_len(path: &Path, start: &[u8], file_len: u64) -> Result<u64> {
    let Some(prefix) = start.first_chunk::<8>() else {
        let detail = format!("it has {file_len} bytes, and begins with 8 for its header");
        return Err(Error::reading(path, FormatReason::Truncated, detail).at(file_len));
    };
    let len = u64::from_le_bytes(*prefix);
    if len > MOST_HEADER {
        let detail =
            format!("its header has {len} bytes, as it says, and at most {MOST_HEADER} may be");
        return Err(Error::reading(path, FormatReason::TooLarge, detail).at(0).hint(IS_IT));
    }
    if file_len - PREFIX < len {
        let detail = format!("its header ends at byte {}, it at {file_len}", PREFIX + len);
        return Err(Error::reading(path, FormatReason::Truncated, detail).at(file_len));
    }
    Ok(len)
}

/// White space as JSON has it.
fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

const IS_IT: &str = "is it a safetensors file?";

impl TensorHeader {
    /// Takes the first bytes of a file apart: the length of the header and all of the header, or
    /// more. `path` is for messages; of the file, `file_len` is all that is asked.
    ///
    /// # Errors
    ///
    /// [`FormatReason::Truncated`] if the file ends before the header or the data do;
    /// [`FormatReason::UnknownFormat`] if there is no header; [`FormatReason::TooLarge`] if it is longer than
    /// 100 MB, or a tensor has more elements than can be counted; [`FormatReason::Malformed`] for
    /// everything else that is wrong: UTF-8, JSON, a member that is missing or there twice, a
    /// dtype that nobody knows, holes, overlaps, lengths that contradict shapes, bytes behind the
    /// last tensor.
    pub fn parse(path: &Path, start: &[u8], file_len: u64) -> Result<Self> {
        // At least these bytes are there, whatever is said of the file.
        let file_len = file_len.max(start.len() as u64);
        let len = header_len(path, start, file_len)?;
        // The prefix is there: its length was read from it.
        let bytes = start.split_first_chunk::<8>().map_or(&[][..], |(_, bytes)| bytes);
        let bytes = usize::try_from(len).ok().and_then(|len| bytes.get(..len));
        let Some(bytes) = bytes else {
            let detail = "these are not all bytes of the header";
            return Err(
                Error::reading(path, FormatReason::Truncated, detail).at(start.len() as u64)
            );
        };
        let malformed = |offset: usize, detail: String| {
            let error = Error::reading(path, FormatReason::Malformed, detail);
            error.at(PREFIX + offset as u64).hint(FETCH)
        };
        // The format's description wants the brace first; its library lets white space stand there.
        if bytes.iter().find(|&&byte| !is_white(byte)) != Some(&b'{') {
            let detail = "its header does not begin with `{`";
            let error = Error::reading(path, FormatReason::UnknownFormat, detail).at(PREFIX);
            return Err(error.quoting(&bytes[..bytes.len().min(16)]).hint(IS_IT));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            malformed(error.valid_up_to(), String::from("its header is not UTF-8"))
        })?;
        let text = json::parse(text).map_err(|(offset, what)| {
            let what = shortened(&what);
            malformed(offset, format!("its header is not what the format asks for: {what}"))
        })?;
        Self::checked(path, text, PREFIX + len, file_len)
    }

    fn checked(path: &Path, text: Text, data_offset: u64, file_len: u64) -> Result<Self> {
        let Text { metadata, mut tensors } = text;
        // Stable: tensors without bytes stay in the order of the header.
        tensors.sort_by_key(|said| said.offsets);
        let mut end = 0;
        for said in &tensors {
            check_place(path, said, end, data_offset)?;
            end = said.offsets.1;
        }
        let data_len = file_len - data_offset;
        if end > data_len {
            let needed = data_offset.saturating_add(end);
            let detail = format!("its tensors end at byte {needed}, it at {file_len}");
            return Err(Error::reading(path, FormatReason::Truncated, detail).at(file_len));
        }
        if end < data_len {
            let detail = format!("{} bytes behind the last tensor", data_len - end);
            let error = Error::reading(path, FormatReason::Malformed, detail);
            return Err(error.at(data_offset + end).hint(FETCH));
        }
        let tensors = tensors.into_iter().map(|said| {
            let Said { name, dtype, shape, offsets } = said;
            TensorInfo { name, dtype, shape, data_offsets: offsets.0..offsets.1 }
        });
        Ok(Self { data_offset, metadata, tensors: tensors.collect() })
    }

    /// Where the data part begins in the file.
    pub fn data_offset(&self) -> u64 {
        self.data_offset
    }

    /// What whoever wrote it says of all of it.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Its tensors, in the order of their bytes.
    pub fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    /// Bytes of all tensors.
    pub fn data_len(&self) -> u64 {
        self.tensors.last().map_or(0, |last| last.data_offsets.end)
    }

    /// The bytes of a tensor of this header, from the beginning of the file on.
    pub fn extent(&self, tensor: &TensorInfo) -> Range<u64> {
        let Range { start, end } = tensor.data_offsets;
        self.data_offset.saturating_add(start)..self.data_offset.saturating_add(end)
    }
}

/// Whether a tensor begins where the one before ends, and is as long as its shape.
fn check_place(path: &Path, said: &Said, expected: u64, data_offset: u64) -> Result<()> {
    let Said { name, dtype, shape, offsets: (start, end) } = said;
    let fail = |reason, detail: String| {
        let name = shortened(&format!("{name:?}")).into_owned();
        let error = Error::reading(path, reason, format!("tensor {name} {detail}"));
        Err(error.at(data_offset.saturating_add(*start)).hint(FETCH))
    };
    if *start != expected || end < start {
        let what = if *start > expected { "a hole before it" } else { "an overlap" };
        let detail = format!(
            "has data_offsets [{start}, {end}], and the one before ends at {expected}: {}",
            if end < start { "it ends before it begins" } else { what }
        );
        return fail(FormatReason::Malformed, detail);
    }
    let Some(count) = shape.iter().try_fold(1_u64, |count, &len| count.checked_mul(len)) else {
        return fail(
            FormatReason::TooLarge,
            format!("of shape {} has too many elements", Shape(shape)),
        );
    };
    let Some(bits) = count.checked_mul(dtype.bits()) else {
        return fail(
            FormatReason::TooLarge,
            format!("of shape {} has too many bits", Shape(shape)),
        );
    };
    if !bits.is_multiple_of(8) {
        let detail = format!("of {dtype} and shape {} fills no whole bytes", Shape(shape));
        return fail(FormatReason::Malformed, detail);
    }
    if bits / 8 != end - start {
        let detail = format!(
            "of {dtype} and shape {} has {} bytes, and {} in the file",
            Shape(shape),
            bits / 8,
            end - start
        );
        return fail(FormatReason::Malformed, detail);
    }
    Ok(())
}

/// What a file says, for a message: at most 400 bytes of it.
pub(super) fn shortened(text: &str) -> Cow<'_, str> {
    const MOST: usize = 400;
    if text.len() <= MOST {
        return Cow::Borrowed(text);
    }
    let most = (0..=MOST).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    Cow::Owned(format!("{} …", &text[..most]))
}

/// A shape in a message: at most so many axes of it.
struct Shape<'s>(&'s [u64]);

impl std::fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const MOST: usize = 8;
        f.write_str("[")?;
        for (axis, len) in self.0.iter().take(MOST).enumerate() {
            write!(f, "{}{len}", if axis == 0 { "" } else { ", " })?;
        }
        f.write_str(if self.0.len() > MOST { ", …]" } else { "]" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_there_count_more_than_what_is_said_of_them() {
        let (path, bytes) = (Path::new("x"), b"\x02\0\0\0\0\0\0\0{}");
        assert_eq!(
            TensorHeader::parse(path, bytes, 0).expect("nothing is wrong").data_offset(),
            10
        );
        let error = TensorHeader::parse(path, &bytes[..9], 10).expect_err("a byte less");
        assert_eq!((error.reason(), error.offset()), (FormatReason::Truncated, Some(9)));
    }

    #[test]
    fn messages_are_short_whatever_a_file_says() {
        let name = "\u{e9}".repeat(1000);
        let header = format!(
            r#"{{"{name}":{{"dtype":"U8","shape":{:?},"data_offsets":[0,1]}}}}"#,
            [1; 100]
        );
        let bytes = [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
        let error =
            TensorHeader::parse(Path::new("x"), &bytes, bytes.len() as u64).expect_err("cut");
        assert_eq!(error.reason(), FormatReason::Truncated);
        let error = TensorHeader::parse(Path::new("x"), &bytes, bytes.len() as u64 + 2);
        let error = error.expect_err("a byte more").to_string();
        assert!(error.contains("1 bytes behind"), "{error}");
        let header = header.replace("[0,1]", "[1,2]");
        let wrong = [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
        let error = TensorHeader::parse(Path::new("x"), &wrong, u64::MAX).expect_err("a hole");
        assert!(
            error.to_string().len() < 700 && error.to_string().contains('\u{e9}'),
            "{error}"
        );
    }
}
