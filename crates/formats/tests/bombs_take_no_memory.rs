//! However long a stream is, and whatever it claims, it takes no more memory than promised.
//!
//! A single test, alone in its process, because it measures the peak memory of the whole process.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use swath::append::ordered_to;
use swath::{ReadAt, ReadOptions, Source, SourceFacts};
use swath_formats::compressed::{DecompressOptions, Decompressed};
use swath_formats::{FormatReason, Result};

/// A head, followed by the same bytes over and over; it is never in memory as a whole.
struct Endless {
    head: Vec<u8>,
    again: Vec<u8>,
    times: u64,
    tail: Vec<u8>,
}

impl ReadAt for Endless {
    fn facts(&self) -> io::Result<SourceFacts> {
        let again = self.again.len() as u64 * self.times;
        Ok(SourceFacts::new(Some((self.head.len() + self.tail.len()) as u64 + again)))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        let again = self.again.len() as u64 * self.times;
        let head = self.head.len() as u64;
        let to_usize = |position: u64| usize::try_from(position).expect("it is small");
        let part = if offset < head {
            &self.head[to_usize(offset)..]
        } else if offset - head < again {
            &self.again[to_usize((offset - head) % self.again.len() as u64)..]
        } else {
            self.tail.get(to_usize(offset - head - again)..).unwrap_or_default()
        };
        let len = part.len().min(target.len());
        target[..len].copy_from_slice(&part[..len]);
        Ok(len)
    }

    fn name(&self) -> PathBuf {
        PathBuf::from("endless")
    }
}

/// Peak memory of this process in MiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("it is this process's");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("it is listed");
    let kib: u64 = line.split_whitespace().nth(1).and_then(|it| it.parse().ok()).expect("KiB");
    kib / 1024
}

/// Decompresses to a sink with two workers; returns how much memory that took.
fn unpacked(source: Endless) -> (Result<Decompressed>, u64) {
    let before = peak();
    let output = ordered_to(io::sink(), Path::new("nowhere"));
    let options = DecompressOptions::new().with_read(ReadOptions::new().with_workers(2));
    let report = options.decompress(Source::custom(Arc::new(source)), output);
    (report, peak() - before)
}

/// A block of a zstd frame, with its kind and size.
fn block(kind: u32, size: u32, last: bool) -> Vec<u8> {
    (size << 3 | kind << 1 | u32::from(last)).to_le_bytes()[..3].to_vec()
}

#[test]
fn bombs_and_endless_streams_take_no_more_memory_than_was_promised() {
    const BLOCK: u32 = 128 << 10;
    let frame = || b"\x28\xb5\x2f\xfd\x00\x38".to_vec();
    let end = || block(0, 0, true);
    // 2 GiB of 64 kB.
    let runs = [block(1, BLOCK, false), b"x".to_vec()].concat();
    let bomb = Endless { head: frame(), again: runs, times: 16_384, tail: end() };
    let (report, took) = unpacked(bomb);
    assert_eq!(report.expect("valid").bytes_out, 2 << 30);
    assert!(took < 64, "runs took {took} MiB");

    // An incompressible frame of 512 MiB, which must not be gathered in memory.
    let raw = [block(0, BLOCK, false), vec![b'x'; 128 << 10]].concat();
    let long = Endless { head: frame(), again: raw, times: 4096, tail: end() };
    let (report, took) = unpacked(long);
    assert_eq!(report.expect("valid").bytes_out, 512 << 20);
    assert!(took < 128, "a long frame took {took} MiB");

    // bzip2 whose first block has no end; 4 GiB that need not be read.
    let head = b"BZh9\x31\x41\x59\x26\x53\x59".to_vec();
    let block = Endless { head, again: vec![b'y'; 1 << 16], times: 65_536, tail: Vec::new() };
    let (report, took) = unpacked(block);
    let error = report.expect_err("no block is so long");
    assert_eq!((error.reason(), error.offset()), (FormatReason::Corrupt, Some(4)), "{error}");
    assert!(took < 96, "a block without an end took {took} MiB");

    // A gzip member of 1 GiB of zeros in stored blocks, through the decoder that works in steps.
    let head = b"\x1f\x8b\x08\x00\0\0\0\0\0\xff".to_vec();
    let stored = [b"\x00\xff\xff\x00\x00".to_vec(), vec![0; 65_535]].concat();
    let member = Endless { head, again: stored, times: 16_384, tail: Vec::new() };
    let (report, took) = unpacked(member);
    assert_eq!(report.expect_err("it does not end").reason(), FormatReason::Truncated);
    assert!(took < 64, "a long member took {took} MiB");

    #[cfg(feature = "arrow")]
    for (codec, claim) in [
        (arrow_ipc::CompressionType::ZSTD, 32 << 30),
        (arrow_ipc::CompressionType::LZ4_FRAME, 200 << 20),
        (arrow_ipc::CompressionType::LZ4_FRAME, 1 << 50),
    ] {
        let took = arrow_that_claims(codec, claim);
        assert!(took < 16, "{claim} bytes of {codec:?} took {took} MiB");
    }
}

/// Reads a file of 1 MiB of values that say that they become so long; returns how much memory that took.
#[cfg(feature = "arrow")]
fn arrow_that_claims(codec: arrow_ipc::CompressionType, claim: i64) -> u64 {
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions};

    let (mut bits, mut bytes) = (swath_reference::splitmix(1), Vec::new());
    let values = arrow_array::UInt64Array::from_iter_values((0..1 << 17).map(|_| bits()));
    let batch = arrow_array::RecordBatch::try_from_iter([("n", Arc::new(values) as _)]);
    let batch = batch.expect("a column");
    let options = IpcWriteOptions::default().try_with_compression(Some(codec)).expect("one");
    let writer = FileWriter::try_new_with_options(&mut bytes, &batch.schema(), options);
    let mut writer = writer.expect("a file");
    writer.write(&batch).expect("memory");
    writer.finish().expect("memory");
    drop(writer);
    // What does not become shorter is not compressed.
    let first = [&[0xff; 8][..], &swath_reference::splitmix(1)().to_le_bytes()].concat();
    let at = bytes.windows(16).position(|part| part == first).expect("values");
    bytes[at..at + 8].copy_from_slice(&claim.to_le_bytes());
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bomb.arrow");
    std::fs::write(&path, &bytes).expect("room");
    let before = peak();
    let mut batches = swath_formats::table::arrow::batches(&path).expect("an Arrow file");
    batches.next().expect("a batch").expect_err("no values have this length");
    peak() - before
}
