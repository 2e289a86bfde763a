//! Models in several files.

use std::path::PathBuf;

use swath_formats::FormatReason;
use swath_formats::safetensors::{self, Shard, TensorOptions, TensorOrder};

use super::{in_order, tensor};

/// Three shards in a folder, and an index of them.
struct Model {
    folder: tempfile::TempDir,
    index: PathBuf,
    shards: Vec<PathBuf>,
}

fn model() -> Model {
    let folder = tempfile::tempdir().expect("a folder");
    let mut map = Vec::new();
    let mut shards = Vec::new();
    for shard in 0..3 {
        let file = format!("model-{shard}.safetensors");
        let tensors: Vec<_> = (0..5)
            .map(|index| tensor(&format!("{shard}.{index}"), "BF16", &[index, 3000], index))
            .collect();
        map.extend(tensors.iter().map(|tensor| format!("\"{}\":\"{file}\"", tensor.name)));
        let path = folder.path().join(file);
        std::fs::write(&path, in_order(&tensors)).expect("written");
        shards.push(path);
    }
    let index = folder.path().join("model.safetensors.index.json");
    let text =
        format!("{{\"metadata\":{{\"total_size\":1}},\"weight_map\":{{{}}}}}", map.join(","));
    std::fs::write(&index, text).expect("written");
    Model { folder, index, shards }
}

#[test]
fn shards_are_read_each_to_its_own_memory() {
    let model = model();
    let options = TensorOptions::new();
    let listed = options.read(&model.shards).expect("valid");
    let indexed = options.read([&model.index]).expect("valid");
    for read in [&listed, &indexed] {
        assert_eq!((read.len(), read.shards().len()), (15, 3));
        for (position, (tensor, entry)) in read.iter().zip(read.entries()).enumerate() {
            assert_eq!(entry.shard, position / 5);
            let right = swath_reference::read(
                &model.shards[entry.shard],
                entry.extent.start,
                Some(entry.extent.end - entry.extent.start),
            );
            assert!(tensor.bytes == right.expect("read"), "other bytes of {}", tensor.name);
            super::assert_aligned(tensor.bytes, tensor.dtype, tensor.name);
            assert_eq!(read.get(tensor.name), Some(tensor));
        }
    }
    let shards = options.shards([&model.index]).expect("valid");
    assert_eq!(shards, listed.shards());
    assert_eq!(shards[1], Shard::of(&model.shards[1]).expect("valid"));
    assert_eq!(listed.into_parts().memories.len(), 3);
}

#[test]
fn an_order_is_that_of_the_tensors_and_not_of_their_bytes() {
    let model = model();
    let all = TensorOptions::new();
    let plain = all.read(&model.shards).expect("valid");
    let order = TensorOrder::names(["2.3", "0.1", "2.3", "1.0"]);
    let ordered = all.read_ordered(&model.shards, &order).expect("valid");
    let names: Vec<_> = ordered.iter().map(|tensor| tensor.name).collect();
    let rest = plain.iter().map(|tensor| tensor.name);
    let rest = rest.filter(|name| !["2.3", "0.1", "1.0"].contains(name));
    assert_eq!(names, ["2.3", "0.1", "1.0"].into_iter().chain(rest).collect::<Vec<_>>());
    for tensor in plain.iter() {
        assert_eq!(ordered.get(tensor.name), Some(tensor));
    }
    for entry in ordered.entries() {
        let same = plain.position(&entry.info.name).map(|at| &plain.entries()[at]);
        assert_eq!(same, Some(entry));
    }
    let some = TensorOptions::new().with_names(["0.1", "1.0"]);
    for (options, among) in [(&all, ""), (&some, " among the names")] {
        let stray =
            TensorOrder::names(if among.is_empty() { ["0.1", "none"] } else { ["0.1", "2.3"] });
        let wanted = format!(
            "there is no tensor {:?}{among}",
            if among.is_empty() { "none" } else { "2.3" }
        );
        let read = options.read_ordered(&model.shards, &stray).map(drop);
        let streamed = options.stream(&model.shards, &stray).map(drop);
        for refused in [read, streamed] {
            let error = refused.expect_err("not read");
            assert!(error.to_string().contains(&format!("{wanted}; try")), "{error}");
        }
    }
}

#[test]
fn only_shards_that_are_needed_are_opened() {
    let model = model();
    std::fs::remove_file(&model.shards[1]).expect("removed");
    let options = TensorOptions::new().with_names(["2.3", "0.1"]);
    let read = options.read([&model.index]).expect("two shards");
    let names: Vec<_> = read.iter().map(|tensor| tensor.name).collect();
    assert_eq!(names, ["0.1", "2.3"]);
    let error = safetensors::read([&model.index]).expect_err("one less");
    assert_eq!(error.path(), model.shards[1]);
    let unknown = TensorOptions::new().with_names(["2.3", "none"]);
    let error = unknown.read([&model.index]).expect_err("no such tensor");
    assert_eq!(error.reason(), FormatReason::Invalid);
}

#[test]
fn a_name_in_two_shards_is_refused() {
    let model = model();
    std::fs::copy(&model.shards[0], &model.shards[1]).expect("copied");
    let error = safetensors::read(&model.shards).expect_err("twice");
    assert_eq!((error.reason(), error.path()), (FormatReason::Invalid, &*model.shards[1]));
    assert!(error.to_string().contains("\"0.0\" is also in"), "{error}");
}

#[test]
fn an_index_that_is_wrong_is_refused() {
    let model = model();
    let outside = model.folder.path().join("sub/model.safetensors.index.json");
    std::fs::create_dir(outside.parent().expect("a folder")).expect("made");
    for (text, says) in [
        ("", "EOF"),
        ("[]", "weight_map"),
        ("{}", "`weight_map` is missing"),
        (r#"{"weight_map":{"a":1}}"#, "expected a string"),
        (r#"{"weight_map":{"a":"x","a":"y"}}"#, "duplicate name"),
        (r#"{"weight_map":{},"weight_map":{}}"#, "duplicate member"),
        (
            r#"{"weight_map":{"a":"../model-0.safetensors"}}"#,
            "not a file name in the folder of the index",
        ),
        (r#"{"weight_map":{"a":"/etc/passwd"}}"#, "not a file name in the folder of the index"),
        (r#"{"weight_map":{"a":""}}"#, "not a file name in the folder of the index"),
    ] {
        std::fs::write(&outside, text).expect("written");
        let error = safetensors::read([&outside]).expect_err(text);
        assert_eq!(
            (error.reason(), error.path()),
            (FormatReason::Malformed, &*outside),
            "{error}"
        );
        assert!(error.to_string().contains(says), "{text}: {error}");
    }
    let text = r#"{"weight_map":{"9.9":"model-0.safetensors"}}"#;
    std::fs::write(&model.index, text).expect("written");
    let error = safetensors::read([&model.index]).expect_err("not there");
    assert!(error.to_string().contains("\"9.9\" is not in model-0.safetensors"), "{error}");
}

#[test]
fn nothing_is_no_tensors() {
    let read = safetensors::read(Vec::<PathBuf>::new()).expect("nothing");
    assert!(read.is_empty() && read.shards().is_empty() && read.report().bytes == 0);
}

#[test]
fn progress_is_of_all_shards_together_and_every_read_is_in_the_timeline() {
    use std::sync::{Arc, Mutex};

    let mut model = model();
    // One that is read in several steps, each of which reports progress.
    let large = model.folder.path().join("large");
    std::fs::write(&large, in_order(&[tensor("large", "F64", &[700_000], 9)]))
        .expect("written");
    model.shards.push(large);
    for workers in [1, 3] {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let timeline = swath::Timeline::new();
        let own = Arc::clone(&calls);
        let read = swath::ReadOptions::new()
            .with_workers(workers)
            .with_timeline(timeline.clone())
            .with_progress(move |progress| own.lock().expect("alone").push(progress));
        let options = TensorOptions::new().with_read(read);
        let read = options.read(&model.shards).expect("valid");
        let calls = calls.lock().expect("alone");
        let came: u64 = read.report().reads.iter().map(|report| report.bytes).sum();
        assert!(calls.iter().all(|call| call.total == Some(came)), "{calls:?} of {came}");
        assert_eq!(calls.iter().map(|call| call.bytes).max(), Some(came));
        assert!(calls.len() > 4, "{calls:?}");
        assert_eq!(read.report().reads.len(), 4);
        assert!(came >= read.report().bytes);
        let spans = timeline.take();
        let read: u64 = spans
            .iter()
            .filter(|span| span.activity == swath::timeline::Activity::Read)
            .map(|span| span.bytes)
            .sum();
        assert!(read >= came, "{read} of {came} bytes are recorded");
    }
}
