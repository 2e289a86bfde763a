//! Writes tensors to a file that is complete under its name, or absent.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use serde::Serializer as _;
use serde::ser::SerializeMap;
use swath::{WriteOptions, Written};

use super::header::{MOST_HEADER, shortened};
use super::json::METADATA;
use super::load::Tensor;
use super::options::TensorWriteOptions;
use crate::error::{Error, FormatReason, Result};

/// The header is padded with spaces to a multiple of this, so that the data are aligned.
const UNIT: usize = 8;

pub(super) fn write(
    path: &Path,
    tensors: Vec<Tensor<'_>>,
    options: &TensorWriteOptions,
) -> Result<Written> {
    let mut tensors = tensors;
    // Wide elements first: then all are aligned, whatever their shapes.
    tensors.sort_by(|left, right| {
        right.dtype.cmp(&left.dtype).then_with(|| left.name.cmp(right.name))
    });
    check(path, &tensors)?;
    let header = header(&tensors, &options.metadata)
        .map_err(|error| Error::writing(path, FormatReason::Invalid, error.to_string()))?;
    if header.len() as u64 > MOST_HEADER {
        let detail = format!(
            "the header would have {} bytes, above the limit of {MOST_HEADER}",
            header.len()
        );
        return Err(Error::writing(path, FormatReason::TooLarge, detail)
            .hint("write fewer tensors to each file, or less metadata"));
    }
    let prefix = (header.len() as u64).to_le_bytes();
    let mut parts: Vec<&[u8]> = vec![&prefix, header.as_bytes()];
    parts.extend(tensors.iter().map(|tensor| tensor.bytes));
    let writing = WriteOptions::new().with_output(options.output.clone());
    Ok(writing.write_parts(path, &parts)?)
}

/// Checks that each tensor has a unique name and the number of bytes of its shape.
fn check(path: &Path, tensors: &[Tensor<'_>]) -> Result<()> {
    let mut names = HashSet::new();
    for &Tensor { name, dtype, shape, bytes } in tensors {
        let shown = shortened(name);
        let invalid = |detail: String| Error::writing(path, FormatReason::Invalid, detail);
        if name == METADATA {
            let detail = format!("a tensor cannot be named {METADATA:?}");
            return Err(invalid(detail).hint("choose another name"));
        }
        if !names.insert(name) {
            return Err(invalid(format!("two tensors are named {shown:?}"))
                .hint("give each tensor a unique name"));
        }
        let Some(needed) = dtype.bytes(shape) else {
            let detail = format!(
                "tensor {shown:?} with dtype {dtype} does not fill whole bytes, or is too large"
            );
            return Err(invalid(detail).hint("check its shape"));
        };
        if needed != bytes.len() as u64 {
            let len = bytes.len();
            let detail =
                format!("tensor {shown:?} has {len} bytes, but its shape needs {needed}");
            return Err(invalid(detail).hint("check its dtype and shape"));
        }
    }
    Ok(())
}

fn header(
    tensors: &[Tensor<'_>],
    metadata: &BTreeMap<String, String>,
) -> serde_json::Result<String> {
    let mut text = Vec::new();
    let mut json = serde_json::Serializer::new(&mut text);
    let mut map = json.serialize_map(None)?;
    if !metadata.is_empty() {
        map.serialize_entry(METADATA, metadata)?;
    }
    let mut start = 0;
    for &Tensor { name, dtype, shape, bytes } in tensors {
        let end = start + bytes.len();
        map.serialize_entry(
            name,
            &HeaderEntry { dtype: dtype.word(), shape, data_offsets: (start, end) },
        )?;
        start = end;
    }
    map.end()?;
    text.resize(text.len().next_multiple_of(UNIT), b' ');
    String::from_utf8(text).map_err(serde::ser::Error::custom)
}

/// One tensor in a header, with its members in order.
#[derive(serde::Serialize)]
struct HeaderEntry<'t> {
    dtype: &'t str,
    shape: &'t [u64],
    data_offsets: (usize, usize),
}
