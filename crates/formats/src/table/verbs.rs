//! Tables of any types: text, dates, booleans and numbers, as Arrow's record batches.
//!
//! ```text
//! file     id,born,name¶1,1980-02-29,Ann¶2,,"Bob, Jr."¶      any dialect, compressed or not
//! types    i64, date, text                                   inferred from all values, or given
//! batches  | 1 2 | 1980-02-29 null | Ann  Bob, Jr. |         blocks, parsed by all workers
//! report   delimiter, header, encoding, and for each column: type, missing values, the line that
//!          fixed the type
//! ```
//!
//! The rules are in `docs/design/tables.md`. The rows of the result depend on neither workers nor
//! block sizes. Each value is read exactly, or an error gives path, line, byte and column.

use swath::Source;

use crate::error::Result;
use crate::table::options::BatchOptions;
use crate::table::read;
use crate::table::read::batches::Batches;
use crate::table::stream::BatchStream;
use crate::table::summary::TableSummary;

/// Reads the table in `source` as record batches.
///
/// ```
/// use swath_formats::table::{self, ColumnType};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("people.csv");
/// std::fs::write(&path, "id,born,name\n1,1980-02-29,Ann\n2,,\"Bob, Jr.\"\n")?;
/// let table = table::read_batches(&path)?;
/// assert_eq!(table.rows(), 2);
/// let types: Vec<_> = table.report().columns.iter().map(|column| column.kind).collect();
/// assert_eq!(types, [ColumnType::I64, ColumnType::Date, ColumnType::Text]);
/// assert_eq!(table.report().columns[1].nulls, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The errors of [`BatchOptions::read_batches`].
pub fn read_batches(source: impl Into<Source>) -> Result<Batches> {
    BatchOptions::new().read_batches(source)
}

/// Reads several files with the same columns as one table, in the order given. The type of a column
/// holds its values in all of them.
///
/// ```
/// use swath_formats::table::{self, ColumnType};
///
/// # let folder = tempfile::tempdir()?;
/// # let [one, two] = ["one.csv", "two.csv"].map(|name| folder.path().join(name));
/// std::fs::write(&one, "x\n1\n")?;
/// std::fs::write(&two, "x\n0.5\n")?;
/// let table = table::read_batches_of([&one, &two])?;
/// assert_eq!((table.rows(), table.report().columns[0].kind), (2, ColumnType::F64));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The errors of [`BatchOptions::read_batches_of`].
pub fn read_batches_of<S: Into<Source>>(
    sources: impl IntoIterator<Item = S>,
) -> Result<Batches> {
    BatchOptions::new().read_batches_of(sources)
}

/// Reads the table in `source` batch by batch, in bounded memory.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("people.csv");
/// std::fs::write(&path, "id,name\n1,Ann\n2,Bob\n")?;
/// let mut rows = 0;
/// for batch in swath_formats::table::stream_batches(&path)? {
///     rows += batch?.num_rows();
/// }
/// assert_eq!(rows, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The errors of [`BatchOptions::stream_batches`].
pub fn stream_batches(source: impl Into<Source>) -> Result<BatchStream> {
    BatchOptions::new().stream_batches(source)
}

/// Reads several files with the same columns as one table, batch by batch, in bounded memory.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let [one, two] = ["one.csv", "two.csv"].map(|name| folder.path().join(name));
/// std::fs::write(&one, "x\n1\n")?;
/// std::fs::write(&two, "x\n0.5\n")?;
/// let batches = swath_formats::table::stream_batches_of([&one, &two])?;
/// assert_eq!(batches.collect::<Result<Vec<_>, _>>()?.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The errors of [`BatchOptions::stream_batches_of`].
pub fn stream_batches_of<S: Into<Source>>(
    sources: impl IntoIterator<Item = S>,
) -> Result<BatchStream> {
    BatchOptions::new().stream_batches_of(sources)
}

/// Summarises the table in `source`: its columns, their types, missing values, least and greatest
/// values, and the first rows. Reads it in bounded memory.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("people.csv");
/// std::fs::write(&path, "id,name\n2,Ann\n1,\n")?;
/// let summary = swath_formats::table::summary(&path)?;
/// assert_eq!((summary.report.rows, summary.report.columns[1].nulls), (2, 1));
/// let least = summary.ranges[0].least.as_ref().map(|least| least.value.to_string());
/// assert_eq!(least.as_deref(), Some("1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The errors of [`BatchOptions::summary`].
pub fn summary(source: impl Into<Source>) -> Result<TableSummary> {
    BatchOptions::new().summary(source)
}

impl BatchOptions {
    /// Reads the table in `source` as record batches, one for each block of the text.
    ///
    /// # Errors
    ///
    /// [`FormatReason::Malformed`](crate::FormatReason::Malformed) for a record with more or fewer
    /// fields than there are columns, text after a closing quote, an open quote, a carriage return
    /// inside a line, bytes that are invalid in the encoding in a field that is read, a value that
    /// is not of the given type, and a file without records.
    /// [`FormatReason::TooLarge`](crate::FormatReason::TooLarge) for a number that its type cannot
    /// hold. The first fault in the file is reported.
    /// [`FormatReason::Invalid`](crate::FormatReason::Invalid) for options that contradict each
    /// other, and for columns that do not exist; whatever reading reports.
    pub fn read_batches(&self, source: impl Into<Source>) -> Result<Batches> {
        read::read(vec![source.into()], self)
    }

    /// Reads several files as one table, in the order given.
    ///
    /// Each file has its own header, with the same names. The first file decides the delimiter, and
    /// whether there is a header, unless the options do.
    ///
    /// # Errors
    ///
    /// The errors of [`read_batches`](Self::read_batches), and
    /// [`FormatReason::Malformed`](crate::FormatReason::Malformed) for a file with other names.
    pub fn read_batches_of<S: Into<Source>>(
        &self,
        sources: impl IntoIterator<Item = S>,
    ) -> Result<Batches> {
        read::read(sources.into_iter().map(Into::into).collect(), self)
    }

    /// Reads the table in `source` batch by batch. A first pass over the file finds the types,
    /// unless all are given.
    ///
    /// A pipe can be read only once: its first 64 MiB decide its types. A later value that
    /// contradicts its type is an error that names the column, so that you can give its type.
    /// Compressed text is decompressed once to find the types and once for the batches.
    ///
    /// # Errors
    ///
    /// The errors of [`read_batches`](Self::read_batches): some here, some from the iterator.
    pub fn stream_batches(&self, source: impl Into<Source>) -> Result<BatchStream> {
        BatchStream::open(vec![source.into()], self)
    }

    /// Reads several files as one table, batch by batch.
    ///
    /// # Errors
    ///
    /// The errors of [`read_batches_of`](Self::read_batches_of): some here, some from the iterator.
    pub fn stream_batches_of<S: Into<Source>>(
        &self,
        sources: impl IntoIterator<Item = S>,
    ) -> Result<BatchStream> {
        BatchStream::open(sources.into_iter().map(Into::into).collect(), self)
    }

    /// Summarises the table in `source`. Reads it once; reads columns of text again if their first
    /// values were of another type. Keeps only the least and the greatest value of each column.
    ///
    /// # Errors
    ///
    /// The errors of [`read_batches`](Self::read_batches).
    pub fn summary(&self, source: impl Into<Source>) -> Result<TableSummary> {
        crate::table::summary::summary(source.into(), self)
    }
}
