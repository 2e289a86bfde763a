//! Kernel services that `std` lacks: one safe function each.
//!
//! This crate obeys. It knows files, offsets and pages, but no plans, engines or records: others
//! decide what is read, in which order and why. Each function makes one kernel call, or reads one
//! file under `/proc` or `/sys`, and returns the kernel's own error.
//!
//! | Task | Module |
//! | --- | --- |
//! | the place of a file on its device | [`placement`] |
//! | advise the kernel how a file will be read | [`advise`] |
//! | how much of a file is in the page cache | [`residency`] |
//! | how many descriptors there may be, and closing many | [`descriptors`] |
//! | direct reads and writes | [`direct`] |
//! | the kind of a file's file system and disk | [`file_system`] |
//! | the mount that a path is on | [`mounts`] |
//! | map a file for one pass over its bytes | [`map`] |
//! | turn a fault in a map into a message and an exit | [`guard`] |
//! | processors, memory and page sizes of this machine | [`machine`] |
//! | memory that control groups allow | [`cgroup`] |
//! | memory nodes | [`numa`] |
//! | values that are computed once | [`once`] |
//! | panics of other crates as errors | [`panics`] |
//! | memory that workers fill part by part | [`memory`] |
//! | many reads in flight from one thread | [`ring`] |
//! | many small files in flight from one thread | [`file_ring`] |
//! | a file without a name, and the name it gets | [`nameless`] |
//! | the end of a path | [`links`] |
//! | names in an open folder, and making them durable | [`names`] |
//! | space for bytes before they are written | [`allocate`] |
//! | start writing to the device | [`writeback`] |
//! | copy or share an extent of another file | [`copy`] |
//! | put pages of a file into a pipe | [`pipe`] |
//! | the data and the holes of a file | [`holes`] |
//! | the access that a file grants | [`access`] |
//! | mode, owner and attributes of another file | [`attributes`] |
//! | the file size limit and its signal | [`limits`] |
//! | the signals that end or stop a program | [`ending`] |
//! | a child and the programs that it starts | [`group`] |
//! | a folder for the files of a measurement, removed at the end | [`hidden`] |
//! | one value from one thread to another | [`handoff`] |
//! | mutexes that a panic leaves usable | [`locks`] |
//! | the umask | [`umask`] |
//! | page faults, context switches, time and peak memory | [`usage`] |
//! | the priority of a thread's input and output | [`priority`] |
//!
//! ```
//! # fn main() -> std::io::Result<()> {
//! use swath_os::advise::{FileAdvice, advise_file};
//!
//! let file = tempfile::tempfile()?;
//! file.set_len(1 << 20)?;
//! advise_file(&file, 0, 0, FileAdvice::WillNeed)?;
//! # Ok(())
//! # }
//! ```

// Invariants:
// - A `WriteLease` is the only access to its bytes until it is dropped or frozen; frozen bytes are
//   never written again. So a late read can never write into memory that was given back.
// - `with_ring` does not return while the kernel may still write, not even after a panic. If it
//   cannot wait for the kernel, the memory is never given back (`Pages::abandon`). A lent slice
//   cannot be withheld from its owner, so in that case the program ends.
// - Mapped bytes are cells, which can only be loaded and only a map makes (`simd::Cells`), or raw
//   pointers; they are a `&[u8]` only under a `Frozen` promise.
// - No reference is made to memory that the kernel writes to. A thread has its own table of
//   descriptors from its first instruction, or never (`spawn_separated`).
// - A map needs a `Frozen` promise (unsafe, the caller's) or a `Guard` (commands: a fault ends
//   the program with a message and exit code 2).

pub mod access;
pub mod advise;
pub mod allocate;
pub mod attributes;
pub mod cgroup;
pub mod copy;
pub mod descriptors;
pub mod direct;
pub mod ending;
mod fault_table;
pub mod file_ring;
pub mod file_system;
pub mod group;
pub mod guard;
pub mod handoff;
pub mod hidden;
pub mod holes;
mod kernel_text;
pub mod limits;
pub mod links;
pub mod locks;
pub mod machine;
pub mod map;
pub mod memory;
pub mod mounts;
pub mod nameless;
pub mod names;
pub mod numa;
pub mod once;
pub mod panics;
pub mod pipe;
pub mod placement;
pub mod priority;
pub mod residency;
pub mod ring;
pub mod streams;
pub mod umask;
pub mod usage;
pub mod writeback;
