//! Puts the page cache and the memory into a known state before a timed run.
//!
//! ```text
//! make_warm   |##########|   all of the file is in the page cache
//! make_cold   |          |   none of it
//! ```
//!
//! Asking the kernel is not enough: it may refuse silently (another process maps the file, a page is
//! dirty, the file system is in memory). So each state is checked by residency, and a state that was not
//! reached is an error.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use swath::Extent;
use swath_os::advise::{FileAdvice, advise_file};
use swath_os::residency::residency;

use crate::limits::{self, CHUNK_SIZE};
use crate::threads::available;

/// The share of pages that may be on the wrong side.
const TOLERANCE: f64 = 0.01;

/// How files leave the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColdBy {
    /// `sync`, then 3 to `/proc/sys/vm/drop_caches`: all files of the machine. Needs root.
    DropCaches,
    /// `fsync`, then `POSIX_FADV_DONTNEED` for this one file.
    DontNeed,
}

impl ColdBy {
    /// Returns the most thorough way that this process may use.
    pub fn available() -> Self {
        let drop_caches = std::fs::OpenOptions::new().write(true).open(DROP_CACHES);
        if drop_caches.is_ok() { Self::DropCaches } else { Self::DontNeed }
    }

    /// Returns what it does, for the description of a record.
    pub fn describe(self) -> &'static str {
        match self {
            Self::DropCaches => "sync; echo 3 > /proc/sys/vm/drop_caches",
            Self::DontNeed => "fsync(file); posix_fadvise(file, POSIX_FADV_DONTNEED)",
        }
    }
}

const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Brings the whole file at `path` into the page cache by reading it once.
///
/// # Errors
///
/// If it cannot be read, or more than 1 % of it is not resident afterwards.
pub fn make_warm(path: &Path) -> Result<()> {
    let file = open(path)?;
    let len = file.metadata()?.len();
    // More than once: a machine that gives memory back also takes pages that were not used for long.
    settle(|| {
        if resident_share(&file, 0, len)? < 1.0 {
            read_through(&file, 0, len)
                .with_context(|| format!("cannot read {}", path.display()))?;
        }
        check(&file, path, Extent::between(0, len), CacheState::Warm)
    })
}

/// Takes the file at `path` out of the page cache.
///
/// # Errors
///
/// If the kernel refuses, or more than 1 % of the file remains.
pub fn make_cold(path: &Path, by: ColdBy) -> Result<()> {
    let file = open(path)?;
    let len = file.metadata()?.len();
    file.sync_all().with_context(|| format!("cannot sync {}", path.display()))?;
    settle(|| {
        match by {
            ColdBy::DropCaches => drop_caches()?,
            ColdBy::DontNeed => advise_file(&file, 0, len, FileAdvice::DontNeed)?,
        }
        check(&file, path, Extent::between(0, len), CacheState::Cold)
    })
}

pub(crate) fn drop_caches() -> Result<()> {
    rustix::fs::sync();
    std::fs::write(DROP_CACHES, "3").with_context(|| format!("cannot write {DROP_CACHES}"))
}

/// Tries again for a moment: pages that readahead has just requested from the device cannot leave
/// before they have arrived.
pub(crate) fn settle(mut attempt: impl FnMut() -> Result<()>) -> Result<()> {
    const ATTEMPTS: u32 = 50;
    for _ in 1..ATTEMPTS {
        if attempt().is_ok() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    attempt()
}

/// Maps `len` bytes of memory advised to use huge pages, makes every page exist, and unmaps it.
///
/// A virtual machine may give freed memory back to its host; the next allocation then pays for
/// getting it again. Call this right before each timed run that takes as much.
///
/// # Errors
///
/// If there is not as much memory.
pub fn touch_memory(len: usize) -> io::Result<()> {
    let cores = std::thread::available_parallelism()?.get();
    limits::touched_pages(len, available(cores)).map(drop)
}

/// Returns the share of pages of `len` bytes from `offset` that are in the page cache.
///
/// # Errors
///
/// If the kernel cannot report it.
pub fn resident_share(file: &File, offset: u64, len: u64) -> io::Result<f64> {
    let pages = residency(file, offset, len)?;
    Ok(if pages.total_pages == 0 {
        1.0
    } else {
        pages.cached_pages as f64 / pages.total_pages as f64
    })
}

#[derive(Clone, Copy, Debug)]
enum CacheState {
    Warm,
    Cold,
}

/// Fails unless the extent is in `state`.
fn check(file: &File, path: &Path, extent: Extent, state: CacheState) -> Result<()> {
    if extent.is_empty() {
        return Ok(());
    }
    let share = resident_share(file, extent.offset(), extent.len())?;
    let kept = match state {
        CacheState::Warm => share >= 1.0 - TOLERANCE,
        CacheState::Cold => share <= TOLERANCE,
    };
    ensure!(
        kept,
        "cannot make {} {state:?} at bytes {extent}: {:.1} % of it is resident",
        path.display(),
        share * 100.0
    );
    Ok(())
}

fn open(path: &Path) -> Result<File> {
    File::open(path).with_context(|| format!("cannot open {}", path.display()))
}

/// Reads an extent once, [`CHUNK_SIZE`] at a time.
fn read_through(file: &File, offset: u64, len: u64) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_SIZE];
    let end = offset + len;
    let mut position = offset;
    while position < end {
        let wanted = usize::try_from(end - position).unwrap_or(CHUNK_SIZE).min(CHUNK_SIZE);
        file.read_exact_at(&mut chunk[..wanted], position)?;
        position += wanted as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of `len` bytes beside the test program; `/tmp` may be memory.
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
        let share = resident_share(file.as_file(), 0, 3 << 20).expect("residency is known");
        assert!(share >= 0.99);
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
}
