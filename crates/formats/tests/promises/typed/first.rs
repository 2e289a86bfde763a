//! The first rows of a pipe, of a compressed and of an encoded text are those of the file, and no
//! more is read than they need.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use swath::{ReadAt, Source, SourceFacts};
use swath_formats::compressed::{CompressOptions, Format};
use swath_formats::table::{BatchOptions, Batches, Encoding, Ragged};
use swath_reference::battery::Battery;

use crate::typed::shown::table;

/// A stream of bytes, and how far it was read.
struct Stream {
    bytes: Vec<u8>,
    read: AtomicU64,
}

impl ReadAt for Stream {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(SourceFacts::new(None))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = &self.bytes[usize::try_from(offset).expect("in memory")..];
        let len = rest.len().min(target.len());
        target[..len].copy_from_slice(&rest[..len]);
        self.read.fetch_max(offset + len as u64, Ordering::Relaxed);
        Ok(len)
    }

    fn name(&self) -> PathBuf {
        "t".into()
    }
}

fn stream(bytes: &[u8]) -> Arc<Stream> {
    Arc::new(Stream { bytes: bytes.to_vec(), read: AtomicU64::new(0) })
}

/// The table, or the error without the name of the file.
fn shown(read: swath_formats::Result<Batches>) -> Result<(Vec<String>, String), String> {
    match read {
        Ok(batches) => Ok((table(&batches), format!("{:?}", batches.report()))),
        Err(error) => {
            let name = error.path().display().to_string();
            Err(error.to_string().replace(&name, "t"))
        }
    }
}

/// Some megabytes of rows after `start`.
fn long(start: &str) -> Vec<u8> {
    let mut text = start.as_bytes().to_vec();
    for row in 0..250_000 {
        text.extend_from_slice(format!("{row},name {row},2024-02-29\n").as_bytes());
    }
    text
}

/// Reads the first rows of a file, of a pipe and of compressed pipes and files.
fn assert_alike(text: &[u8], options: &BatchOptions) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t");
    std::fs::write(&path, text).expect("room");
    let wanted = shown(options.read_batches(&path));
    let pipe = stream(text);
    let source = Source::custom(Arc::clone(&pipe) as Arc<dyn ReadAt>);
    assert_eq!(shown(options.read_batches(source)), wanted);
    for format in [Format::Gzip, Format::Zstd] {
        let packed = folder.path().join("packed");
        let pack = CompressOptions::new().with_format(format);
        pack.compress(&path, &packed).expect("room");
        assert_eq!(shown(options.read_batches(&packed)), wanted, "{format}");
        let bytes = std::fs::read(&packed).expect("written");
        let source = Source::custom(stream(&bytes));
        assert_eq!(shown(options.read_batches(source)), wanted, "{format}, a pipe");
        std::fs::remove_file(packed).expect("ours");
    }
}

/// Reads some of these texts, given by how each starts, and whether it goes on.
fn some_alike(slice: usize, texts: Vec<(String, bool, BatchOptions)>) {
    for (start, goes_on, options) in Battery::of_list("combinations", slice, texts) {
        let text = if goes_on { long(&start) } else { start.into_bytes() };
        assert_alike(&text, &options);
    }
}

#[test]
fn first_rows_are_the_same_however_the_text_arrives() {
    let options = BatchOptions::new().with_rows(3);
    let rows = |rows| BatchOptions::new().with_rows(rows);
    let head = || String::from("id,name,born\n");
    // A record that is longer than the first trial, also as the last one.
    let wide = "x".repeat(5 << 20);
    some_alike(
        1,
        vec![
            (head(), true, options.clone()),
            (String::from("id,name\n1,a\n2,b"), false, options.clone()),
            (String::new(), false, options.clone()),
            (head(), true, rows(0)),
            (head(), true, rows(200_000)),
            (head(), true, rows(1_000_000)),
            (format!("id,name,born\n1,\"{wide}\n\",2024-01-01\n"), true, options.clone()),
            (format!("{wide},name,born\n"), true, options),
        ],
    );
}

#[test]
fn first_faults_are_the_same_however_the_text_arrives() {
    let options = BatchOptions::new().with_rows(3);
    let given = options.clone().with_types([("name", "i64".parse().expect("a type"))]);
    let text = |text: &str, options: &BatchOptions| (text.to_owned(), true, options.clone());
    some_alike(
        1,
        vec![
            text("id,name,born\n1,2\n", &options),
            text("id,name,born\n1,\"a\"b,2\n", &options),
            text("id,name,born\n1,\"a,2024-01-01\n", &options),
            text("id,name,born\n1,2\n", &options.clone().with_ragged(Ragged::SetAside)),
            text("id,name,born\n", &given),
            text("id,name,born\n", &options.with_columns(["nobody"])),
        ],
    );
}

#[test]
fn an_encoded_text_is_decoded_as_far_as_it_is_needed() {
    let text = String::from_utf8(long("id,näme,born\n")).expect("ours");
    let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [b"\xff\xfe", &units[..]].concat();
    let options = BatchOptions::new().with_rows(2);
    let read = |bytes: &[u8], options: &BatchOptions| {
        let pipe = stream(bytes);
        let source = Source::custom(Arc::clone(&pipe) as Arc<dyn ReadAt>);
        let lines = table(&options.read_batches(source).expect("a table"));
        (lines, pipe.read.load(Ordering::Relaxed))
    };
    let wanted = ["id 64: 0 1", "näme text: \"name 0\" \"name 1\"", "born date: 19782 19782"];
    let (lines, read_to) = read(&marked, &options);
    assert_eq!(lines, wanted);
    assert!(read_to < marked.len() as u64, "{read_to}");
    let latin: Vec<u8> = text.chars().map(|it| it as u8).collect();
    let options = options.with_encoding(Encoding::Latin1);
    assert_eq!(read(&latin, &options).0, wanted);
}

#[test]
fn a_long_pipe_is_not_read_to_its_end() {
    let bytes = [&b"x,y\n"[..], &b"1.5,abc\n".repeat(8 << 20)].concat();
    for rows in [1, 1000] {
        let pipe = stream(&bytes);
        let source = Source::custom(Arc::clone(&pipe) as Arc<dyn ReadAt>);
        let read = BatchOptions::new().with_rows(rows).read_batches(source).expect("a table");
        assert_eq!(read.rows(), rows);
        let read_to = pipe.read.load(Ordering::Relaxed);
        assert!(read_to < 16 << 20, "{rows} rows took {read_to} bytes");
    }
}
