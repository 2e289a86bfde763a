//! Files that were written are read, by us and by the reference, and their bytes equal those of the reference.

use std::collections::BTreeMap;

use swath::sink::Replace;
use swath::{OutputOptions, ReadOptions};
use swath_formats::FormatReason;
use swath_formats::safetensors::{self, Dtype, Tensor, TensorOptions, TensorWriteOptions};
use swath_reference::safetensors as reference;

use super::{assert_same, decoded, in_order, made, none, tensor};

fn views(tensors: &[reference::Tensor]) -> Vec<Tensor<'_>> {
    let view = |tensor: &'_ reference::Tensor| Dtype::of_word(&tensor.dtype).expect("a dtype");
    let each = tensors.iter().map(|tensor| Tensor {
        name: &tensor.name,
        dtype: view(tensor),
        shape: &tensor.shape,
        bytes: &tensor.bytes,
    });
    each.collect()
}

/// Tensors of every dtype, of sizes from empty to more than one chunk.
fn many(seed: u64, most: u64) -> Vec<reference::Tensor> {
    let mut state = seed;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let count = next(30);
    let one = |index: u64| {
        let (dtype, _) = reference::DTYPES[usize::try_from(next(22)).expect("small")];
        // Four elements of any dtype fill whole bytes.
        let shape = [next(most), 4];
        let name = format!("{}/{index}\u{e9}\"\n", next(3));
        let shape = if next(8) == 0 { &[4][..] } else { &shape };
        tensor(&name, dtype, shape, next(1 << 30))
    };
    (0..count).map(one).collect()
}

#[test]
fn what_is_written_is_what_the_reference_writes() {
    for seed in 0..30 {
        let tensors = many(seed, if seed % 10 == 0 { 100_000 } else { 100 });
        let metadata = match seed % 3 {
            0 => none(),
            _ => BTreeMap::from([("format", "pt"), ("é\"\u{1}", "\\/")])
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
        };
        let made = made(b"old");
        let output = OutputOptions::new().with_workers(1 + usize::from(seed % 2 == 0));
        let options = TensorWriteOptions::new().with_output(output);
        let options = options.with_metadata(metadata.clone());
        let written = options.write(&made.path, views(&tensors));
        let bytes = std::fs::read(&made.path).expect("there");
        assert!(bytes == reference::encode(&metadata, &tensors), "seed {seed}");
        assert_eq!(written.expect("written").bytes, bytes.len() as u64);
        let read = safetensors::read([&made.path]).expect("valid");
        let right = decoded(&made.path);
        assert_same(&read, &right.tensors);
        assert_eq!(read.shards()[0].header().metadata(), &right.metadata);
        assert!(read.report().reads.len() <= 1, "as written, all of it is one read");
    }
}

#[test]
fn tensors_of_any_order_are_aligned_in_memory() {
    let mut in_one = 0;
    for seed in 100..160 {
        let tensors = many(seed, if seed % 10 == 0 { 50_000 } else { 50 });
        let made = made(&in_order(&tensors));
        let read = safetensors::read([&made.path]).expect("valid");
        assert_same(&read, &decoded(&made.path).tensors);
        in_one += usize::from(read.report().reads.len() <= 1);
    }
    assert!(in_one < 60, "none of them was out of place");
}

#[test]
fn a_subset_is_read_without_the_rest() {
    let tensors: Vec<_> = (0..40)
        .map(|index| tensor(&format!("t{index}"), "F32", &[50_000 + index], index))
        .collect();
    let made = made(&in_order(&tensors));
    let right = decoded(&made.path).tensors;
    for wanted in [&[3_usize][..], &[0, 1, 2], &[5, 7, 9, 39], &[]] {
        let names = wanted.iter().map(|index| format!("t{index}"));
        let options = TensorOptions::new().with_names(names);
        let read = options.read([&made.path]).expect("valid");
        let right: Vec<_> = wanted.iter().map(|&index| right[index].clone()).collect();
        assert_same(&read, &right);
        let bytes: u64 = right.iter().map(|tensor| tensor.bytes.len() as u64).sum();
        let came: u64 = read.report().reads.iter().map(|report| report.bytes).sum();
        assert_eq!(read.report().bytes, bytes);
        assert!((bytes..=bytes + 7 * wanted.len() as u64).contains(&came), "{came} of {bytes}");
    }
    let missing = TensorOptions::new().with_names(["t1", "u"]);
    let error = missing.read([&made.path]).expect_err("there is no u");
    assert_eq!(error.reason(), FormatReason::Invalid);
    assert!(error.to_string().contains("\"u\""), "{error}");
}

#[test]
fn bytes_can_be_changed_and_parts_kept() {
    let made = made(&in_order(&[tensor("a", "U8", &[3], 1), tensor("b", "U8", &[2], 2)]));
    let mut read = safetensors::read([&made.path]).expect("valid");
    read.bytes_mut("b").expect("there").copy_from_slice(b"xy");
    assert_eq!(read.get("b").expect("there").bytes, b"xy");
    assert!(read.bytes_mut("c").is_none() && read.get("c").is_none());
    let parts = read.into_parts();
    let entry = &parts.entries[1];
    assert_eq!(&parts.memories[entry.memory][entry.place.clone()], b"xy");
}

#[test]
fn what_cannot_be_read_again_is_not_written() {
    let made = made(b"old");
    let ok = Tensor { name: "a", dtype: Dtype::F32, shape: &[1], bytes: b"1234" };
    let write = |tensors: &[Tensor<'_>]| {
        safetensors::write(&made.path, tensors.to_vec()).expect_err("refused")
    };
    for (tensors, says) in [
        (vec![ok, ok], "two tensors are named \"a\""),
        (vec![Tensor { name: "__metadata__", ..ok }], "cannot be named"),
        (vec![Tensor { shape: &[2], ..ok }], "has 4 bytes, but its shape needs 8"),
        (vec![Tensor { shape: &[u64::MAX, 2], ..ok }], "does not fill whole bytes"),
        (vec![Tensor { dtype: Dtype::F4, shape: &[3], bytes: b"12", ..ok }], "whole bytes"),
    ] {
        let error = write(&tensors);
        assert_eq!(error.reason(), FormatReason::Invalid);
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(std::fs::read(&made.path).expect("there"), b"old");
    }
    let output = OutputOptions::new().with_replace(Replace::Refused);
    let options = TensorWriteOptions::new().with_output(output);
    let error = options.write(&made.path, [ok]).expect_err("there");
    assert_eq!(error.reason(), FormatReason::Library);
    assert_eq!(std::fs::read(&made.path).expect("there"), b"old");
}

#[test]
fn a_cancelled_read_or_write_ends_with_an_error() {
    let token = swath::CancelToken::new();
    token.cancel();
    let made = made(&in_order(&[tensor("a", "U8", &[300_000], 1)]));
    let reading = ReadOptions::new().with_cancel(token.clone());
    let options = TensorOptions::new().with_read(reading);
    let error = options.read([&made.path]).expect_err("cancelled");
    let reason = error.library().map(swath::Error::reason);
    assert_eq!(reason, Some(swath::Reason::Cancelled), "{error}");
    let output = OutputOptions::new().with_cancel(token);
    let options = TensorWriteOptions::new().with_output(output);
    let before = std::fs::read(&made.path).expect("there");
    let tensor = Tensor { name: "a", dtype: Dtype::U8, shape: &[1], bytes: b"1" };
    options.write(&made.path, [tensor]).expect_err("cancelled");
    assert!(std::fs::read(&made.path).expect("there") == before);
}
