//! Puts the page cache and the memory into a known state before a timed run.
//!
//! ```text
//! make_warm   |##########|   all of the file is in the page cache
//! make_cold   |          |   none of it
//! ```
//!
//! The kernel may refuse a request silently (another process maps the file, a page is dirty, the file
//! system is in memory). So residency is checked, and a state that was not reached is an error.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use swath_os::advise::{FileAdvice, advise_file};
use swath_os::residency::residency;

use crate::limits::{self, CHUNK_SIZE};
use crate::threads::available;

/// The share of pages that may be in the wrong state.
const TOLERANCE: f64 = 0.01;

/// The way to drop files from the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColdBy {
    /// `sync`, then 3 to `/proc/sys/vm/drop_caches`: all files of the machine. Needs root.
    DropCaches,
    /// `fsync`, then `POSIX_FADV_DONTNEED` for this one file.
    DontNeed,
}

impl ColdBy {
    /// Returns the most thorough way that is permitted to this process.
    pub fn available() -> Self {
        let drop_caches = std::fs::OpenOptions::new().write(true).open(DROP_CACHES);
        if drop_caches.is_ok() { Self::DropCaches } else { Self::DontNeed }
    }

    /// Returns a description for a record.
    pub fn describe(self) -> &'static str {
        match self {
            Self::DropCaches => "sync; echo 3 > /proc/sys/vm/drop_caches",
            Self::DontNeed => "fsync(file); posix_fadvise(file, POSIX_FADV_DONTNEED)",
        }
    }
}

const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Brings the whole file at `path` into the page cache by reading it.
///
/// # Errors
///
/// If it cannot be read, or more than 1 % of it is not resident afterwards.
pub fn make_warm(path: &Path) -> Result<()> {
    make_all_warm(&[path])
}

/// Brings all of `paths` into the page cache.
///
/// # Errors
///
/// If one cannot be read, or more than 1 % of all pages are not resident afterwards.
pub fn make_all_warm<P: AsRef<Path>>(paths: &[P]) -> Result<()> {
    // Retried: a machine that returns memory to its host also drops old pages, and another process may
    // drop the page cache.
    settle(|| {
        if !resident(paths)?.is_at_least(1.0) {
            paths.iter().try_for_each(|path| read_through(path.as_ref()))?;
        }
        let found = resident(paths)?;
        ensure!(found.is_at_least(1.0 - TOLERANCE), "{}", unsettled(paths, "warm", found));
        Ok(())
    })
}

/// Drops the file at `path` from the page cache.
///
/// # Errors
///
/// If the kernel refuses, or more than 1 % of the file remains.
pub fn make_cold(path: &Path, by: ColdBy) -> Result<()> {
    // Dirty pages cannot be dropped.
    open(path)?.sync_all().with_context(|| format!("cannot sync {}", path.display()))?;
    make_written_cold(&[path], by)
}

/// Drops all of `paths` from the page cache; [`ColdBy::DropCaches`] also drops their dentries and inodes.
///
/// # Errors
///
/// If the kernel refuses, or more than 1 % of all pages remain.
pub fn make_all_cold<P: AsRef<Path>>(paths: &[P], by: ColdBy) -> Result<()> {
    rustix::fs::sync();
    make_written_cold(paths, by)
}

/// Makes files cold that have been written to the device, or whose writeback has begun.
pub(crate) fn make_written_cold<P: AsRef<Path>>(paths: &[P], by: ColdBy) -> Result<()> {
    settle(|| {
        match by {
            ColdBy::DropCaches => drop_caches()?,
            ColdBy::DontNeed => {
                for path in paths {
                    advise_file(&open(path.as_ref())?, 0, 0, FileAdvice::DontNeed)?;
                }
            }
        }
        let found = resident(paths)?;
        ensure!(found.is_at_most(TOLERANCE), "{}", unsettled(paths, "cold", found));
        if by == ColdBy::DropCaches && paths.len() > 1 {
            // The check opened every file: drop the pages that this has read.
            drop_caches()?;
        }
        Ok(())
    })
}

fn unsettled<P: AsRef<Path>>(paths: &[P], state: &str, found: Resident) -> String {
    let first =
        paths.first().map_or_else(String::new, |path| path.as_ref().display().to_string());
    let others = if paths.len() > 1 { ", and the others," } else { "" };
    format!(
        "cannot make {first}{others} {state}: {:.1} % of it is resident",
        found.cached / found.all * 100.0
    )
}

fn drop_caches() -> Result<()> {
    rustix::fs::sync();
    std::fs::write(DROP_CACHES, "3").with_context(|| format!("cannot write {DROP_CACHES}"))
}

/// Retries `attempt` for a moment: pages that readahead has requested cannot be dropped before they
/// have arrived.
fn settle(mut attempt: impl FnMut() -> Result<()>) -> Result<()> {
    const ATTEMPTS: u32 = 50;
    for _ in 1..ATTEMPTS {
        if attempt().is_ok() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    attempt()
}

/// Maps `len` bytes of memory advised to use huge pages, touches every page, and unmaps it.
///
/// A virtual machine may return freed memory to its host, and the next allocation is then slower. Call
/// this directly before each timed run that allocates as much.
///
/// # Errors
///
/// If there is too little memory.
pub fn touch_memory(len: usize) -> io::Result<()> {
    let cores = std::thread::available_parallelism()?.get();
    limits::touched_pages(len, available(cores)).map(drop)
}

/// The pages of files, and the number of them in the page cache. Without pages, any share is reached.
#[derive(Clone, Copy, Debug)]
struct Resident {
    cached: f64,
    all: f64,
}

impl Resident {
    fn is_at_least(self, share: f64) -> bool {
        self.cached >= share * self.all
    }

    fn is_at_most(self, share: f64) -> bool {
        self.cached <= share * self.all
    }
}

fn resident<P: AsRef<Path>>(paths: &[P]) -> Result<Resident> {
    let mut found = Resident { cached: 0.0, all: 0.0 };
    for path in paths {
        let pages = residency(&open(path.as_ref())?, 0, 0)?;
        found.cached += pages.cached_pages as f64;
        found.all += pages.total_pages as f64;
    }
    Ok(found)
}

fn open(path: &Path) -> Result<File> {
    File::open(path).with_context(|| format!("cannot open {}", path.display()))
}

/// Reads a file once, [`CHUNK_SIZE`] at a time.
fn read_through(path: &Path) -> Result<()> {
    let (mut file, mut chunk) = (open(path)?, vec![0; CHUNK_SIZE]);
    while file.read(&mut chunk).with_context(|| format!("cannot read {}", path.display()))? > 0
    {
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::many::tree::{Spread, Tree, make};

    /// Returns a file of `len` bytes in the folder of the test program; `/tmp` may be in memory.
    fn file_of(len: usize) -> tempfile::NamedTempFile {
        let program = std::env::current_exe().expect("a test has a program");
        let folder = program.parent().expect("which is in a folder");
        let file = tempfile::NamedTempFile::new_in(folder).expect("a temporary file");
        std::fs::write(file.path(), vec![1; len]).expect("some bytes");
        file
    }

    #[test]
    fn a_file_becomes_cold_warm_and_cold_again() {
        let file = file_of(3 << 20);
        if let Err(error) = make_cold(file.path(), ColdBy::DontNeed) {
            return swath_reference::skip("evictable-files", error);
        }
        make_warm(file.path()).expect("it becomes warm");
        let found = resident(&[file.path()]).expect("residency is known");
        assert!(found.is_at_least(0.99));
        make_cold(file.path(), ColdBy::DontNeed).expect("it becomes cold again");
    }

    #[test]
    fn an_empty_file_is_in_every_state() {
        let file = file_of(0);
        make_warm(file.path()).expect("nothing to do");
        make_cold(file.path(), ColdBy::DontNeed).expect("nothing to do");
    }

    #[test]
    fn memory_can_be_touched() {
        touch_memory(3 << 20).expect("there are three mebibytes");
    }

    #[test]
    fn a_tree_becomes_cold_warm_and_cold_again() {
        let program = std::env::current_exe().expect("a test has a program");
        let parent = program.parent().expect("which is in a folder");
        let folder = tempfile::tempdir_in(parent).expect("a folder");
        let tree = Tree { files: 100, size: 10_000, spread: Spread::Even, seed: 1 };
        make(&tree, folder.path(), 1).expect("made");
        let paths = tree.paths(folder.path());
        if let Err(error) = make_all_cold(&paths, ColdBy::DontNeed) {
            return swath_reference::skip("evictable-files", error);
        }
        make_all_warm(&paths).expect("it becomes warm");
        assert!(resident(&paths).expect("it is known").is_at_least(0.99));
        make_all_cold(&paths, ColdBy::DontNeed).expect("it becomes cold again");
        assert!(resident(&paths).expect("it is known").is_at_most(0.01));
    }
}
