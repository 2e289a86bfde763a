//! From bytes to fields, whatever the fields mean: dialects, records, positions, and faults.
//!
//! ```text
//! encode    any encoding → UTF-8
//! pass      blocks of whole records, by all workers; state: whether a block begins in quotes
//! rows      the fields of some records at once; record: of one, byte by byte: the fallback
//! faults    the kind of fault, with its line and byte
//! ```

pub(in crate::table) mod dialect;
pub(in crate::table) mod encode;
pub(in crate::table) mod faults;
pub(in crate::table) mod first_line;
pub(in crate::table) mod fixed;
pub(in crate::table) mod footer;
pub(in crate::table) mod limit;
pub(in crate::table) mod pass;
pub(in crate::table) mod place;
pub(in crate::table) mod places;
pub(in crate::table) mod prefix;
pub(in crate::table) mod record;
pub(in crate::table) mod rows;
pub(in crate::table) mod shape;
pub(in crate::table) mod state;

pub use self::fixed::FixedColumn;
