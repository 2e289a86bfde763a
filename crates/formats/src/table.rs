//! Numeric tables: CSV and TSV to row-major arrays and to columns, and back.
//!
//! ```text
//! file     a,b,c\n | 1,2.5,3\n4,,6\n | 7,8e-3,9\n     a header, blocks of whole lines
//! count            | 2               | 1              rows per block, which give its place
//! array            | 1 2.5 3 4 NaN 6 | 7 0.008 9      each block in its place, by any worker
//! ```
//!
//! The file is read twice. Counting lines is an order of magnitude faster than parsing them, and
//! after that every number is written once, to its final place. So the result is all the memory
//! that is needed, and it depends neither on workers nor on blocks. Doubles are correctly rounded.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("points.csv");
//! std::fs::write(&path, "x,y\n1,2.5\n3,\n")?;
//! let table = swath_formats::table::read::<f64>(&path)?;
//! assert_eq!((table.rows, table.columns), (2, 2));
//! assert_eq!(table.names.as_deref(), Some(&["x".to_owned(), "y".to_owned()][..]));
//! assert_eq!(table.values[..3], [1.0, 2.5, 3.0]);
//! assert!(table.values[3].is_nan());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | In the text | What happens |
//! | --- | --- |
//! | the first line has a text over numbers | it is the header, unless the options say otherwise |
//! | empty lines, lines that begin with `#`, a byte order mark | skipped |
//! | only blanks between the fields of the first line | a run of blanks separates two fields; blanks around a line are ignored |
//! | `\r\n`, no newline at the end, spaces around fields, quotes around numbers | accepted |
//! | a field that is empty, `NA`, `N/A` or `null` | [`Missing`] decides |
//! | a line with more or fewer fields, an unclosed quote, NUL, other control bytes in a header, `\r` inside a line, a number that does not fit | an error with path, line and byte |

mod array;
#[cfg(feature = "arrow")]
pub mod arrow;
mod columns;
mod diagnose;
mod dialect;
mod fields;
mod first_line;
mod head;
mod infer;
mod lines;
pub mod npy;
mod options;
mod schema;
mod select;
#[cfg(feature = "arrow")]
mod typed;
#[cfg(feature = "arrow")]
mod typed_write;
mod value;
mod write;

pub use array::{Table, TableShape, read, shape};
pub use columns::{Column, ColumnKind, Columns, Values};
pub use infer::read_columns;
pub use options::{Delimiter, HeaderLine, Missing, TableOptions};
pub use schema::{TableSchema, schema};
pub use select::ColumnKey;
#[cfg(feature = "arrow")]
pub use typed::{
    BatchOptions, BatchStream, Batches, Bound, ColumnRange, ColumnReport, ColumnType,
    Dictionary, Encoding, FixedColumn, HeaderReason, Ragged, RecordLine, Renamed, SetAside,
    TableReport, TableSummary, read_batches, read_batches_of, stream_batches,
    stream_batches_of, summary,
};
#[cfg(feature = "arrow")]
pub use typed_write::{
    BatchForm, BatchItem, BatchWriteOptions, BatchesWritten, LineEnd, Packing, Quoting, Scalar,
    write_batches,
};
pub use value::{Decimals, Value};
pub use write::{TableWriteOptions, write, write_columns};
