//! Parallel writers whose file is the one that the serial program would have left.
//!
//! ```text
//! ordered   workers take tickets in serial order and finish them in any
//! ```

mod ordered;

pub use ordered::{Direct, Ordered, OrderedOptions, Ticket, Written, ordered, ordered_to};
