//! Checksums of whole inputs, in the form that the standard tools print.
//!
//! ```text
//! CRC-32C, BLAKE3  chunk by chunk on all workers; the results of two parts combine into one
//! XXH3             block after block, while the next ones are read
//! ```
//!
//! ```
//! use swath_formats::checksum::{Algorithm, checksum};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("data.bin");
//! std::fs::write(&path, "123456789")?;
//! let sum = checksum(path.as_path(), Algorithm::Crc32c)?;
//! assert_eq!((sum.hex().as_str(), sum.bytes), ("e3069283", 9));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod tree;

use std::fmt::Write;
use std::hash::Hasher as _;
use std::io::BufRead;
use std::time::{Duration, Instant};

use swath::timeline::{Activity, Recorder};
use swath::{ReadOptions, Report, Source};
use twox_hash::XxHash3_64;

use crate::error::{Error, Result};
use crate::setters::setters;

/// A checksum that a standard tool computes too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// 64 bits, as `xxhsum -H3`.
    Xxh3,
    /// CRC-32C (Castagnoli).
    Crc32c,
    /// 256 bits, as `b3sum`.
    Blake3,
}

impl Algorithm {
    /// All algorithms, with the names that users write.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("xxh3", Self::Xxh3), ("crc32c", Self::Crc32c), ("blake3", Self::Blake3)];
}

/// A checksum, and how it was computed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Checksum {
    /// The bytes of the checksum, most significant first.
    pub digest: Vec<u8>,
    /// Number of bytes summed.
    pub bytes: u64,
    /// Time from the call to the result.
    pub elapsed: Duration,
    /// How the file was read. `None` for XXH3, which reads ahead and takes one block after another,
    /// and for BLAKE3 if the chunk size is not a power of two.
    pub report: Option<Report>,
}

impl Checksum {
    /// Returns the checksum in lower-case hexadecimal, as the tools print it.
    ///
    /// ```
    /// use swath_formats::checksum::{Algorithm, checksum};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("data.bin");
    /// std::fs::write(&path, "")?;
    /// assert_eq!(checksum(path, Algorithm::Xxh3)?.hex(), "2d06800538d394c2");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn hex(&self) -> String {
        let mut text = String::with_capacity(2 * self.digest.len());
        for byte in &self.digest {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}

/// Computes the checksum of `source`. Keeps only the chunks being read in memory.
///
/// ```
/// use swath_formats::checksum::{Algorithm, checksum};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("data.bin");
/// std::fs::write(&path, "123456789")?;
/// let sum = checksum(path, Algorithm::Crc32c)?;
/// assert_eq!(sum.digest, [0xe3, 0x06, 0x92, 0x83]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Whatever reading reports.
pub fn checksum(source: impl Into<Source>, algorithm: Algorithm) -> Result<Checksum> {
    ChecksumOptions::new().checksum(source, algorithm)
}

/// How to compute a checksum. Every setter returns the options; none can fail.
///
/// ```
/// use swath::ReadOptions;
/// use swath_formats::checksum::{Algorithm, ChecksumOptions};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("data.bin");
/// std::fs::write(&path, "head 123456789")?;
/// let options = ChecksumOptions::new().with_read(ReadOptions::new().with_offset(5));
/// assert_eq!(options.checksum(path, Algorithm::Crc32c)?.hex(), "e3069283");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ChecksumOptions {
    read: ReadOptions,
    is_one_of_many: bool,
}

impl ChecksumOptions {
    /// Defaults: all bytes of the source, everything else chosen automatically.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// How to read the source, and which bytes of it.
        with_read(read: ReadOptions);
        /// Whether other checksums are computed at the same time, so that no core is idle: then
        /// XXH3 does not read cached bytes ahead.
        with_one_of_many(is_one_of_many: bool);
    }

    /// Like [`checksum`], with these options.
    ///
    /// # Errors
    ///
    /// Whatever reading reports.
    pub fn checksum(
        &self,
        source: impl Into<Source>,
        algorithm: Algorithm,
    ) -> Result<Checksum> {
        self.checksum_of(source.into(), algorithm)
    }

    fn checksum_of(&self, source: Source, algorithm: Algorithm) -> Result<Checksum> {
        let options = &self.read;
        match algorithm {
            Algorithm::Crc32c => crc32c(source, options),
            Algorithm::Xxh3 => {
                let mut hasher = XxHash3_64::new();
                let is_ahead = !self.is_one_of_many && options.workers() != 1;
                let (bytes, elapsed) =
                    feed(source, options, is_ahead, |block| hasher.write(block))?;
                let digest = hasher.finish().to_be_bytes().to_vec();
                Ok(Checksum { digest, bytes, elapsed, report: None })
            }
            Algorithm::Blake3 => blake3(source, options),
        }
    }
}

fn blake3(source: Source, options: &ReadOptions) -> Result<Checksum> {
    if let Some((options, size)) = tree::fitting(options) {
        let (hash, report) = tree::blake3(source, &options, size)?;
        return Ok(scanned(hash.as_bytes().to_vec(), report));
    }
    let mut hasher = blake3::Hasher::new();
    let (bytes, elapsed) = feed(source, options, false, |block| {
        hasher.update(block);
    })?;
    let digest = hasher.finalize().as_bytes().to_vec();
    Ok(Checksum { digest, bytes, elapsed, report: None })
}

fn crc32c(source: Source, options: &ReadOptions) -> Result<Checksum> {
    let folded = options.scan(
        source,
        |chunk| (crc32c::crc32c(chunk.bytes), chunk.bytes.len() as u64),
        |left, right| (swath_simd::crc32c_combine(left.0, right.0, right.1), left.1 + right.1),
    )?;
    let (checksum, _) = folded.value.unwrap_or_default();
    Ok(scanned(checksum.to_be_bytes().to_vec(), folded.report))
}

/// Returns the checksum of a scan by all workers.
fn scanned(digest: Vec<u8>, report: Report) -> Checksum {
    Checksum { digest, bytes: report.bytes, elapsed: report.elapsed, report: Some(report) }
}

/// Passes every block to `update`, in order, while the next ones are read; if `is_ahead`, cached
/// blocks are read ahead too.
fn feed(
    source: Source,
    options: &ReadOptions,
    is_ahead: bool,
    mut update: impl FnMut(&[u8]),
) -> Result<(u64, Duration)> {
    let start = Instant::now();
    let mut reader = options.reader(source)?;
    if is_ahead {
        // Copying would take time from this thread, which computes.
        reader.keep_ahead();
    }
    let path = reader.path().to_owned();
    let mut recorder = options.timeline().map(|timeline| timeline.recorder(&path));
    let mut bytes = 0;
    loop {
        let block = reader.fill_buf().map_err(|error| Error::from_io(error, &path))?;
        if block.is_empty() {
            return Ok((bytes, start.elapsed()));
        }
        let len = block.len();
        recorder.as_mut().map(Recorder::mark);
        update(block);
        if let Some(recorder) = &mut recorder {
            recorder.lap(Activity::Compute, options.offset() + bytes, len as u64);
        }
        bytes += len as u64;
        reader.consume(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex_of(bytes: &[u8], algorithm: Algorithm) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("input");
        std::fs::write(&path, bytes).expect("written");
        // Small chunks, so that there are several to combine.
        let options = ReadOptions::new().with_chunk_size(4);
        let options = ChecksumOptions::new().with_read(options);
        let sum = options.checksum(path, algorithm).expect("it can be read");
        assert_eq!(sum.bytes, bytes.len() as u64);
        sum.hex()
    }

    #[test]
    fn a_tree_of_any_shape_has_the_hash_of_its_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("input");
        let bytes: Vec<u8> =
            (0..40_000_u32).map(|at| ((at * at) >> 7).to_le_bytes()[0]).collect();
        let lens = (0..20).flat_map(|chunks| [0, 1, 1023].map(|more| 1024 * chunks + more));
        for len in lens.chain([32_768, 39_999]) {
            std::fs::write(&path, &bytes[..len]).expect("written");
            for size in [0, 1000, 1024, 2048, 4096] {
                for (offset, workers) in [(0, 1), (0, 3), (7, 2)] {
                    let offset = offset.min(len);
                    let read = ReadOptions::new().with_chunk_size(size).with_workers(workers);
                    let options =
                        ChecksumOptions::new().with_read(read.with_offset(offset as u64));
                    let sum = options.checksum(&path, Algorithm::Blake3).expect("it is there");
                    let hash = blake3::hash(&bytes[offset..len]);
                    assert_eq!(sum.digest, hash.as_bytes(), "{len} bytes, chunks of {size}");
                    assert_eq!(sum.bytes, (len - offset) as u64);
                    assert_eq!(sum.report.is_none(), size == 1000);
                }
            }
        }
    }

    #[test]
    fn checksums_of_the_check_string_are_the_published_ones() {
        assert_eq!(hex_of(b"123456789", Algorithm::Crc32c), "e3069283");
        assert_eq!(hex_of(b"", Algorithm::Crc32c), "00000000");
        assert_eq!(hex_of(b"", Algorithm::Xxh3), "2d06800538d394c2");
        let empty = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
        assert_eq!(hex_of(b"", Algorithm::Blake3), empty);
    }
}
