//! Sparse matrices and graphs: Matrix Market and edge lists.
//!
//! ```text
//! header   what it holds, how large it says it is       (one worker)
//! count    lines of each block, by their newlines       at the speed of a scan
//! parse    eight lines at a time, into their places     each block into a part of its own
//! ```
//!
//! [`read`] gives coordinates as they stand in the file. What the file says decides on the type of
//! ids and values,
//! unless the [options](MatrixOptions) do:
//!
//! ```
//! use swath_formats::matrix::{self, AnyCoo, MatrixOptions};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("graph.mtx");
//! std::fs::write(&path, "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n3 1 -2\n")?;
//! let AnyCoo::U32(matrix) = matrix::read(&path, &MatrixOptions::new())? else {
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

mod coo;
mod entries;
mod header;
mod id;
mod job;
mod line;
mod options;
mod sparse;
mod value;

use std::path::Path;

use crate::error::Result;
use job::Job;

pub use header::{Field, Header, Layout, Symmetry};
pub use id::Id;
pub use options::{Base, Ids, MatrixFormat, MatrixOptions, Mirror, Strictness, ValueKind};
pub use sparse::{AnyCoo, Coo};
pub use value::{Complex, Value, Values};

/// Returns what a file says about itself, without reading its entries.
///
/// # Errors
///
/// If it cannot be read, or its beginning is not what its format asks for.
pub fn header(path: impl AsRef<Path>, options: &MatrixOptions) -> Result<Header> {
    Ok(Job::begin(path.as_ref(), options)?.header)
}

/// Reads the entries as coordinates, in the order of the file.
///
/// Takes the memory of the result, and a block for each worker.
///
/// # Errors
///
/// If the file cannot be read, or changes meanwhile; if anything in it is not what its format asks
/// for, with line and byte; if there is no memory.
pub fn read(path: impl AsRef<Path>, options: &MatrixOptions) -> Result<AnyCoo> {
    let job = Job::begin(path.as_ref(), options)?;
    job.with_ids(
        |job| coo::read::<u32>(job).map(AnyCoo::U32),
        |job| coo::read(job).map(AnyCoo::U64),
    )
}
