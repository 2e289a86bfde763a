//! The obvious program: threads that take the next path and call `std::fs::read`.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Glance, fork};

/// Reads `paths` with `threads` threads and returns the bytes of each file, in order.
///
/// # Errors
///
/// The error of the first file that cannot be read; if a thread cannot be started.
pub fn read_all(paths: &[PathBuf], threads: usize) -> io::Result<Vec<Vec<u8>>> {
    let next = AtomicUsize::new(0);
    let read = fork(threads, || {
        let mut own = Vec::new();
        // Relaxed: only the number matters; joining the threads orders the rest.
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            own.push((path, std::fs::read(path)?));
        }
        Ok(own)
    })?;
    let mut files: Vec<(&PathBuf, Vec<u8>)> = read.into_iter().flatten().collect();
    // References into one slice: the order of addresses is the order of the paths.
    files.sort_unstable_by_key(|&(path, _)| std::ptr::from_ref(path).addr());
    Ok(files.into_iter().map(|(_, bytes)| bytes).collect())
}

/// Reads `paths` with `threads` threads, looks at the bytes of each, and drops them.
///
/// ```
/// let glance = swath_study::many::plain::read_and_drop(&["/proc/version".into()], 1)?;
/// assert_eq!(glance.files, 1);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// As [`read_all`].
pub fn read_and_drop(paths: &[PathBuf], threads: usize) -> io::Result<Glance> {
    let next = AtomicUsize::new(0);
    let glances = fork(threads, || {
        let mut own = Glance::default();
        // Relaxed: only the number matters; joining the threads orders the rest.
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            own.add(&std::fs::read(path)?);
        }
        Ok(own)
    })?;
    Ok(glances.into_iter().fold(Glance::default(), Glance::and))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::many::tree::{Spread, Tree, make};

    #[test]
    fn files_come_in_order_and_a_glance_is_of_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let tree = Tree { files: 50, size: 100, spread: Spread::PowerLaw, seed: 3 };
        let made = make(&tree, folder.path(), 1).expect("made");
        let paths = tree.paths(folder.path());
        let mut wanted = Glance::default();
        for threads in [1, 2, 8] {
            let files = read_all(&paths, threads).expect("read");
            wanted = Glance::default();
            for (path, bytes) in paths.iter().zip(&files) {
                assert!(std::fs::read(path).expect("there") == *bytes);
                wanted.add(bytes);
            }
            assert_eq!(read_and_drop(&paths, threads).expect("read"), wanted);
        }
        assert_eq!((wanted.files, wanted.bytes), (made.files, made.bytes));
        assert!(read_all(&["/nonexistent".into()], 2).is_err());
    }
}
