//! The verb `decompress`: frames are found in order, decoded by any free worker, and written in
//! order.
//!
//! ```text
//! split   frame by frame, without decoding     a frame too long for one worker is decoded here
//! decode  any worker                           trim: only the requested bytes
//! output  in order
//! ```
//!
//! After a gzip member with a wrong length, the rest of the stream is decoded in order.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use swath::append::{Ordered, OrderedOptions, Ticket};
use swath::sink::Sparse;
use swath::{Fallback, Output, OutputOptions, ReadOptions, Source};

use super::ahead::ahead;
use super::bzip2::search::BlockSearch;
use super::codec::{decode_into, decoder};
use super::seekable::index::FrameIndex;
use super::seekable::picked::PickedFrames;
use super::supply::{PackedSupply, no_memory};
use super::trim::Trim;
use super::turns::{ItemOutcome, Mark, Turns};
use super::work::{Decode, StreamSplit, Work};
use super::{Format, gzip, room, zstd};
use crate::error::{Error, FormatReason, Result};
use crate::setters::setters;
use crate::share::{started, workers};
use crate::spare::Spare;

/// The number of first bytes that show the format.
const HEAD: usize = 18;

/// Decompresses `source` into `output`. The first bytes decide the format.
///
/// ```
/// use swath_formats::compressed;
///
/// # let folder = tempfile::tempdir()?;
/// # let (packed, plain) = (folder.path().join("a.gz"), folder.path().join("a"));
/// # std::fs::write(folder.path().join("text"), "one\ntwo\n")?;
/// # compressed::compress(folder.path().join("text"), &packed)?;
/// let done = compressed::decompress(&packed, &plain)?;
/// assert_eq!((done.bytes_out, std::fs::read(plain)?), (8, b"one\ntwo\n".to_vec()));
/// assert!(done.is_whole());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`DecompressOptions::decompress`].
pub fn decompress(
    source: impl Into<Source>,
    output: impl Into<Output>,
) -> Result<Decompressed> {
    DecompressOptions::new().decompress(source, output)
}

/// How to decompress. Every setter returns the options; none can fail; 0 means "choose for me".
///
/// ```
/// use swath_formats::compressed::{self, DecompressOptions};
///
/// # let folder = tempfile::tempdir()?;
/// # let (packed, part) = (folder.path().join("a.zst"), folder.path().join("part"));
/// # std::fs::write(folder.path().join("text"), "one two three")?;
/// # compressed::compress(folder.path().join("text"), &packed)?;
/// DecompressOptions::new().with_offset(4).with_len(3).decompress(&packed, &part)?;
/// assert_eq!(std::fs::read(part)?, b"two");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct DecompressOptions {
    offset: u64,
    len: Option<u64>,
    sparse: Option<Sparse>,
    read: ReadOptions,
    output: OutputOptions,
    /// Whether the text is parsed at the same time, which takes as much memory again.
    pub(crate) is_parsed: bool,
}

/// The result of a decompression.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Decompressed {
    /// The format that was detected.
    pub format: Format,
    /// Compressed bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Number of frames, members or blocks read.
    pub frames: u64,
    /// Number of threads that decoded.
    pub workers: usize,
    /// Time from the call to the end of the commit.
    pub elapsed: Duration,
    /// Bytes of the source after the stream that do not belong to it and were skipped. Zeros after
    /// gzip are not counted, since tapes are padded with them.
    pub rest: Option<Range<u64>>,
    /// Whether the empty block that ends every BGZF file is missing. The file may have been cut off
    /// after a block. Other formats have no such mark.
    pub lacks_end: bool,
    /// Requests that could not be granted, and what was done instead.
    pub fallbacks: Vec<Fallback>,
}

impl Decompressed {
    /// Returns [`rest`](Self::rest) and [`lacks_end`](Self::lacks_end) as sentences.
    pub fn notes(&self) -> Vec<String> {
        let rest = self.rest.clone().map(|Range { start, end }| {
            let len = end - start;
            let [bytes, are, were] =
                if len == 1 { ["byte", "is", "was"] } else { ["bytes", "are", "were"] };
            format!(
                "{len} {bytes} from byte {start} on {are} not part of the stream and {were} skipped"
            )
        });
        let end = self.lacks_end.then(|| {
            String::from("the empty block that ends a BGZF file is missing: the file may have been cut off")
        });
        rest.into_iter().chain(end).collect()
    }

    /// Whether the stream ends as its format requires, with nothing after it.
    pub fn is_whole(&self) -> bool {
        self.rest.is_none() && !self.lacks_end
    }
}

impl DecompressOptions {
    /// Defaults: the whole stream, one worker per core.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// First decompressed byte. Default: 0.
        ///
        /// With an index, only the frames needed are read. Without one, everything before them is
        /// decoded and discarded.
        with_offset(offset: u64);

        /// Number of decompressed bytes. A stream that ends earlier is an error. Default: to the
        /// end.
        with_len(len: u64);

        /// Whether long runs of zeros become holes, if the output is a new file. Default:
        /// `Sparse::Auto`.
        with_sparse(sparse: Sparse);

        /// How to read the compressed bytes. Its offset and length count compressed bytes; its
        /// workers decode, 0 for one per core.
        with_read(read: ReadOptions);

        /// How to write the output. An existing `Output` keeps its own options.
        with_output(output: OutputOptions);
    }

    /// Decompresses `source` into `output` and commits it. The first bytes decide the format.
    ///
    /// Memory: at most 64 MiB per worker for frames of up to 32 MiB, usually a tenth of that. A
    /// longer frame takes the memory of its window, at most 128 MiB. If memory is short, fewer
    /// workers run, and [`Decompressed::fallbacks`] reports it. Memory for a size in the stream is
    /// taken only as that many bytes arrive.
    ///
    /// # Errors
    ///
    /// With the offset in the compressed stream: [`FormatReason::UnknownFormat`],
    /// [`FormatReason::Corrupt`], [`FormatReason::Truncated`], [`FormatReason::Unsupported`];
    /// otherwise whatever reading and writing report. After an error there is no output.
    pub fn decompress(
        &self,
        source: impl Into<Source>,
        output: impl Into<Output>,
    ) -> Result<Decompressed> {
        self.decompress_to(source.into(), output.into())
    }

    fn decompress_to(&self, source: Source, output: Output) -> Result<Decompressed> {
        let start = Instant::now();
        let at_hand = swath::machine::memory_at_hand().unwrap_or(u64::MAX);
        let at_hand = if self.is_parsed { at_hand / 2 } else { at_hand };
        let mut reader = room::to_read(&self.read, at_hand).reader(source)?;
        let wanted = workers(self.read.workers());
        if wanted > 1 {
            // The thread that receives the bytes also has to decode them.
            reader.keep_ahead();
        }
        let mut supply = PackedSupply::new(reader);
        let format = format_of(&mut supply)?;
        let item = first_frame(&mut supply, format)?;
        let (workers, fewer) = room::to_decode(format, item, wanted, at_hand);
        let mut fallbacks: Vec<Fallback> = fewer.into_iter().collect();
        let (spare, path) = (Spare::new(), supply.path().to_owned());
        let (plan, mut supply) = self.plan(supply, format)?;
        let mut search = None;
        let mut trim = None;
        let turns = plan.believes_members(format).then(Turns::default);
        if let Some(turns) = &turns {
            supply.keep_from(turns.settled());
        }
        let split: Box<dyn StreamSplit + '_> = match (plan, format) {
            (DecodePlan::Frames(index, frames, wanted), _) => {
                Box::new(PickedFrames::new(supply, &spare, index, frames, wanted)?)
            }
            (DecodePlan::FromStart(cut), format) => {
                trim = cut;
                match format {
                    Format::Zstd => Box::new(zstd::split::ZstdSplitter::new(supply, &spare)),
                    Format::Gzip | Format::Bgzf => {
                        Box::new(gzip::split::GzipSplitter::new(supply, &spare)?)
                    }
                    Format::Bzip2 => {
                        let found = Arc::new(BlockSearch::new(supply)?);
                        search = Some(Arc::clone(&found));
                        Box::new(found)
                    }
                }
            }
        };
        let output = output.open(self.ordered(&path))?;
        let decoders = Spare::new();
        let job = DecodeJob { format, path, spare: &spare, decoders, search, trim, turns };
        let mut items = DecodeItems { split, next: 0, job: &job, ended: false };
        loop {
            job.run_all(&mut items, &output, workers)?;
            if let Some(error) = job.turns.as_ref().and_then(Turns::failure) {
                return Err(error);
            }
            let Some(mark) = job.turns.as_ref().and_then(Turns::go_on) else { break };
            items.go_back(mark)?;
        }
        job.check_end()?;
        let tally = items.split.tally();
        let written = output.commit()?;
        fallbacks.extend(written.fallbacks);
        Ok(Decompressed {
            format,
            bytes_in: tally.bytes_in,
            bytes_out: written.bytes,
            frames: tally.frames,
            workers: started(workers, &fallbacks),
            elapsed: start.elapsed(),
            rest: tally.rest,
            lacks_end: tally.lacks_end,
            fallbacks,
        })
    }

    fn ordered(&self, input: &Path) -> OrderedOptions {
        let sparse = self.sparse.unwrap_or(Sparse::Auto);
        OrderedOptions::from(self.output.clone().with_input(input)).with_sparse(sparse)
    }

    /// Decides which frames to decode and which of their bytes to keep.
    fn plan(
        &self,
        mut supply: PackedSupply,
        format: Format,
    ) -> Result<(DecodePlan, PackedSupply)> {
        if self.offset == 0 && self.len.is_none() {
            return Ok((DecodePlan::FromStart(None), supply));
        }
        if let Some(index) = FrameIndex::load(&mut supply, format)? {
            let (frames, wanted) = index.frames_of(supply.path(), self.offset, self.len)?;
            if index.are_short(&frames) {
                return Ok((DecodePlan::Frames(index, frames, wanted), supply));
            }
        }
        if supply.offset() > 0 {
            supply.seek(0)?;
        }
        Ok((DecodePlan::FromStart(Some(Trim::new(self.offset, self.len))), supply))
    }
}

/// The plan of a decoding.
enum DecodePlan {
    /// Some frames, and the decoded bytes to keep.
    Frames(FrameIndex, Range<usize>, Range<u64>),
    /// Everything from the start, and the range to keep, if any.
    FromStart(Option<Trim>),
}

impl DecodePlan {
    /// Whether workers receive members by their recorded length alone.
    fn believes_members(&self, format: Format) -> bool {
        matches!((self, format), (Self::FromStart(_), Format::Gzip | Format::Bgzf))
    }
}

/// Returns the decoded size of the first frame, if the frame records it. Consumes nothing.
fn first_frame(supply: &mut PackedSupply, format: Format) -> Result<u64> {
    Ok(match format {
        Format::Zstd => match zstd::frame::start(supply.peek(zstd::frame::MOST_HEADER)?) {
            zstd::frame::Start::Frame(header) => header.content.unwrap_or(0),
            _ => 0,
        },
        _ => 0,
    })
}

/// Detects the format, without consuming anything.
pub(super) fn format_of(supply: &mut PackedSupply) -> Result<Format> {
    let head = supply.peek(HEAD)?;
    if let Some(format) = Format::detect(head) {
        return Ok(format);
    }
    let what = match head {
        [] => "the file is empty",
        _ => "it does not begin like a zstd, gzip or bzip2 file",
    };
    Err(Error::decompressing(supply.path(), FormatReason::UnknownFormat, what).at(0))
}

/// Hands out work, each item with its place in the order.
struct DecodeItems<'j> {
    split: Box<dyn StreamSplit + 'j>,
    next: u64,
    job: &'j DecodeJob<'j>,
    ended: bool,
}

/// Some work, with its place in the stream.
struct DecodeItem {
    mark: Mark,
    end: u64,
    work: Result<Work>,
}

impl DecodeItem {
    fn is_decoded(&self) -> bool {
        matches!(self.work, Ok(Work::Decoded(_)))
    }
}

impl DecodeItems<'_> {
    /// Starts again at `mark`, and no longer trusts the lengths of members.
    fn go_back(&mut self, mark: Mark) -> Result<()> {
        (self.next, self.ended) = (mark.index, false);
        self.split.go_back(mark.offset, mark.frames)
    }
}

impl Iterator for DecodeItems<'_> {
    type Item = DecodeItem;

    fn next(&mut self) -> Option<Self::Item> {
        let is_enough = self.job.trim.as_ref().is_some_and(Trim::has_enough);
        if self.ended || is_enough || self.job.turns.as_ref().is_some_and(Turns::has_stopped) {
            return None;
        }
        let before = self.split.tally();
        let mark = Mark { index: self.next, offset: before.bytes_in, frames: before.frames };
        let work = self.split.next().transpose();
        self.ended = !matches!(work, Some(Ok(_)));
        self.next += 1;
        let end = self.split.tally().bytes_in;
        work.map(|work| DecodeItem { mark, end, work })
    }
}

/// One decompression.
struct DecodeJob<'j> {
    format: Format,
    path: PathBuf,
    spare: &'j Spare<Vec<u8>>,
    decoders: Spare<Box<dyn Decode>>,
    search: Option<Arc<BlockSearch>>,
    trim: Option<Trim>,
    /// For members whose length is trusted.
    turns: Option<Turns>,
}

impl DecodeJob<'_> {
    /// Decodes and writes the rest. If it is decoded in order, one worker decodes and the others
    /// write.
    fn run_all(
        &self,
        items: &mut DecodeItems<'_>,
        output: &Ordered,
        workers: usize,
    ) -> Result<()> {
        let first = items.next();
        let is_in_order = first.as_ref().is_some_and(DecodeItem::is_decoded);
        let run = |item, ticket: &mut Ticket| self.run(item, ticket);
        if is_in_order && workers > 1 {
            return ahead(items, |rest| {
                output.map_ordered(first.into_iter().chain(rest), workers - 1, run)
            });
        }
        output.map_ordered(first.into_iter().chain(items), workers, run)
    }

    fn run(&self, item: DecodeItem, ticket: &mut Ticket) -> Result<()> {
        let out = ticket.buffer();
        let failing = Failing(self);
        let cut = |index: u64, bytes: &mut Vec<u8>| {
            if let Some(trim) = &self.trim {
                trim.cut(index, bytes);
            }
        };
        let DecodeItem { mark, end, work } = item;
        if let Some(turns) = &self.turns {
            let is_believed = matches!(work, Ok(Work::Encoded(_)));
            let done = match work.and_then(|work| self.decode(work, out)) {
                Ok(()) => ItemOutcome::Decoded { end },
                Err(error) if is_believed && error.reason() == FormatReason::Corrupt => {
                    ItemOutcome::Doubtful
                }
                Err(error) => ItemOutcome::Failed(error),
            };
            turns.settle(mark, done, out, cut);
        } else {
            self.decode(work?, out)?;
            cut(mark.index, out);
        }
        std::mem::forget(failing);
        Ok(())
    }

    fn decode(&self, work: Work, out: &mut Vec<u8>) -> Result<()> {
        match work {
            Work::Encoded(encoded) => {
                let decoder = self.decoders.take().or_else(|| decoder(self.format));
                let mut decoder = decoder.ok_or_else(|| no_memory(&self.path))?;
                decode_into(&mut *decoder, &encoded, out, &self.path)?;
                self.decoders.put(decoder);
                self.spare.put(encoded.bytes);
            }
            Work::Decoded(mut bytes) => {
                std::mem::swap(out, &mut bytes);
                self.spare.put(bytes);
            }
            Work::Segment(segment) => {
                if let Some(search) = &self.search {
                    search.decode(&segment, out)?;
                }
            }
        }
        Ok(())
    }

    /// Fails if the stream, or the requested part of it, is incomplete.
    fn check_end(&self) -> Result<()> {
        if let Some(trim) = &self.trim {
            if trim.has_enough() {
                return Ok(());
            }
            trim.check_end(&self.path)?;
        }
        self.search.as_ref().map_or(Ok(()), |search| search.check_end())
    }
}

/// Wakes the threads that wait for an item, in whatever way the item failed.
struct Failing<'j>(&'j DecodeJob<'j>);

impl Drop for Failing<'_> {
    fn drop(&mut self) {
        if let Some(trim) = &self.0.trim {
            trim.fail();
        }
        if let Some(search) = &self.0.search {
            search.fail();
        }
    }
}
