//! The header of a file of tensors, and the proof that it has only one interpretation.
//!
//! ```text
//! | N: 8 bytes | N bytes of JSON, padded with spaces | data: tensors without gaps |
//!               {"name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}, …}
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use super::dtype::Dtype;
use super::json::{self, HeaderText, TensorEntry};
use crate::error::{Error, FormatReason, Result};

/// The longest header in bytes, as the format defines it.
pub(super) const MOST_HEADER: u64 = 100_000_000;
/// Number of bytes before the header, which hold its length.
pub(super) const PREFIX: u64 = 8;

const FETCH: &str = "fetch the file again, or write it again";

/// The header's entry for one tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorInfo {
    /// Its name, which is unique.
    pub name: String,
    /// The type of its elements.
    pub dtype: Dtype,
    /// Elements along each axis; the last axis is contiguous. Empty for a scalar.
    pub shape: Vec<u64>,
    /// The position of its bytes, from the beginning of the data part.
    pub data_offsets: Range<u64>,
}

/// A header that has been checked against the length of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorHeader {
    data_offset: u64,
    metadata: BTreeMap<String, String>,
    tensors: Vec<TensorInfo>,
}

/// Returns the length of the header, from the bytes at its start.
pub(super) fn header_len(path: &Path, start: &[u8], file_len: u64) -> Result<u64> {
    let Some(prefix) = start.first_chunk::<8>() else {
        let detail =
            format!("the file has only {file_len} bytes, but its header takes at least 8");
        return Err(Error::reading(path, FormatReason::Truncated, detail).at(file_len));
    };
    let len = u64::from_le_bytes(*prefix);
    if len > MOST_HEADER {
        let detail =
            format!("the header length is {len} bytes, above the limit of {MOST_HEADER}");
        return Err(Error::reading(path, FormatReason::TooLarge, detail).at(0).hint(IS_IT));
    }
    if file_len - PREFIX < len {
        let detail = format!(
            "the header ends at byte {}, but the file at byte {file_len}",
            PREFIX + len
        );
        return Err(Error::reading(path, FormatReason::Truncated, detail).at(file_len));
    }
    Ok(len)
}

/// Whether JSON counts this byte as white space.
fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

const IS_IT: &str = "run `swath info` on it to see what it holds";

impl TensorHeader {
    /// Parses a header from the first bytes of a file: the length of the header and all of the
    /// header, or more. `path` is only for messages; of the file, only its length `file_len` is
    /// needed.
    ///
    /// ```
    /// use swath_formats::safetensors::TensorHeader;
    ///
    /// let text = br#"{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}"#;
    /// let start = [&(text.len() as u64).to_le_bytes(), &text[..]].concat();
    /// let header = TensorHeader::parse("a".as_ref(), &start, start.len() as u64 + 2)?;
    /// assert_eq!((header.tensors()[0].name.as_str(), header.data_len()), ("a", 2));
    /// # Ok::<(), swath_formats::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`FormatReason::Truncated`] if the file ends before the header or the data;
    /// [`FormatReason::UnknownFormat`] if there is no header; [`FormatReason::TooLarge`] if the
    /// header is longer than 100 MB, or the number of elements of a tensor exceeds 64 bits;
    /// [`FormatReason::Malformed`] for every other fault: UTF-8, JSON, a member that is missing or
    /// duplicate, an unknown dtype, gaps, overlaps, lengths that contradict shapes, bytes after the
    /// last tensor.
    pub fn parse(path: &Path, start: &[u8], file_len: u64) -> Result<Self> {
        // At least these bytes exist, whatever `file_len` is.
        let file_len = file_len.max(start.len() as u64);
        let len = header_len(path, start, file_len)?;
        // The prefix exists: its length was parsed from it.
        let bytes = start.split_first_chunk::<8>().map_or(&[][..], |(_, bytes)| bytes);
        let bytes = usize::try_from(len).ok().and_then(|len| bytes.get(..len));
        let Some(bytes) = bytes else {
            let detail = "these bytes do not contain the whole header";
            return Err(
                Error::reading(path, FormatReason::Truncated, detail).at(start.len() as u64)
            );
        };
        let malformed = |offset: usize, detail: String| {
            let error = Error::reading(path, FormatReason::Malformed, detail);
            error.at(PREFIX + offset as u64).hint(FETCH)
        };
        // The format's description requires the brace to come first; its library allows white space
        // before it.
        if bytes.iter().find(|&&byte| !is_white(byte)) != Some(&b'{') {
            let detail = "the header does not begin with `{`";
            let error = Error::reading(path, FormatReason::UnknownFormat, detail).at(PREFIX);
            return Err(error.quoting(&bytes[..bytes.len().min(16)]).hint(IS_IT));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            malformed(error.valid_up_to(), String::from("the header is not UTF-8"))
        })?;
        let text = json::parse(text).map_err(|(offset, what)| {
            let what = shortened(&what);
            malformed(offset, format!("the header does not follow the format: {what}"))
        })?;
        Self::checked(path, text, PREFIX + len, file_len)
    }

    fn checked(path: &Path, text: HeaderText, data_offset: u64, file_len: u64) -> Result<Self> {
        let HeaderText { metadata, mut tensors } = text;
        // Stable, so that tensors without bytes stay in the order of the header.
        tensors.sort_by_key(|said| said.offsets);
        let mut end = 0;
        for said in &tensors {
            check_place(path, said, end, data_offset)?;
            end = said.offsets.1;
        }
        let data_len = file_len - data_offset;
        if end > data_len {
            let needed = data_offset.saturating_add(end);
            let detail =
                format!("the tensors end at byte {needed}, but the file at byte {file_len}");
            return Err(Error::reading(path, FormatReason::Truncated, detail).at(file_len));
        }
        if end < data_len {
            let extra = data_len - end;
            let s = if extra == 1 { "" } else { "s" };
            let detail = format!("{extra} extra byte{s} after the last tensor");
            let error = Error::reading(path, FormatReason::Malformed, detail);
            return Err(error.at(data_offset + end).hint(FETCH));
        }
        let tensors = tensors.into_iter().map(|said| {
            let TensorEntry { name, dtype, shape, offsets } = said;
            TensorInfo { name, dtype, shape, data_offsets: offsets.0..offsets.1 }
        });
        Ok(Self { data_offset, metadata, tensors: tensors.collect() })
    }

    /// Returns the offset of the data part in the file.
    pub fn data_offset(&self) -> u64 {
        self.data_offset
    }

    /// Returns the metadata of the file.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Returns its tensors, in the order of their bytes.
    pub fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    /// Returns the length of all tensors in bytes.
    pub fn data_len(&self) -> u64 {
        self.tensors.last().map_or(0, |last| last.data_offsets.end)
    }

    /// Returns the position of a tensor of this header in the file.
    pub fn extent(&self, tensor: &TensorInfo) -> Range<u64> {
        let Range { start, end } = tensor.data_offsets;
        self.data_offset.saturating_add(start)..self.data_offset.saturating_add(end)
    }
}

/// Checks that a tensor begins where the one before it ends, and has the length of its shape.
fn check_place(path: &Path, said: &TensorEntry, expected: u64, data_offset: u64) -> Result<()> {
    let TensorEntry { name, dtype, shape, offsets: (start, end) } = said;
    let fail = |reason, detail: String| {
        let name = shortened(&format!("{name:?}")).into_owned();
        let error = Error::reading(path, reason, format!("tensor {name} {detail}"));
        Err(error.at(data_offset.saturating_add(*start)).hint(FETCH))
    };
    if *start != expected || end < start {
        let what = if *start > expected { "there is a gap" } else { "they overlap" };
        let detail = format!(
            "has data_offsets [{start}, {end}], but the tensor before it ends at {expected}: {}",
            if end < start { "it ends before it begins" } else { what }
        );
        return fail(FormatReason::Malformed, detail);
    }
    let Some(count) = shape.iter().try_fold(1_u64, |count, &len| count.checked_mul(len)) else {
        return fail(
            FormatReason::TooLarge,
            format!("with shape {} has too many elements", ShapeText(shape)),
        );
    };
    let Some(bits) = count.checked_mul(dtype.bits()) else {
        return fail(
            FormatReason::TooLarge,
            format!("with shape {} has too many bits", ShapeText(shape)),
        );
    };
    if !bits.is_multiple_of(8) {
        let detail = format!(
            "with dtype {dtype} and shape {} does not fill whole bytes",
            ShapeText(shape)
        );
        return fail(FormatReason::Malformed, detail);
    }
    if bits / 8 != end - start {
        let detail = format!(
            "with dtype {dtype} and shape {} needs {} bytes, but has {} in the file",
            ShapeText(shape),
            bits / 8,
            end - start
        );
        return fail(FormatReason::Malformed, detail);
    }
    Ok(())
}

/// Shortens a text from a file for a message, to 400 bytes.
pub(super) fn shortened(text: &str) -> Cow<'_, str> {
    const MOST: usize = 400;
    if text.len() <= MOST {
        return Cow::Borrowed(text);
    }
    let most = (0..=MOST).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    Cow::Owned(format!("{} …", &text[..most]))
}

/// A shape in a message, limited to a few axes.
struct ShapeText<'s>(&'s [u64]);

impl std::fmt::Display for ShapeText<'_> {
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
        assert!(error.contains("1 extra byte after the last tensor"), "{error}");
        let header = header.replace("[0,1]", "[1,2]");
        let wrong = [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
        let error = TensorHeader::parse(Path::new("x"), &wrong, u64::MAX).expect_err("a hole");
        assert!(
            error.to_string().len() < 700 && error.to_string().contains('\u{e9}'),
            "{error}"
        );
    }
}
