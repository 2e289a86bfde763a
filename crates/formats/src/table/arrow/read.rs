//! Parses Arrow files. Every length in a file is checked against the file before memory is
//! allocated for it.
//!
//! ```text
//! ARROW1 │ schema │ message: length of each buffer │ body: its buffers │ … │ footer │ ARROW1
//! ```
//!
//! A column of numbers has two buffers: the validity bits, one per row, and the values.

use std::collections::BTreeMap;
use std::ops::Range;

use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{
    Block, Endianness, Footer, MetadataVersion, RecordBatch, Schema as FlatSchema,
    root_as_footer, root_as_message,
};
use arrow_schema::{DataType, Field, Schema};
use bytemuck::Pod;
use bytes::Bytes;
use swath::Array;

use super::super::columns::{Column, ColumnKind, Columns, Shared, clear};
use super::super::typed::ColumnType;
use crate::error::{Error, FormatReason};
use crate::memory::room_for;

/// Bytes after the footer: its length and the magic number.
const TRAILER: usize = 10;
/// The marker and the length of a message.
const LEAST: u64 = 8;
/// Precedes the length of a message since version 0.15.
pub(super) const CONTINUED: [u8; 4] = [0xff; 4];

const NO_FOOTER: &str = "there is no footer";
const NOT_IN_IT: &str = "a part lies outside the file";

/// Why a file is rejected.
pub(super) enum Refused {
    /// The reason, the detail and the hint.
    Because(FormatReason, String, &'static str),
    Memory(swath::Error),
}

impl From<swath::Error> for Refused {
    fn from(error: swath::Error) -> Self {
        Self::Memory(error)
    }
}

impl Refused {
    pub(super) fn into_error(self, path: &std::path::Path) -> Error {
        match self {
            Self::Because(reason, detail, hint) => {
                Error::reading(path, reason, detail).hint(hint)
            }
            Self::Memory(error) => Error::from(error),
        }
    }
}

fn damaged(detail: impl ToString) -> Refused {
    let detail = format!("the Arrow file is damaged: {}", detail.to_string());
    Refused::Because(FormatReason::Malformed, detail, "")
}

fn unsupported(detail: impl Into<String>, hint: &'static str) -> Refused {
    Refused::Because(FormatReason::Unsupported, detail.into(), hint)
}

pub(super) type Checked<T> = Result<T, Refused>;

/// Metadata of a whole table, by key.
pub(super) type Metadata = BTreeMap<String, String>;

/// Returns how many bytes of the end are needed to parse it; more than `tail` has, if that is too
/// short.
pub(super) fn end_len(tail: &[u8]) -> Checked<u64> {
    let (_, trailer) = tail.split_last_chunk::<TRAILER>().ok_or_else(|| damaged(NO_FOOTER))?;
    let len = read_footer_length(*trailer).map_err(damaged)?;
    Ok((len + TRAILER) as u64)
}

/// The contents of the end of a file.
pub(super) struct End {
    pub(super) names: Vec<String>,
    pub(super) types: Vec<String>,
    pub(super) metadata: Metadata,
    /// Offset and length of the header of each batch.
    pub(super) heads: Vec<(u64, u64)>,
}

/// Parses the end of a file; `tail` is its last bytes.
pub(super) fn end(tail: &[u8]) -> Checked<End> {
    let footer = root_as_footer(footer(tail)?).map_err(damaged)?;
    let schema = little(footer)?;
    let blocks = footer.recordBatches().into_iter().flatten();
    let head = |block: &Block| {
        let start = u64::try_from(block.offset()).ok()?;
        let len = u64::try_from(block.metaDataLength()).ok()?;
        Some((start, len)).filter(|_| block.bodyLength() >= 0)
    };
    let heads: Option<Vec<_>> = blocks.map(head).collect();
    let heads = heads.ok_or_else(|| damaged(NOT_IN_IT))?;
    let types = schema.fields().iter();
    let types = types.map(|field| ColumnType::word_of(field.data_type())).collect();
    Ok(End { names: names_of(&schema), types, metadata: metadata_of(&schema), heads })
}

/// Where the parts of a file are, for columns of any type.
pub(super) struct Index {
    pub(super) schema: Schema,
    pub(super) version: MetadataVersion,
    pub(super) dictionaries: Vec<Block>,
    pub(super) batches: Vec<Block>,
}

/// Parses the end of a file of `len` bytes; `tail` is its last ones. Each part lies in the file.
pub(super) fn index(tail: &[u8], len: u64) -> Checked<Index> {
    let footer = root_as_footer(footer(tail)?).map_err(damaged)?;
    let schema = little(footer)?;
    let inside = |block: &Block| {
        let start = u64::try_from(block.offset()).ok()?;
        let head = u64::try_from(block.metaDataLength()).ok().filter(|&len| len >= LEAST)?;
        let body = u64::try_from(block.bodyLength()).ok()?;
        let end = start.checked_add(head)?.checked_add(body)?;
        (end <= len).then_some(*block)
    };
    let dictionaries = footer.dictionaries().into_iter().flatten().map(inside).collect();
    let batches = footer.recordBatches().into_iter().flatten().map(inside).collect();
    let not_in_it = || damaged(NOT_IN_IT);
    let dictionaries: Option<Vec<_>> = dictionaries;
    let batches: Option<Vec<_>> = batches;
    Ok(Index {
        schema,
        version: footer.version(),
        dictionaries: dictionaries.ok_or_else(not_in_it)?,
        batches: batches.ok_or_else(not_in_it)?,
    })
}

/// Returns the number of rows of the batch with the message `head`.
pub(super) fn rows(head: &[u8]) -> Checked<u64> {
    u64::try_from(message(head)?.length()).map_err(damaged)
}

/// Returns the schema, and the layout of each column's values.
fn schema_of(footer: Footer<'_>) -> Checked<(Schema, Vec<Type>)> {
    let schema = little(footer)?;
    let types = schema.fields().iter().map(|field| type_of(field));
    let types = types.collect::<Checked<Vec<Type>>>()?;
    Ok((schema, types))
}

/// Returns the schema of a file of little-endian numbers.
fn little(footer: Footer<'_>) -> Checked<Schema> {
    let schema = footer.schema().ok_or_else(|| damaged("there is no schema"))?;
    check_order(schema)?;
    try_fb_to_schema(schema).map_err(damaged)
}

/// Whether the message, without marker and length, is a schema; big-endian numbers are refused.
pub(super) fn is_schema_of_little_numbers(message: &[u8]) -> Checked<bool> {
    let schema = root_as_message(message).ok().and_then(|message| message.header_as_schema());
    schema.map_or(Ok(false), |schema| check_order(schema).map(|()| true))
}

fn check_order(schema: FlatSchema<'_>) -> Checked<()> {
    if schema.endianness() != Endianness::Little {
        return Err(unsupported(
            "its numbers are big-endian, which is not supported",
            "write it on a little-endian machine",
        ));
    }
    Ok(())
}

fn names_of(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

/// Returns the metadata of the whole table, by key.
fn metadata_of(schema: &Schema) -> Metadata {
    schema.metadata().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Returns the columns of a file, and its metadata.
pub(super) fn read(file: &[u8]) -> Checked<(Columns, Metadata)> {
    let footer = root_as_footer(footer(file)?).map_err(damaged)?;
    let (schema, types) = schema_of(footer)?;
    let blocks = footer.recordBatches().into_iter().flatten();
    let batches = blocks.map(|block| batch(file, *block, &types));
    let batches = batches.collect::<Checked<Vec<Batch<'_>>>>()?;
    // No part of a file is read twice, whatever its messages say.
    let said = batches.iter().flat_map(|batch| &batch.columns).map(|it| it.values.len());
    if said.fold(0, usize::saturating_add) > file.len() {
        return Err(damaged("it has more values than bytes"));
    }
    Ok((gather(&types, &batches, names_of(&schema))?, metadata_of(&schema)))
}

/// Returns the bytes of the footer.
fn footer(file: &[u8]) -> Checked<&[u8]> {
    let start =
        usize::try_from(end_len(file)?).ok().and_then(|len| file.len().checked_sub(len));
    start.map(|start| &file[start..file.len() - TRAILER]).ok_or_else(|| damaged(NO_FOOTER))
}

/// The layout of a column's values in the file.
#[derive(Clone, Copy)]
struct Type {
    kind: ColumnKind,
    /// Bytes per value.
    size: usize,
    /// Widens them to words of 64 bits.
    widen: fn(&[u8], &mut [u64]),
}

fn widen<T: Pod>(bytes: &[u8], words: &mut [u64], word: impl Fn(T) -> u64) {
    for (slot, item) in words.iter_mut().zip(bytes.chunks_exact(size_of::<T>())) {
        *slot = word(bytemuck::pod_read_unaligned(item));
    }
}

fn type_of(field: &Field) -> Checked<Type> {
    fn signed<T: Pod + Into<i64>>(bytes: &[u8], words: &mut [u64]) {
        widen::<T>(bytes, words, |value| value.into().cast_unsigned());
    }
    fn unsigned<T: Pod + Into<u64>>(bytes: &[u8], words: &mut [u64]) {
        widen::<T>(bytes, words, Into::into);
    }
    fn float<T: Pod + Into<f64>>(bytes: &[u8], words: &mut [u64]) {
        widen::<T>(bytes, words, |value| value.into().to_bits());
    }
    type Widen = fn(&[u8], &mut [u64]);
    let (kind, size, widen): (_, _, Widen) = match field.data_type() {
        DataType::Int8 => (ColumnKind::I64, 1, signed::<i8>),
        DataType::Int16 => (ColumnKind::I64, 2, signed::<i16>),
        DataType::Int32 => (ColumnKind::I64, 4, signed::<i32>),
        DataType::Int64 => (ColumnKind::I64, 8, signed::<i64>),
        DataType::UInt8 => (ColumnKind::I64, 1, unsigned::<u8>),
        DataType::UInt16 => (ColumnKind::I64, 2, unsigned::<u16>),
        DataType::UInt32 => (ColumnKind::I64, 4, unsigned::<u32>),
        DataType::UInt64 => (ColumnKind::U64, 8, unsigned::<u64>),
        DataType::Float32 => (ColumnKind::F64, 4, float::<f32>),
        DataType::Float64 => (ColumnKind::F64, 8, float::<f64>),
        other => {
            let name = field.name();
            let detail = format!(
                "column `{name}` is of type {other}; the supported types are Int8 to Int64, UInt8 to UInt64, Float32 \
                 and Float64"
            );
            return Err(unsupported(detail, "leave the column out, or convert it to numbers"));
        }
    };
    Ok(Type { kind, size, widen })
}

/// The part of one column that is in one batch.
struct Chunk<'f> {
    /// One bit per row, 0 where the value is missing; `None` if all are present.
    validity: Option<&'f [u8]>,
    /// Number of missing values, according to the file.
    nulls: i64,
    values: &'f [u8],
}

struct Batch<'f> {
    rows: usize,
    columns: Vec<Chunk<'f>>,
}

/// Returns `len` bytes from `start` on, if all of them are there.
fn part(bytes: &[u8], start: i64, len: i64) -> Checked<&[u8]> {
    let range = |start: i64, len: i64| -> Option<Range<usize>> {
        let (start, len) = (usize::try_from(start).ok()?, usize::try_from(len).ok()?);
        Some(start..start.checked_add(len)?)
    };
    let part = range(start, len).and_then(|range| bytes.get(range));
    part.ok_or_else(|| damaged(NOT_IN_IT))
}

/// Parses the message of a batch.
fn message(head: &[u8]) -> Checked<RecordBatch<'_>> {
    let before = if head.starts_with(&CONTINUED) { 8 } else { 4 };
    let message = head.get(before..).ok_or_else(|| damaged("a message has no length"))?;
    let message = root_as_message(message).map_err(damaged)?;
    message.header_as_record_batch().ok_or_else(|| damaged("a message is not a record batch"))
}

/// Finds the parts of a block of the file.
fn batch<'f>(file: &'f [u8], block: Block, types: &[Type]) -> Checked<Batch<'f>> {
    let head_len = i64::from(block.metaDataLength());
    let head = part(file, block.offset(), head_len)?;
    let body_start = block.offset().checked_add(head_len).unwrap_or(i64::MAX);
    let body = part(file, body_start, block.bodyLength())?;
    let batch = message(head)?;
    if batch.compression().is_some() {
        let detail = "its values are compressed, which is not supported";
        return Err(unsupported(detail, "write it without compression"));
    }
    let rows = usize::try_from(batch.length()).map_err(damaged)?;
    let nodes = batch.nodes().into_iter().flatten();
    let nodes: Vec<_> = nodes.map(|it| (it.length(), it.null_count())).collect();
    let buffers = batch.buffers().into_iter().flatten();
    let buffers: Vec<_> = buffers.map(|it| (it.offset(), it.length())).collect();
    let (pairs, rest) = buffers.as_chunks::<2>();
    if nodes.len() != types.len() || pairs.len() != types.len() || !rest.is_empty() {
        return Err(damaged("the columns of a batch differ from the schema"));
    }
    let columns = nodes.into_iter().zip(pairs).zip(types).map(|((node, pair), kind)| {
        let ((len, nulls), [bits, values]) = (node, pair);
        if usize::try_from(len) != Ok(rows) {
            return Err(damaged("columns have different lengths"));
        }
        let short = || damaged("a column is shorter than its header says");
        let len = rows.checked_mul(kind.size).ok_or_else(short)?;
        let values = part(body, values.0, values.1)?.get(..len).ok_or_else(short)?;
        let bits = part(body, bits.0, bits.1)?;
        let validity = match nulls {
            0 => None,
            _ => Some(bits.get(..rows.div_ceil(8)).ok_or_else(short)?),
        };
        Ok(Chunk { validity, nulls, values })
    });
    let columns = columns.collect::<Checked<Vec<_>>>()?;
    // Without columns there are no rows.
    let rows = if types.is_empty() { 0 } else { rows };
    Ok(Batch { rows, columns })
}

/// Concatenates the columns of all batches.
fn gather(types: &[Type], batches: &[Batch<'_>], names: Vec<String>) -> Checked<Columns> {
    // Each row has at least one byte in the file, as checked before.
    let rows = batches.iter().map(|batch| batch.rows).fold(0, usize::saturating_add);
    room_for(rows.saturating_mul(8 * types.len()))?;
    let mut columns = Vec::new();
    for (index, kind) in types.iter().enumerate() {
        let mut words = Array::<u64>::zeroed(rows)?;
        let (mut bits, mut first, mut nulls) = (Vec::new(), 0, 0);
        for batch in batches {
            let chunk = &batch.columns[index];
            let target = &mut words[first..first + batch.rows];
            (kind.widen)(chunk.values, target);
            if let Some(validity) = chunk.validity {
                let before = nulls;
                let missing = |row: &usize| validity[row / 8] >> (row % 8) & 1 == 0;
                for row in (0..batch.rows).filter(missing) {
                    target[row] = 0;
                    clear(&mut bits, first + row, rows);
                    nulls += 1;
                }
                if usize::try_from(chunk.nulls) != Ok(nulls - before) {
                    return Err(damaged("the number of missing values is wrong"));
                }
            }
            first += batch.rows;
        }
        let values = Bytes::from_owner(Shared(words));
        let validity = (nulls > 0).then(|| Bytes::from(bits));
        let are_singles = (kind.kind, kind.size) == (ColumnKind::F64, 4);
        columns.push(Column { kind: kind.kind, values, validity, nulls, are_singles });
    }
    Ok(Columns { rows, names: Some(names), columns })
}
