//! Every format gives the same result from a path, an open file, an input, a pipe, copies and a
//! custom source; a file that changes between two passes is an error in each.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use swath::{Input, ReadAt, Source, SourceFacts};
use swath_formats::Result;
use swath_formats::compressed::{CompressOptions, DecompressOptions, Format, Seekable};
use swath_formats::matrix::{self};
use swath_formats::safetensors::{self, Dtype, Shard, Tensor, TensorOrder};
use swath_formats::table::{self, BatchOptions, npy};

/// A reader; returns its result as text.
struct Reader {
    name: &'static str,
    file: PathBuf,
    read: fn(Source) -> Result<String>,
}

fn debug(thing: impl std::fmt::Debug) -> String {
    format!("{thing:?}")
}

fn decompressed(source: Source) -> Result<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plain");
    DecompressOptions::new().decompress(source, &path)?;
    Ok(debug(fs::read(path).expect("there")))
}

/// All readers, with files in `folder`.
fn readers(folder: &Path) -> Vec<Reader> {
    let at = |name: &str| folder.join(name);
    let write = |name: &str, text: &str| {
        fs::write(at(name), text).expect("room");
        at(name)
    };
    let numbers = "1,2.5\n3,4\n5,6\n".repeat(200);
    let csv = write("t.csv", &format!("id,x\n{numbers}"));
    let entries: String = (1..=300).map(|n| format!("{n} {n} {n}.5\n")).collect();
    let mtx = write(
        "m.mtx",
        &format!("%%MatrixMarket matrix coordinate real general\n300 300 300\n{entries}"),
    );
    write("e.el", &(0..300).map(|n| format!("{n} {}\n", n + 1)).collect::<String>());
    let points = table::read_batches(&csv).expect("a table");
    table::write_batches(at("t.arrow"), points.schema(), points.batches()).expect("room");
    npy::write(at("a.npy"), &[2, 3], &[1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0]).expect("room");
    let rows = matrix::read_rows(&mtx).expect("rows");
    matrix::npz::write(at("m.npz"), &rows).expect("room");
    let tensor = |name, bytes| Tensor { name, dtype: Dtype::U8, shape: &[4], bytes };
    let tensors = [tensor("a", b"abcd"), tensor("b", b"efgh")];
    safetensors::write(at("t.safetensors"), tensors).expect("room");
    for (format, name) in [(Format::Gzip, "t.csv.gz"), (Format::Zstd, "t.csv.zst")] {
        CompressOptions::new().with_format(format).compress(&csv, at(name)).expect("room");
    }
    let reader = |name, file: &str, read| Reader { name, file: at(file), read };
    vec![
        reader("table", "t.csv", |it| Ok(debug(BatchOptions::new().read_array::<f64>(it)?))),
        reader("table shape", "t.csv", |it| Ok(debug(BatchOptions::new().shape(it)?))),
        reader("batches", "t.csv", |it| Ok(debug(table::read_batches(it)?))),
        reader("batches.gz", "t.csv.gz", |it| Ok(debug(table::read_batches(it)?))),
        reader("batches.zst", "t.csv.zst", |it| Ok(debug(table::read_batches(it)?))),
        reader("arrow", "t.arrow", |it| {
            Ok(debug(table::arrow::batches(it)?.collect::<Result<Vec<_>>>()?))
        }),
        reader("arrow info", "t.arrow", |it| Ok(debug(table::arrow::info(it)?))),
        reader("npy", "a.npy", |it| Ok(debug(npy::read::<f64>(it)?))),
        reader("npy info", "a.npy", |it| Ok(debug(npy::info(it)?))),
        reader("npz", "m.npz", |it| Ok(debug(matrix::npz::read(it)?))),
        reader("matrix", "m.mtx", |it| Ok(debug(matrix::read(it)?))),
        reader("rows", "m.mtx", |it| Ok(debug(matrix::read_rows(it)?))),
        reader("header", "m.mtx", |it| Ok(debug(matrix::header(it)?))),
        reader("edges", "e.el", |it| Ok(debug(matrix::read(it)?))),
        reader("tensors", "t.safetensors", |it| {
            let tensors = safetensors::read([it])?;
            Ok(tensors.iter().map(debug).collect())
        }),
        reader("a stream of tensors", "t.safetensors", |it| {
            let stream = safetensors::stream([it], &TensorOrder::File)?;
            stream.map(|tensor| Ok(debug(tensor?.bytes()))).collect()
        }),
        reader("a shard", "t.safetensors", |it| Ok(debug(Shard::of(it)?.header()))),
        reader("decompress", "t.csv.gz", decompressed),
        reader("seekable", "t.csv.zst", |it| {
            let seekable = Seekable::open(it)?;
            let mut target = [0; 10];
            let len = seekable.read_at(&mut target, 5)?;
            Ok(debug((seekable.len(), len, target)))
        }),
    ]
}

/// Bytes of a custom source.
struct Memory(Vec<u8>, PathBuf);

impl ReadAt for Memory {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(SourceFacts::new(Some(self.0.len() as u64)))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        let at = usize::try_from(offset).unwrap_or(usize::MAX).min(self.0.len());
        // In small steps, as from a network.
        let len = (self.0.len() - at).min(target.len()).min(1000);
        target[..len].copy_from_slice(&self.0[at..at + len]);
        Ok(len)
    }

    fn name(&self) -> PathBuf {
        self.1.clone()
    }
}

fn pipe(path: &Path) -> Source {
    let (read, mut write) = io::pipe().expect("a pipe");
    let bytes = fs::read(path).expect("there");
    std::thread::spawn(move || bytes.chunks(700).try_for_each(|part| write.write_all(part)));
    Source::file(File::from(OwnedFd::from(read)), path)
}

#[test]
fn every_source_gives_what_the_file_gives() {
    let folder = tempfile::tempdir().expect("a folder");
    for Reader { name, file, read } in readers(folder.path()) {
        let plain = read(Source::from(&file)).expect(name);
        let copy = folder.path().join("copy");
        fs::copy(&file, &copy).expect("room");
        let input = Input::open(&file).expect("there");
        let memory = Memory(fs::read(&file).expect("there"), file.clone());
        for (how, source) in [
            ("an open file", Source::file(File::open(&file).expect("there"), &file)),
            ("an input", Source::from(&input)),
            ("an input, again", Source::from(&input)),
            ("copies", Source::mirrored([&file, &copy])),
            (
                "a copy where one is missing",
                Source::mirrored([&folder.path().join("gone"), &file]),
            ),
            ("a source of the caller's", Source::custom(Arc::new(memory))),
        ] {
            assert_eq!(read(source).expect(how), plain, "{name} from {how}");
        }
        if name == "seekable" {
            let error = read(pipe(&file)).expect_err("nothing to seek in");
            assert!(!error.to_string().is_empty());
        } else {
            assert_eq!(read(pipe(&file)).expect("a pipe"), plain, "{name} from a pipe");
        }
    }
}

/// Changes after this many reads.
struct Changing(Memory, AtomicU64, u64);

impl ReadAt for Changing {
    fn facts(&self) -> io::Result<SourceFacts> {
        let version = u64::from(self.1.load(Ordering::SeqCst) >= self.2);
        Ok(self.0.facts()?.with_validator([version, 0, 0, 0]))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.read_at(target, offset)
    }

    fn name(&self) -> PathBuf {
        self.0.name()
    }
}

#[test]
fn a_source_that_changes_between_two_looks_is_an_error_in_each_format() {
    let folder = tempfile::tempdir().expect("a folder");
    for Reader { name, file, read } in readers(folder.path()) {
        let source = |after| {
            let memory = Memory(fs::read(&file).expect("there"), file.clone());
            Arc::new(Changing(memory, AtomicU64::new(0), after))
        };
        let whole = source(u64::MAX);
        read(Source::custom(whole.clone())).expect(name);
        let reads = whole.1.load(Ordering::SeqCst);
        // Opened before it changes, whenever that is.
        for after in 1..=reads {
            let error = read(Source::custom(source(after)));
            let error = error.map(|it| panic!("{name} after {after} of {reads}: {it}"));
            let error = error.expect_err("it has changed");
            assert!(error.to_string().contains(file.to_str().unwrap()), "{name}: {error}");
        }
    }
}

#[test]
fn a_file_that_is_replaced_after_it_was_opened_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    for Reader { name, file, read } in readers(folder.path()) {
        let input = Input::open(&file).expect("there");
        let new = folder.path().join("new");
        fs::copy(&file, &new).expect("room");
        fs::rename(&new, &file).expect("same folder");
        let error = read(Source::from(&input)).map(|it| panic!("{name}: {it}"));
        assert!(error.expect_err("replaced").to_string().contains("replaced"), "{name}");
        read(Source::from(&file)).expect("the new one is as good");
    }
}
