//! Columns as Arrow: shared without a copy, and read from and written to `.arrow` files.
//!
//! ```text
//! Columns ── to_record_batch ── RecordBatch      the same memory, for Rust
//!         ── from_record_batches ── RecordBatch  a copy: numbers become 64 bits wide
//!         ── to_c_data ── ArrowArray, ArrowSchema     the same memory, for other languages
//!         ── arrow::write ── file ── arrow::read ── Columns
//! ```
//!
//! Values are shared as they are in memory: 64-bit integers and doubles, and one validity bit per
//! row. The memory is freed when its last user releases it.

mod batches;
mod gather;
mod read;
pub(super) mod write;

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::{
    Array as _, ArrayRef, Float64Array, Int64Array, RecordBatch, StructArray, UInt64Array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use swath::append::{self, AppendOptions};
use swath::machine::caught;
use swath::{Input, OutputOptions, ReadOptions, Source};

pub use self::batches::{ArrowBatches, batches};
use self::write::{Container, Writer};
use super::columns::{Column, ColumnKind, Columns};
use crate::error::{Error, FormatReason, Result};
use crate::foreign;
use crate::input;
use crate::setters::setters;

/// Bytes of values per batch of a file.
const BATCH: usize = 64 << 20;
/// Limit on the columns of a file with few rows. Each column takes a kilobyte while it is written,
/// whatever it holds.
const MOST_COLUMNS: usize = 1 << 16;
/// With at least this many rows, the limit does not apply.
const SOME_ROWS: usize = 8;
/// This many bytes at the end are read first.
const TAIL: u64 = 64 << 10;
/// The first and last bytes of a file.
const MAGIC: &[u8] = b"ARROW1";

impl Columns {
    /// Returns the same memory as a record batch. Columns without names become `column_1` and so
    /// on.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("points.csv");
    /// std::fs::write(&path, "x,y\n1,2.5\n3,4\n")?;
    /// let batch = swath_formats::table::read_columns(&path)?.to_record_batch()?;
    /// assert_eq!((batch.num_rows(), batch.schema().field(1).name().as_str()), (2, "y"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Never for columns made by this crate.
    pub fn to_record_batch(&self) -> std::result::Result<RecordBatch, ArrowError> {
        let field = |(name, column): (String, &Column)| match column.kind {
            ColumnKind::I64 => Field::new(name, DataType::Int64, true),
            ColumnKind::U64 => Field::new(name, DataType::UInt64, true),
            ColumnKind::F64 => Field::new(name, DataType::Float64, true),
        };
        let fields: Vec<Field> =
            self.labels().into_iter().zip(&self.columns).map(field).collect();
        let arrays = self.columns.iter().map(|column| column.to_array(self.rows)).collect();
        let rows = arrow_array::RecordBatchOptions::new().with_row_count(Some(self.rows));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &rows)
    }

    /// Returns the same memory through Arrow's C data interface: a struct with one child per
    /// column. The receiver calls their release functions, by dropping the two structs or from C.
    ///
    /// # Errors
    ///
    /// Never for columns made by this crate.
    pub fn to_c_data(
        &self,
    ) -> std::result::Result<(FFI_ArrowArray, FFI_ArrowSchema), ArrowError> {
        to_ffi(&StructArray::from(self.to_record_batch()?).into_data())
    }

    /// Rejects tables that would take a disproportionate amount of memory.
    fn check_columns(&self, path: &Path) -> Result<()> {
        let count = self.columns.len();
        if count <= MOST_COLUMNS || self.rows >= SOME_ROWS {
            return Ok(());
        }
        let detail = format!(
            "{count} columns of {} rows: with fewer than {SOME_ROWS} rows, an .arrow file has at most \
             {MOST_COLUMNS} columns, as each takes a kilobyte",
            self.rows
        );
        let error = Error::writing(path, FormatReason::TooLarge, detail);
        Err(error.hint("write an .npy or .csv file, or transpose the table"))
    }
}

/// Counts the bytes that it passes on.
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
        // An empty slice of bytes may not be aligned for values.
        let values =
            if rows == 0 { Buffer::default() } else { Buffer::from(self.values.clone()) };
        match self.kind {
            ColumnKind::I64 => {
                Arc::new(Int64Array::new(ScalarBuffer::new(values, 0, rows), validity))
            }
            ColumnKind::U64 => {
                Arc::new(UInt64Array::new(ScalarBuffer::new(values, 0, rows), validity))
            }
            ColumnKind::F64 => {
                Arc::new(Float64Array::new(ScalarBuffer::new(values, 0, rows), validity))
            }
        }
    }
}

/// Reads an Arrow file of numbers: integers of up to 64 bits, floats.
///
/// ```
/// use swath_formats::table::{self, arrow};
///
/// # let folder = tempfile::tempdir()?;
/// # let (csv, path) = (folder.path().join("points.csv"), folder.path().join("points.arrow"));
/// # std::fs::write(&csv, "x,y\n1,2.5\n3,4\n")?;
/// # let table = table::read_columns(&csv)?;
/// arrow::write(&path, &table)?;
/// assert_eq!(arrow::read(&path)?, table);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Every length in the file is checked against the file before memory is allocated.
///
/// # Errors
///
/// [`FormatReason::UnknownFormat`] for a file that is not an Arrow file,
/// [`FormatReason::Malformed`] for a damaged one, [`FormatReason::Unsupported`] for columns of
/// other types and for compressed or big-endian ones; whatever reading reports.
pub fn read(source: impl Into<Source>) -> Result<Columns> {
    ArrowOptions::new().read(source)
}

/// Like [`read`], together with the metadata of the whole table.
///
/// ```
/// use swath_formats::table::{self, arrow};
///
/// # let folder = tempfile::tempdir()?;
/// # let (csv, path) = (folder.path().join("points.csv"), folder.path().join("points.arrow"));
/// # std::fs::write(&csv, "x,y\n1,2.5\n3,4\n")?;
/// let metadata = std::iter::once(("unit".to_owned(), "m".to_owned())).collect();
/// let options = arrow::ArrowOptions::new().with_metadata(metadata);
/// options.write(&path, &table::read_columns(&csv)?)?;
/// assert_eq!(arrow::read_with_metadata(&path)?.metadata["unit"], "m");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Those of [`read`].
pub fn read_with_metadata(source: impl Into<Source>) -> Result<WithMetadata> {
    ArrowOptions::new().read_with_metadata(source)
}

/// Returns what the end of an Arrow file and the headers of its batches say. Reads a few kilobytes,
/// however large the file is.
///
/// ```
/// use swath_formats::table::{self, arrow};
///
/// # let folder = tempfile::tempdir()?;
/// # let (csv, path) = (folder.path().join("points.csv"), folder.path().join("points.arrow"));
/// # std::fs::write(&csv, "x,y\n1,2.5\n3,4\n")?;
/// # arrow::write(&path, &table::read_columns(&csv)?)?;
/// let info = arrow::info(&path)?;
/// assert_eq!((info.rows, info.names), (2, vec!["x".to_owned(), "y".to_owned()]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Those of [`read`], except errors in the values, and for columns of other types than numbers.
pub fn info(source: impl Into<Source>) -> Result<ArrowInfo> {
    ArrowOptions::new().info(source)
}

/// Writes an Arrow file. It is complete under its name, or absent. Returns its length in bytes.
///
/// ```
/// use swath_formats::table::{self, arrow};
///
/// # let folder = tempfile::tempdir()?;
/// # let (csv, path) = (folder.path().join("points.csv"), folder.path().join("points.arrow"));
/// std::fs::write(&csv, "x,y\n1,2.5\n3,4\n")?;
/// let bytes = arrow::write(&path, &table::read_columns(&csv)?)?;
/// assert_eq!(bytes, std::fs::metadata(&path)?.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`FormatReason::TooLarge`] for more than 65,536 columns with fewer than 8 rows; whatever writing
/// reports.
pub fn write(path: impl AsRef<Path>, table: &Columns) -> Result<u64> {
    ArrowOptions::new().write(path, table)
}

/// Columns, and the metadata of the whole table.
#[derive(Debug)]
#[non_exhaustive]
pub struct WithMetadata {
    /// The columns.
    pub columns: Columns,
    /// The metadata of the file's schema, by key.
    pub metadata: BTreeMap<String, String>,
}

/// What an Arrow file contains, without its values.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArrowInfo {
    /// Number of rows in all batches.
    pub rows: u64,
    /// The names of its columns.
    pub names: Vec<String>,
    /// The types of its columns, as [`ColumnType::word_of`](super::ColumnType::word_of) names them.
    pub types: Vec<String>,
    /// The metadata of the whole table, by key.
    pub metadata: BTreeMap<String, String>,
}

/// How to read and write `.arrow`. Every setter returns the options; none can fail.
#[derive(Clone, Debug, Default)]
pub struct ArrowOptions {
    read: ReadOptions,
    output: OutputOptions,
    metadata: BTreeMap<String, String>,
}

impl ArrowOptions {
    /// Defaults: everything chosen automatically, no metadata.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// How to read the file. It is always read as a whole.
        with_read(read: ReadOptions);

        /// How to write the file.
        with_output(output: OutputOptions);

        /// Metadata of the whole table to write; [`read_with_metadata`] reads it.
        with_metadata(metadata: BTreeMap<String, String>);
    }

    /// Like [`read`], with these options.
    ///
    /// # Errors
    ///
    /// Those of [`read`].
    pub fn read(&self, source: impl Into<Source>) -> Result<Columns> {
        Ok(self.read_with_metadata(source)?.columns)
    }

    /// Like [`read_with_metadata`], with these options.
    ///
    /// # Errors
    ///
    /// Those of [`read`].
    pub fn read_with_metadata(&self, source: impl Into<Source>) -> Result<WithMetadata> {
        self.read_from(source.into())
    }

    fn read_from(&self, source: Source) -> Result<WithMetadata> {
        let input = Input::open(source)?;
        input::check_whole(&input, &self.read)?;
        let file = bytes_of(&input, &self.read)?;
        let (columns, metadata) = unpanicked(input.name(), || read::read(&file))?;
        Ok(WithMetadata { columns, metadata })
    }

    /// Like [`info`], with these options.
    ///
    /// # Errors
    ///
    /// Those of [`info`].
    pub fn info(&self, source: impl Into<Source>) -> Result<ArrowInfo> {
        self.info_of(source.into())
    }

    fn info_of(&self, source: Source) -> Result<ArrowInfo> {
        let opened = input::open(source, &self.read)?;
        let (path, len) = (opened.path(), opened.len);
        let part = |start: u64, len: u64| {
            let read = ReadOptions::new().with_workers(1).with_offset(start).with_len(len);
            Ok::<_, Error>(read.read(&opened.input)?.buffer)
        };
        let tail = tail_of(&opened)?;
        let end = unpanicked(path, || read::end(&tail))?;
        let heads = end.heads.iter().map(|&(_, len)| len).fold(0, u64::saturating_add);
        if heads > len {
            let detail = "the Arrow file is damaged: its batches overlap";
            return Err(Error::reading(path, FormatReason::Malformed, detail));
        }
        let mut rows = 0u64;
        for (start, len) in end.heads {
            let head = part(start, len)?;
            rows = rows.saturating_add(unpanicked(path, || read::rows(&head))?);
        }
        Ok(ArrowInfo { rows, names: end.names, types: end.types, metadata: end.metadata })
    }

    /// Like [`batches()`], with these options.
    ///
    /// # Errors
    ///
    /// Those of [`batches()`].
    pub fn batches(&self, source: impl Into<Source>) -> Result<ArrowBatches> {
        batches::open(source.into(), &self.read)
    }

    /// Like [`write()`], with these options.
    ///
    /// # Errors
    ///
    /// Those of [`write()`].
    pub fn write(&self, path: impl AsRef<Path>, table: &Columns) -> Result<u64> {
        self.write_to(path.as_ref(), table)
    }

    fn write_to(&self, path: &Path, table: &Columns) -> Result<u64> {
        let wrong =
            |error: ArrowError| Error::writing(path, FormatReason::Library, error.to_string());
        foreign::check_name(path)?;
        table.check_columns(path)?;
        let batch = table.to_record_batch().map_err(wrong)?;
        let pairs = self.metadata.iter().map(|(key, value)| (key.clone(), value.clone()));
        let schema = batch.schema_ref().as_ref().clone();
        let schema = schema.with_metadata(pairs.collect::<HashMap<_, _>>());
        let batch = batch.with_schema(Arc::new(schema)).map_err(wrong)?;
        let mut out = Counted {
            out: AppendOptions::new().with_output(self.output.clone()).create(path)?,
            bytes: 0,
        };
        let mut writer =
            Writer::new(Container::File, &mut out, &batch.schema()).map_err(wrong)?;
        // Whole bytes of validity, so that no bits have to be shifted.
        let rows = (BATCH / 8 / table.columns.len().max(1)).next_multiple_of(64);
        for first in (0..table.rows.max(1)).step_by(rows) {
            let part = batch.slice(first, rows.min(table.rows - first));
            writer.write(&part).map_err(wrong)?;
        }
        writer.finish().map_err(wrong)?;
        drop(writer);
        out.out.commit()?;
        Ok(out.bytes)
    }
}

fn part_of(opened: &input::Opened, start: u64, len: u64) -> Result<swath::Buffer> {
    let read = ReadOptions::new().with_workers(1).with_offset(start).with_len(len);
    Ok(read.read(&opened.input)?.buffer)
}

/// Returns the last bytes of a file that begins and ends as an Arrow file does, with its whole
/// footer.
fn tail_of(opened: &input::Opened) -> Result<swath::Buffer> {
    let (path, len) = (opened.path(), opened.len);
    check_start(path, &part_of(opened, 0, len.min(foreign::HEAD))?)?;
    let tail = part_of(opened, len - len.min(TAIL), len.min(TAIL))?;
    check_end(path, &tail)?;
    let needed = unpanicked(path, || read::end_len(&tail))?;
    match needed > tail.len() as u64 {
        true => part_of(opened, len - needed.min(len), needed.min(len)),
        false => Ok(tail),
    }
}

/// Returns the bytes of a file that begins and ends as an Arrow file does.
fn bytes_of(input: &Input, options: &ReadOptions) -> Result<swath::Buffer> {
    let file = options.read(input)?.buffer;
    check_start(input.name(), &file)?;
    check_end(input.name(), &file)?;
    Ok(file)
}

fn check_start(path: &Path, file: &[u8]) -> Result<()> {
    if !file.starts_with(MAGIC) {
        // A stream begins with a schema, after the marker of a message.
        if file.starts_with(&[0xff; 4]) {
            let detail = "this is an Arrow stream, not an Arrow file";
            let error = Error::reading(path, FormatReason::UnknownFormat, detail);
            let hint = "write it in Arrow's file format with `pyarrow.ipc.new_file`";
            return Err(error.hint(hint));
        }
        return Err(foreign::not(path, "an Arrow file", file));
    }
    Ok(())
}

fn check_end(path: &Path, file: &[u8]) -> Result<()> {
    if !file.ends_with(MAGIC) {
        return Err(Error::reading(
            path,
            FormatReason::Truncated,
            "the end of the Arrow file is missing",
        ));
    }
    Ok(())
}

/// No panic is known here, and nothing has state that a panic could leave half done.
fn unpanicked<T>(path: &Path, read: impl FnOnce() -> read::Checked<T>) -> Result<T> {
    match caught(read) {
        Some(read) => read.map_err(|refused| refused.into_error(path)),
        None => Err(Error::reading(path, FormatReason::Malformed, "the Arrow file is damaged")),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int8Type, Int32Type, Int64Type, UInt64Type};
    use arrow_array::{DictionaryArray, NullArray, PrimitiveArray};
    use arrow_ipc::writer::FileWriter;

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
        let bytes = super::write(&path, &table).expect("written");
        assert_eq!(super::read(&path).expect("a table"), table);
        let file = std::fs::read(&path).expect("there");
        assert_eq!(bytes, file.len() as u64);
        for at in (0..file.len()).step_by(3) {
            let mut wrong = file.clone();
            wrong[at] ^= 0x55;
            std::fs::write(&path, &wrong).expect("room");
            let _ = (super::read(&path), super::info(&path));
            std::fs::write(&path, &file[..at]).expect("room");
            super::read(&path).expect_err("cut off");
        }
        table.names = None;
        super::write(&path, &table).expect("written");
        let names = super::read(&path).expect("a table").names.expect("names");
        assert_eq!(names, ["column_1", "column_2"]);
    }

    /// Writes arrays as a file of one batch.
    fn write(path: &Path, arrays: Vec<(&str, ArrayRef)>) {
        let batch = RecordBatch::try_from_iter(arrays).expect("a batch");
        let file = std::fs::File::create(path).expect("room");
        let mut writer = FileWriter::try_new(file, &batch.schema()).expect("a file");
        writer.write(&batch).expect("room");
        writer.finish().expect("room");
    }

    #[test]
    fn what_a_file_says_of_itself_is_what_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.arrow");
        for (columns, batches) in [(0, 0), (1, 0), (3, 1), (2, 40), (3000, 2)] {
            let name = |number: usize| format!("a column with a long name, number {number}");
            let fields = (0..columns).map(|at| Field::new(name(at), DataType::Int64, true));
            let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
            let file = std::fs::File::create(&path).expect("room");
            let mut writer = FileWriter::try_new(file, &schema).expect("a file");
            for rows in 0..batches {
                let array: ArrayRef = Arc::new(Int64Array::from(vec![7; rows]));
                let batch = RecordBatch::try_new_with_options(
                    Arc::clone(&schema),
                    vec![array; columns],
                    &arrow_array::RecordBatchOptions::new().with_row_count(Some(rows)),
                );
                writer.write(&batch.expect("a batch")).expect("room");
            }
            writer.finish().expect("room");
            let (table, info) = (super::read(&path).expect("a table"), super::info(&path));
            let info = info.expect("it says so");
            if columns > 0 {
                assert_eq!(
                    info.rows, table.rows as u64,
                    "{columns} columns, {batches} batches"
                );
            }
            assert_eq!(Some(info.names), table.names);
            let bytes = std::fs::read(&path).expect("there");
            for cut in [1, 5, 11, 400].map(|cut| bytes.len().saturating_sub(cut)) {
                std::fs::write(&path, &bytes[..cut]).expect("room");
                super::info(&path).expect_err("cut off");
            }
        }
    }

    #[test]
    fn batches_that_overlap_are_refused_before_they_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.arrow");
        let array: ArrayRef = Arc::new(Int64Array::from(vec![7; 3]));
        let batch = RecordBatch::try_from_iter([("n", array)]).expect("a batch");
        let file = std::fs::File::create(&path).expect("room");
        let mut writer = FileWriter::try_new(file, &batch.schema()).expect("a file");
        for _ in 0..40 {
            writer.write(&batch).expect("room");
        }
        writer.finish().expect("room");
        let mut file = std::fs::read(&path).expect("there");
        assert_eq!(super::info(&path).expect("readable").rows, 120);
        let (before, trailer) = file.split_last_chunk::<10>().expect("a trailer");
        let len = arrow_ipc::reader::read_footer_length(*trailer).expect("a length");
        let footer = &before[before.len() - len..];
        let footer = arrow_ipc::root_as_footer(footer).expect("a footer");
        let blocks = footer.recordBatches().expect("batches").bytes();
        let (at, count) =
            (blocks.as_ptr() as usize - file.as_ptr() as usize, blocks.len() / 24);
        // Each claims that its message is half of the file.
        let half = i32::try_from(file.len() / 2).expect("a small file").to_le_bytes();
        for block in 0..count {
            let len = at + block * 24 + 8;
            file[len..len + 4].copy_from_slice(&half);
        }
        std::fs::write(&path, &file).expect("room");
        let error = super::info(&path).expect_err("40 halves of a file");
        assert_eq!(error.reason(), FormatReason::Malformed, "{error}");
        assert!(error.to_string().contains("its batches overlap"), "{error}");
    }

    #[test]
    fn damaged_files_are_refused_without_a_panic() {
        let (folder, table) = table("n,x,y\n1,2.5,1\n,NA,2\n3,-1,\n4,5,6\n7,8,9\n");
        let path = folder.path().join("t.arrow");
        super::write(&path, &table).expect("written");
        let file = std::fs::read(&path).expect("there");
        let mut right = 0;
        for at in 0..file.len() {
            for change in [0x01, 0x08, 0x55, 0x80, 0xff] {
                let mut wrong = file.clone();
                wrong[at] ^= change;
                // Nothing catches a panic here.
                right += usize::from(read::read(&wrong).is_ok());
            }
            assert!(read::read(&file[..at]).is_err(), "cut off at {at}");
        }
        // Values, names and bytes between the parts may be anything; the positions of the parts may not.
        assert!(right < file.len() * 4, "{right} of {}", file.len() * 5);
    }

    #[test]
    fn small_numbers_of_many_batches_are_widened() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.arrow");
        let numbers: PrimitiveArray<Int8Type> = [Some(1), None, Some(-3)].into_iter().collect();
        let batch = RecordBatch::try_from_iter([("n", Arc::new(numbers) as ArrayRef)]);
        let batch = batch.expect("a batch");
        let file = std::fs::File::create(&path).expect("room");
        let mut writer = FileWriter::try_new(file, &batch.schema()).expect("a file");
        for _ in 0..5 {
            writer.write(&batch).expect("room");
        }
        writer.finish().expect("room");
        let table = super::read(&path).expect("a table");
        let Values::I64(values) = table.columns[0].values() else { panic!("integers") };
        assert_eq!(values, [1, 0, -3].repeat(5));
        assert_eq!(table.columns[0].nulls(), 5);
        let valid: Vec<bool> = (0..15).map(|row| table.columns[0].is_valid(row)).collect();
        assert_eq!(valid, [true, false, true].repeat(5));
    }

    #[test]
    fn other_types_are_refused_before_memory_is_asked_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.arrow");
        let refusal = |says: &str| {
            let error = super::read(&path).expect_err("refused");
            let text = error.to_string();
            assert!(text.contains(says) && text.contains("t.arrow"), "{text}");
            error.reason()
        };
        write(&path, vec![("nothing", Arc::new(NullArray::new(1 << 50)))]);
        assert_eq!(refusal("column `nothing` is of type Null"), FormatReason::Unsupported);
        let words: DictionaryArray<Int32Type> = ["a", "b", "a"].into_iter().collect();
        write(&path, vec![("word", Arc::new(words))]);
        assert_eq!(refusal("column `word` is of type Dictionary"), FormatReason::Unsupported);
    }

    #[test]
    fn integers_of_64_bits_without_a_sign_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.arrow");
        let numbers: PrimitiveArray<UInt64Type> =
            [Some(u64::MAX), None, Some(0), Some(1 << 63)].into_iter().collect();
        write(&path, vec![("n", Arc::new(numbers))]);
        let table = super::read(&path).expect("a table");
        assert_eq!(table.columns[0].values(), Values::U64(&[u64::MAX, 0, 0, 1 << 63]));
        assert_eq!((table.columns[0].nulls(), table.columns[0].is_valid(1)), (1, false));
        let again = folder.path().join("again.arrow");
        super::write(&again, &table).expect("written");
        assert_eq!(super::read(&again).expect("a table"), table);
        let text = folder.path().join("t.csv");
        crate::table::TableWriteOptions::new().write_columns(&text, &table).expect("written");
        let text = std::fs::read_to_string(&text).expect("text");
        assert_eq!(text, "n\n18446744073709551615\n\"\"\n0\n9223372036854775808\n");
    }

    #[test]
    fn words_about_the_table_are_read_back() {
        let (folder, table) = table("n\n1\n");
        let path = folder.path().join("t.arrow");
        let words = [("swath.rows", "3"), ("größe", "\0 ")];
        let words: BTreeMap<String, String> =
            words.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        let options = ArrowOptions::new().with_metadata(words.clone());
        options.write(&path, &table).expect("written");
        assert_eq!(super::info(&path).expect("readable").metadata, words);
        assert_eq!(super::read(&path).expect("a table"), table);
        super::write(&path, &table).expect("written");
        assert!(super::info(&path).expect("readable").metadata.is_empty());
    }

    #[test]
    fn very_many_columns_of_little_are_refused_with_the_bound() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.arrow");
        let one = |rows| Column::of_i64(swath::Array::zeroed(rows).expect("room"));
        let table = |count, rows| {
            Columns::new(None, vec![one(rows); count]).expect("columns of one length")
        };
        let error = super::write(&path, &table(MOST_COLUMNS + 1, 7)).expect_err("too many");
        let told = error.to_string();
        assert_eq!(error.reason(), FormatReason::TooLarge, "{told}");
        assert!(told.contains("65537 columns of 7 rows") && told.contains("65536"), "{told}");
        assert!(!path.exists() && !error.what_to_try().is_empty());
        assert!(table(MOST_COLUMNS + 1, 8).check_columns(&path).is_ok());
        assert!(table(MOST_COLUMNS, 0).check_columns(&path).is_ok());
    }

    #[test]
    fn a_stream_is_told_from_a_file() {
        let (folder, table) = table("n\n1\n");
        let path = folder.path().join("t.arrow");
        let batch = table.to_record_batch().expect("a batch");
        let mut stream = Vec::new();
        let mut writer = arrow_ipc::writer::StreamWriter::try_new(&mut stream, &batch.schema())
            .expect("one");
        writer.write(&batch).expect("room");
        writer.finish().expect("room");
        std::fs::write(&path, &stream).expect("room");
        let error = super::read(&path).expect_err("a stream");
        assert_eq!(error.reason(), FormatReason::UnknownFormat);
        assert!(
            error.to_string().contains("an Arrow stream, not an Arrow file; try: write it"),
            "{error}"
        );
    }
}
