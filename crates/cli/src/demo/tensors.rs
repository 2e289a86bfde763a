//! `safetensors`: the input as the tensors of a model in two shards.

use std::fs;
use std::path::PathBuf;
use std::slice::Chunks;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use swath::OutputOptions;
use swath::sink::Durability;
use swath_formats::safetensors::{self, Dtype, Tensor, TensorOrder, TensorWriteOptions};

use super::stage::Stage;
use super::{Limit, Memory, Row, Run, State};

/// Tensors of both shards together.
const COUNT: usize = 100;
const SHARDS: usize = 2;

/// Loads the model; says how long it took, and whether it is the input.
type Way = fn(&[PathBuf], &[u8]) -> Result<(Duration, bool)>;

const WAYS: [(&str, &str, Way); 3] = [
    ("std", "std::fs::read, no header", plain),
    ("auto", "all tensors, two shards", whole),
    ("auto", "each as it is there, last layer first", streamed),
];

pub(super) fn rows(stage: &Stage) -> Result<Vec<Row>> {
    let paths = write(stage)?;
    let row = |(index, (engine, way, how)): (usize, (_, _, Way))| {
        let paths = paths.clone();
        Row {
            capability: "tensors",
            engine,
            way,
            state: State::Warm,
            memory: Memory::Fresh,
            limit: Limit::Copy,
            is_peer: index == 0,
            bytes: None,
            run: Box::new(move |stage| {
                let (elapsed, is_right) = how(&paths, &stage.bytes)?;
                Ok(Run { elapsed, is_right, fallbacks: Vec::new() })
            }),
        }
    };
    Ok(WAYS.into_iter().enumerate().map(row).collect())
}

/// Names that sort as the layers are computed.
fn name(layer: usize) -> String {
    format!("layer.{layer:03}")
}

/// The bytes of each layer of `input`, in order.
fn layers(input: &[u8]) -> Chunks<'_, u8> {
    input.chunks(input.len().div_ceil(COUNT))
}

/// Consecutive layers in each shard.
fn write(stage: &Stage) -> Result<Vec<PathBuf>> {
    let layers: Vec<_> = layers(&stage.bytes).enumerate().collect();
    let mut paths = Vec::new();
    for (shard, layers) in layers.chunks(COUNT.div_ceil(SHARDS)).enumerate() {
        let named: Vec<_> = layers.iter().map(|&(at, bytes)| (name(at), bytes)).collect();
        let shapes: Vec<_> = layers.iter().map(|(_, bytes)| [bytes.len() as u64]).collect();
        let tensors = named.iter().zip(&shapes).map(|((name, bytes), shape)| Tensor {
            name,
            dtype: Dtype::U8,
            shape,
            bytes,
        });
        let path = stage.path.with_file_name(format!("model-{shard}.safetensors"));
        let output = OutputOptions::new().with_durability(Durability::None);
        TensorWriteOptions::new().with_output(output).write(&path, tensors)?;
        paths.push(path);
    }
    Ok(paths)
}

/// What a copying loader does first; nothing is taken apart.
fn plain(paths: &[PathBuf], input: &[u8]) -> Result<(Duration, bool)> {
    let start = Instant::now();
    let files = paths.iter().map(fs::read).collect::<Result<Vec<_>, _>>()?;
    let elapsed = start.elapsed();
    let mut rest = input;
    for file in &files {
        // Behind the header, of which the first eight bytes tell the length.
        let head = file.first_chunk().map_or(0, |head| usize::from_le_bytes(*head) + 8);
        let data = file.get(head..).context("a header is shorter than its file")?;
        let Some(after) = rest.strip_prefix(data) else { return Ok((elapsed, false)) };
        rest = after;
    }
    Ok((elapsed, rest.is_empty()))
}

fn whole(paths: &[PathBuf], input: &[u8]) -> Result<(Duration, bool)> {
    let start = Instant::now();
    let tensors = safetensors::read(paths)?;
    let elapsed = start.elapsed();
    let is_right = layers(input).enumerate().all(|(layer, bytes)| {
        tensors.get(&name(layer)).is_some_and(|tensor| tensor.bytes == bytes)
    });
    Ok((elapsed, is_right && tensors.len() == layers(input).len()))
}

fn streamed(paths: &[PathBuf], input: &[u8]) -> Result<(Duration, bool)> {
    let expected: Vec<_> = layers(input).enumerate().rev().collect();
    let order = TensorOrder::names(expected.iter().map(|&(layer, _)| name(layer)));
    let start = Instant::now();
    let tensors = safetensors::stream(paths, &order)?;
    let tensors = tensors.collect::<Result<Vec<_>, _>>()?;
    let elapsed = start.elapsed();
    let is_right = tensors.len() == expected.len()
        && tensors.iter().zip(expected).all(|(tensor, (layer, bytes))| {
            tensor.name() == name(layer) && tensor.bytes() == bytes
        });
    Ok((elapsed, is_right))
}
