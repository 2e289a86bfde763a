//! The C library that `swath.h` declares.
//!
//! ```text
//! C program → pointers checked → handles and options → one call of the library → status
//!                                                       panic, error → last_error
//! ```
//!
//! It translates and makes no decisions. `cargo xtask header` generates `include/swath.h` from the
//! comments and signatures here, in the order and with the examples of `groups.txt`. Users read the
//! header, so comments on exported items are for C programmers. The rooms:
//!
//! - `status` and `failure`: a failure, as a number and in words;
//! - `guard`: no panic crosses;
//! - `pointer` and `number`: checks of values from C;
//! - `options`: the options of every call, by their words;
//! - `version`: the version of the library that a program runs with;
//! - one room for each verb.
//!
//! A handle is a `Box` that C owns: created by one function, freed by exactly one other. Shared
//! handles are `&T` here, so their types are `Sync`; a handle for one thread at a time is `&mut T`. A
//! parameter `Option<&T>` is a pointer that may be `NULL`; `Option<&mut MaybeUninit<T>>` points to the
//! place of a result.

// Invariants:
// - No panic crosses into C, and every failure is kept for its thread.
// - Mistakes of a C caller that can be detected (NULL, lengths, enumerations, a handle in use)
//   give a status; an enumeration from C is a number until it has been checked.
// - Structures are only returned, never accepted, and options are opaque: both may grow. Structures
//   of Arrow's C interface are also accepted, and never grow.
// - Data from another library through Arrow's C interface is checked before Arrow's crates use it
//   (`table/shape.rs`), and values before they are written; a stream from that library is released
//   once, even after a failure.

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
