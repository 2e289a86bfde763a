//! Brings many files into a known state before a timed run, as [`cache`](crate::cache) does one.

use crate::cache::{ColdBy, drop_caches, settle};
use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use swath_os::advise::{FileAdvice, advise_file};
use swath_os::residency::residency;

use super::plain;

/// Times that files are read to have them in the page cache.
const ATTEMPTS: usize = 5;
/// The share of pages that may be on the wrong side.
const TOLERANCE: f64 = 0.01;

/// Brings all of `paths` into the page cache.
///
/// # Errors
///
/// If one cannot be read, or more than 1 % of all pages are not resident afterwards.
pub fn make_all_warm(paths: &[PathBuf]) -> Result<()> {
    let mut share = resident_share(paths)?;
    // Another process may drop the page cache in the meantime.
    for _ in 0..ATTEMPTS {
        if share >= 1.0 {
            break;
        }
        plain::read_and_drop(paths, 2).context("cannot read the files")?;
        share = resident_share(paths)?;
    }
    ensure!(share >= 1.0 - TOLERANCE, "only {:.1} % of the files is resident", share * 100.0);
    Ok(())
}

/// Takes all of `paths` out of the page cache; [`ColdBy::DropCaches`] also drops their names and
/// places.
///
/// # Errors
///
/// If the kernel refuses, or more than 1 % of all pages remain.
pub fn make_all_cold(paths: &[PathBuf], by: ColdBy) -> Result<()> {
    // Dirty pages cannot leave.
    rustix::fs::sync();
    make_written_cold(paths, by)
}

/// Makes files cold that are on the device, or on their way to it.
pub(crate) fn make_written_cold(paths: &[PathBuf], by: ColdBy) -> Result<()> {
    settle(|| {
        if by == ColdBy::DontNeed {
            for path in paths {
                advise_file(&File::open(path)?, 0, 0, FileAdvice::DontNeed)?;
            }
        }
        if by == ColdBy::DropCaches {
            drop_caches()?;
        }
        let share = resident_share(paths)?;
        ensure!(share <= TOLERANCE, "{:.1} % of the files is still resident", share * 100.0);
        if by == ColdBy::DropCaches {
            // Checking opened every file: drop the pages that this has brought, too.
            drop_caches()?;
        }
        Ok(())
    })
}

/// Returns the share of all pages of `paths` that are in the page cache.
///
/// # Errors
///
/// If a file does not exist, or the kernel cannot report its residency.
pub fn resident_share(paths: &[PathBuf]) -> io::Result<f64> {
    let (mut cached, mut total) = (0, 0);
    for path in paths {
        let pages = residency(&File::open(path)?, 0, 0)?;
        cached += pages.cached_pages;
        total += pages.total_pages;
    }
    Ok(if total == 0 { 1.0 } else { cached as f64 / total as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::many::tree::{Spread, Tree, make};

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
        assert!(resident_share(&paths).expect("it is known") > 0.99);
        make_all_cold(&paths, ColdBy::DontNeed).expect("it becomes cold again");
        assert!(resident_share(&paths).expect("it is known") < 0.01);
    }
}
