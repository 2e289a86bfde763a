//! One entry point for each decoder, to feed with any bytes.
//!
//! Each decodes the bytes in every way that a caller could and must return: with values, or with an
//! error that names the file. It looks for panics, hangs and disproportionate memory. The tests
//! feed seeded mutations of valid files and check peak memory. With libFuzzer, which has its own
//! memory limit:
//!
//! ```text
//! cargo +nightly fuzz run --features libfuzzer manifest -- -rss_limit_mb=512 -timeout=10
//! ```

mod tables;

use std::cell::RefCell;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use swath::append::ordered_to;
use swath::ingest::{Failures, Files, IngestOptions};
use swath::sink::Durability;
use swath::{Cut, OutputOptions, ReadOptions};
use swath_formats::compressed::{DecompressOptions, Seekable};
use swath_formats::contracts::{ContractOptions, PriceOptions};
use swath_formats::matrix::{
    self, AnyCsr, Csr, Duplicates, Id, MatrixFormat, MatrixOptions, Strictness, Values,
};
use swath_formats::safetensors::{TensorOptions, TensorOrder};
use swath_plan::checksums::Checksums;
use swath_plan::segment::manifest::Manifest;
use swath_profile::Kept;
use twox_hash::XxHash3_64;

pub use tables::{arrow, arrow_batches, batches, npy, table};

/// Decodes bytes in every way that a caller could.
pub type Decode = fn(&[u8]);

/// Decoders by their names.
pub const DECODERS: &[(&str, Decode)] = &[
    ("manifest", manifest),
    ("checksums", checksums),
    ("names", names),
    ("compressed", compressed),
    ("seekable", seekable),
    ("records", records),
    ("market", market),
    ("edges", edges),
    ("table", table),
    ("batches", batches),
    ("npy", npy),
    ("npz", npz),
    ("npz_use", npz_use),
    ("arrow", arrow),
    ("arrow_batches", arrow_batches),
    ("contracts", contracts),
    ("safetensors", safetensors),
    ("profiles", profiles),
];

/// The manifest of a folder of segments. An accepted manifest must encode back to the same bytes.
///
/// # Panics
///
/// If it does not.
pub fn manifest(bytes: &[u8]) {
    if let Ok(manifest) = Manifest::decode(bytes, crc32c::crc32c_append) {
        let again = manifest.encode(crc32c::crc32c_append);
        assert!(again == bytes, "another manifest came out of encoding");
    }
}

/// The checksums of a file, as they are and with their own checksum corrected, since otherwise any
/// change would be caught there and nothing else would be tested. Accepted checksums must encode
/// back to the same bytes and cover their file.
///
/// # Panics
///
/// If it does not.
pub fn checksums(bytes: &[u8]) {
    let mut sealed = bytes.to_vec();
    if let Some((body, end)) = sealed.split_last_chunk_mut::<8>() {
        *end = XxHash3_64::oneshot(body).to_le_bytes();
    }
    for bytes in [bytes, &sealed] {
        let Ok(sums) = Checksums::decode(bytes, XxHash3_64::oneshot) else { continue };
        assert!(sums.encode(XxHash3_64::oneshot) == bytes, "other checksums came of it");
        let last = sums.len().checked_sub(1);
        let covers = last.is_none_or(|last| sums.chunk_at(last).is_some());
        assert!(covers && sums.chunk_at(sums.len()).is_none(), "{} bytes", sums.len());
        with_file(b"other bytes", |path| drop(swath::manifest::check(path, &sums)));
    }
}

/// A list of names, as `find` writes it, and patterns: every name has its place, with bytes or with
/// its own error.
///
/// # Panics
///
/// If a name does not.
pub fn names(bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(4096)];
    let options = IngestOptions::new()
        .with_read(ReadOptions::new().with_workers(2))
        .with_failures(Failures::Collect);
    for separator in [b'\n', 0] {
        // An empty folder contains none of them.
        let names: Vec<u8> = bytes
            .split(|&byte| byte == separator)
            .filter(|name| !name.is_empty())
            .flat_map(|name| [b"/dev/null/", name, &[separator]].concat())
            .collect();
        let count = names.iter().filter(|&&byte| byte == separator).count();
        let ingested = options.ingest(Files::list(names, separator)).expect("collected");
        assert_eq!(ingested.len(), count);
        for entry in ingested.iter() {
            let error = entry.error.expect("there is nothing below a device");
            assert!(error.path() == entry.path && !error.to_string().is_empty());
        }
    }
    let pattern = String::from_utf8_lossy(bytes);
    let pattern = format!("/dev/null/{pattern}");
    match options.ingest(Files::glob(pattern.as_str())) {
        Ok(none) => assert!(none.iter().all(|entry| entry.error.is_some()), "a file"),
        Err(error) => assert!(!error.path().as_os_str().is_empty(), "{error}"),
    }
}

/// A compressed stream of any format, from beginning to end.
pub fn compressed(bytes: &[u8]) {
    let output = ordered_to(Most(64 << 20), Path::new("nothing"));
    let options = DecompressOptions::new().with_read(ReadOptions::new().with_workers(2));
    judge(with_file(bytes, |path| options.decompress(path, output).map(drop)));
}

/// The index of a compressed stream, and bytes from its middle.
pub fn seekable(bytes: &[u8]) {
    judge(with_file(bytes, |path| {
        let stream = Seekable::open(path)?;
        let mut some = [0; 1000];
        for offset in [0, stream.len() / 2, stream.len().saturating_sub(1), u64::MAX] {
            stream.read_at(&mut some, offset)?;
        }
        Ok(())
    }));
}

/// Records of every cut: together they are all bytes of the file, in order.
///
/// # Panics
///
/// If they are not.
pub fn records(bytes: &[u8]) {
    let cuts = [Cut::Byte(b'\n'), Cut::Fixed(7), Cut::Quoted { quote: b'"', delimiter: b'\n' }];
    for cut in cuts {
        with_file(bytes, |path| {
            let records = swath::records(path).with_cut(cut).with_block_size(16);
            let blocks = records.map_blocks(|block| -> swath::Result<Vec<u8>> {
                let count = block.records().map(<[u8]>::len).sum::<usize>();
                assert!(count <= block.bytes.len(), "records longer than their block");
                Ok(block.bytes.to_vec())
            });
            if let Ok(blocks) = blocks {
                assert!(blocks.concat() == bytes, "other bytes came out");
            }
        });
    }
}

/// A matrix, as coordinates and as rows, strict and permissive, whole and summed.
pub fn market(bytes: &[u8]) {
    matrix(bytes, MatrixFormat::MatrixMarket);
}

/// A list of edges.
pub fn edges(bytes: &[u8]) {
    matrix(bytes, MatrixFormat::Edges);
}

fn matrix(bytes: &[u8], format: MatrixFormat) {
    let options = MatrixOptions::new()
        .with_format(format)
        .with_block_size(64)
        .with_read(ReadOptions::new().with_workers(2));
    let strict = options.clone().with_strictness(Strictness::Strict);
    let summed = options.clone().with_duplicates(Duplicates::Summed);
    with_file(bytes, |path| {
        judge(options.header(path));
        judge(options.read(path));
        judge(strict.read(path));
        judge(options.read_rows(path));
        judge(summed.read_columns(path));
    });
}

/// SciPy's compressed rows.
pub fn npz(bytes: &[u8]) {
    with_file(bytes, |path| judge(matrix::npz::read(path)));
}

/// SciPy's compressed rows, as they are and with corrected checksums, since otherwise any change
/// would be caught there and nothing else would be tested. Every row and value is used, and the
/// result survives writing and reading again.
///
/// # Panics
///
/// If it does not.
pub fn npz_use(bytes: &[u8]) {
    let sealed = with_right_checksums(bytes.to_vec());
    for bytes in [bytes, &sealed] {
        with_file(bytes, |path| {
            let rows = matrix::npz::read(path);
            if let Ok(rows) = &rows {
                match rows {
                    AnyCsr::U32(rows) => use_rows(rows),
                    AnyCsr::U64(rows) => use_rows(rows),
                }
                comes_again(path, |path| {
                    let read = |path: &Path| matrix::npz::read(path).expect("just written");
                    let output = OutputOptions::new().with_durability(Durability::None);
                    let options = matrix::npz::NpzOptions::new().with_output(output);
                    options.write(path, rows).expect("room");
                    let once = fs::read(path).expect("it is there");
                    assert_eq!(read(path).size(), rows.size());
                    options.write(path, &read(path)).expect("room");
                    assert!(once == fs::read(path).expect("it is there"), "another matrix");
                });
            }
            judge(rows);
        });
    }
}

/// Every row lies within the entries, and every column within the matrix.
fn use_rows<I: Id>(matrix: &Csr<I>) {
    let mut entries = 0;
    let row_count = usize::try_from(matrix.row_count).expect("each has an offset");
    for row in 0..row_count {
        let columns = matrix.row(row);
        assert!(columns.iter().all(|column| column.to_u64() < matrix.column_count));
        entries += columns.len();
    }
    let values = match &matrix.values {
        Values::I64(values) => values.len(),
        Values::U64(values) => values.len(),
        Values::F32(values) => values.len(),
        Values::F64(values) => values.len(),
        Values::Complex(values) => values.len(),
        _ => entries,
    };
    assert_eq!((entries, values), (matrix.entry_count(), matrix.entry_count()));
}

/// Calls `body` with a name next to `path`, and removes the file that it writes there.
fn comes_again(path: &Path, body: impl FnOnce(&Path)) {
    let again = path.with_extension("again");
    body(&again);
    let _ = fs::remove_file(&again);
}

/// Corrects the checksums in an archive's directory for members that are stored uncompressed.
fn with_right_checksums(mut bytes: Vec<u8>) -> Vec<u8> {
    let word = |bytes: &[u8], at: usize, len: usize| {
        let word = bytes.get(at..at + len)?;
        Some(word.iter().rev().fold(0, |word, &byte| word << 8 | usize::from(byte)))
    };
    let places = bytes.windows(4).enumerate().filter(|(_, mark)| *mark == b"PK\x01\x02");
    let places: Vec<usize> = places.map(|(at, _)| at).collect();
    for at in places {
        let sum = || {
            let (len, local) = (word(&bytes, at + 20, 4)?, word(&bytes, at + 42, 4)?);
            let begins =
                local + 30 + word(&bytes, local + 26, 2)? + word(&bytes, local + 28, 2)?;
            Some(crc32(bytes.get(begins..begins.checked_add(len)?)?))
        };
        if let (Some(sum), Some(place)) = (sum(), bytes.get_mut(at + 16..at + 20)) {
            place.copy_from_slice(&sum.to_le_bytes());
        }
    }
    bytes
}

/// The checksum of zip archives, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum: u32, &byte| {
        let mixed = sum ^ u32::from(byte);
        (0..8)
            .fold(mixed, |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 })
    })
}

/// Option contracts, read, and priced in the fused way.
pub fn contracts(bytes: &[u8]) {
    with_file(bytes, |path| {
        let two = ReadOptions::new().with_workers(2);
        judge(ContractOptions::new().with_read(two).read(path));
        let output = ordered_to(Most(64 << 20), Path::new("nothing"));
        judge(
            PriceOptions::new()
                .with_read(ReadOptions::new().with_workers(2))
                .with_block_size(64)
                .price(path, output),
        );
    });
}

/// Tensors, as they are and with a corrected header length, since otherwise any change would be
/// caught there and nothing else would be tested; also the index of a model. A stream gives the
/// same tensors as a read, aligned.
///
/// # Panics
///
/// If it does not.
pub fn safetensors(bytes: &[u8]) {
    let mut sealed = bytes.to_vec();
    if let Some((len, rest)) = sealed.split_first_chunk_mut::<8>() {
        let end = rest.iter().rposition(|&byte| byte == b'}').map_or(0, |last| last + 1);
        *len = (end as u64).to_le_bytes();
    }
    let options = TensorOptions::new().with_read(ReadOptions::new().with_workers(2));
    for bytes in [bytes, &sealed] {
        with_file(bytes, |path| {
            let read = options.read([path]);
            let stream = options.stream([path], &TensorOrder::File);
            if let (Ok(read), Ok(stream)) = (&read, stream) {
                let streamed: Vec<_> =
                    stream.map(|tensor| tensor.expect("it is there")).collect();
                assert_eq!(streamed.len(), read.len());
                for (left, right) in read.iter().zip(&streamed) {
                    let alike = left.name == right.name() && left.bytes == right.bytes();
                    assert!(alike, "another tensor came from the stream: {right:?}");
                    let alignment = usize::try_from(left.dtype.alignment()).unwrap_or(1);
                    for bytes in [left.bytes, right.bytes()] {
                        let is_aligned = bytes.as_ptr().addr().is_multiple_of(alignment);
                        assert!(bytes.is_empty() || is_aligned, "{right:?} is not aligned");
                    }
                }
            }
            judge(read);
            let index = path.with_extension("json");
            fs::write(&index, bytes).expect("a file for temporary use");
            judge(options.shards([&index]));
            let _ = fs::remove_file(&index);
        });
    }
}

/// A profile of `swath tune`, as text that users may edit. An accepted profile must encode back to
/// the same text, and may change how files are read, not what is read.
///
/// # Panics
///
/// If it does not.
pub fn profiles(bytes: &[u8]) {
    const LEN: usize = 200_000;
    let text = String::from_utf8_lossy(bytes);
    let kept = match Kept::parse(&text) {
        Ok(kept) => kept,
        Err(why) => return assert!(!why.is_empty() && !why.contains('\n'), "{why:?}"),
    };
    let text = kept.text().expect("numbers that were read fit");
    let again = Kept::parse(&text).and_then(|kept| kept.text().map_err(|it| it.to_string()));
    assert_eq!(again.as_ref(), Ok(&text), "another profile came out of encoding");
    let profile = Arc::new(kept.profile());
    with_file(&vec![7; LEN], |path| {
        let options = ReadOptions::new().with_profile(Arc::clone(&profile));
        let loaded = options.read(path).expect("it is there");
        assert!(loaded.buffer.len() == LEN && loaded.buffer.iter().all(|&byte| byte == 7));
        let ingested = IngestOptions::new()
            .with_read(ReadOptions::new().with_profile(profile))
            .ingest(Files::from(path));
        assert_eq!(ingested.expect("it is there").report().bytes, LEN as u64);
    });
}

/// Checks that an error names its file.
fn judge<T>(outcome: swath_formats::Result<T>) {
    if let Err(error) = outcome {
        assert!(!error.path().as_os_str().is_empty(), "an error without a file: {error}");
        assert!(!error.to_string().is_empty(), "an error without words");
    }
}

/// Accepts this many bytes and then fails: what a few bytes expand to need not be checked
/// completely.
struct Most(usize);

impl Write for Most {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

thread_local! {
    /// The file of this thread, rewritten for each input; in memory where possible.
    static FILE: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

/// Calls `body` with a file that contains `bytes`.
///
/// # Panics
///
/// If no temporary file can be written.
fn with_file<T>(bytes: &[u8], body: impl FnOnce(&Path) -> T) -> T {
    FILE.with_borrow_mut(|file| {
        let path = file.get_or_insert_with(|| {
            let memory = Path::new("/dev/shm");
            let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
            let thread = format!("{:?}", std::thread::current().id());
            let thread: String = thread.chars().filter(char::is_ascii_digit).collect();
            folder.join(format!("swath-fuzz-{}-{thread}", std::process::id()))
        });
        fs::write(&*path, bytes).expect("a file for temporary use");
        let result = body(path);
        let _ = fs::remove_file(&*path);
        result
    })
}
