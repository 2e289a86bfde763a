//! Writes record batches: CSV, JSON Lines, Arrow; compressed on the way, if requested.
//!
//! ```text
//! batches   |  1000 rows  | 10 | 10 |  500  |        one after another, from any iterator
//! pieces    | 400 | 400 |  220  | 400 | ...          some text each
//! worker    columns → text of each value → rows (→ frames)
//! output    | piece | piece | piece |                in order, by tickets
//! ```
//!
//! A worker takes a piece and formats it column by column, some hundred rows at a time, so that no
//! type is checked per field. Then it assembles the rows, and compresses them if the output is
//! compressed. The output does not depend on the number of workers.

mod array;
mod column;
mod fields;
mod given;
mod ipc;
mod keys;
mod numbers;
mod options;
mod piece;
mod pieces;
mod plan;
mod scalar;
mod settings;
mod source;
mod style;
mod text;
mod times;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use arrow_schema::Schema;
use swath::Output;
use swath::append::{Ordered, Ticket};

use self::given::{Given, GivenItems};
use self::ipc::IpcStream;
use self::piece::PieceWriter;
use self::pieces::{Pieces, RowPiece};
use self::plan::WritePlan;
use crate::compressed::framing::{Begun, Chosen, Framing, StreamEnd};
use crate::compressed::{Format, LEAST_BLOCK, MOST_BLOCK};
use crate::error::Result;
use crate::share::{started, workers};
use crate::spare::Spare;
use crate::table::arrow::write::Container;

pub use self::array::write_array;
pub use self::given::BatchItem;
pub use self::options::{
    BatchForm, BatchWriteOptions, BatchesWritten, LineEnd, Packing, Quoting,
};
pub use self::scalar::Scalar;

/// Bytes of text formatted by a worker at a time.
const BLOCK: u64 = 512 << 10;
/// Bytes of text in a frame of zstd. Larger frames would save a few per cent and keep fewer workers
/// busy.
const ZSTD_BLOCK: u64 = 2 << 20;
/// Bytes of values per batch of an Arrow file.
const ARROW_BLOCK: u64 = 16 << 20;

/// Writes record batches of one schema. The output's name decides the form, and whether and how it
/// is compressed.
///
/// ```
/// use arrow_array::record_batch;
/// use swath_formats::table::write_batches;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("towns.csv");
/// let batch = record_batch!(
///     ("town", Utf8, [Some("Bonn"), Some("Rome, Italy"), None]),
///     ("n", Int64, [Some(3), None, Some(5)])
/// )?;
/// let written = write_batches(&path, &batch.schema(), [batch])?;
/// assert_eq!(std::fs::read_to_string(&path)?, "town,n\nBonn,3\n\"Rome, Italy\",\n,5\n");
/// assert_eq!((written.rows, written.bytes_out), (3, 32));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`BatchWriteOptions::write_batches`].
pub fn write_batches<I>(
    output: impl Into<Output>,
    schema: &Schema,
    batches: I,
) -> Result<BatchesWritten>
where
    I: IntoIterator<Item: BatchItem, IntoIter: Send>,
{
    BatchWriteOptions::new().write_batches(output, schema, batches)
}

impl BatchWriteOptions {
    /// Writes `batches`, which all have the columns of `schema`: an iterator of record batches, or
    /// of results with batches. They are taken one after another as workers become free, so that a
    /// stream of any length needs the memory of a few batches. The output is complete under its
    /// name, or absent.
    ///
    /// # Errors
    ///
    /// [`FormatReason::Invalid`](crate::FormatReason::Invalid) if the options contradict each other
    /// or the schema, or a batch has other columns;
    /// [`FormatReason::Unsupported`](crate::FormatReason::Unsupported) for a column whose type the
    /// form lacks, and for a value without a text in it: both name the column, the second also the
    /// row; [`FormatReason::Source`](crate::FormatReason::Source) for an item that is an error,
    /// with that error as the cause, or the error itself if it is one of this crate; whatever
    /// writing reports.
    pub fn write_batches<I>(
        &self,
        output: impl Into<Output>,
        schema: &Schema,
        batches: I,
    ) -> Result<BatchesWritten>
    where
        I: IntoIterator<Item: BatchItem, IntoIter: Send>,
    {
        let mut items = batches.into_iter().map(BatchItem::into_batch);
        self.write_items(output.into(), schema, schema, &mut items)
    }

    /// Writes the columns of `schema`. The batches have the columns of `given`: the same, or one
    /// column of lists with a row in each.
    fn write_items(
        &self,
        output: Output,
        schema: &Schema,
        given: &Schema,
        items: &mut GivenItems<'_>,
    ) -> Result<BatchesWritten> {
        let start = Instant::now();
        let path = output.name().to_owned();
        let plan = WritePlan::new(self, schema, &path)?;
        let (packer, workers, mut fallbacks) = self.packer(&plan, &path)?;
        let out = output.open(self.output.clone())?;
        let mut given = Given::new(items, given, &path);
        let not_finite = match &plan.style {
            Some(style) => {
                let writer = PieceWriter::new(&plan, style, &path);
                self.write_text(&out, workers, &mut given, &writer, &packer)?;
                writer.not_finite()
            }
            None => {
                self.write_arrow(&out, workers, &mut given, &plan, &packer)?;
                0
            }
        };
        let rows = given.rows;
        let bytes_in = packer.end(&out)?;
        let written = out.commit()?;
        fallbacks.extend(written.fallbacks);
        Ok(BatchesWritten {
            form: plan.form,
            format: plan.format,
            rows,
            bytes_in,
            bytes_out: written.bytes,
            not_finite,
            workers: started(workers, &fallbacks),
            elapsed: start.elapsed(),
            fallbacks,
        })
    }

    fn write_text(
        &self,
        out: &Ordered,
        workers: usize,
        given: &mut Given<'_>,
        writer: &PieceWriter<'_>,
        packer: &Packer,
    ) -> Result<()> {
        let mut pieces = Pieces::new(given, packer.block_size, writer.around());
        out.map_ordered(&mut pieces, workers, |piece, ticket| {
            let piece = piece?;
            packer.put(piece.index, ticket, |text| writer.push(&piece, text))
        })?;
        if !pieces.is_begun() {
            // Without rows there is still a header, and an empty compressed stream.
            let mut ticket = out.ticket()?;
            packer.put(0, &mut ticket, |text| writer.push(&RowPiece::default(), text))?;
            ticket.done()?;
        }
        Ok(())
    }

    fn write_arrow(
        &self,
        out: &Ordered,
        workers: usize,
        given: &mut Given<'_>,
        plan: &WritePlan,
        packer: &Packer,
    ) -> Result<()> {
        let container = match plan.form {
            BatchForm::ArrowStream => Container::Stream,
            _ => Container::File,
        };
        let chunks = IpcStream::new(container, given, &plan.names, packer.block_size)?;
        out.map_ordered(chunks.enumerate(), workers, |(index, chunk), ticket| {
            let mut chunk = chunk?;
            packer.put(index, ticket, |bytes| {
                std::mem::swap(bytes, &mut chunk);
                Ok(())
            })
        })
    }

    /// Returns the compressor of the output, the number of workers with enough memory, and the
    /// fallbacks from the request.
    fn packer(
        &self,
        plan: &WritePlan,
        path: &Path,
    ) -> Result<(Packer, usize, Vec<swath::Fallback>)> {
        let usual = match (&plan.style, plan.format) {
            (None, _) => ARROW_BLOCK,
            (_, Some(Format::Zstd)) => ZSTD_BLOCK,
            (_, Some(Format::Bgzf)) | (_, None) => BLOCK,
            // Several blocks of bzip2, so that the last is not much shorter.
            (_, Some(Format::Bzip2)) => 4 << 20,
            (_, Some(_)) => 1 << 20,
        };
        let block_size = if self.block_size == 0 { usual } else { self.block_size };
        let workers = workers(self.output.workers());
        let packer = |framing| Packer {
            framing,
            block_size,
            spare: Spare::new(),
            bytes_in: AtomicU64::new(0),
        };
        let Some(format) = plan.format else { return Ok((packer(None), workers, Vec::new())) };
        let frame = match format {
            Format::Bgzf | Format::Bzip2 => 0,
            // Room to spare: a low estimate must not cause a second frame.
            _ => {
                block_size.saturating_mul(2).clamp(LEAST_BLOCK, 2 * ZSTD_BLOCK.min(MOST_BLOCK))
            }
        };
        let chosen = Chosen { format, level: self.level, block_size: frame, path };
        let Begun { framing, workers, fallbacks } = chosen.begin(workers, None)?;
        Ok((packer(Some(framing)), workers, fallbacks))
    }
}

/// Puts text into tickets, compressed if the output is.
struct Packer {
    framing: Option<Framing>,
    block_size: u64,
    spare: Spare<Vec<u8>>,
    bytes_in: AtomicU64,
}

impl Packer {
    /// Fills the ticket with the text that `make` appends.
    fn put(
        &self,
        index: usize,
        ticket: &mut Ticket,
        make: impl FnOnce(&mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let Some(framing) = &self.framing else {
            make(ticket.buffer())?;
            // Relaxed: it is read after all workers have ended.
            self.bytes_in.fetch_add(ticket.buffer().len() as u64, Ordering::Relaxed);
            return Ok(());
        };
        let mut text = self.spare.buffer();
        make(&mut text)?;
        // Frames of equal size.
        let frames = text.len().div_ceil(framing.block_size()).max(1);
        framing.append(index, &text, text.len().div_ceil(frames), ticket.buffer())?;
        self.spare.put(text);
        Ok(())
    }

    /// Writes the end of the compressed stream; returns the bytes before compression.
    fn end(self, out: &Ordered) -> Result<u64> {
        let Some(framing) = self.framing else { return Ok(self.bytes_in.into_inner()) };
        let StreamEnd { mut trailer, bytes_in, .. } = framing.end()?;
        let mut ticket = out.ticket()?;
        ticket.buffer().append(&mut trailer);
        ticket.done()?;
        Ok(bytes_in)
    }
}
