//! Records: where they begin and end in blocks of bytes, and how blocks are split into them.
//!
//! ```text
//! cuts     |        |        |        |     every `block_size` bytes
//! records  aaaa|bb|cccccccc|ddd|e|fffff     delimiters
//! blocks   |aaaa|bb|cccccccc|ddd|e|fffff|   a record belongs to the block in which it begins
//! ```
//!
//! This room knows bytes and leases. The verbs `blocks` and `transform` choose the files, the
//! number of workers and the use of the blocks.

pub(crate) mod block;
pub(crate) mod cut;
pub(crate) mod flow;
mod pattern;
pub(crate) mod piece;
pub(crate) mod quotes;
pub(crate) mod turns;
pub(crate) mod window;

pub use block::{Block, BlockRecords};
pub use cut::Cut;
pub use pattern::{Pattern, RecordsContaining};
