//! Arrow files and streams in chunks of bytes: encoded batch by batch, which is little more than a
//! copy, and written by all workers.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use super::given::Given;
use super::pieces::estimate_row;
use crate::error::{Error, FormatReason, Result};
use crate::table::arrow::write::{ArrowWriter, Container};

/// Bytes of a chunk.
const CHUNK: usize = 1 << 20;

/// The complete chunks, and the one being filled.
#[derive(Debug, Default)]
struct IpcChunks {
    full: VecDeque<Vec<u8>>,
    last: Vec<u8>,
}

impl Write for IpcChunks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.last.is_empty() {
            let room = self.last.try_reserve_exact(CHUNK);
            room.map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        }
        let len = bytes.len().min(CHUNK - self.last.len());
        self.last.extend_from_slice(&bytes[..len]);
        if self.last.len() == CHUNK {
            self.full.push_back(std::mem::take(&mut self.last));
        }
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The rest of a batch that is split, and the rows of its parts.
struct BatchRest {
    batch: RecordBatch,
    rows: usize,
}

/// The chunks of a file or stream, in order.
pub(super) struct IpcStream<'g, 'i> {
    given: &'g mut Given<'i>,
    schema: SchemaRef,
    /// Estimated bytes of the largest batch.
    block_size: u64,
    writer: ArrowWriter<IpcChunks>,
    rest: Option<BatchRest>,
    has_ended: bool,
}

impl<'g, 'i> IpcStream<'g, 'i> {
    pub(super) fn new(
        container: Container,
        given: &'g mut Given<'i>,
        names: &[String],
        block_size: u64,
    ) -> Result<Self> {
        let schema = given.schema();
        let renamed = |(field, name): (&Arc<Field>, &String)| {
            field.as_ref().clone().with_name(name.clone())
        };
        let fields: Vec<Field> = schema.fields().iter().zip(names).map(renamed).collect();
        let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
        let writer = ArrowWriter::new(container, IpcChunks::default(), &schema)
            .map_err(|error| refused(given, &error))?;
        let schema = Arc::new(schema);
        Ok(Self { given, schema, block_size, writer, rest: None, has_ended: false })
    }

    /// Encodes the next batch, or the end.
    fn encode(&mut self) -> Result<()> {
        match self.batch()? {
            Some(batch) => {
                self.writer.write(&batch).map_err(|error| refused(self.given, &error))
            }
            None => {
                self.has_ended = true;
                self.writer.finish().map_err(|error| refused(self.given, &error))?;
                let chunks = self.writer.out();
                let last = std::mem::take(&mut chunks.last);
                chunks.full.push_back(last);
                Ok(())
            }
        }
    }

    /// Returns the next batch, or a part of it.
    fn batch(&mut self) -> Result<Option<RecordBatch>> {
        let (batch, rows, is_part) = match self.rest.take() {
            Some(BatchRest { batch, rows }) => (batch, rows, true),
            None => {
                let Some(batch) = self.given.next().transpose()? else { return Ok(None) };
                let fit = self.block_size / estimate_row(&batch).max(1);
                // Whole words of validity, so that no bits are shifted.
                let rows = usize::try_from(fit).unwrap_or(usize::MAX / 2).max(1);
                (self.named(batch)?, rows.next_multiple_of(64), false)
            }
        };
        if batch.num_rows() <= rows {
            return if is_part { self.compact(&batch).map(Some) } else { Ok(Some(batch)) };
        }
        let rest = batch.slice(rows, batch.num_rows() - rows);
        self.rest = Some(BatchRest { batch: rest, rows });
        self.compact(&batch.slice(0, rows)).map(Some)
    }

    /// Returns the batch with the names to write.
    fn named(&self, batch: RecordBatch) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        self.of(batch.columns().to_vec(), rows)
    }

    /// Returns a part of a batch without the texts of its other parts, which would all be written.
    fn compact(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let compact = |column: &ArrayRef| -> ArrayRef {
            match column.data_type() {
                DataType::Utf8View => Arc::new(column.as_string_view().gc()),
                DataType::BinaryView => Arc::new(column.as_binary_view().gc()),
                _ => Arc::clone(column),
            }
        };
        self.of(batch.columns().iter().map(compact).collect(), batch.num_rows())
    }

    fn of(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch =
            RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options);
        batch.map_err(|error| refused(self.given, &error))
    }
}

impl Iterator for IpcStream<'_, '_> {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(chunk) = self.writer.out().full.pop_front() {
                return Some(Ok(chunk));
            }
            if self.has_ended {
                return None;
            }
            if let Err(error) = self.encode() {
                self.has_ended = true;
                self.writer.out().full.clear();
                return Some(Err(error));
            }
        }
    }
}

/// Explains why Arrow's writer refused: a type that its format lacks, a dictionary that changes, or
/// a missing value where the schema has none.
fn refused(given: &Given<'_>, error: &ArrowError) -> Error {
    let text = error.to_string();
    let is_replaced = text.contains("Dictionary replacement");
    let error = Error::writing(given.path(), FormatReason::Unsupported, text);
    match is_replaced {
        true => error.hint("write an Arrow stream, in which a dictionary may change"),
        false => error,
    }
}
