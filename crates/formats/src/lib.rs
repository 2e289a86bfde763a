//! Formats on top of Swath, on its public items only: that they suffice is the point.
//!
//! ```text
//! compressed   zstd, gzip, BGZF and bzip2: written and read in parallel, read from anywhere
//! ```

#![forbid(unsafe_code)]

pub mod compressed;
mod error;

pub use error::{Error, Reason, Result};
