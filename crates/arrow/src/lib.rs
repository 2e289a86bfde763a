//! Arrow data of another library, imported through Arrow's C interface and checked before use.
//!
//! ```text
//! stream or array → pointers and counts (shape.rs) → arrow-rs → buffers, offsets, keys, UTF-8 → ArrayRef
//! ```
//!
//! Properties that cannot be inspected, such as the length of a buffer, are guaranteed only by the
//! interface. Arrow's crates panic on some damaged data; that becomes an error too.

mod shape;
mod stream;

pub use stream::{ArrowFault, ArrowStream, import};
