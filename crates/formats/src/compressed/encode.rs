//! The verb `compress`: blocks in, frames out, in order.

use std::io::BufRead;
use std::path::Path;
use std::time::{Duration, Instant};

use swath::append::Ticket;
use swath::{Fallback, Output, OutputOptions, ReadOptions, Reader, Source};

use super::Format;
use super::framing::{Begun, Chosen, Framing, StreamEnd};
use crate::error::{Error, FormatReason, Result};
use crate::setters::setters;
use crate::share::started;
use crate::spare::Spare;

/// Smaller blocks are handed out together, up to this many bytes.
const ITEM_SIZE: usize = 1 << 20;

/// Compresses `source` into `output`. The extension of the output decides the format; the default
/// is zstd.
///
/// ```
/// use swath_formats::compressed::{self, Format};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("passwd.gz");
/// let packed = compressed::compress("/etc/passwd", &path)?;
/// assert_eq!((packed.format, packed.frames), (Format::Gzip, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`CompressOptions::compress`].
pub fn compress(source: impl Into<Source>, output: impl Into<Output>) -> Result<Compressed> {
    CompressOptions::new().compress(source, output)
}

/// How to compress. Every setter returns the options; none can fail; 0 means "choose for me".
///
/// ```
/// use swath_formats::compressed::{CompressOptions, Format};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("passwd.gz");
/// let options = CompressOptions::new().with_format(Format::Bgzf).with_level(9);
/// let packed = options.compress("/etc/passwd", &path)?;
/// assert_eq!((packed.format, packed.level), (Format::Bgzf, 9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CompressOptions {
    format: Option<Format>,
    level: Option<i32>,
    block_size: u64,
    read: ReadOptions,
    output: OutputOptions,
}

/// The result of a compression.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compressed {
    /// The format that was written.
    pub format: Format,
    /// The level that was used.
    pub level: i32,
    /// Input bytes per frame; the last one may have fewer.
    pub block_size: u64,
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Number of frames, members or streams, without those of the index.
    pub frames: u64,
    /// Number of threads that compressed.
    pub workers: usize,
    /// Time from the call to the end of the commit.
    pub elapsed: Duration,
    /// Requests that could not be granted, and what was done instead.
    pub fallbacks: Vec<Fallback>,
}

impl CompressOptions {
    /// Defaults: the format of the output's name, its default level and block size, one worker per
    /// core.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The format. Default: by the output's extension ([`Format::of_name`]), else zstd.
        with_format(format: Format);

        /// The level, one of [`Format::levels`]. Default: [`Format::default_level`].
        with_level(level: i32);

        /// Input bytes per frame. Default: 0, for [`Format::default_block_size`].
        with_block_size(block_size: u64);

        /// How to read the input, and which bytes of it. Its workers compress: 0 for one per core,
        /// fewer if memory is short. The output is the same for any number.
        with_read(read: ReadOptions);

        /// How to write the output. An existing `Output` keeps its own options.
        with_output(output: OutputOptions);
    }

    /// Compresses `source` into `output` and commits it.
    ///
    /// Memory: for each worker a block, a context, and two frames that wait for their place. If
    /// memory is short, fewer workers run, and zstd gets shorter tables if even one worker does not
    /// fit; [`Compressed::fallbacks`] reports it.
    ///
    /// # Errors
    ///
    /// [`FormatReason::Invalid`], before anything is read, for a level or block size that the
    /// format does not have; otherwise whatever reading and writing report. After an error there is
    /// no output.
    pub fn compress(
        &self,
        source: impl Into<Source>,
        output: impl Into<Output>,
    ) -> Result<Compressed> {
        self.compress_to(source.into(), output.into())
    }

    fn compress_to(&self, source: Source, output: Output) -> Result<Compressed> {
        let start = Instant::now();
        let format = self.format.or_else(|| Format::of_name(output.name()));
        let reader = self.read.reader(source)?;
        let path = reader.path().to_owned();
        let chosen = Chosen {
            format: format.unwrap_or(Format::Zstd),
            level: self.level,
            block_size: self.block_size,
            path: &path,
        };
        let Begun { framing, workers, mut fallbacks } =
            chosen.begin(self.read.workers(), reader.end_position())?;
        let shape = framing.shape();
        let output = output.open(self.output.clone().with_input(&path))?;
        let job = EncodeJob { framing, spare: Spare::new() };
        let blocks = Blocks { reader, path: &path, job: &job, next: 0, ended: false };
        output.map_ordered(blocks, workers, |block, ticket| job.encode(block?, ticket))?;

        let StreamEnd { mut trailer, bytes_in, frames } = job.framing.end()?;
        let mut ticket = output.ticket()?;
        ticket.buffer().append(&mut trailer);
        ticket.done()?;
        let written = output.commit()?;
        fallbacks.extend(written.fallbacks);
        Ok(Compressed {
            format: shape.format,
            level: shape.level,
            block_size: shape.block_size as u64,
            bytes_in,
            bytes_out: written.bytes,
            frames,
            workers: started(workers, &fallbacks),
            elapsed: start.elapsed(),
            fallbacks,
        })
    }
}

/// One compression.
struct EncodeJob {
    framing: Framing,
    spare: Spare<Vec<u8>>,
}

/// One block, or several small ones.
struct EncodeItem {
    index: usize,
    bytes: Vec<u8>,
}

impl EncodeJob {
    fn encode(&self, item: EncodeItem, ticket: &mut Ticket) -> Result<()> {
        let size = self.framing.block_size();
        self.framing.append(item.index, &item.bytes, size, ticket.buffer())?;
        self.spare.put(item.bytes);
        Ok(())
    }
}

/// Reads the input item by item. An empty input is one empty item.
struct Blocks<'j> {
    reader: Reader,
    path: &'j Path,
    job: &'j EncodeJob,
    next: usize,
    ended: bool,
}

impl Blocks<'_> {
    fn fill(&mut self) -> Result<Vec<u8>> {
        let block_size = self.job.framing.block_size();
        let size = block_size * (ITEM_SIZE / block_size).max(1);
        let mut bytes = self.job.spare.buffer();
        let failed = |error| Error::from_io(error, self.path);
        loop {
            let came = self.reader.fill_buf().map_err(failed)?;
            let len = came.len().min(size - bytes.len());
            if len == 0 {
                return Ok(bytes);
            }
            if bytes.capacity() < size {
                // Small inputs touch only the memory that they need.
                bytes.try_reserve_exact(size - bytes.len()).map_err(|_| {
                    let what = format!("not enough memory for a block of {size} bytes");
                    Error::compressing(self.path, FormatReason::OutOfMemory, what)
                        .hint("use smaller blocks or fewer workers")
                })?;
            }
            bytes.extend_from_slice(&came[..len]);
            self.reader.consume(len);
        }
    }
}

impl Iterator for Blocks<'_> {
    type Item = Result<EncodeItem>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let index = self.next;
        self.next += 1;
        match self.fill() {
            Ok(bytes) if bytes.is_empty() && index > 0 => {
                self.ended = true;
                None
            }
            Ok(bytes) => Some(Ok(EncodeItem { index, bytes })),
            Err(error) => {
                self.ended = true;
                Some(Err(error))
            }
        }
    }
}
