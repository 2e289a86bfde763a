//! Columns as Arrow: handed over without a copy, and read and written as `.arrow` files.
//!
//! ```text
//! Columns ── to_record_batch ── RecordBatch      the same memory, for Rust
//!         ── to_c_data ── ArrowArray, ArrowSchema     the same memory, for everybody
//!         ── write_arrow ── file ── read_arrow ── Columns
//! ```
//!
//! Values are passed on as they lie: integers of 64 bits and doubles, one bit for each row that is
//! there. Memory is given back when its last user has done so.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type,
};
use arrow_array::{
    Array as _, ArrayRef, Float64Array, Int64Array, PrimitiveArray, RecordBatch, StructArray,
    cast::AsArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::root_as_footer;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use bytes::Bytes;
use swath::append::{self, AppendOptions};
use swath::{Array, ReadOptions};

use super::columns::{Column, Columns, Kind, Shared};
use crate::error::{Error, Reason, Result};

/// Bytes of values in one batch of a file.
const BATCH: usize = 64 << 20;
/// Bytes behind the footer: its length and the magic number.
const TRAILER: usize = 10;

impl Columns {
    /// The same memory as a record batch. Columns without names are called `column_1` and so on.
    ///
    /// # Errors
    ///
    /// None that columns of this crate give.
    pub fn to_record_batch(&self) -> std::result::Result<RecordBatch, ArrowError> {
        let names = (1..).map(|number| format!("column_{number}"));
        let names: Vec<String> = match &self.names {
            Some(names) => names.clone(),
            None => names.take(self.columns.len()).collect(),
        };
        let field = |(name, column): (String, &Column)| match column.kind {
            Kind::I64 => Field::new(name, DataType::Int64, true),
            Kind::F64 => Field::new(name, DataType::Float64, true),
        };
        let fields: Vec<Field> = names.into_iter().zip(&self.columns).map(field).collect();
        let arrays = self.columns.iter().map(|column| column.to_array(self.rows)).collect();
        let rows = arrow_array::RecordBatchOptions::new().with_row_count(Some(self.rows));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &rows)
    }

    /// The same memory through Arrow's C data interface: a struct with a child for each column.
    /// Whoever gets the two calls their release functions, by dropping them or in C.
    ///
    /// # Errors
    ///
    /// None that columns of this crate give.
    pub fn to_c_data(
        &self,
    ) -> std::result::Result<(FFI_ArrowArray, FFI_ArrowSchema), ArrowError> {
        to_ffi(&StructArray::from(self.to_record_batch()?).into_data())
    }

    /// Writes an Arrow file, which is complete under its name, or absent; returns its bytes.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn write_arrow(&self, path: impl AsRef<Path>) -> Result<u64> {
        self.write_arrow_with(path, AppendOptions::new())
    }

    /// As [`write_arrow`](Self::write_arrow), durable or not, over an old file or not.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn write_arrow_with(
        &self,
        path: impl AsRef<Path>,
        options: AppendOptions,
    ) -> Result<u64> {
        let path = path.as_ref();
        let wrong =
            |error: ArrowError| Error::writing(path, Reason::Library, error.to_string());
        let batch = self.to_record_batch().map_err(wrong)?;
        let mut out = Counted { out: append::create(path, options)?, bytes: 0 };
        let mut writer = FileWriter::try_new(&mut out, &batch.schema()).map_err(wrong)?;
        // Whole bytes of validity, so that nothing has to be shifted.
        let rows = (BATCH / 8 / self.columns.len().max(1)).next_multiple_of(64);
        for first in (0..self.rows.max(1)).step_by(rows) {
            let part = batch.slice(first, rows.min(self.rows - first));
            writer.write(&part).map_err(wrong)?;
        }
        writer.finish().map_err(wrong)?;
        drop(writer);
        out.out.commit()?;
        Ok(out.bytes)
    }
}

/// Counts what it passes on.
struct Counted {
    out: append::Append,
    bytes: u64,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

impl Column {
    fn to_array(&self, rows: usize) -> ArrayRef {
        let validity = self
            .validity
            .clone()
            .map(|bits| NullBuffer::new(BooleanBuffer::new(Buffer::from(bits), 0, rows)));
        // An empty slice of bytes need not be aligned as values are.
        let values =
            if rows == 0 { Buffer::default() } else { Buffer::from(self.values.clone()) };
        match self.kind {
            Kind::I64 => {
                Arc::new(Int64Array::new(ScalarBuffer::new(values, 0, rows), validity))
            }
            Kind::F64 => {
                Arc::new(Float64Array::new(ScalarBuffer::new(values, 0, rows), validity))
            }
        }
    }
}

/// Reads an Arrow file of numbers: integers of up to 63 bits and a sign, floats.
///
/// # Errors
///
/// [`Reason::UnknownFormat`] for a file that is no Arrow file, [`Reason::Malformed`] for one that
/// is damaged, [`Reason::Unsupported`] for columns of other types and compressed ones; and those
/// of reading.
pub fn read_arrow(path: impl AsRef<Path>) -> Result<Columns> {
    let path = path.as_ref();
    let file = Bytes::from(ReadOptions::new().read(path)?.buffer);
    let is_arrow = file.starts_with(b"ARROW1") && file.ends_with(b"ARROW1");
    if !is_arrow || file.len() < 2 * TRAILER {
        return Err(Error::reading(path, Reason::UnknownFormat, "it is no Arrow file"));
    }
    // Lengths that lie make the library panic; it has no state that could be left half done.
    let batches = catch_unwind(AssertUnwindSafe(|| decode(&Buffer::from(file))));
    let damaged = |detail: String| Error::reading(path, Reason::Malformed, detail);
    let (schema, batches) = match batches {
        Ok(Ok(decoded)) => decoded,
        Ok(Err(error)) => return Err(damaged(error.to_string())),
        Err(_) => return Err(damaged(String::from("the Arrow file is damaged"))),
    };
    gather(&schema, &batches).map_err(|detail| match detail {
        Refused::Type(name) => {
            let detail = format!("column `{name}` is not one of numbers of up to 64 bits");
            Error::reading(path, Reason::Unsupported, detail)
        }
        Refused::Memory(error) => Error::from(error),
    })
}

/// All batches of a file, whose memory they share.
fn decode(file: &Buffer) -> std::result::Result<(Schema, Vec<RecordBatch>), ArrowError> {
    let invalid = |text: &str| ArrowError::ParseError(String::from(text));
    let trailer = file.len() - TRAILER;
    let bytes = file[trailer..].try_into().map_err(|_| invalid("no trailer"))?;
    let start = trailer.checked_sub(read_footer_length(bytes)?);
    let footer = file.get(start.unwrap_or(usize::MAX)..trailer);
    let footer = root_as_footer(footer.ok_or_else(|| invalid("no footer"))?)
        .map_err(|error| ArrowError::ParseError(error.to_string()))?;
    let schema = footer.schema().ok_or_else(|| invalid("no schema"))?;
    let schema = try_fb_to_schema(schema)?;
    let decoder = FileDecoder::new(Arc::new(schema.clone()), footer.version());
    let mut batches = Vec::new();
    for block in footer.recordBatches().iter().flatten() {
        let len = block.bodyLength().checked_add(i64::from(block.metaDataLength()));
        let len = len.and_then(|len| usize::try_from(len).ok());
        let offset = usize::try_from(block.offset()).ok();
        let (Some(offset), Some(len)) = (offset, len) else {
            return Err(invalid("a batch that lies nowhere"));
        };
        if offset.checked_add(len).is_none_or(|end| end > file.len()) {
            return Err(invalid("a batch behind the end of the file"));
        }
        let data = file.slice_with_length(offset, len);
        batches.extend(decoder.read_record_batch(block, &data)?);
    }
    Ok((schema, batches))
}

/// Why columns are not taken.
enum Refused {
    Type(String),
    Memory(swath::Error),
}

impl From<swath::Error> for Refused {
    fn from(error: swath::Error) -> Self {
        Self::Memory(error)
    }
}

/// The columns of all batches, one behind the other.
fn gather(schema: &Schema, batches: &[RecordBatch]) -> std::result::Result<Columns, Refused> {
    let rows = batches.iter().map(RecordBatch::num_rows).sum();
    let mut columns = Vec::new();
    for (index, field) in schema.fields().iter().enumerate() {
        let mut words = Array::<u64>::zeroed(rows)?;
        let mut bits = Vec::new();
        let (mut first, mut kind, mut nulls) = (0, Kind::F64, 0);
        for batch in batches {
            let array = batch.column(index);
            let target = &mut words[first..first + array.len()];
            let taken = take(array, target).ok_or_else(|| Refused::Type(field.name().clone()));
            kind = taken?;
            nulls += clear(array, first, rows, &mut bits);
            first += array.len();
        }
        let values = Bytes::from_owner(Shared(words));
        let validity = (nulls > 0).then(|| Bytes::from(bits));
        columns.push(Column { kind, values, validity, nulls });
    }
    let names = schema.fields().iter().map(|field| field.name().clone()).collect();
    Ok(Columns { rows, names: Some(names), columns })
}

/// Clears the bits of rows that are missing, and returns how many are.
fn clear(array: &ArrayRef, first: usize, rows: usize, bits: &mut Vec<u8>) -> usize {
    let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) else { return 0 };
    if bits.is_empty() {
        bits.resize(rows.div_ceil(8), 0xff);
        if let (Some(last), used @ 1..) = (bits.last_mut(), rows % 8) {
            *last = (1 << used) - 1;
        }
    }
    for row in (0..array.len()).filter(|&row| nulls.is_null(row)) {
        bits[(first + row) / 8] &= !(1 << ((first + row) % 8));
    }
    nulls.null_count()
}

/// Copies values, widened to 64 bits, zero where there is none; `None` for other types.
fn take(array: &ArrayRef, target: &mut [u64]) -> Option<Kind> {
    fn each<T: ArrowPrimitiveType>(
        array: &PrimitiveArray<T>,
        target: &mut [u64],
        word: impl Fn(T::Native) -> u64,
    ) {
        for (slot, value) in target.iter_mut().zip(array.values()) {
            *slot = word(*value);
        }
        for (row, slot) in target.iter_mut().enumerate() {
            if array.is_null(row) {
                *slot = 0;
            }
        }
    }
    let integer = i64::cast_unsigned;
    match array.data_type() {
        DataType::Int64 => each(array.as_primitive::<Int64Type>(), target, integer),
        DataType::Int32 => {
            each(array.as_primitive::<Int32Type>(), target, |it| integer(it.into()))
        }
        DataType::Int16 => {
            each(array.as_primitive::<Int16Type>(), target, |it| integer(it.into()))
        }
        DataType::Int8 => {
            each(array.as_primitive::<Int8Type>(), target, |it| integer(it.into()))
        }
        DataType::UInt32 => each(array.as_primitive::<UInt32Type>(), target, u64::from),
        DataType::UInt16 => each(array.as_primitive::<UInt16Type>(), target, u64::from),
        DataType::UInt8 => each(array.as_primitive::<UInt8Type>(), target, u64::from),
        DataType::Float64 => each(array.as_primitive::<Float64Type>(), target, f64::to_bits),
        DataType::Float32 => {
            let word = |it: f32| f64::from(it).to_bits();
            each(array.as_primitive::<Float32Type>(), target, word);
        }
        _ => return None,
    }
    Some(if array.data_type().is_floating() { Kind::F64 } else { Kind::I64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{TableOptions, Values};

    fn table(text: &str) -> (tempfile::TempDir, Columns) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.csv");
        std::fs::write(&path, text).expect("room");
        let table = TableOptions::new().read_columns(&path).expect("a table");
        (folder, table)
    }

    #[test]
    fn a_batch_shares_the_memory() {
        let (_folder, table) = table("n,x\n1,2.5\n,NA\n3,-1\n");
        let batch = table.to_record_batch().expect("a batch");
        let n = batch.column(0).as_primitive::<Int64Type>();
        let x = batch.column(1).as_primitive::<Float64Type>();
        assert_eq!(n.iter().collect::<Vec<_>>(), [Some(1), None, Some(3)]);
        assert_eq!(x.iter().collect::<Vec<_>>(), [Some(2.5), None, Some(-1.0)]);
        let Values::I64(values) = table.columns[0].values() else { panic!("integers") };
        assert_eq!(values.as_ptr(), n.values().as_ptr());
        assert_eq!(batch.schema().field(1).name(), "x");
        drop(table);
        assert_eq!(n.value(2), 3);
        let (array, schema) = {
            let (_folder, table) = self::table("1,2\n");
            table.to_c_data().expect("two structs")
        };
        assert_eq!((array.len(), array.num_children(), schema.format()), (1, 2, "+s"));
    }

    #[test]
    fn files_are_read_back_and_damaged_ones_refused() {
        let (folder, mut table) = table("n,x\n1,2.5\n,NA\n3,-1\n");
        let path = folder.path().join("t.arrow");
        let bytes = table.write_arrow(&path).expect("written");
        assert_eq!(read_arrow(&path).expect("a table"), table);
        let file = std::fs::read(&path).expect("there");
        assert_eq!(bytes, file.len() as u64);
        for at in (0..file.len()).step_by(3) {
            let mut wrong = file.clone();
            wrong[at] ^= 0x55;
            std::fs::write(&path, &wrong).expect("room");
            let _ = read_arrow(&path);
            std::fs::write(&path, &file[..at]).expect("room");
            read_arrow(&path).expect_err("cut off");
        }
        table.names = None;
        table.write_arrow(&path).expect("written");
        let names = read_arrow(&path).expect("a table").names.expect("names");
        assert_eq!(names, ["column_1", "column_2"]);
    }
}
