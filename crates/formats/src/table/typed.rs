//! Tables of any types: text, dates, booleans and numbers, as Arrow's record batches.

#[allow(dead_code, unused_imports, reason = "the reader of typed tables uses them")]
mod values;

pub use values::ColumnType;
