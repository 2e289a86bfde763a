//! JSON Lines: an object on each line.
//!
//! ```text
//! line      {"id": 1, "name": "A\u006en", "at": [1, 2]}
//! scan      where each key and value ends, and whether all of it is JSON     (scan.rs)
//! members   the column of each key: usually the one after the last key       (members.rs)
//! field     1   "A\u006en"   [1, 2]      as written; decoded later           (decode.rs)
//! ```
//!
//! A newline cannot be part of a string, so every newline ends a record. A separate pass finds the
//! columns (`keys.rs`).

mod decode;
mod fault;
mod keys;
mod marks;
mod members;
mod parts;
mod scan;

pub(in crate::table) use decode::{decode, unquoted};
pub(in crate::table) use fault::JsonFaultAt;
pub(in crate::table) use keys::{Keys, Others, ValueRules};
pub(in crate::table) use members::{Cells, ObjectMembers};
pub(in crate::table) use parts::Parts;
