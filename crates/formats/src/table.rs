//! Tables: CSV, TSV, JSON Lines and text of fixed width, read and written in parallel; Arrow files.
//!
//! ```text
//! table.csv ── read_batches, stream_batches ── record batches of any types ── write_batches ── table.csv
//!           ── read_array ── one array of numbers, row by row ── write_array ──
//! ```
//!
//! Each value is read exactly, or an error gives path, line, byte and column. Results depend on
//! neither workers nor blocks.
//!
//! ```
//! use swath_formats::table::{self, ColumnType};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("people.csv");
//! std::fs::write(&path, "name,born\nAnn,1980-02-29\nBob,\n")?;
//! let table = table::read_batches(&path)?;
//! assert_eq!(table.report().columns[1].kind, ColumnType::Date);
//! assert_eq!((table.rows(), table.report().columns[1].nulls), (2, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(feature = "arrow")]
mod json;
pub mod npy;
#[cfg(feature = "arrow")]
mod open;
#[cfg(feature = "arrow")]
mod options;
#[cfg(feature = "arrow")]
mod read;
#[cfg(feature = "arrow")]
mod stream;
#[cfg(feature = "arrow")]
mod summary;
#[cfg(feature = "arrow")]
mod text;
#[cfg(feature = "arrow")]
mod types;
mod value;
#[cfg(feature = "arrow")]
mod verbs;
#[cfg(feature = "arrow")]
mod write;

#[cfg(feature = "arrow")]
pub use open::{
    Changes, ColumnReport, HeaderReason, RecordLine, Renamed, SetAside, TableReport,
};
#[cfg(feature = "arrow")]
pub use options::{
    BatchOptions, ColumnKey, Delimiter, Dictionary, Encoding, EncodingErrors, HeaderLine,
    LongDelimiter, Missing, OtherEncoding, Ragged, Setting,
};
#[cfg(feature = "arrow")]
pub use read::{Batches, TableArray, TableShape, read_array};
#[cfg(feature = "arrow")]
pub use stream::BatchStream;
#[cfg(feature = "arrow")]
pub use summary::{Bound, ColumnRange, TableSummary};
#[cfg(feature = "arrow")]
pub use text::FixedColumn;
#[cfg(feature = "arrow")]
pub use types::ColumnType;
pub use value::{Decimals, Value};
#[cfg(feature = "arrow")]
pub use verbs::{read_batches, read_batches_of, stream_batches, stream_batches_of, summary};
#[cfg(feature = "arrow")]
pub use write::{
    BatchForm, BatchItem, BatchWriteOptions, BatchesWritten, LineEnd, Packing, Quoting, Scalar,
    write_array, write_batches,
};
