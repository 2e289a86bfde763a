//! Decides which bytes to move, when and how. Numbers in, numbers out.
//!
//! ```text
//! facts, wishes → policy → decision → scheduler ⇄ engine (elsewhere)
//! ```
//!
//! Nothing here opens, waits, or reads files or clocks, so every case can be tested with integers.
//! Checksums, residency and time are passed in.

// Invariants:
// - Numbers in, numbers out: `no_std`, no I/O, clock, thread or unsafe code.
// - The runs of a decision tile the extent; direct runs are whole units of the device.
// - Each byte is handed out once, and again only after its lease failed. Retries, fallbacks, the
//   rate limit and running ahead are decided only in `schedule.rs`.
// - At most `window` classes are in flight, whatever callers request: a class begins when the class
//   `window` before it is complete. This too is decided in one place, `classes.rs`, on the same
//   terms.
// - The caller's requests come first, then measurements (`Tuning`), then the hints of a source
//   (`Hints`), then defaults.
// - A failed read is not handed out before its time, and no other read waits for it. The seed that
//   varies the pauses is passed in.
// - Every deviation from a request is in `Decision::fallbacks`, with one `Fallback` for each kind.
//   Programs match the variant; none of our code reads the text.

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
