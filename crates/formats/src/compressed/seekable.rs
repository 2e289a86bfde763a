//! Random access to a compressed file: reads and decodes only the frames needed.

pub(super) mod index;
pub(super) mod picked;

use std::path::PathBuf;
use std::sync::Arc;

use swath::machine::Mutex;
use swath::{Input, ReadOptions, Source};

use self::index::FrameIndex;
use super::Format;
use super::codec::{decode_into, decoder};
use super::decode::format_of;
use super::supply::{PackedSupply, no_memory};
use super::work::Decode;
use crate::error::{Error, FormatReason, Result};
use crate::spare::Spare;

/// A compressed file with an index, read at offsets of its decompressed contents.
///
/// Can be read from any thread. Keeps the frame that was decoded last, so that small consecutive
/// reads decode it once.
///
/// ```
/// use swath_formats::compressed::{CompressOptions, Format, Seekable};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("passwd.zst");
/// CompressOptions::new().with_format(Format::Zstd).compress("/etc/passwd", &path)?;
/// let packed = Seekable::open(&path)?;
/// let mut four = [0; 4];
/// assert_eq!(packed.read_at(&mut four, 0)?, 4);
/// assert_eq!(&four, b"root");
/// assert_eq!(packed.len(), std::fs::metadata("/etc/passwd")?.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Seekable {
    input: Input,
    path: PathBuf,
    format: Format,
    index: FrameIndex,
    decoders: Spare<Box<dyn Decode>>,
    /// The last frame decoded.
    last: Mutex<Option<(usize, Arc<Vec<u8>>)>>,
}

impl std::fmt::Debug for Seekable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seekable")
            .field("path", &self.path)
            .field("format", &self.format)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl Seekable {
    /// Opens a file and reads its index: the seek table of zstd's seekable format, or our own for
    /// gzip.
    ///
    /// A damaged index is detected. The exception is a seek table that another program wrote: it
    /// has no checksum, so only contradictions with the file, or with a frame that is read, are
    /// detected.
    ///
    /// # Errors
    ///
    /// [`FormatReason::NoIndex`] if there is no index, as always with BGZF and bzip2;
    /// [`FormatReason::Corrupt`] if the index contradicts the file;
    /// [`FormatReason::UnknownFormat`]; whatever reading reports.
    pub fn open(source: impl Into<Source>) -> Result<Self> {
        Self::open_at(source.into())
    }

    fn open_at(source: Source) -> Result<Self> {
        let input = Input::open(source)?;
        let mut supply = PackedSupply::new(ReadOptions::new().reader(&input)?);
        let path = supply.path().to_owned();
        let format = format_of(&mut supply)?;
        let index = FrameIndex::load(&mut supply, format)?.ok_or_else(|| {
            let what = format!("this {format} file has no index, which random access needs");
            Error::decompressing(&path, FormatReason::NoIndex, what)
        })?;
        Ok(Self { input, path, format, index, decoders: Spare::new(), last: Mutex::new(None) })
    }

    /// Returns the length of the decompressed contents in bytes, from the index.
    pub fn len(&self) -> u64 {
        self.index.len()
    }

    /// Whether the decompressed contents are empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the format of the file.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the number of frames that can be decoded independently.
    pub fn frames(&self) -> usize {
        self.index.frame_count()
    }

    /// Reads decompressed bytes from `offset` into `target` and returns how many: all of `target`,
    /// or fewer at the end.
    ///
    /// ```
    /// use swath_formats::compressed::{self, Seekable};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("a.zst");
    /// # std::fs::write(folder.path().join("a"), "0123456789")?;
    /// # compressed::compress(folder.path().join("a"), &path)?;
    /// let mut target = [0; 4];
    /// assert_eq!(Seekable::open(&path)?.read_at(&mut target, 8)?, 2);
    /// assert_eq!(&target[..2], b"89");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`FormatReason::Corrupt`] if a frame is damaged or does not match the index;
    /// [`FormatReason::Unsupported`] if a frame is longer than 32 MiB; whatever reading reports.
    pub fn read_at(&self, target: &mut [u8], offset: u64) -> Result<usize> {
        let there = self.len().saturating_sub(offset).min(target.len() as u64);
        let (frames, wanted) =
            self.index.frames_of(&self.path, offset.min(self.len()), Some(there))?;
        let mut done = 0;
        for frame in frames {
            let bytes = self.frame(frame)?;
            let keep = self.index.encoded(frame..frame + 1, Vec::new(), &wanted).cut;
            let part = keep.map_or(&bytes[..], |cut| &bytes[cut.keep]);
            target[done..done + part.len()].copy_from_slice(part);
            done += part.len();
        }
        Ok(done)
    }

    /// Returns all bytes of a frame.
    fn frame(&self, frame: usize) -> Result<Arc<Vec<u8>>> {
        let last = self.last.lock().clone();
        if let Some((_, bytes)) = last.filter(|&(index, _)| index == frame) {
            return Ok(bytes);
        }
        let (offset, len) = self.index.packed(&(frame..frame + 1));
        if !self.index.are_short(&(frame..frame + 1)) {
            let error = Error::decompressing(
                &self.path,
                FormatReason::Unsupported,
                "the frame is longer than 32 MiB",
            );
            return Err(error.at(offset).hint("decompress the whole file instead"));
        }
        let read = ReadOptions::new().with_offset(offset).with_len(len);
        let packed = read.read(&self.input)?.buffer;
        let encoded = self.index.encoded(frame..frame + 1, packed.to_vec(), &(0..u64::MAX));
        let decoder = self.decoders.take().or_else(|| decoder(self.format));
        let mut decoder = decoder.ok_or_else(|| no_memory(&self.path))?;
        let mut out = Vec::new();
        decode_into(&mut *decoder, &encoded, &mut out, &self.path)?;
        self.decoders.put(decoder);
        let bytes = Arc::new(out);
        let kept = (frame, Arc::clone(&bytes));
        *self.last.lock() = Some(kept);
        Ok(bytes)
    }
}
