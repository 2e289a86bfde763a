//! Tables of any types, as streams of Arrow's C interface.
//!
//! ```text
//! text ── swath_table_read, swath_table_stream ── ArrowArrayStream      export: Swath's batches for others
//! text ── swath_table_write ──────────────────── ArrowArrayStream      given: batches of others for Swath
//! ```
//!
//! The structures are those of Arrow's specification; `arrow.txt` declares them in the header.

mod export;
mod given;
pub mod read;
pub mod report;
pub mod write;
