//! Output files: complete and durable under their name, or absent.
//!
//! ```text
//! fs      every call that changes a file system, as three small traits
//! local   the kernel's implementation of them
//! names   the names next to a target
//! claim   one target, locked against other writers
//! existing  the file at a target, and the permitted treatment of it
//! draft   one file that has no name yet, and its commit
//! path_text  paths in JSON
//! same_folders  keeps the paths of one call leading to the same folders
//! publish gives a finished file its name
//! place   writes bytes to their place in a file
//! folder  a folder of segments, and the commit of its manifest
//! target  the target of chunks with known places: a file or a stream
//! direct  writes that bypass the page cache
//! zeros   leaves out long runs of zeros
//! writeback  starts writing to the device while further bytes are written
//! ```
//!
//! The verbs decide which bytes are written, and in which order.

pub(crate) mod claim;
pub(crate) mod direct;
pub(crate) mod draft;
mod existing;
mod facts;
pub(crate) mod folder;
pub(crate) mod fs;
#[cfg(test)]
#[path = "../tests/promises/hooked.rs"]
mod hooked;
#[cfg(test)]
mod lesser;
mod local;
pub(crate) mod names;
mod options;
pub(crate) mod path_text;
pub(crate) mod permissions;
pub(crate) mod place;
mod publish;
mod same_folders;
pub(crate) mod target;
pub(crate) mod writeback;
mod zeros;

pub use crate::source::FileTimes;
pub(crate) use draft::Draft;
pub(crate) use existing::{DraftBase, cannot_link, is_no_length, not_in_place};
pub use existing::{Durability, HardLinks, Replace};
pub(crate) use folder::{Folder, read_manifest};
pub use fs::{Facts, FileKind, Fs, FsFile, FsFolder, Located, Lock};
pub use local::{EndDelay, LocalFs, Locks, NoLocks};
pub(crate) use names::{MANIFEST, number_in_order, stem, unique_number};
pub use options::OutputOptions;
pub(crate) use place::{
    Moved, Preallocation, move_range, read_exact_at, read_whole, share_range, write_all_at,
};
pub use zeros::Sparse;
