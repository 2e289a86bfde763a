//! Segments: what many workers appended, and the order that makes one file of it.
//!
//! Every worker appends to a segment of its own. Which bytes of which segments make up the file,
//! and in which order, is a list of extents. That list is kept and encoded here; the segments
//! themselves are moved elsewhere.
//!
//! ```text
//! segment a  |0000|1111|22|      serial order   a 0..4, b 0..3, a 4..8
//! segment b  |000|1111|          the file       |a   |b  |a   |
//! ```

pub mod index;
pub mod manifest;
pub mod rope;
