//! What `swath info` says of files of tensors: every tensor, and not a byte of the data is read.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use swath_formats::safetensors::{self, Shard, TensorOptions};

use super::Known;
use crate::report::size_text;

/// The end of a file's name, and of that of a model's index.
const ENDS: [&str; 2] = [".safetensors", ".safetensors.index.json"];

/// Whether it is one, by its name, or by how it begins: a length that can be, then `{\"`, perhaps
/// after white space.
pub(super) fn are_in(path: &Path, head: &[u8]) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let is_named = |name: &String| ENDS.iter().any(|end| name.ends_with(end));
    let begins = head.split_first_chunk::<8>().is_some_and(|(len, text)| {
        len.ends_with(&[0; 3]) && text.trim_ascii_start().starts_with(b"{\"")
    });
    name.as_ref().is_some_and(is_named) || begins
}

pub(super) fn of(path: &Path) -> Result<Known> {
    let shards = safetensors::shards([path], &TensorOptions::new())?;
    let headers = || shards.iter().map(Shard::header);
    let count: usize = headers().map(|header| header.tensors().len()).sum();
    let bytes: u64 = headers().map(|header| header.data_len()).sum();
    let mut known = Known::new("tensors").with("count", count as u64).with("data_bytes", bytes);
    let is_index = shards.iter().any(|shard| shard.path() != path);
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
    let tensors = shards.iter().flat_map(|shard| tensors(shard, is_index));
    Ok(known.with("tensors", tensors.collect::<Vec<_>>()))
}

fn tensors(shard: &Shard, is_index: bool) -> Vec<Value> {
    let header = shard.header();
    let file = shard.path().file_name().map(|name| name.to_string_lossy());
    let each = header.tensors().iter().map(|tensor| {
        let extent = header.extent(tensor);
        let mut value = json!({
            "name": tensor.name,
            "dtype": tensor.dtype.word(),
            "shape": tensor.shape,
            "offset": extent.start,
            "bytes": extent.end - extent.start,
        });
        if is_index {
            value["shard"] = json!(file);
        }
        value
    });
    each.collect()
}

/// A line for each tensor.
pub(super) fn listed(tensors: &[Value]) -> String {
    let mut text = String::new();
    for tensor in tensors {
        let word = |name: &str| tensor[name].as_str().unwrap_or_default();
        let shape = tensor["shape"].to_string().replace(',', ", ");
        let size = size_text(tensor["bytes"].as_u64().unwrap_or(0));
        // A name may have anything in it, also what a terminal would obey.
        let (name, dtype) = (word("name").escape_debug(), word("dtype"));
        text.push_str(&format!("\n    {name}: {dtype} {shape}, {size}"));
        if let Some(shard) = tensor["shard"].as_str() {
            text.push_str(&format!(", in {}", shard.escape_debug()));
        }
    }
    text
}
