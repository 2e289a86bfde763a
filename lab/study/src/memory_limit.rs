//! A temporary memory limit for this process, in its own control group.
//!
//! ```text
//! own group ─┬─ swath-PID   limit; entered and left by the whole process
//!            └─ …
//! ```
//!
//! The kernel charges memory that is taken under the limit to the new group: fresh memory, and pages of
//! the page cache that are read for the first time. Earlier memory stays with the old group. At the limit
//! the kernel reclaims pages of the page cache, or kills the process if there are none. So a limit suits
//! programs that read files into existing memory.
//!
//! To make a group mostly takes root and, with version 2 of control groups, a parent group without
//! processes. Without either, [`MemoryLimit::new`] is an error.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use swath_os::cgroup::{self, Hierarchy, Version};

/// A control group below this process's own, removed when dropped.
///
/// ```
/// use swath_study::memory_limit::MemoryLimit;
///
/// match MemoryLimit::new(1 << 30) {
///     Ok(limit) => {
///         let inside = limit.enter()?;
///         // Memory taken here is charged to the group.
///         drop(inside);
///     }
///     Err(error) => println!("not allowed here: {error}"),
/// }
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct MemoryLimit {
    version: Version,
    own: PathBuf,
    group: PathBuf,
}

impl MemoryLimit {
    /// Makes a group with a limit of `bytes`. Call [`enter`](Self::enter) to apply it.
    ///
    /// # Errors
    ///
    /// If there are no control groups for memory, or this process may not make one.
    pub fn new(bytes: u64) -> io::Result<Self> {
        let mut failure = io::Error::new(
            io::ErrorKind::Unsupported,
            "there are no control groups that limit memory",
        );
        for hierarchy in &cgroup::hierarchies()? {
            match Self::below(hierarchy, bytes) {
                Ok(limit) => return Ok(limit),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    fn below(hierarchy: &Hierarchy, bytes: u64) -> io::Result<Self> {
        let own = hierarchy.own().to_owned();
        let group = own.join(format!("swath-{}", process::id()));
        fs::create_dir(&group)
            .map_err(|error| told("cannot make a control group", &group, &error))?;
        // `limit` removes the group if a later step fails.
        let limit = Self { version: hierarchy.version(), own, group };
        let file = limit.group.join(match limit.version {
            Version::V1 => "memory.limit_in_bytes",
            Version::V2 => "memory.max",
        });
        if limit.version == Version::V2 && !file.exists() {
            let control = limit.own.join("cgroup.subtree_control");
            fs::write(&control, "+memory")
                .map_err(|error| told("cannot give groups a memory limit", &control, &error))?;
        }
        fs::write(&file, bytes.to_string())
            .map_err(|error| told("cannot limit memory", &file, &error))?;
        Ok(limit)
    }

    /// Puts the whole process, with all threads, under the limit until the returned guard is dropped.
    ///
    /// # Errors
    ///
    /// If this process may not move to the group.
    pub fn enter(&self) -> io::Result<Entered<'_>> {
        move_to(&self.group)?;
        Ok(Entered { limit: self })
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        // The parent takes over the remaining charges.
        let _ = fs::remove_dir(&self.group);
    }
}

/// Keeps this process under a limit until dropped.
#[derive(Debug)]
#[must_use = "the limit ends when this is dropped"]
pub struct Entered<'l> {
    limit: &'l MemoryLimit,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        // The process came from this group, so it may return.
        let _ = move_to(&self.limit.own);
    }
}

fn move_to(group: &Path) -> io::Result<()> {
    let file = group.join("cgroup.procs");
    fs::write(&file, process::id().to_string())
        .map_err(|error| told("cannot move this process", &file, &error))
}

fn told(what: &str, path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {}: {error}", path.display()))
}
