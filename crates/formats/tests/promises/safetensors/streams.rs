//! Streams return the same tensors as reads, in the requested order.

use std::collections::BTreeMap;
use std::path::PathBuf;

use swath::{CancelToken, ReadOptions};
use swath_formats::FormatReason;
use swath_formats::safetensors::{self, TensorOptions, TensorOrder};
use swath_reference::safetensors as reference;

use super::{assert_aligned, decoded, in_order, tensor};

/// Shards with tensors of all sizes, in an order that aligns few of them, and their contents.
fn shards(count: u64) -> (tempfile::TempDir, Vec<PathBuf>, Vec<reference::Tensor>) {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut paths, mut right) = (Vec::new(), Vec::new());
    for shard in 0..count {
        let dtypes = ["U8", "F32", "BF16", "F64", "F8_E4M3"];
        let each = (0..25_u64).map(|index| {
            let dtype = dtypes[usize::try_from((index * 7 + shard) % 5).expect("small")];
            let len =
                [0, 1, 13, 1001, 70_001, 300_007][usize::try_from(index % 6).expect("small")];
            tensor(&format!("{shard}/{index}"), dtype, &[len], shard * 100 + index)
        });
        let path = folder.path().join(format!("{shard}.safetensors"));
        std::fs::write(&path, in_order(&each.collect::<Vec<_>>())).expect("written");
        right.extend(decoded(&path).tensors);
        paths.push(path);
    }
    (folder, paths, right)
}

#[test]
fn tensors_come_in_order_with_their_bytes_aligned() {
    let (_folder, paths, right) = shards(3);
    let by_name: BTreeMap<_, _> = right.iter().map(|one| (one.name.as_str(), one)).collect();
    let urgent = ["2/24", "0/5", "1/0", "2/24", "1/11"];
    let first = ["2/24", "0/5", "1/0", "1/11"];
    for (order, expected) in
        [(TensorOrder::File, &[][..]), (TensorOrder::names(urgent), &first)]
    {
        for workers in [1, 2, 5] {
            let read = ReadOptions::new().with_workers(workers);
            let options = TensorOptions::new().with_read(read);
            let stream = options.stream(&paths, &order).expect("started");
            let kept: Vec<_> = stream.map(|tensor| tensor.expect("there")).collect();
            let rest = right.iter().map(|tensor| tensor.name.as_str());
            let rest = rest.filter(|name| !expected.contains(name));
            let names: Vec<_> = expected.iter().copied().chain(rest).collect();
            let came: Vec<_> = kept.iter().map(|tensor| tensor.name()).collect();
            assert_eq!(came, names);
            for tensor in &kept {
                let right = by_name[tensor.name()];
                assert_eq!(tensor.dtype().word(), right.dtype);
                assert_eq!(tensor.shape(), right.shape);
                assert!(tensor.bytes() == right.bytes, "other bytes of {}", tensor.name());
                assert_eq!(tensor.tensor().name, tensor.name());
                assert!(
                    paths[tensor.shard()].ends_with(format!("{}.safetensors", tensor.shard()))
                );
                assert_aligned(tensor.bytes(), tensor.dtype(), tensor.name());
            }
        }
    }
}

#[test]
fn a_subset_is_streamed_without_the_rest() {
    let (_folder, paths, right) = shards(2);
    let options = TensorOptions::new().with_names(["1/5", "0/3", "0/23", "0/0"]);
    let order = TensorOrder::names(["1/5"]);
    let stream = options.stream(&paths, &order).expect("started");
    let kept: Vec<_> = stream.map(|tensor| tensor.expect("there")).collect();
    let names: Vec<_> = kept.iter().map(|tensor| tensor.name()).collect();
    assert_eq!(names, ["1/5", "0/0", "0/3", "0/23"]);
    for tensor in kept {
        let right = right.iter().find(|right| right.name == tensor.name()).expect("known");
        assert_aligned(tensor.bytes(), tensor.dtype(), tensor.name());
        assert!(tensor.into_bytes() == right.bytes);
    }
}

#[test]
fn names_that_are_not_read_are_refused_and_others_found_at_any_time() {
    let (_folder, paths, right) = shards(1);
    let options = TensorOptions::new();
    let error = options.stream(&paths, &TensorOrder::names(["x"])).expect_err("no x");
    assert_eq!(error.reason(), FormatReason::Invalid);
    let stream = options.stream(&paths, &TensorOrder::File).expect("started");
    stream.prioritise("0/23");
    assert!(!stream.prioritise("x"));
    let tensor = stream.get("0/23").expect("read").expect("there");
    drop(stream);
    let right = right.iter().find(|right| right.name == "0/23").expect("known");
    assert!(tensor.bytes() == right.bytes, "what was handed over stays");
    let stream = options.stream(&paths, &TensorOrder::File).expect("started");
    assert!(stream.get("x").expect("no failure").is_none());
}

#[test]
fn a_stream_ends_after_its_first_error() {
    let (_folder, paths, _) = shards(1);
    let token = CancelToken::new();
    let read = ReadOptions::new().with_cancel(token.clone());
    let options = TensorOptions::new().with_read(read);
    token.cancel();
    let error = options.stream(&paths, &TensorOrder::File).expect_err("cancelled");
    let reason = error.library().map(swath::Error::reason);
    assert_eq!(reason, Some(swath::Reason::Cancelled), "{error}");
    let mut stream = safetensors::stream(&paths, &TensorOrder::File).expect("on");
    stream.cancel();
    let ended = stream.by_ref().find_map(Result::err);
    assert!(ended.is_none() || stream.next().is_none());
}

#[test]
fn many_tiny_tensors_share_classes_and_nothing_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tiny.safetensors");
    let tensors: Vec<_> = (0..3000)
        .map(|index| tensor(&format!("{index:04}"), "U8", &[index % 300], index))
        .collect();
    std::fs::write(&path, in_order(&tensors)).expect("written");
    let names = (0..3000).rev().map(|index| format!("{index:04}"));
    let order = TensorOrder::names(names);
    let stream = safetensors::stream([&path], &order).expect("started");
    let mut left = 3000;
    for tensor in stream {
        let tensor = tensor.expect("there");
        left -= 1;
        assert_eq!(tensor.name(), tensors[left].name);
        assert!(tensor.bytes() == tensors[left].bytes);
    }
    assert_eq!(left, 0);
}

#[test]
fn a_stream_of_nothing_ends_at_once() {
    let nothing = r#"{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}"#;
    for (header, count) in [("{}", 0), (nothing, 1)] {
        let made = super::made(&super::file(header, b""));
        let options = TensorOptions::new();
        let stream = options.stream([&made.path], &TensorOrder::File).expect("started");
        let lens: Vec<_> = stream.map(|tensor| tensor.expect("there").bytes().len()).collect();
        assert_eq!(lens, vec![0; count]);
    }
}
