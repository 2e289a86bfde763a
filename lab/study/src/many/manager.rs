//! Study B's task manager: threads that take whole files from one locked queue.
//!
//! ```text
//! queue (locked)  | file 0 | file 1 | file 2 | …
//! thread 0..N     take one, read all of it, keep it, take the next
//! ```
//!
//! The study varies the number of threads from 1 to 64, and to 500, and finds that small files gain and
//! large ones do not. The design is unchanged: no division of files, no readahead, exactly as many
//! threads as requested.

use std::io;
use std::path::{Path, PathBuf};

use super::fork;
use crate::threads::one_by_one;

/// The numbers of threads to measure.
pub const THREADS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Runs `read` on all of `paths` with `threads` threads, one file a task; the results are in the order of
/// `paths`.
///
/// ```
/// use swath_study::many::manager::manage;
///
/// let paths = ["/proc/version".into(), "/etc/passwd".into()];
/// let files = manage(&paths, 2, |path| std::fs::read(path))?;
/// assert!(files[0].starts_with(b"Linux"));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// The error of the first file that cannot be read; if a thread cannot be started.
pub fn manage<T: Send>(
    paths: &[PathBuf],
    threads: usize,
    read: impl Fn(&Path) -> io::Result<T> + Sync,
) -> io::Result<Vec<T>> {
    let next = one_by_one(paths.iter().enumerate());
    let done = fork(threads.max(1), || {
        let mut own = Vec::new();
        while let Some((index, path)) = next() {
            own.push((index, read(path)?));
        }
        Ok(own)
    })?;
    let mut results: Vec<(usize, T)> = done.into_iter().flatten().collect();
    results.sort_unstable_by_key(|&(index, _)| index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_file_is_read_once_and_results_are_in_order() {
        let paths: Vec<PathBuf> = (0..100).map(|index| index.to_string().into()).collect();
        for threads in [1, 2, 8, 64, 500] {
            let calls = AtomicUsize::new(0);
            let names = manage(&paths, threads, |path| {
                calls.fetch_add(1, Ordering::Relaxed);
                Ok(path.to_owned())
            });
            assert_eq!(names.expect("nothing fails"), paths, "{threads}");
            assert_eq!(calls.into_inner(), 100, "{threads}");
        }
        assert!(manage(&[], 3, |path| std::fs::read(path)).expect("no tasks").is_empty());
    }

    #[test]
    fn a_file_that_cannot_be_read_is_an_error() {
        let paths = ["/proc/version".into(), "/nonexistent".into()];
        let error = manage(&paths, 2, |path| std::fs::read(path)).expect_err("not there");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
