//! The lowest cost of reading many cached files: five calls each, and a pool of threads.
//!
//! `openat` from the folder's descriptor, `fstat`, `pread`, `fstat`, `close`: the second `fstat` detects
//! a change, as `swath::ingest` promises. Names, folders and lengths are known beforehand; nothing is
//! planned, stored in a table or reported.
//!
//! ```text
//! through_buffers   every file into one buffer of its thread    what the calls cost
//! into_arena        every file to its place in the caller's     and the memory they fill
//! ```

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use std::collections::HashMap;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Glance, fork};
use crate::limits::bare_read_in;
use crate::threads::one_by_one;

/// The most files that a thread takes at one time: few, so that no thread waits long at the end.
const BATCH: usize = 32;
/// Bytes after which a batch gets no more files.
const BATCH_BYTES: usize = 1 << 20;

/// Files, with all facts that can be known before they are opened.
#[derive(Debug)]
pub struct Bare {
    folders: Vec<OwnedFd>,
    files: Vec<Known>,
}

/// One file: its folder, its name, and its earlier length.
#[derive(Debug)]
struct Known {
    folder: usize,
    name: CString,
    len: usize,
}

impl Bare {
    /// Opens the folders of `paths`, and reads the lengths of the files.
    ///
    /// # Errors
    ///
    /// If a folder cannot be opened or a file does not exist.
    pub fn of(paths: &[PathBuf]) -> io::Result<Self> {
        let mut folders = Vec::new();
        let mut seen: HashMap<&Path, usize> = HashMap::new();
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            let (parent, name) = path.parent().zip(path.file_name()).ok_or_else(|| {
                io::Error::new(io::ErrorKind::InvalidInput, "a path without a folder")
            })?;
            let folder = match seen.get(parent) {
                Some(&folder) => folder,
                None => {
                    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                    folders.push(rustix::fs::open(parent, flags, Mode::empty())?);
                    seen.insert(parent, folders.len() - 1);
                    folders.len() - 1
                }
            };
            let len = usize::try_from(path.metadata()?.len()).map_err(io::Error::other)?;
            files.push(Known { folder, name: CString::new(name.as_bytes())?, len });
        }
        Ok(Self { folders, files })
    }

    /// Returns the bytes of all files together.
    pub fn bytes(&self) -> usize {
        self.files.iter().map(|file| file.len).sum()
    }

    /// Reads every file with `threads` threads, each into its own reused buffer.
    ///
    /// # Errors
    ///
    /// If a call fails, or the length of a file has changed.
    pub fn through_buffers(&self, threads: usize) -> io::Result<Glance> {
        let largest = self.files.iter().map(|file| file.len).max().unwrap_or(0);
        let next = one_by_one(self.batches().into_iter());
        let glances = fork(threads, || {
            let mut glance = Glance::default();
            let mut buffer = vec![0; largest];
            while let Some(batch) = next() {
                for file in batch {
                    let target = &mut buffer[..file.len];
                    self.read(file, target)?;
                    glance.add(target);
                }
            }
            Ok(glance)
        })?;
        Ok(glances.into_iter().fold(Glance::default(), Glance::and))
    }

    /// Reads every file with `threads` threads into `arena`, where the files lie in order.
    ///
    /// # Errors
    ///
    /// As [`through_buffers`](Self::through_buffers).
    ///
    /// # Panics
    ///
    /// If the arena is shorter than [`bytes`](Self::bytes).
    pub fn into_arena(&self, arena: &mut [u8], threads: usize) -> io::Result<()> {
        let mut rest = arena;
        let mut parts = Vec::with_capacity(self.files.len().div_ceil(BATCH));
        for batch in self.batches() {
            let len = batch.iter().map(|file| file.len).sum();
            let (part, after) = std::mem::take(&mut rest).split_at_mut(len);
            parts.push((batch, part));
            rest = after;
        }
        let next = one_by_one(parts.into_iter());
        fork(threads, || {
            while let Some((batch, mut part)) = next() {
                for file in batch {
                    let (target, after) = std::mem::take(&mut part).split_at_mut(file.len);
                    self.read(file, target)?;
                    part = after;
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Divides the files into batches that a thread takes at one time: few files, and fewer large ones.
    fn batches(&self) -> Vec<&[Known]> {
        let mut batches = Vec::with_capacity(self.files.len().div_ceil(BATCH));
        let mut rest = &self.files[..];
        while !rest.is_empty() {
            let mut bytes = 0;
            let is_in = |file: &&Known| {
                let is_in = bytes < BATCH_BYTES;
                bytes += file.len;
                is_in
            };
            let count = rest.iter().take(BATCH).take_while(is_in).count();
            let (batch, after) = rest.split_at(count);
            batches.push(batch);
            rest = after;
        }
        batches
    }

    fn read(&self, known: &Known, target: &mut [u8]) -> io::Result<()> {
        let len = bare_read_in(&self.folders[known.folder], known.name.as_c_str(), target)?;
        if len == target.len() {
            Ok(())
        } else {
            Err(io::Error::other(format!("{:?} changed while it was read", known.name)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::many::plain;
    use crate::many::tree::{Spread, Tree, make};

    #[test]
    fn the_bare_calls_read_what_the_standard_library_reads() {
        let folder = tempfile::tempdir().expect("a folder");
        let tree = Tree { files: 1100, size: 200, spread: Spread::PowerLaw, seed: 5 };
        let made = make(&tree, folder.path(), 2).expect("made");
        let paths = tree.paths(folder.path());
        let bare = Bare::of(&paths).expect("all are there");
        assert_eq!(bare.bytes() as u64, made.bytes);
        let wanted = plain::read_all(&paths, 1).expect("read").concat();
        let glance = plain::read_and_drop(&paths, 1).expect("read");
        for threads in [1, 2, 8] {
            assert_eq!(bare.through_buffers(threads).expect("read"), glance);
            let mut arena = vec![0; bare.bytes()];
            bare.into_arena(&mut arena, threads).expect("read");
            assert!(arena == wanted, "{threads}");
        }
    }

    #[test]
    fn a_thread_takes_few_small_files_and_fewer_large_ones() {
        let known = |len| Known { folder: 0, name: CString::default(), len };
        let lens = [vec![BATCH_BYTES / 2; 5], vec![3 * BATCH_BYTES], vec![0; 70]].concat();
        let bare = Bare { folders: Vec::new(), files: lens.into_iter().map(known).collect() };
        let counts: Vec<usize> = bare.batches().iter().map(|batch| batch.len()).collect();
        assert_eq!(counts, [2, 2, 2, 32, 32, 6]);
    }

    #[test]
    fn a_file_that_got_shorter_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, b"four").expect("written");
        let bare = Bare::of(std::slice::from_ref(&path)).expect("it is there");
        std::fs::write(&path, b"two").expect("written");
        assert!(bare.through_buffers(1).is_err());
        assert!(Bare::of(&["/nonexistent/file".into()]).is_err());
    }
}
