//! Real refusals of the real kernel: a full disk, a limit, a quota, closed folders, file systems
//! that lack something. Each way of writing gives a typed error, the old file is whole, and
//! nothing is left beside it.
//!
//! ```text
//! ways        every way of writing, and what must hold after a refusal
//! child       this program again, with mounts of its own
//! limits      the limit of file sizes
//! full        full disks and used-up quotas
//! closed      folders and files that may not be written; owners that may not be kept
//! systems     every file system that can be mounted here
//! ```

mod child;
mod closed;
mod full;
mod limits;
mod systems;
mod ways;
