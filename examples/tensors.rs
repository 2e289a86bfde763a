//! Reads tensors in the order in which a model needs them, each available as soon as it is
//! complete.
//!
//! `cargo run --release -p swath-examples --example tensors`

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Instant;

use swath_formats::safetensors::{self, Dtype, Tensor, TensorOrder, TensorWriteOptions};

const LAYERS: u16 = 8;
const SHAPE: [u64; 2] = [512, 1024];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let names: Vec<String> = (0..LAYERS).map(|layer| format!("layer.{layer}.weight")).collect();
    let weight = |layer: u16| layer.to_le_bytes().repeat(512 * 1024);

    // Two shards; their order of names differs from the order in which layers are needed.
    let mut paths = Vec::new();
    for (shard, of_shard) in (0..2_u16).zip(names.chunks(4)) {
        let path = folder.path().join(format!("model-{shard}.safetensors"));
        let bytes: Vec<_> = (shard * 4..).take(of_shard.len()).map(weight).collect();
        let tensors = of_shard.iter().zip(&bytes).map(|(name, bytes)| Tensor {
            name,
            dtype: Dtype::Bf16,
            shape: &SHAPE,
            bytes,
        });
        let metadata = BTreeMap::from([(String::from("format"), String::from("pt"))]);
        TensorWriteOptions::new().with_metadata(metadata).write(&path, tensors)?;
        paths.push(path);
    }

    // The last layer is needed first.
    let order = TensorOrder::names(names.iter().rev());
    let started = Instant::now();
    for (layer, tensor) in (0..LAYERS).rev().zip(safetensors::stream(&paths, &order)?) {
        let tensor = tensor?; // the others are still being read
        assert!(tensor.bytes() == weight(layer), "every byte is right");
        println!("{} {:?} after {:.1?}", tensor.name(), tensor.shape(), started.elapsed());
    }
    Ok(())
}
