//! Parses the ends of Arrow files. Checks every length against the size of the file.
//!
//! ```text
//! ARROW1 │ schema │ message: length of each buffer │ body: its buffers │ … │ footer │ ARROW1
//! ```

use std::collections::BTreeMap;

use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{
    Block, Endianness, Footer, MetadataVersion, RecordBatch, Schema as FlatSchema,
    root_as_footer, root_as_message,
};
use arrow_schema::Schema;

use crate::error::{Error, FormatReason};
use crate::table::ColumnType;

/// Bytes after the footer: its length and the magic number.
const TRAILER: usize = 10;
/// The marker and the length of a message.
const LEAST: u64 = 8;
/// Precedes the length of a message since version 0.15.
pub(super) const CONTINUED: [u8; 4] = [0xff; 4];

const NO_FOOTER: &str = "there is no footer";
const NOT_IN_IT: &str = "a part lies outside the file";

/// The reason for rejecting a file.
pub(super) struct Refusal {
    pub(super) reason: FormatReason,
    pub(super) detail: String,
    pub(super) hint: &'static str,
}

impl Refusal {
    pub(super) fn into_error(self, path: &std::path::Path) -> Error {
        Error::reading(path, self.reason, self.detail).hint(self.hint)
    }
}

fn damaged(detail: impl ToString) -> Refusal {
    let detail = format!("the Arrow file is damaged: {}", detail.to_string());
    Refusal { reason: FormatReason::Malformed, detail, hint: "" }
}

fn unsupported(detail: impl Into<String>, hint: &'static str) -> Refusal {
    Refusal { reason: FormatReason::Unsupported, detail: detail.into(), hint }
}

pub(super) type ArrowResult<T> = Result<T, Refusal>;

/// Metadata of a whole table, by key.
pub(super) type Metadata = BTreeMap<String, String>;

/// Returns how many bytes at the end are needed to parse it: more than `tail` has if that is too
/// short.
pub(super) fn end_len(tail: &[u8]) -> ArrowResult<u64> {
    let (_, trailer) = tail.split_last_chunk::<TRAILER>().ok_or_else(|| damaged(NO_FOOTER))?;
    let len = read_footer_length(*trailer).map_err(damaged)?;
    Ok((len + TRAILER) as u64)
}

/// The contents of the end of a file.
pub(super) struct ArrowEnd {
    pub(super) names: Vec<String>,
    pub(super) types: Vec<String>,
    pub(super) metadata: Metadata,
    /// Offset and length of the header of each batch.
    pub(super) heads: Vec<(u64, u64)>,
}

/// Parses the end of a file; `tail` holds its last bytes.
pub(super) fn end(tail: &[u8]) -> ArrowResult<ArrowEnd> {
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
    Ok(ArrowEnd { names: names_of(&schema), types, metadata: metadata_of(&schema), heads })
}

/// The places of the parts of a file, for columns of any type.
pub(super) struct ArrowIndex {
    pub(super) schema: Schema,
    pub(super) version: MetadataVersion,
    pub(super) dictionaries: Vec<Block>,
    pub(super) batches: Vec<Block>,
}

/// Parses the end of a file of `len` bytes; `tail` holds its last ones. Each part lies in the file.
pub(super) fn index(tail: &[u8], len: u64) -> ArrowResult<ArrowIndex> {
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
    Ok(ArrowIndex {
        schema,
        version: footer.version(),
        dictionaries: dictionaries.ok_or_else(not_in_it)?,
        batches: batches.ok_or_else(not_in_it)?,
    })
}

/// Returns the number of rows of the batch with the header `head`.
pub(super) fn rows(head: &[u8]) -> ArrowResult<u64> {
    u64::try_from(message(head)?.length()).map_err(damaged)
}

/// Returns the schema of a file of little-endian numbers.
fn little(footer: Footer<'_>) -> ArrowResult<Schema> {
    let schema = footer.schema().ok_or_else(|| damaged("there is no schema"))?;
    check_order(schema)?;
    try_fb_to_schema(schema).map_err(damaged)
}

/// Whether the message, without marker and length, is a schema; refuses big-endian numbers.
pub(super) fn is_schema_of_little_numbers(message: &[u8]) -> ArrowResult<bool> {
    let schema = root_as_message(message).ok().and_then(|message| message.header_as_schema());
    schema.map_or(Ok(false), |schema| check_order(schema).map(|()| true))
}

fn check_order(schema: FlatSchema<'_>) -> ArrowResult<()> {
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

/// Returns the bytes of the footer.
fn footer(file: &[u8]) -> ArrowResult<&[u8]> {
    let start =
        usize::try_from(end_len(file)?).ok().and_then(|len| file.len().checked_sub(len));
    start.map(|start| &file[start..file.len() - TRAILER]).ok_or_else(|| damaged(NO_FOOTER))
}

/// Parses the message of a batch.
fn message(head: &[u8]) -> ArrowResult<RecordBatch<'_>> {
    let before = if head.starts_with(&CONTINUED) { 8 } else { 4 };
    let message = head.get(before..).ok_or_else(|| damaged("a message has no length"))?;
    let message = root_as_message(message).map_err(damaged)?;
    message.header_as_record_batch().ok_or_else(|| damaged("a message is not a record batch"))
}
