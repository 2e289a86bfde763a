//! Inputs, and streams in memory.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use swath::append::{Ordered, ordered_to};
use swath::{ReadAt, ReadOptions, Source, SourceFacts};
use swath_formats::Result;
use swath_formats::compressed::{CompressOptions, DecompressOptions, Decompressed, Format};

pub(crate) const FORMATS: [Format; 4] =
    [Format::Zstd, Format::Gzip, Format::Bgzf, Format::Bzip2];

/// Bytes that can be read by position.
struct Memory(Vec<u8>);

impl ReadAt for Memory {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(SourceFacts::new(Some(self.0.len() as u64)))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.0.get(offset..));
        rest.unwrap_or_default().clone_into_start(target)
    }

    fn name(&self) -> PathBuf {
        PathBuf::from("memory")
    }
}

/// Copies as much as fits.
trait CloneIntoStart {
    fn clone_into_start(&self, target: &mut [u8]) -> io::Result<usize>;
}

impl CloneIntoStart for [u8] {
    fn clone_into_start(&self, target: &mut [u8]) -> io::Result<usize> {
        let len = self.len().min(target.len());
        target[..len].copy_from_slice(&self[..len]);
        Ok(len)
    }
}

pub(crate) fn source(bytes: &[u8]) -> Source {
    Source::custom(Arc::new(Memory(bytes.to_vec())))
}

/// A pipe that delivers `bytes`, a few at a time.
pub(crate) fn pipe(bytes: &[u8], step: usize) -> Source {
    let (read, mut write) = io::pipe().expect("a pipe");
    let bytes = bytes.to_vec();
    std::thread::spawn(move || {
        for part in bytes.chunks(step) {
            // A reader that has read enough closes it.
            if write.write_all(part).is_err() {
                break;
            }
        }
    });
    Source::file(std::fs::File::from(std::os::fd::OwnedFd::from(read)), "<pipe>")
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panics").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An output, and the bytes written to it.
fn output() -> (Ordered, Kept) {
    let kept = Kept::default();
    (ordered_to(kept.clone(), Path::new("kept")), kept)
}

pub(crate) fn packed_by(options: &CompressOptions, source: Source) -> Vec<u8> {
    let (output, kept) = output();
    let report = options.compress(source, output).expect("it is compressed");
    let bytes = std::mem::take(&mut *kept.0.lock().expect("nobody panics"));
    assert_eq!(report.bytes_out, bytes.len() as u64);
    bytes
}

pub(crate) fn packed(format: Format, bytes: &[u8]) -> Vec<u8> {
    packed_by(
        &CompressOptions::new()
            .with_format(format)
            .with_read(ReadOptions::new().with_workers(2)),
        source(bytes),
    )
}

/// Small frames, so that a few kB contain many.
pub(crate) fn packed_small(format: Format, bytes: &[u8]) -> Vec<u8> {
    let options = CompressOptions::new()
        .with_format(format)
        .with_block_size(4096)
        .with_read(ReadOptions::new().with_workers(2));
    packed_by(&options, source(bytes))
}

/// Returns what comes out, even if it ends with an error.
pub(crate) fn unpacked_by(
    options: &DecompressOptions,
    source: Source,
) -> (Result<Decompressed>, Vec<u8>) {
    let (output, kept) = output();
    let report = options.decompress(source, output);
    let bytes = std::mem::take(&mut *kept.0.lock().expect("nobody panics"));
    if let Ok(report) = &report {
        assert_eq!(report.bytes_out, bytes.len() as u64);
    }
    (report, bytes)
}

pub(crate) fn unpacked(bytes: &[u8]) -> Result<Vec<u8>> {
    let options = DecompressOptions::new().with_read(ReadOptions::new().with_workers(2));
    let (report, plain) = unpacked_by(&options, source(bytes));
    report.map(|_| plain)
}

/// `len` bytes that resemble text: words that repeat.
pub(crate) fn text(seed: u64, len: usize) -> Vec<u8> {
    let mut next = swath_reference::splitmix(seed);
    let mut text = Vec::with_capacity(len + 16);
    while text.len() < len {
        let word = next() % 997;
        let _ =
            write!(text, "{}{}", word * word, if word.is_multiple_of(13) { "\n" } else { " " });
    }
    text.truncate(len);
    text
}
