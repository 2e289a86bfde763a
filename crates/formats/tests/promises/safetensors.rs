//! Files of tensors: reading gives what the slow reference finds, or both reject the file.

mod headers;
mod round_trips;
mod several;
mod streams;
mod trouble;
mod vectors;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use swath_reference::safetensors as reference;

/// A file with a header and data, in a temporary folder.
struct Made {
    folder: tempfile::TempDir,
    path: PathBuf,
}

fn made(bytes: &[u8]) -> Made {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.safetensors");
    std::fs::write(&path, bytes).expect("written");
    Made { folder, path }
}

/// The bytes of a file with exactly this header and these data.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

fn tensor(name: &str, dtype: &str, shape: &[u64], seed: u64) -> reference::Tensor {
    let bits = reference::DTYPES.iter().find(|(word, _)| *word == dtype).expect("a dtype").1;
    let len = shape.iter().product::<u64>() * bits / 8;
    let bytes = swath_reference::bytes(seed, usize::try_from(len).expect("small"));
    let (name, dtype, shape) = (name.to_owned(), dtype.to_owned(), shape.to_vec());
    reference::Tensor { name, dtype, shape, offset: 0, bytes }
}

/// The header and the data of these tensors in this order, without padding.
fn in_order(tensors: &[reference::Tensor]) -> Vec<u8> {
    let (mut members, mut data) = (Vec::new(), Vec::new());
    for reference::Tensor { name, dtype, shape, bytes, .. } in tensors {
        let start = data.len();
        data.extend(bytes);
        members.push(format!(
            "{}:{{\"dtype\":\"{dtype}\",\"shape\":{shape:?},\"data_offsets\":[{start},{}]}}",
            reference::quoted(name),
            data.len()
        ));
    }
    file(&format!("{{{}}}", members.join(",")), &data)
}

/// Checks everything that is known of tensors that were read from one file.
fn assert_same(tensors: &swath_formats::safetensors::Tensors, right: &[reference::Tensor]) {
    assert_eq!(tensors.len(), right.len());
    for ((tensor, entry), right) in tensors.iter().zip(tensors.entries()).zip(right) {
        assert_eq!((tensor.name, tensor.dtype.word()), (&right.name[..], &right.dtype[..]));
        assert_eq!(tensor.shape, right.shape);
        assert!(tensor.bytes == right.bytes, "other bytes of {}", tensor.name);
        assert_eq!(entry.extent.start, right.offset);
        assert_aligned(tensor.bytes, tensor.dtype, tensor.name);
        assert_eq!(tensors.get(tensor.name), Some(tensor));
    }
}

fn assert_aligned(bytes: &[u8], dtype: swath_formats::safetensors::Dtype, name: &str) {
    let alignment = usize::try_from(dtype.alignment()).expect("small");
    let is_aligned = bytes.is_empty() || bytes.as_ptr().addr().is_multiple_of(alignment);
    assert!(is_aligned, "{name} of {dtype} is at {:?}", bytes.as_ptr());
}

fn decoded(path: &Path) -> reference::File {
    reference::read(path).expect("read").expect("valid")
}

fn none() -> BTreeMap<String, String> {
    BTreeMap::new()
}
