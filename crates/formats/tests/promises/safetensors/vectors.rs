//! The files of `vectors/safetensors.json` have their answers.

use std::fmt::Write;
use std::fs;

use swath_formats::safetensors::{self, TensorWriteOptions, Tensors};
use swath_reference::safetensors as reference;
use swath_reference::vectors::{Verdict, vectors};

const FORMAT: &str = "safetensors";

fn answer(tensors: &Tensors) -> String {
    let mut text = String::new();
    for (key, value) in tensors.shards()[0].header().metadata() {
        let (key, value) = (reference::quoted(key), reference::quoted(value));
        writeln!(text, "metadata {key} {value}").expect("memory");
    }
    for (tensor, entry) in tensors.iter().zip(tensors.entries()) {
        let (name, offset) = (reference::quoted(tensor.name), entry.extent.start);
        write!(text, "tensor {name} {} {:?} {offset} ", tensor.dtype, tensor.shape)
            .expect("memory");
        tensor.bytes.iter().for_each(|byte| write!(text, "{byte:02x}").expect("memory"));
        text.push('\n');
    }
    text
}

#[test]
fn valid_and_permissive_files_have_their_tensors() {
    let all = [vectors(FORMAT, Verdict::Valid), vectors(FORMAT, Verdict::Permissive)].concat();
    assert!(all.len() >= 12, "{} files", all.len());
    let folder = tempfile::tempdir().expect("a folder");
    for vector in all {
        let path = vector.put(folder.path());
        let read = safetensors::read([&path]);
        let read = read.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(answer(&read), vector.answer, "{}", path.display());
        super::assert_same(&read, &super::decoded(&path).tensors);
    }
}

#[test]
fn invalid_files_are_refused_for_their_reason() {
    let all = vectors(FORMAT, Verdict::Invalid);
    assert!(all.len() >= 24, "{} files", all.len());
    let folder = tempfile::tempdir().expect("a folder");
    for vector in all {
        let path = vector.put(folder.path());
        let error = safetensors::read([&path]).expect_err("invalid");
        let (place, words) = vector.answer.split_once('\n').expect("two lines");
        let offset = error.offset().expect("a place").to_string();
        let offset = if place.ends_with(" -") { "-" } else { &offset };
        assert_eq!(format!("{:?} {offset}", error.reason()), place, "{error}");
        assert!(error.to_string().contains(words.trim_end()), "{error}");
        assert!(reference::read(&path).expect("read").is_err(), "{}", path.display());
    }
}

#[test]
fn what_is_padded_as_the_format_s_own_library_does_is_written_alike() {
    let all = vectors(FORMAT, Verdict::Valid);
    let alike = all.iter().filter(|vector| vector.name != "no_elements.safetensors");
    for vector in alike {
        let folder = tempfile::tempdir().expect("a folder");
        let path = vector.put(folder.path());
        let read = safetensors::read([&path]).expect("valid");
        let copy = folder.path().join("copy");
        let metadata = read.shards()[0].header().metadata();
        let options = TensorWriteOptions::new().with_metadata(metadata.clone());
        options.write(&copy, read.iter()).expect("written");
        assert!(vector.input == fs::read(&copy).expect("there"), "{}", path.display());
    }
}
