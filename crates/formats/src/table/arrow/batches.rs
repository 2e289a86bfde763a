//! Reads Arrow files and streams of any types, batch by batch.
//!
//! ```text
//! file     footer → where each batch is → read by all workers, checked, and decoded
//! stream   message after message
//! ```

mod claims;

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_dictionary, read_record_batch};
use arrow_ipc::{Block, Message, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};
use bytes::Bytes;
use swath::machine::caught;
use swath::{ReadOptions, Reader, Source};

use super::read::CONTINUED;
use crate::error::{Error, FormatReason, Result};
use crate::input::{self, OpenedText};
use crate::table::arrow::{part_of, tail_of, unpanicked};

/// Bytes of a stream that are read at a time.
const CHUNK: usize = 1 << 20;
/// Bytes of the longest schema in a stream without a marker.
const LONGEST: u64 = 64 << 20;

/// Reads an Arrow file, or an Arrow stream, of columns of any types, batch by batch. The memory is
/// that of a batch, and that of the dictionaries. Values may be compressed with LZ4 or zstd.
///
/// ```
/// use swath_formats::table::{self, arrow};
///
/// # let folder = tempfile::tempdir()?;
/// # let (csv, path) = (folder.path().join("towns.csv"), folder.path().join("towns.arrow"));
/// std::fs::write(&csv, "name,n\nBonn,3\nRome,4\n")?;
/// let table = table::read_batches(&csv)?;
/// table::write_batches(&path, table.schema(), table.batches())?;
/// let batches = arrow::batches(&path)?;
/// assert_eq!(batches.schema(), table.schema());
/// assert_eq!(batches.collect::<Result<Vec<_>, _>>()?, table.batches());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`FormatReason::UnknownFormat`] for a file that is neither; [`FormatReason::Malformed`] for a
/// damaged one, here or from the iterator; [`FormatReason::Unsupported`] for big-endian batches;
/// whatever reading reports.
pub fn batches(source: impl Into<Source>) -> Result<ArrowBatches> {
    crate::table::arrow::ArrowOptions::new().batches(source)
}

/// The batches of an Arrow file or stream, in order; made by [`batches`]. Ends after an error.
pub struct ArrowBatches {
    path: PathBuf,
    schema: SchemaRef,
    rest: ArrowRest,
}

/// The batches that have not been read yet.
enum ArrowRest {
    File(Box<ArrowFile>),
    Stream(Box<ArrowStream>),
    Nothing,
}

struct ArrowStream {
    path: PathBuf,
    reader: BufReader<Reader>,
    schema: SchemaRef,
    dictionaries: HashMap<i64, ArrayRef>,
}

struct ArrowFile {
    opened: OpenedText,
    read: ReadOptions,
    decoder: FileDecoder,
    dictionaries: Vec<Block>,
    batches: VecDeque<Block>,
}

impl std::fmt::Debug for ArrowBatches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArrowBatches").field("path", &self.path).finish_non_exhaustive()
    }
}

pub(super) fn open(source: Source, read: &ReadOptions) -> Result<ArrowBatches> {
    let opened = input::open(source, read)?;
    let path = opened.path().to_owned();
    let (schema, rest) = match is_stream(&opened)? {
        true => stream(&opened, read)?,
        false => file(opened, read)?,
    };
    Ok(ArrowBatches { path, schema, rest })
}

/// Whether the input is a stream. Messages before Arrow 0.15 have no marker, so the first one is
/// parsed.
fn is_stream(opened: &OpenedText) -> Result<bool> {
    let start = part_of(opened, 0, opened.len.min(8))?;
    let is_marked = start.starts_with(&CONTINUED);
    let at = if is_marked { CONTINUED.len() } else { 0 };
    let Some(len) = start[at..].first_chunk() else { return Ok(is_marked) };
    let (at, len) = (at as u64 + 4, u64::from(u32::from_le_bytes(*len)));
    if at + len > opened.len || (len > LONGEST && !is_marked) {
        return Ok(is_marked);
    }
    let message = part_of(opened, at, len)?;
    let has_schema =
        unpanicked(opened.path(), || super::read::is_schema_of_little_numbers(&message))?;
    Ok(is_marked || has_schema)
}

fn stream(opened: &OpenedText, read: &ReadOptions) -> Result<(SchemaRef, ArrowRest)> {
    let path = opened.path().to_owned();
    let mut reader = BufReader::with_capacity(CHUNK, read.reader(&opened.input)?);
    let head = head(&mut reader).map_err(|error| of_reading(error, &path))?;
    let message = checked(&path, || parse(head.as_deref().unwrap_or_default()))?;
    part(&mut reader, body_len(message)).map_err(|error| of_reading(error, &path))?;
    let no_schema = || ArrowError::IpcError("it does not begin with a schema".to_owned());
    let schema =
        checked(&path, || try_fb_to_schema(message.header_as_schema().ok_or_else(no_schema)?))?;
    let (schema, dictionaries) = (Arc::new(schema), HashMap::new());
    let stream = ArrowStream { path, reader, schema: Arc::clone(&schema), dictionaries };
    Ok((schema, ArrowRest::Stream(Box::new(stream))))
}

fn file(opened: OpenedText, read: &ReadOptions) -> Result<(SchemaRef, ArrowRest)> {
    let tail = tail_of(&opened)?;
    let index = unpanicked(opened.path(), || super::read::index(&tail, opened.len))?;
    let schema = Arc::new(index.schema);
    let file = ArrowFile {
        decoder: FileDecoder::new(Arc::clone(&schema), index.version),
        read: read.clone(),
        dictionaries: index.dictionaries,
        batches: index.batches.into(),
        opened,
    };
    Ok((schema, ArrowRest::File(Box::new(file))))
}

impl ArrowBatches {
    /// Returns the names and types of the columns, and the metadata of the table.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }
}

impl ArrowFile {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        for block in std::mem::take(&mut self.dictionaries) {
            let bytes = self.bytes(&block)?;
            let path = self.opened.path();
            checked(path, || self.decoder.read_dictionary(&block, &bytes))?;
        }
        let Some(block) = self.batches.pop_front() else { return Ok(None) };
        let bytes = self.bytes(&block)?;
        checked(self.opened.path(), || self.decoder.read_record_batch(&block, &bytes))
    }

    /// Reads a part of the file.
    fn bytes(&self, block: &Block) -> Result<Buffer> {
        // Its place was found to lie in the file.
        let at = u64::try_from(block.offset()).unwrap_or_default();
        let head = u64::try_from(block.metaDataLength()).unwrap_or_default();
        let len = head + u64::try_from(block.bodyLength()).unwrap_or_default();
        let read = self.read.clone().with_offset(at).with_len(len);
        let bytes = Buffer::from(Bytes::from_owner(read.read(&self.opened.input)?.buffer));
        let path = self.opened.path();
        let (head, body) = bytes.split_at(usize::try_from(head).unwrap_or_default());
        let prefix = if head.starts_with(&CONTINUED) { 2 * CONTINUED.len() } else { 4 };
        let message = checked(path, || parse(head.get(prefix..).unwrap_or_default()))?;
        unpanicked(path, || claims::check(message, body))?;
        Ok(bytes)
    }
}

impl ArrowStream {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        let (path, schema) = (&self.path, &self.schema);
        let failed = |error| of_reading(error, path);
        while let Some(head) = head(&mut self.reader).map_err(failed)? {
            let message = checked(path, || parse(&head))?;
            let body = part(&mut self.reader, body_len(message)).map_err(failed)?;
            unpanicked(path, || claims::check(message, &body))?;
            let (body, version) = (Buffer::from_vec(body), message.version());
            let dictionaries = &mut self.dictionaries;
            if let Some(batch) = message.header_as_record_batch() {
                let schema = Arc::clone(schema);
                let decode =
                    || read_record_batch(&body, batch, schema, dictionaries, None, &version);
                return checked(path, decode).map(Some);
            }
            let no_rows = || ArrowError::IpcError("a message has no rows".to_owned());
            checked(path, || {
                let values = message.header_as_dictionary_batch().ok_or_else(no_rows)?;
                read_dictionary(&body, values, schema, dictionaries, &version)
            })?;
        }
        Ok(None)
    }
}

/// Reads the next message of a stream, without its body; `None` at the end.
fn head(reader: &mut BufReader<Reader>) -> io::Result<Option<Vec<u8>>> {
    let mut len = [0; 4];
    match reader.read_exact(&mut len) {
        // A stream may end without an end marker.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    if len == CONTINUED {
        reader.read_exact(&mut len)?;
    }
    match u32::from_le_bytes(len) {
        0 => Ok(None),
        len => part(reader, len.into()).map(Some),
    }
}

/// Reads this many bytes. Memory grows with the bytes read, so a wrong length takes none.
fn part(reader: &mut BufReader<Reader>, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(len.min(LONGEST)).unwrap_or_default());
    match reader.take(len).read_to_end(&mut bytes)? as u64 == len {
        true => Ok(bytes),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn parse(head: &[u8]) -> std::result::Result<Message<'_>, ArrowError> {
    root_as_message(head).map_err(|error| ArrowError::ParseError(error.to_string()))
}

/// Bytes after a message; an impossible length if the number is negative.
fn body_len(message: Message<'_>) -> u64 {
    u64::try_from(message.bodyLength()).unwrap_or(u64::MAX)
}

impl Iterator for ArrowBatches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = match &mut self.rest {
            ArrowRest::File(file) => file.next(),
            ArrowRest::Stream(stream) => stream.next(),
            ArrowRest::Nothing => Ok(None),
        };
        if !matches!(next, Ok(Some(_))) {
            self.rest = ArrowRest::Nothing;
        }
        next.transpose()
    }
}

/// Decodes; an error describes the damage. Unwind-safe: state is not used after a panic.
fn checked<T>(
    path: &Path,
    decode: impl FnOnce() -> std::result::Result<T, ArrowError>,
) -> Result<T> {
    let damaged = |detail: String| Error::reading(path, FormatReason::Malformed, detail);
    match caught(decode) {
        Some(Ok(decoded)) => Ok(decoded),
        Some(Err(error)) => Err(damaged(format!("the Arrow data are damaged: {error}"))),
        None => Err(damaged("the Arrow data are damaged".to_owned())),
    }
}

/// Returns the error of a stream that could not be read, or that ends early.
fn of_reading(error: io::Error, path: &Path) -> Error {
    let text = error.to_string();
    match error.into_inner().map(|inner| inner.downcast::<swath::Error>()) {
        Some(Ok(error)) => Error::from(*error),
        _ => {
            let detail = format!("the Arrow stream is incomplete: {text}");
            Error::reading(path, FormatReason::Truncated, detail)
        }
    }
}
