//! The way from a field to a value: the kinds of fields, and columns of values.
//!
//! ```text
//! "a ""b"""␣        raw field, as between two delimiters
//! a "b"             Field: without blanks around the quotes, doubled quotes undone
//! Kinds             what it can be; the join over a column gives its ColumnType
//! Builder           a column of that type; refuses what is not of it
//! ```
//!
//! Finding lines, fields and headers, and the texts of errors, are left to the reader. Blanks
//! around an unquoted field belong to a text; all other types, and words for missing values,
//! ignore them. A quoted word for a missing value is missing, except in a text.

mod bools;
mod builder;
mod column_type;
mod dictionary;
mod epoch;
mod field;
mod fill;
mod flags;
mod formats;
mod gather;
mod kinds;
mod layout;
mod loops;
mod make;
mod misfit;
mod moments;
mod nested;
mod number;
mod numbers;
mod rules;
mod structs;
mod texts;
mod time;
mod validity;

pub(in crate::table) use builder::Builder;
pub use column_type::ColumnType;
pub(in crate::table) use field::{QuoteBytes, RawFields, TextField};
pub(in crate::table) use flags::{Flags, Losses, Note};
pub(in crate::table) use formats::MomentFormat;
pub(in crate::table) use kinds::{ColumnState, Kinds, is_value};
pub(in crate::table) use misfit::Misfit;
pub(in crate::table) use nested::NestedType;
pub(in crate::table) use number::{is_number, whole};
pub(in crate::table) use numbers::fill;
pub(in crate::table) use rules::{FieldRules, WordSet};
pub(in crate::table) use time::has_zone;

#[cfg(test)]
mod tests;
