//! Real refusals of the real kernel: a full disk, a limit, a quota, closed folders, file systems
//! that lack something. Each way of writing returns a typed error, the old file is unchanged,
//! and no other file remains.
//!
//! ```text
//! ways        every way of writing, and what must hold after a refusal
//! child       this program again, with mounts of its own
//! in_place    files that no other can take the place of
//! limits      the file size limit
//! full        full disks and exhausted quotas
//! closed      folders and files that are not writable; owners that cannot be kept
//! systems     every file system that can be mounted here
//! ```

mod child;
mod closed;
mod full;
mod in_place;
mod limits;
mod systems;
mod ways;
