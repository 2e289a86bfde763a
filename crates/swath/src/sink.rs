//! Leaves bytes behind: complete and durable under their name, or absent.
//!
//! ```text
//! fs      every call that changes a file system, as one small trait
//! local   the kernel behind it
//! draft   one file that has no name yet, and its commit
//! folder  a folder of segments, and the commit of its manifest
//! ```
//!
//! What is written, and in which order, is decided by the verbs.

pub(crate) mod fs;

pub use fs::{Facts, Fs, FsFile, Kind, Lock};
