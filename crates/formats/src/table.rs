//! Tables: CSV, TSV, JSON Lines and text of fixed width, read and written in parallel; Arrow files.
//!
//! ```text
//! table.csv ── read_batches, stream_batches ── record batches of any types ── write_batches ── table.csv
//!           ── read_array ── one array of numbers, row by row ── write_array ──
//! ```
//!
//! Each value is read exactly, or an error has path, line, byte and column. Results depend neither on
//! workers nor on blocks.
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
pub mod npy;
#[cfg(feature = "arrow")]
mod options;
#[cfg(feature = "arrow")]
mod select;
#[cfg(feature = "arrow")]
mod settings;
#[cfg(feature = "arrow")]
mod typed;
#[cfg(feature = "arrow")]
mod typed_write;
mod value;

#[cfg(feature = "arrow")]
pub use options::{Delimiter, HeaderLine, LongDelimiter, Missing};
#[cfg(feature = "arrow")]
pub use select::ColumnKey;
#[cfg(feature = "arrow")]
pub use settings::Setting;
#[cfg(feature = "arrow")]
pub use typed::{
    BatchOptions, BatchStream, Batches, Bound, Changes, ColumnRange, ColumnReport, ColumnType,
    Dictionary, Encoding, EncodingErrors, FixedColumn, HeaderReason, OtherEncoding, Ragged,
    RecordLine, Renamed, SetAside, TableArray, TableReport, TableShape, TableSummary,
    read_array, read_batches, read_batches_of, stream_batches, stream_batches_of, summary,
};
#[cfg(feature = "arrow")]
pub use typed_write::{
    BatchForm, BatchItem, BatchWriteOptions, BatchesWritten, LineEnd, Packing, Quoting, Scalar,
    write_array, write_batches,
};
pub use value::{Decimals, Value};
