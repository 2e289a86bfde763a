//! The C library: what `swath.h` declares.
//!
//! ```text
//! C program → pointers checked → handles and options → one call of the library → status
//!                                                       panic, error → last_error
//! ```
//!
//! It translates and decides nothing. `include/swath.h` is generated from the comments and
//! signatures in here by `cargo xtask header`, in the order and with the examples of `groups.txt`.
//! It is what a user reads, so comments on exported items say what a C programmer needs. The rooms:
//!
//! - `status` and `failure`: what went wrong, as a number and in words;
//! - `guard`: no panic crosses;
//! - `pointer` and `number`: checks of what a C program passes;
//! - `options`: the options of every call, by their words;
//! - `version`: the version of the library that a program runs with;
//! - one room for each verb.
//!
//! A handle is a `Box` in C's hands: made by one function, freed by exactly one other. Shared
//! handles are `&T` here, so their types are `Sync`; a handle for one thread at a time is `&mut T`.
//! A parameter `Option<&T>` is a pointer that may be `NULL`; `Option<&mut MaybeUninit<T>>` points
//! to where a result goes.

// Invariants:
// - No panic crosses into C, and every failure is kept for its thread.
// - Mistakes of a C caller that can be detected (NULL, lengths, enumerations, a handle in use)
//   give a status; an enumeration from C is a number until it has been checked.
// - Structures are only returned, never taken, and options are opaque: both may grow. Those of
//   Arrow's C interface are taken too, and never grow.
// - What another library gives through Arrow's C interface is checked before Arrow's crates see
//   it (`table/shape.rs`), and values before they are written; a stream that it gave is released
//   once, whatever fails.

#![expect(
    clippy::missing_safety_doc,
    reason = "the contract of every pointer stands once, at the top of the header"
)]

pub mod append;
pub mod buffer;
pub mod cancel;
pub mod draft;
pub mod failure;
pub mod files;
mod guard;
pub mod hash;
pub mod ingest;
pub mod job;
mod number;
pub mod options;
mod pointer;
pub mod priority;
pub mod read;
pub mod records;
pub mod report;
pub mod scan;
pub mod status;
pub mod sum;
pub mod table;
mod user;
pub mod version;
