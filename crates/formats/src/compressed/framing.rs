//! The frames of one output: encoded by any worker, kept in order for the index after them.

use std::path::{Path, PathBuf};

use swath::Fallback;
use swath::machine::Mutex;

use super::Format;
use super::codec::CodecShape;
use super::frame::{Encode, Frame};
use super::room::{Fitted, fit};
use crate::error::{Error, FormatReason, Result};
use crate::share::workers;
use crate::spare::Spare;

/// The choices of the caller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen<'p> {
    pub(crate) format: Format,
    /// `None`: the format's own.
    pub(crate) level: Option<i32>,
    /// Input bytes per frame; 0: the format's own.
    pub(crate) block_size: u64,
    /// The path for messages.
    pub(crate) path: &'p Path,
}

/// A compression that fits in memory.
pub(crate) struct Begun {
    pub(crate) framing: Framing,
    pub(crate) workers: usize,
    /// Differences from the request.
    pub(crate) fallbacks: Vec<Fallback>,
}

impl Chosen<'_> {
    /// Checks the options, and fits as many of `wanted` workers (0: one per core) as possible into
    /// memory: at most one for each frame in `len` bytes, if that is known.
    pub(crate) fn begin(self, wanted: usize, len: Option<u64>) -> Result<Begun> {
        /// For shorter inputs, zstd's encoder takes memory in proportion to the input: so little
        /// that the available memory need not be queried.
        const SHORT: u64 = 256 << 10;
        let shape = self.shape()?;
        let is_short = shape.format == Format::Zstd && len.is_some_and(|len| len <= SHORT);
        let at_hand = match is_short {
            true => u64::MAX,
            false => swath::machine::memory_at_hand().unwrap_or(u64::MAX),
        };
        let wanted = match len.map(|len| len.div_ceil(shape.block_size as u64)) {
            Some(0 | 1) => 1,
            Some(frames) => workers(wanted).min(usize::try_from(frames).unwrap_or(usize::MAX)),
            None => workers(wanted),
        };
        let Fitted { shape, workers, fallbacks } = fit(shape, wanted, at_hand);
        let framing = Framing {
            shape,
            path: self.path.to_owned(),
            encoders: Spare::new(),
            frames: Mutex::default(),
        };
        Ok(Begun { framing, workers, fallbacks })
    }

    fn shape(self) -> Result<CodecShape> {
        let Self { format, path, .. } = self;
        let invalid = |what: String| {
            Err(Error::compressing(path, FormatReason::Invalid, what)
                .hint("choose a value in this range, or leave it out"))
        };
        let level = self.level.unwrap_or(format.default_level());
        let levels = format.levels();
        if !levels.contains(&level) {
            let (least, most) = levels.into_inner();
            return invalid(format!(
                "level {level} does not exist for {format}, which has {least} to {most}"
            ));
        }
        let block_size = match self.block_size {
            0 => format.default_block_size(level),
            size => size,
        };
        let sizes = format.block_sizes();
        if !sizes.contains(&block_size) {
            let (least, most) = sizes.into_inner();
            let unit = if block_size == 1 { "byte" } else { "bytes" };
            return invalid(format!(
                "a block size of {block_size} {unit} is not possible for {format}, which allows {least} to {most}"
            ));
        }
        // At most `MOST_BLOCK`.
        let block_size = usize::try_from(block_size).unwrap_or(usize::MAX);
        Ok(CodecShape { format, level, block_size, tables: None })
    }
}

/// The state that the workers of one compression share.
pub(crate) struct Framing {
    shape: CodecShape,
    path: PathBuf,
    encoders: Spare<Box<dyn Encode>>,
    /// The frames of each item, in order.
    frames: Mutex<Vec<Vec<Frame>>>,
}

/// The bytes after the last frame, and the number of bytes and frames.
pub(crate) struct StreamEnd {
    pub(crate) trailer: Vec<u8>,
    pub(crate) bytes_in: u64,
    pub(crate) frames: u64,
}

impl Framing {
    pub(super) fn shape(&self) -> CodecShape {
        self.shape
    }

    /// The most input bytes per frame.
    pub(crate) fn block_size(&self) -> usize {
        self.shape.block_size
    }

    /// Appends the frames of item number `index` to `out`: one for each `size` bytes, at most
    /// [`block_size`](Self::block_size). The first item has a frame even if it is empty, if the
    /// format needs one.
    pub(crate) fn append(
        &self,
        index: usize,
        item: &[u8],
        size: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let failed = |why| Error::compressing(&self.path, FormatReason::Unsupported, why);
        let mut encoder = match self.encoders.take() {
            Some(encoder) => encoder,
            None => self.shape.encoder().map_err(failed)?,
        };
        let mut frames = Vec::new();
        if item.is_empty() && index == 0 && self.shape.needs_a_frame() {
            frames.push(encoder.encode(&[], out).map_err(failed)?);
        }
        for block in item.chunks(size.max(1)) {
            frames.push(encoder.encode(block, out).map_err(failed)?);
        }
        self.encoders.put(encoder);
        let mut all = self.frames.lock();
        if all.len() <= index {
            all.resize_with(index + 1, Vec::new);
        }
        all[index] = frames;
        Ok(())
    }

    /// Builds the index, once all frames are there.
    pub(crate) fn end(self) -> Result<StreamEnd> {
        let frames = self.frames.into_inner();
        let frames: Vec<Frame> = frames.into_iter().flatten().collect();
        let trailer = self.shape.trailer(&frames).map_err(|why| {
            let error = Error::compressing(&self.path, FormatReason::Unsupported, why);
            error.hint("use larger blocks")
        })?;
        let bytes_in = frames.iter().map(|frame| u64::from(frame.plain)).sum();
        Ok(StreamEnd { trailer, bytes_in, frames: frames.len() as u64 })
    }
}
