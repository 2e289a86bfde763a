//! Segments: the output of many workers, and the order that makes one file of it.
//!
//! Every worker appends to its own segment. A list of extents says which bytes of which segments
//! make up the file, and in which order. This module keeps and encodes that list; others move the
//! segments.
//!
//! ```text
//! segment a  |0000|1111|22|      serial order   a 0..4, b 0..3, a 4..8
//! segment b  |000|1111|          the file       |a   |b  |a   |
//! ```

pub mod index;
pub mod manifest;
pub mod rope;
