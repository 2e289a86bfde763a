//! Sparse matrices and graphs: Matrix Market and edge lists.
//!
//! ```text
//! header   what the file holds and its declared size     (one worker)
//! count    lines of each block, by their newlines        at the speed of a scan
//! parse    eight lines at a time, into place             each block into its own part
//! ```
//!
//! [`read`] returns coordinates in the order of the file, [`read_rows`] compressed rows and
//! [`read_columns`] compressed columns. The header decides the type of ids and values, unless the
//! [options](MatrixOptions) do:
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
//! Ids start at 0 in memory, whatever the file uses. The result is the same for any number of
//! workers and any block size. Memory is allocated for counted lines, not for a number in a header.
//! A number that does not fit, an id out of range or a line with too many words is an error with
//! its line, byte and text.

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
use job::MatrixJob;

pub use header::{MatrixHeader, has_banner};
pub use id::Id;
pub use kinds::{Field, Layout, Symmetry};
pub use options::{
    Base, Duplicates, EntryOrder, Ids, MatrixFormat, MatrixOptions, Strictness, SymmetricHalf,
    ValueKind,
};
pub use sparse::{AnyCoo, AnyCsc, AnyCsr, Coo, Csc, Csr};
pub use value::{Complex, Value, Values};
pub use write::{Dense, Matrix, MatrixWriteOptions};

/// Returns the header of a file, without reading the entries.
///
/// ```
/// use swath_formats::matrix;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("graph.mtx");
/// std::fs::write(&path, "%%MatrixMarket matrix coordinate pattern general\n3 4 1\n1 2\n")?;
/// let header = matrix::header(&path)?;
/// assert_eq!((header.row_count, header.column_count), (Some(3), Some(4)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the file cannot be read, or its header does not follow the format.
pub fn header(source: impl Into<Source>) -> Result<MatrixHeader> {
    MatrixOptions::new().header(source)
}

/// Reads the entries as coordinates, in the order of the file unless the options request another.
///
/// ```
/// use swath_formats::matrix::{self, AnyCoo};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("graph.el");
/// std::fs::write(&path, "0 2\n1 0\n")?;
/// let AnyCoo::U32(graph) = matrix::read(&path)? else { unreachable!("ids fit 32 bits") };
/// assert_eq!((&graph.rows[..], &graph.columns[..]), (&[0, 1][..], &[2, 0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Takes the memory of the result, plus a block per worker.
///
/// # Errors
///
/// If the file cannot be read, or changes during the call; if anything in it does not follow its
/// format, with line and byte; if there is not enough memory.
pub fn read(source: impl Into<Source>) -> Result<AnyCoo> {
    MatrixOptions::new().read(source)
}

/// Reads the entries as compressed rows.
///
/// ```
/// use swath_formats::matrix::{self, AnyCsr};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("graph.el");
/// std::fs::write(&path, "0 2\n1 0\n0 1\n")?;
/// let AnyCsr::U32(graph) = matrix::read_rows(&path)? else { unreachable!("ids fit 32 bits") };
/// assert_eq!((graph.row(0), graph.row(1)), (&[2, 1][..], &[0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Takes the memory of the result, at most a tenth more, plus a block per worker.
///
/// # Errors
///
/// The errors of [`read`]; also if the file is too short for its number of rows: the offsets of the
/// rows would take more than 64 MiB and more than 16 times the file's length.
pub fn read_rows(source: impl Into<Source>) -> Result<AnyCsr> {
    MatrixOptions::new().read_rows(source)
}

/// Reads the entries as compressed columns.
///
/// ```
/// use swath_formats::matrix::{self, AnyCsc};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("graph.el");
/// std::fs::write(&path, "0 2\n1 0\n0 1\n")?;
/// let AnyCsc::U32(graph) = matrix::read_columns(&path)? else { unreachable!("ids fit 32 bits") };
/// assert_eq!((graph.column(0), graph.column(2)), (&[1][..], &[0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The errors of [`read_rows`].
pub fn read_columns(source: impl Into<Source>) -> Result<AnyCsc> {
    MatrixOptions::new().read_columns(source)
}

/// Writes a matrix: as Matrix Market if the name of the output ends in `.mtx` or `.mm`, otherwise
/// as edges. All workers format lines. The file is complete under its name, or absent.
///
/// ```
/// use swath_formats::matrix::{self, AnyCoo};
///
/// # let folder = tempfile::tempdir()?;
/// # let (edges, mtx) = (folder.path().join("graph.el"), folder.path().join("graph.mtx"));
/// std::fs::write(&edges, "0 1\n1 0\n")?;
/// let AnyCoo::U32(graph) = matrix::read(&edges)? else { unreachable!("ids fit 32 bits") };
/// matrix::write(&mtx, &graph)?;
/// let text = "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n";
/// assert_eq!(std::fs::read_to_string(&mtx)?, text);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`FormatReason::Unsupported`](crate::FormatReason::Unsupported) or
/// [`FormatReason::Invalid`](crate::FormatReason::Invalid) for a matrix that the format cannot
/// represent; whatever writing reports.
pub fn write<M: Matrix>(output: impl Into<Output>, matrix: &M) -> Result<OrderedReport> {
    MatrixWriteOptions::new().write(output, matrix)
}

impl MatrixOptions {
    /// Like [`header()`], with these options.
    ///
    /// # Errors
    ///
    /// The errors of [`header()`].
    pub fn header(&self, source: impl Into<Source>) -> Result<MatrixHeader> {
        Ok(MatrixJob::begin(source.into(), self)?.header)
    }

    /// Like [`read`], with these options.
    ///
    /// # Errors
    ///
    /// The errors of [`read`].
    pub fn read(&self, source: impl Into<Source>) -> Result<AnyCoo> {
        self.read_from(source.into())
    }

    fn read_from(&self, source: Source) -> Result<AnyCoo> {
        MatrixJob::begin(source, self)?.read(|job| {
            job.with_ids(
                |job| form::coordinates(job).map(AnyCoo::U32),
                |job| form::coordinates(job).map(AnyCoo::U64),
            )
        })
    }

    /// Like [`read_rows`], with these options.
    ///
    /// # Errors
    ///
    /// The errors of [`read_rows`].
    pub fn read_rows(&self, source: impl Into<Source>) -> Result<AnyCsr> {
        self.rows_from(source.into())
    }

    fn rows_from(&self, source: Source) -> Result<AnyCsr> {
        MatrixJob::begin(source, self)?.read(|job| {
            job.with_ids(
                |job| form::rows(job).map(AnyCsr::U32),
                |job| form::rows(job).map(AnyCsr::U64),
            )
        })
    }

    /// Like [`read_columns`], with these options.
    ///
    /// # Errors
    ///
    /// The errors of [`read_columns`].
    pub fn read_columns(&self, source: impl Into<Source>) -> Result<AnyCsc> {
        self.columns_from(source.into())
    }

    fn columns_from(&self, source: Source) -> Result<AnyCsc> {
        MatrixJob::begin(source, self)?.read(|job| {
            job.with_ids(
                |job| form::columns(job).map(AnyCsc::U32),
                |job| form::columns(job).map(AnyCsc::U64),
            )
        })
    }
}
