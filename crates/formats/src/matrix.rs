//! Sparse matrices and graphs: Matrix Market and edge lists.
//!
//! ```text
//! header   what it holds, how large it says it is       (one worker)
//! count    lines of each block, by their newlines       at the speed of a scan
//! parse    eight lines at a time, into their places     each block into a part of its own
//! ```
//!
//! [`read`] gives coordinates as they stand in the file, [`read_rows`] compressed rows and
//! [`read_columns`] compressed columns. What the file says decides on the type of ids and values,
//! unless the [options](MatrixOptions) do:
//!
//! ```
//! use swath_formats::matrix::{self, AnyCoo};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("graph.mtx");
//! std::fs::write(&path, "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n3 1 -2\n")?;
//! let AnyCoo::U32(matrix) = matrix::read(&path)? else {
//!     unreachable!("three rows need no 64 bits");
//! };
//! assert_eq!((&matrix.rows[..], &matrix.columns[..]), (&[0, 2][..], &[1, 0][..]));
//! assert_eq!(matrix.values.as_f64(), Some(&[0.5, -2.0][..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Ids begin at 0 in memory, whatever the file does. The result is the same for every number of
//! workers and every block size. Nothing is allocated because a header says so: lines are counted
//! first. A number that does not fit, an id that is out of range, a line with too many words: each
//! is an error with its line, byte and text.

mod bucket;
mod compress;
mod coo;
mod entries;
mod form;
mod header;
mod id;
mod job;
mod kinds;
mod line;
pub mod npz;
mod options;
mod partition;
mod plain;
mod regroup;
mod shape;
mod sparse;
mod target;
mod value;
mod write;

use swath::append::OrderedReport;
use swath::{Output, Source};

use crate::error::Result;
use job::Job;

pub use header::{MatrixHeader, has_banner};
pub use id::Id;
pub use kinds::{Field, Layout, Symmetry};
pub use options::{
    Base, Duplicates, EntryOrder, Ids, MatrixFormat, MatrixOptions, Strictness, SymmetricHalf,
    ValueKind,
};
pub use sparse::{AnyCoo, AnyCsc, AnyCsr, Coo, Csc, Csr};
pub use value::{Complex, Value, Values};
pub use write::{Matrix, MatrixWriteOptions};

/// Returns what a file says about itself, without reading its entries.
///
/// # Errors
///
/// If it cannot be read, or its beginning is not what its format asks for.
pub fn header(source: impl Into<Source>) -> Result<MatrixHeader> {
    MatrixOptions::new().header(source)
}

/// Reads the entries as coordinates, in the order of the file unless the options say otherwise.
///
/// Takes the memory of the result, and a block for each worker.
///
/// # Errors
///
/// If the file cannot be read, or changes during the call; if anything in it is not what its format
/// asks for, with line and byte; if there is no memory.
pub fn read(source: impl Into<Source>) -> Result<AnyCoo> {
    MatrixOptions::new().read(source)
}

/// Reads the entries as compressed rows.
///
/// Takes the memory of the result, at most a tenth more, and a block for each worker.
///
/// # Errors
///
/// As [`read`], and if offsets of as many rows are out of proportion to the file's length: more than
/// 64 MiB and 16 times its bytes.
pub fn read_rows(source: impl Into<Source>) -> Result<AnyCsr> {
    MatrixOptions::new().read_rows(source)
}

/// Reads the entries as compressed columns.
///
/// # Errors
///
/// As [`read_rows`].
pub fn read_columns(source: impl Into<Source>) -> Result<AnyCsc> {
    MatrixOptions::new().read_columns(source)
}

/// Writes a matrix: as Matrix Market if the name of the output ends in `.mtx` or `.mm`, else as edges,
/// lines made by all workers. A file is complete under its name, or absent.
///
/// # Errors
///
/// [`FormatReason::Unsupported`](crate::FormatReason::Unsupported) or [`FormatReason::Invalid`](crate::FormatReason::Invalid)
/// for what the format cannot say; those of writing.
pub fn write<M: Matrix>(output: impl Into<Output>, matrix: &M) -> Result<OrderedReport> {
    MatrixWriteOptions::new().write(output, matrix)
}

impl MatrixOptions {
    /// As [`header()`], with these options.
    ///
    /// # Errors
    ///
    /// As [`header()`].
    pub fn header(&self, source: impl Into<Source>) -> Result<MatrixHeader> {
        Ok(Job::begin(source.into(), self)?.header)
    }

    /// As [`read`], with these options.
    ///
    /// # Errors
    ///
    /// As [`read`].
    pub fn read(&self, source: impl Into<Source>) -> Result<AnyCoo> {
        self.read_from(source.into())
    }

    fn read_from(&self, source: Source) -> Result<AnyCoo> {
        Job::begin(source, self)?.read(|job| {
            job.with_ids(
                |job| form::coordinates(job).map(AnyCoo::U32),
                |job| form::coordinates(job).map(AnyCoo::U64),
            )
        })
    }

    /// As [`read_rows`], with these options.
    ///
    /// # Errors
    ///
    /// As [`read_rows`].
    pub fn read_rows(&self, source: impl Into<Source>) -> Result<AnyCsr> {
        self.rows_from(source.into())
    }

    fn rows_from(&self, source: Source) -> Result<AnyCsr> {
        Job::begin(source, self)?.read(|job| {
            job.with_ids(
                |job| form::rows(job).map(AnyCsr::U32),
                |job| form::rows(job).map(AnyCsr::U64),
            )
        })
    }

    /// As [`read_columns`], with these options.
    ///
    /// # Errors
    ///
    /// As [`read_columns`].
    pub fn read_columns(&self, source: impl Into<Source>) -> Result<AnyCsc> {
        self.columns_from(source.into())
    }

    fn columns_from(&self, source: Source) -> Result<AnyCsc> {
        Job::begin(source, self)?.read(|job| {
            job.with_ids(
                |job| form::columns(job).map(AnyCsc::U32),
                |job| form::columns(job).map(AnyCsc::U64),
            )
        })
    }
}
