//! Reads Arrow files and streams batch by batch; [`write_batches`](crate::table::write_batches)
//! writes them.
//!
//! ```text
//! file ── batches ── RecordBatch, RecordBatch, …      columns of any types
//!      ── info ── rows, names, types, metadata        a few kilobytes of the file
//! ```

mod batches;
mod read;
pub(super) mod write;

use std::collections::BTreeMap;
use std::path::Path;

use swath::machine::caught;
use swath::{ReadOptions, Source};

pub use self::batches::{ArrowBatches, batches};
use crate::error::{Error, FormatReason, Result};
use crate::foreign;
use crate::input;
use crate::setters::setters;

/// Bytes at the end that are read first.
const TAIL: u64 = 64 << 10;
/// The magic number at both ends of a file.
const MAGIC: &[u8] = b"ARROW1";

/// Returns the contents of an Arrow file's footer and of the headers of its batches. Reads a few
/// kilobytes, however large the file is.
///
/// ```
/// use swath_formats::table::{self, arrow};
///
/// # let folder = tempfile::tempdir()?;
/// # let (csv, path) = (folder.path().join("points.csv"), folder.path().join("points.arrow"));
/// # std::fs::write(&csv, "x,y\n1,2.5\n3,4\n")?;
/// # let points = table::read_batches(&csv)?;
/// # table::write_batches(&path, points.schema(), points.batches())?;
/// let info = arrow::info(&path)?;
/// assert_eq!((info.rows, info.names), (2, vec!["x".to_owned(), "y".to_owned()]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The errors of [`batches()`], except errors in the values; [`FormatReason::UnknownFormat`] for a
/// stream.
pub fn info(source: impl Into<Source>) -> Result<ArrowInfo> {
    ArrowOptions::new().info(source)
}

/// The description of an Arrow file, without its values.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArrowInfo {
    /// Number of rows in all batches.
    pub rows: u64,
    /// The names of its columns.
    pub names: Vec<String>,
    /// The types of its columns, in the words of
    /// [`ColumnType::word_of`](crate::table::ColumnType::word_of).
    pub types: Vec<String>,
    /// The metadata of the whole table, by key.
    pub metadata: BTreeMap<String, String>,
}

/// How to read `.arrow`. Every setter returns the options; none can fail.
#[derive(Clone, Debug, Default)]
pub struct ArrowOptions {
    read: ReadOptions,
}

impl ArrowOptions {
    /// Defaults: everything chosen automatically.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// How to read the file. It is always read as a whole.
        with_read(read: ReadOptions);
    }

    /// Like [`info`], with these options.
    ///
    /// # Errors
    ///
    /// The errors of [`info`].
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
    /// The errors of [`batches()`].
    pub fn batches(&self, source: impl Into<Source>) -> Result<ArrowBatches> {
        batches::open(source.into(), &self.read)
    }
}

fn part_of(opened: &input::OpenedText, start: u64, len: u64) -> Result<swath::Buffer> {
    let read = ReadOptions::new().with_workers(1).with_offset(start).with_len(len);
    Ok(read.read(&opened.input)?.buffer)
}

/// Returns the last bytes of a file that begins and ends as an Arrow file does, its whole footer
/// included.
fn tail_of(opened: &input::OpenedText) -> Result<swath::Buffer> {
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

fn check_start(path: &Path, file: &[u8]) -> Result<()> {
    if !file.starts_with(MAGIC) {
        // A stream begins with the marker of a message and a schema.
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

/// Unwind-safe: `read` has no state that a panic could leave inconsistent. No panic is known.
fn unpanicked<T>(path: &Path, read: impl FnOnce() -> read::ArrowResult<T>) -> Result<T> {
    match caught(read) {
        Some(read) => read.map_err(|refused| refused.into_error(path)),
        None => Err(Error::reading(path, FormatReason::Malformed, "the Arrow file is damaged")),
    }
}
