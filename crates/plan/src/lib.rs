//! Decides which bytes to move, when and how. Numbers in, numbers out.
//!
//! ```text
//! facts, wishes → policy → decision → scheduler ⇄ engine (elsewhere)
//! ```
//!
//! Nothing here opens, reads, waits or looks at a clock, so every case can be tested with
//! integers. Checksums, residency and time are passed in.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod checksums;
pub mod chunk;
pub mod classes;
pub mod contest;
pub mod crew;
pub mod extent;
pub mod extents;
pub mod fallback;
pub mod files;
pub mod mirror;
pub mod numa;
pub mod parts;
pub mod policy;
pub mod random;
pub mod schedule;
pub mod segment;
pub mod sequence;
mod setters;
pub mod units;
pub mod window;
pub mod wishes;
mod words;
