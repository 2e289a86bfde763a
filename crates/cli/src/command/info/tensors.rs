//! The report of `swath info` about files of tensors: every tensor. No data is read.

use std::path::Path;

use anyhow::Result;
use serde::{Serialize, Serializer};
use serde_json::Value;
use swath_formats::FileFormat;
use swath_formats::safetensors::{self, Shard};

use super::Known;
use crate::output::print;
use crate::report::size_text;

/// The ends of the names of a file and of a model's index.
const ENDS: [&str; 2] = [".safetensors", ".safetensors.index.json"];

/// Whether a file has tensors, by its name or its first bytes.
pub(super) fn are_in(path: &Path, head: &[u8]) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let is_named = |name: &String| ENDS.iter().any(|end| name.ends_with(end));
    name.as_ref().is_some_and(is_named)
        || FileFormat::detect(head) == Some(FileFormat::SAFETENSORS)
}

pub(super) fn of(file: &swath::Input) -> Result<Known> {
    let shards = safetensors::shards([file])?;
    let headers = || shards.iter().map(Shard::header);
    let count: usize = headers().map(|header| header.tensors().len()).sum();
    let bytes: u64 = headers().map(|header| header.data_len()).sum();
    let mut known = Known::new("tensors").with("count", count as u64).with("data_bytes", bytes);
    let is_index = shards.iter().any(|shard| shard.path() != file.name());
    if is_index {
        known = known.with("shards", shards.len() as u64);
    }
    let metadata: serde_json::Map<_, _> = headers()
        .flat_map(|header| header.metadata())
        .map(|(key, value)| (key.clone(), Value::from(value.as_str())))
        .collect();
    if !metadata.is_empty() {
        known = known.with("metadata", metadata);
    }
    known.tensors = Some(TensorListing { shards, is_index });
    Ok(known)
}

/// The tensors of some files, possibly millions, listed one after the other.
pub(super) struct TensorListing {
    shards: Vec<Shard>,
    is_index: bool,
}

#[derive(Serialize)]
struct TensorRow<'s> {
    name: &'s str,
    dtype: &'s str,
    shape: &'s [u64],
    offset_bytes: u64,
    bytes: u64,
    /// The file of the tensor, if there are several files.
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<&'s str>,
}

impl Serialize for TensorListing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.each())
    }
}

impl TensorListing {
    fn each(&self) -> impl Iterator<Item = TensorRow<'_>> {
        self.shards.iter().flat_map(move |shard| {
            let header = shard.header();
            let file = shard.path().file_name().and_then(|name| name.to_str());
            header.tensors().iter().map(move |tensor| {
                let extent = header.extent(tensor);
                TensorRow {
                    name: &tensor.name,
                    dtype: tensor.dtype.word(),
                    shape: &tensor.shape,
                    offset_bytes: extent.start,
                    bytes: extent.end - extent.start,
                    shard: file.filter(|_| self.is_index),
                }
            })
        })
    }

    /// Prints a line for each tensor.
    pub(super) fn print(&self) -> Result<()> {
        /// Bytes that are printed at one time.
        const MANY: usize = 1 << 16;
        let mut text = String::from("  tensors:\n");
        for tensor in self.each() {
            let shape = format!("{:?}", tensor.shape);
            let size = size_text(tensor.bytes);
            // A name may contain any text, even control sequences for the terminal.
            let (name, dtype) = (tensor.name.escape_debug(), tensor.dtype);
            text.push_str(&format!("    {name}: {dtype} {shape}, {size}"));
            if let Some(shard) = tensor.shard {
                text.push_str(&format!(", in {}", shard.escape_debug()));
            }
            text.push('\n');
            if text.len() > MANY {
                print(&text)?;
                text.clear();
            }
        }
        Ok(print(text)?)
    }
}
