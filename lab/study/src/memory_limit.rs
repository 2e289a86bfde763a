//! A temporary memory limit for this process, by a control group of its own.
//!
//! ```text
//! own group ─┬─ swath-PID   limit; entered and left by the whole process
//!            └─ …
//! ```
//!
//! Memory taken inside is charged to the new group: fresh memory, and pages of the page cache that are
//! read for the first time. Memory taken before stays with the old group. At the limit the kernel reclaims
//! pages of the page cache; if nothing is left to reclaim, it kills the process. So a limit suits programs
//! that read files into existing memory.
//!
//! Making a group mostly needs root, and with version 2 of control groups a parent without processes:
//! where either is missing, [`MemoryLimit::new`] says so.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use swath_os::cgroup::{self, Hierarchy, Version};

/// A group below this process's own. Removed when dropped.
///
/// ```
/// use swath_study::memory_limit::MemoryLimit;
///
/// match MemoryLimit::new(1 << 30) {
///     Ok(limit) => {
///         let inside = limit.enter()?;
///         // What is taken here is charged to the group.
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
    /// Makes a group that may take `bytes`. Nothing is limited before it is [entered](Self::enter).
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
        // From here on it is removed again if anything fails.
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

    /// Puts the whole process, with all its threads, under the limit until the returned guard is dropped.
    ///
    /// # Errors
    ///
    /// If this process may not move itself.
    pub fn enter(&self) -> io::Result<Entered<'_>> {
        move_to(&self.group)?;
        Ok(Entered { limit: self })
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        // What is still charged to it goes to the parent.
        let _ = fs::remove_dir(&self.group);
    }
}

/// This process is under a limit.
#[derive(Debug)]
#[must_use = "the limit ends when this is dropped"]
pub struct Entered<'l> {
    limit: &'l MemoryLimit,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        // It was there before, so it may go back.
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
