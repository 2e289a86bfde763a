//! `safetensors`: the input as the tensors of a model in two shards.

use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use std::slice::Chunks;

use anyhow::{Context, Result};
use swath::OutputOptions;
use swath::sink::Durability;
use swath_formats::safetensors::{self, Dtype, Tensor, TensorOrder, TensorWriteOptions};
use swath_study::measure::Meter;

use super::row::{About, DemoRow};
use super::stage::Stage;

/// Tensors of both shards together.
const COUNT: usize = 100;
const SHARDS: usize = 2;

/// Loads the model; returns whether it is the input.
type TensorWay = fn(&[PathBuf], &[u8], &mut Meter) -> Result<bool>;

const WAYS: [(&str, &str, TensorWay); 3] = [
    ("std::fs::read", "no header", plain),
    ("auto", "all tensors, two shards", whole),
    ("auto", "one by one, last layer first", streamed),
];

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let paths = write(stage)?;
    let row = |(index, (engine, way, how)): (usize, (_, _, TensorWay))| {
        let paths = paths.clone();
        let about = About { is_peer: index == 0, ..About::warm("tensors", engine, way) };
        DemoRow::new(stage, about, move |stage, meter| how(&paths, &stage.bytes, meter))
    };
    Ok(WAYS.into_iter().enumerate().map(row).collect())
}

/// Returns names that sort in the order of the layers.
fn name(layer: usize) -> String {
    format!("layer.{layer:03}")
}

/// Returns the bytes of each layer of `input`, in order.
fn layers(input: &[u8]) -> Chunks<'_, u8> {
    input.chunks(input.len().div_ceil(COUNT))
}

/// Writes shards of consecutive layers.
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
        let path = stage.beside(&format!("model-{shard}.safetensors"));
        let output = OutputOptions::new().with_durability(Durability::None);
        TensorWriteOptions::new().with_output(output).write(&path, tensors)?;
        paths.push(path);
    }
    Ok(paths)
}

/// Reads whole files: the first step of a loader that copies,
/// without parsing.
fn plain(paths: &[PathBuf], input: &[u8], meter: &mut Meter) -> Result<bool> {
    let files = || paths.iter().map(fs::read).collect::<Result<Vec<_>, _>>();
    let files = meter.measure(files)??;
    let mut rest = input;
    for file in &files {
        // After the header, whose first eight bytes are its length.
        let head = file.first_chunk().map_or(0, |head| usize::from_le_bytes(*head) + 8);
        let data = file.get(head..).context("a header is shorter than its file")?;
        let Some(after) = rest.strip_prefix(data) else { return Ok(false) };
        rest = after;
    }
    Ok(rest.is_empty())
}

fn whole(paths: &[PathBuf], input: &[u8], meter: &mut Meter) -> Result<bool> {
    let tensors = meter.measure(|| safetensors::read(paths))??;
    let is_right = layers(input).enumerate().all(|(layer, bytes)| {
        tensors.get(&name(layer)).is_some_and(|tensor| tensor.bytes == bytes)
    });
    Ok(is_right && tensors.len() == layers(input).len())
}

fn streamed(paths: &[PathBuf], input: &[u8], meter: &mut Meter) -> Result<bool> {
    let expected: Vec<_> = layers(input).enumerate().rev().collect();
    let order = TensorOrder::names(expected.iter().map(|&(layer, _)| name(layer)));
    let all = || safetensors::stream(paths, &order)?.collect::<Result<Vec<_>, _>>();
    let tensors = meter.measure(all)??;
    let is_right = tensors.len() == expected.len()
        && tensors.iter().zip(expected).all(|(tensor, (layer, bytes))| {
            tensor.name() == name(layer) && tensor.bytes() == bytes
        });
    Ok(is_right)
}
