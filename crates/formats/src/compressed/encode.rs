//! The verb `compress`: blocks in, frames out, in order.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use swath::append::{Ordered, OrderedOptions, Ticket, ordered};
use swath::{ReadOptions, Reader, Source};

use super::Format;
use super::codec::{Encode, Frame, Shape};
use super::room::{Fitted, fit};

use crate::error::{Error, Reason, Result};
use crate::share::workers;
use crate::spare::Spare;

/// Smaller blocks are handed out so many bytes at a time.
const ITEM_SIZE: usize = 1 << 20;

/// How to compress. Every setter returns the options, none can fail; 0 means "choose for me".
#[derive(Clone, Debug)]
pub struct CompressOptions {
    format: Format,
    level: Option<i32>,
    workers: usize,
    block_size: usize,
    read: ReadOptions,
}

/// How a compression went.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compressed {
    /// What was written.
    pub format: Format,
    /// At which of its levels.
    pub level: i32,
    /// Bytes of input in one frame; the last one may have fewer.
    pub block_size: usize,
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Frames, members or streams, without what is there for the index.
    pub frames: u64,
    /// Threads that compressed.
    pub workers: usize,
    /// From the call to the end of the commit.
    pub elapsed: Duration,
    /// Wishes that could not be granted, and what was done instead.
    pub fallbacks: Vec<String>,
}

impl CompressOptions {
    /// The format's default level and block size, one worker for each core.
    pub fn new(format: Format) -> Self {
        Self { format, level: None, workers: 0, block_size: 0, read: ReadOptions::new() }
    }

    /// One of [`Format::levels`]. Default: [`Format::default_level`].
    #[must_use]
    pub fn with_level(mut self, level: i32) -> Self {
        self.level = Some(level);
        self
    }

    /// Threads that compress, the caller's among them. Default 0: one for each core. The output is
    /// the same for all. Fewer where memory is short.
    #[must_use]
    pub fn with_workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// Bytes of input in one frame. Default 0: [`Format::default_block_size`].
    #[must_use]
    pub fn with_block_size(mut self, block_size: usize) -> Self {
        self.block_size = block_size;
        self
    }

    /// How the input is read: which bytes, how fast, with whose progress and cancellation.
    #[must_use]
    pub fn with_read(mut self, read: ReadOptions) -> Self {
        self.read = read;
        self
    }

    /// Compresses `source` into `output`, and commits that.
    ///
    /// Memory: for each worker a block, a context, and two frames that wait for their place. Where
    /// that is more than is at hand there are fewer workers, and for the last one of them zstd gets
    /// shorter tables: [`Compressed::fallbacks`] says so.
    ///
    /// # Errors
    ///
    /// [`Reason::Invalid`], before anything is read, for a level or block size that the format does
    /// not have; else what reading and writing say. Then there is no output.
    pub fn compress(&self, source: impl Into<Source>, output: Ordered) -> Result<Compressed> {
        let start = Instant::now();
        let reader = self.read.reader(source)?;
        let path = reader.path().to_owned();
        let at_hand = swath::memory_at_hand().unwrap_or(u64::MAX);
        let Fitted { shape, workers, mut fallbacks } =
            fit(self.shape(&path)?, workers(self.workers), at_hand);
        let job = Job {
            shape,
            path,
            spare: Spare::new(),
            encoders: Spare::new(),
            done: Mutex::default(),
        };
        let blocks = Blocks { reader, job: &job, next: 0, ended: false };
        output.map_ordered(blocks, workers, |block, ticket| job.encode(block?, ticket))?;

        let Done { frames, bytes_in } =
            job.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let frames: Vec<Frame> = frames.into_iter().flatten().collect();
        let trailer = shape.trailer(&frames).map_err(|why| {
            let error = Error::compressing(&job.path, Reason::Unsupported, why);
            error.hint("use larger blocks")
        })?;
        output.map_ordered([trailer], 1, |mut trailer, ticket| -> Result<()> {
            ticket.buffer().append(&mut trailer);
            Ok(())
        })?;
        let written = output.commit()?;
        fallbacks.extend(written.fallbacks);
        Ok(Compressed {
            format: shape.format,
            level: shape.level,
            block_size: shape.block_size,
            bytes_in,
            bytes_out: written.bytes,
            frames: frames.len() as u64,
            workers,
            elapsed: start.elapsed(),
            fallbacks,
        })
    }

    /// As [`compress`](Self::compress), into the file at `path`, which is replaced.
    ///
    /// # Errors
    ///
    /// As [`compress`](Self::compress); and if the file cannot be made.
    pub fn compress_file(
        &self,
        source: impl Into<Source>,
        path: impl AsRef<Path>,
    ) -> Result<Compressed> {
        self.compress(source, ordered(path, OrderedOptions::new())?)
    }

    fn shape(&self, path: &Path) -> Result<Shape> {
        let format = self.format;
        let invalid = |what: String| {
            Err(Error::compressing(path, Reason::Invalid, what).hint("leave it out"))
        };
        let level = self.level.unwrap_or(format.default_level());
        let levels = format.levels();
        if !levels.contains(&level) {
            let (least, most) = levels.into_inner();
            return invalid(format!("{format} has levels {least} to {most}, not {level}"));
        }
        let block_size = match self.block_size {
            0 => format.default_block_size(level),
            size => size,
        };
        let sizes = format.block_sizes();
        if !sizes.contains(&block_size) {
            let (least, most) = sizes.into_inner();
            return invalid(format!(
                "blocks of {format} have {least} to {most} bytes, not {block_size}"
            ));
        }
        Ok(Shape { format, level, block_size, tables: None })
    }
}

/// One compression.
struct Job {
    shape: Shape,
    path: PathBuf,
    spare: Spare<Vec<u8>>,
    encoders: Spare<Box<dyn Encode>>,
    done: Mutex<Done>,
}

#[derive(Default)]
struct Done {
    /// Of each item, in order.
    frames: Vec<Vec<Frame>>,
    bytes_in: u64,
}

/// One block, or several small ones.
struct Item {
    index: usize,
    bytes: Vec<u8>,
}

impl Job {
    fn encode(&self, item: Item, ticket: &mut Ticket) -> Result<()> {
        let failed = |why| Error::compressing(&self.path, Reason::Unsupported, why);
        let mut encoder = match self.encoders.take() {
            Some(encoder) => encoder,
            None => self.shape.encoder().map_err(failed)?,
        };
        let out = ticket.buffer();
        let mut frames = Vec::new();
        if item.bytes.is_empty() && self.shape.needs_a_frame() {
            frames.push(encoder.encode(&[], out).map_err(failed)?);
        }
        for block in item.bytes.chunks(self.shape.block_size) {
            frames.push(encoder.encode(block, out).map_err(failed)?);
        }
        self.encoders.put(encoder);
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.bytes_in += item.bytes.len() as u64;
        if done.frames.len() <= item.index {
            done.frames.resize_with(item.index + 1, Vec::new);
        }
        done.frames[item.index] = frames;
        drop(done);
        self.spare.put(item.bytes);
        Ok(())
    }
}

/// Reads the input item by item; an empty input is one empty item.
struct Blocks<'j> {
    reader: Reader,
    job: &'j Job,
    next: usize,
    ended: bool,
}

impl Blocks<'_> {
    fn fill(&mut self) -> Result<Vec<u8>> {
        let block_size = self.job.shape.block_size;
        let size = block_size * (ITEM_SIZE / block_size).max(1);
        let mut bytes = self.job.spare.buffer();
        let failed = |error| Error::from_io(error, &self.job.path);
        loop {
            let came = self.reader.fill_buf().map_err(failed)?;
            let len = came.len().min(size - bytes.len());
            if len == 0 {
                return Ok(bytes);
            }
            if bytes.capacity() < size {
                // Small inputs do not touch what they do not need.
                bytes.try_reserve_exact(size - bytes.len()).map_err(|_| {
                    let what = format!("no memory for a block of {size} bytes");
                    Error::compressing(&self.job.path, Reason::Unsupported, what)
                        .hint("use smaller blocks or fewer workers")
                })?;
            }
            bytes.extend_from_slice(&came[..len]);
            self.reader.consume(len);
        }
    }
}

impl Iterator for Blocks<'_> {
    type Item = Result<Item>;

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
            Ok(bytes) => Some(Ok(Item { index, bytes })),
            Err(error) => {
                self.ended = true;
                Some(Err(error))
            }
        }
    }
}
