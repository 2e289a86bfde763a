//! Arrow files, taken apart here: every length that they say is compared with what is there, and
//! no memory is asked for before that.
//!
//! ```text
//! ARROW1 │ schema │ message: how long each buffer is │ body: its buffers │ … │ footer │ ARROW1
//! ```
//!
//! A column of numbers has two buffers: a bit for each row that is there, and the values.

use std::collections::BTreeMap;
use std::ops::Range;

use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{Block, Endianness, Footer, RecordBatch, root_as_footer, root_as_message};
use arrow_schema::{DataType, Field, Schema};
use bytemuck::Pod;
use bytes::Bytes;
use swath::Array;

use super::super::columns::{Column, ColumnKind, Columns, Shared, clear};
use crate::error::{Error, FormatReason};
use crate::memory::room_for;

/// Bytes behind the footer: its length and the magic number.
const TRAILER: usize = 10;
/// What stands before the length of a message, since version 0.15.
const CONTINUED: [u8; 4] = [0xff; 4];

const NO_FOOTER: &str = "it has no footer";
const NOT_IN_IT: &str = "a part that is not in it";

/// Why a file is not taken.
pub(super) enum Refused {
    /// Why, and what to try.
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

/// Words about a whole table, by names.
pub(super) type Metadata = BTreeMap<String, String>;

/// How many bytes of the end there have to be to tell what it says: more, if those that are here are
/// too few to tell.
pub(super) fn end_len(tail: &[u8]) -> Checked<u64> {
    let (_, trailer) = tail.split_last_chunk::<TRAILER>().ok_or_else(|| damaged(NO_FOOTER))?;
    let len = read_footer_length(*trailer).map_err(damaged)?;
    Ok((len + TRAILER) as u64)
}

/// What the end of a file says.
pub(super) struct End {
    pub(super) names: Vec<String>,
    pub(super) metadata: Metadata,
    /// Where each batch says how long it is, and in how many bytes.
    pub(super) heads: Vec<(u64, u64)>,
}

/// What is said at the end of a file, of which `tail` is the end.
pub(super) fn end(tail: &[u8]) -> Checked<End> {
    let footer = root_as_footer(footer(tail)?).map_err(damaged)?;
    let (schema, _) = schema_of(footer)?;
    let blocks = footer.recordBatches().into_iter().flatten();
    let head = |block: &Block| {
        let start = u64::try_from(block.offset()).ok()?;
        let len = u64::try_from(block.metaDataLength()).ok()?;
        Some((start, len)).filter(|_| block.bodyLength() >= 0)
    };
    let heads: Option<Vec<_>> = blocks.map(head).collect();
    let heads = heads.ok_or_else(|| damaged(NOT_IN_IT))?;
    Ok(End { names: names_of(&schema), metadata: metadata_of(&schema), heads })
}

/// The rows of a batch, of which `head` is the message.
pub(super) fn rows(head: &[u8]) -> Checked<u64> {
    u64::try_from(message(head)?.length()).map_err(damaged)
}

/// The schema, and how the values of each column lie there.
fn schema_of(footer: Footer<'_>) -> Checked<(Schema, Vec<Type>)> {
    let schema = footer.schema().ok_or_else(|| damaged("no schema"))?;
    if schema.endianness() != Endianness::Little {
        return Err(unsupported("its numbers are big-endian", "write it on another machine"));
    }
    let schema = try_fb_to_schema(schema).map_err(damaged)?;
    let types = schema.fields().iter().map(|field| type_of(field));
    let types = types.collect::<Checked<Vec<Type>>>()?;
    Ok((schema, types))
}

fn names_of(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

/// What is said of the whole table, by names.
fn metadata_of(schema: &Schema) -> Metadata {
    schema.metadata().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// The columns of a file, and what it says of them all.
pub(super) fn read(file: &[u8]) -> Checked<(Columns, Metadata)> {
    let footer = root_as_footer(footer(file)?).map_err(damaged)?;
    let (schema, types) = schema_of(footer)?;
    let blocks = footer.recordBatches().into_iter().flatten();
    let batches = blocks.map(|block| batch(file, *block, &types));
    let batches = batches.collect::<Checked<Vec<Batch<'_>>>>()?;
    // Nothing of a file is read twice, whatever its messages say.
    let said = batches.iter().flat_map(|batch| &batch.columns).map(|it| it.values.len());
    if said.fold(0, usize::saturating_add) > file.len() {
        return Err(damaged("more values than it has bytes for"));
    }
    Ok((gather(&types, &batches, names_of(&schema))?, metadata_of(&schema)))
}

/// The bytes of the footer.
fn footer(file: &[u8]) -> Checked<&[u8]> {
    let start =
        usize::try_from(end_len(file)?).ok().and_then(|len| file.len().checked_sub(len));
    start.map(|start| &file[start..file.len() - TRAILER]).ok_or_else(|| damaged(NO_FOOTER))
}

/// How the values of a column lie in the file.
#[derive(Clone, Copy)]
struct Type {
    kind: ColumnKind,
    /// Bytes of a value.
    size: usize,
    /// Makes words of 64 bits of them.
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
                "column `{name}` is of type {other}; read are Int8 to Int64, UInt8 to UInt64, Float32 \
                 and Float64"
            );
            return Err(unsupported(detail, "leave it out, or make numbers of it"));
        }
    };
    Ok(Type { kind, size, widen })
}

/// What a batch has of one column.
struct Chunk<'f> {
    /// A bit for each row, 0 where its value is missing; `None` if all are there.
    validity: Option<&'f [u8]>,
    /// How many are missing, as the file says.
    nulls: i64,
    values: &'f [u8],
}

struct Batch<'f> {
    rows: usize,
    columns: Vec<Chunk<'f>>,
}

/// The part of `bytes` from `start` on, if all of it is there.
fn part(bytes: &[u8], start: i64, len: i64) -> Checked<&[u8]> {
    let range = |start: i64, len: i64| -> Option<Range<usize>> {
        let (start, len) = (usize::try_from(start).ok()?, usize::try_from(len).ok()?);
        Some(start..start.checked_add(len)?)
    };
    let part = range(start, len).and_then(|range| bytes.get(range));
    part.ok_or_else(|| damaged(NOT_IN_IT))
}

/// The message of a batch.
fn message(head: &[u8]) -> Checked<RecordBatch<'_>> {
    let before = if head.starts_with(&CONTINUED) { 8 } else { 4 };
    let message = head.get(before..).ok_or_else(|| damaged("a message without a length"))?;
    let message = root_as_message(message).map_err(damaged)?;
    message.header_as_record_batch().ok_or_else(|| damaged("a message of another kind"))
}

/// Where everything is that a block of the file has.
fn batch<'f>(file: &'f [u8], block: Block, types: &[Type]) -> Checked<Batch<'f>> {
    let head_len = i64::from(block.metaDataLength());
    let head = part(file, block.offset(), head_len)?;
    let body_start = block.offset().checked_add(head_len).unwrap_or(i64::MAX);
    let body = part(file, body_start, block.bodyLength())?;
    let batch = message(head)?;
    if batch.compression().is_some() {
        let detail = "its values are compressed";
        return Err(unsupported(detail, "write it without compression"));
    }
    let rows = usize::try_from(batch.length()).map_err(damaged)?;
    let nodes = batch.nodes().into_iter().flatten();
    let nodes: Vec<_> = nodes.map(|it| (it.length(), it.null_count())).collect();
    let buffers = batch.buffers().into_iter().flatten();
    let buffers: Vec<_> = buffers.map(|it| (it.offset(), it.length())).collect();
    let (pairs, rest) = buffers.as_chunks::<2>();
    if nodes.len() != types.len() || pairs.len() != types.len() || !rest.is_empty() {
        return Err(damaged("a batch with other columns than the schema has"));
    }
    let columns = nodes.into_iter().zip(pairs).zip(types).map(|((node, pair), kind)| {
        let ((len, nulls), [bits, values]) = (node, pair);
        if usize::try_from(len) != Ok(rows) {
            return Err(damaged("columns of different lengths"));
        }
        let short = || damaged("a column shorter than it says");
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
    // Without columns there is nothing to have rows of.
    let rows = if types.is_empty() { 0 } else { rows };
    Ok(Batch { rows, columns })
}

/// The columns of all batches, one behind the other.
fn gather(types: &[Type], batches: &[Batch<'_>], names: Vec<String>) -> Checked<Columns> {
    // Each row has a byte of the file at least, as was checked.
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
                    return Err(damaged("other values are missing than it says"));
                }
            }
            first += batch.rows;
        }
        let values = Bytes::from_owner(Shared(words));
        let validity = (nulls > 0).then(|| Bytes::from(bits));
        columns.push(Column { kind: kind.kind, values, validity, nulls });
    }
    Ok(Columns { rows, names: Some(names), columns })
}
