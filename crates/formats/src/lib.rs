//! Formats on top of Swath. They use only its public items, which shows that those suffice.
//!
//! ```text
//! checksum     CRC-32C, XXH3 and BLAKE3 of whole inputs
//! compressed   zstd, gzip, BGZF and bzip2: written and read in parallel, read from anywhere
//! matrix       Matrix Market and edge lists ↔ coordinates, compressed rows and columns
//! table        numeric CSV and TSV ↔ row-major arrays, Arrow columns
//! contracts    option contracts, priced with Black and Scholes
//! safetensors  tensors by name: shards read at once or by urgency, written deterministically
//! ```

// Invariants:
// - It uses only public items of `swath`; vector code is in `simd`.
// - A source is opened once, as `swath::Input`, and everything is read through that (`input.rs`).
// - Results depend on neither workers nor blocks; no allocation trusts a length in a header.
// - A text is read exactly, or an error gives path, line and byte: no number is guessed.

#![forbid(unsafe_code)]

pub mod checksum;
pub mod compressed;
pub mod contracts;
mod error;
mod foreign;
mod input;
pub mod matrix;
mod memory;
mod number;
pub mod safetensors;
mod setters;
mod share;
mod spare;
pub mod table;
mod text;

pub use error::{Error, FormatReason, Result};
pub use foreign::FileFormat;
