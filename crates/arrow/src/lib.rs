//! Arrow data of another library, taken through Arrow's C interface and checked before it is used.
//!
//! ```text
//! stream or array → pointers and counts (shape.rs) → arrow-rs → buffers, offsets, keys, UTF-8 → ArrayRef
//! ```
//!
//! What cannot be seen, such as the length of a buffer, remains the contract of the interface. Arrow's crates
//! panic on some damaged data; that becomes an error too.

mod shape;
mod stream;

pub use stream::{ArrowFault, ArrowStream, import};
