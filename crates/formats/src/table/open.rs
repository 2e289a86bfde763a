//! Opens a table before its records are parsed: files, first lines, names, the plan of the columns.
//!
//! ```text
//! file      a text, decompressed and decoded as needed
//! sniff     its delimiter, from a sample of judged fields; head: its names; layout: its positions
//! plan      the columns of the result, by the options;  union: of several files
//! guesses   the possible types of each column, from the values parsed
//! ```

pub(in crate::table) mod collect;
pub(in crate::table) mod file;
pub(in crate::table) mod file_names;
pub(in crate::table) mod fit;
pub(in crate::table) mod guesses;
pub(in crate::table) mod head;
mod judge;
pub(in crate::table) mod layout;
pub(in crate::table) mod plan;
pub(in crate::table) mod report;
pub(in crate::table) mod rules;
pub(in crate::table) mod sniff;
pub(in crate::table) mod table;
pub(in crate::table) mod union;

pub use self::report::{
    Changes, ColumnReport, HeaderReason, RecordLine, Renamed, SetAside, TableReport,
};
