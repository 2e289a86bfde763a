//! The names of the files to read, in input order, in little memory.

use std::collections::TryReserveError;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::error::{Error, Operation, Reason};

/// The place of a file's path, and its run of files of one folder.
#[derive(Clone, Copy, Debug)]
struct Name {
    start: usize,
    /// Length without the terminating zero byte.
    len: u32,
    /// Bytes up to and including the last slash.
    folder_len: u32,
    folder: u32,
    inode: u64,
}

/// All files, as adjacent zero-terminated paths, so that none has an allocation of its own.
#[derive(Debug, Default)]
pub(super) struct Listing {
    bytes: Vec<u8>,
    names: Vec<Name>,
    /// The number of files in each run of adjacent files of one folder.
    runs: Vec<u32>,
    /// Files that are known to be unreadable: by index, in order.
    pub(super) broken: Vec<(usize, Error)>,
    /// Entries that a walk left out: neither files nor folders, or links that are not followed.
    pub(super) left_out: u64,
    /// The first left-out entry that is a pipe, a device or a socket.
    pub(super) special: Option<Vec<u8>>,
    /// Calls that a walk made.
    pub(super) walk_calls: u64,
}

impl Clone for Listing {
    fn clone(&self) -> Self {
        let (bytes, names, runs) = (self.bytes.clone(), self.names.clone(), self.runs.clone());
        let broken = self.broken.iter().map(|(index, error)| (*index, error.again())).collect();
        Self { bytes, names, runs, broken, special: self.special.clone(), ..*self }
    }
}

impl Listing {
    /// Prepares for at least this many files.
    pub(super) fn expect(&mut self, files: usize) {
        // On failure, memory is allocated later, or fails there.
        let _ = self.names.try_reserve(files);
    }

    /// Reserves memory for this many files with this many bytes of names, including zero bytes, so
    /// that pushing them allocates nothing.
    pub(super) fn try_expect(
        &mut self,
        files: usize,
        bytes: usize,
    ) -> Result<(), TryReserveError> {
        self.names.try_reserve(files)?;
        self.runs.try_reserve(files)?;
        self.bytes.try_reserve(bytes)
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Appends a file; `inode` 0 means unknown.
    pub(super) fn push(&mut self, folder: &[u8], name: &[u8], inode: u64) {
        let len = folder.len() + name.len();
        let start = self.bytes.len();
        self.bytes.extend_from_slice(folder);
        self.bytes.extend_from_slice(name);
        self.bytes.push(0);
        let same = self.names.last().is_some_and(|last| {
            last.folder_len as usize == folder.len()
                && self.bytes[last.start..][..folder.len()] == *folder
        });
        if !same {
            self.runs.push(0);
        }
        if let Some(run) = self.runs.last_mut() {
            *run += 1;
        }
        let narrow = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        self.names.push(Name {
            start,
            len: narrow(len),
            folder_len: narrow(folder.len()),
            folder: narrow(self.runs.len() - 1),
            inode,
        });
    }

    /// Appends a path as it was given.
    pub(super) fn push_path(&mut self, path: &[u8]) {
        let name = path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
        let (folder, name) = path.split_at(name);
        if path.contains(&0) || path.is_empty() {
            let error = Error::new(Operation::Open, Reason::Invalid, as_path(path));
            let what = if path.is_empty() {
                "the name is empty"
            } else {
                "its name contains a zero byte"
            };
            let hint = "split the list at zero bytes (`--null`, `Files::list(bytes, 0)`)";
            let error = if path.is_empty() { error } else { error.hint(hint) };
            self.push_broken(path, error.detail(what));
        } else {
            self.push(folder, name, 0);
        }
    }

    /// Appends a file that cannot be read, with its error.
    pub(super) fn push_broken(&mut self, path: &[u8], error: Error) {
        self.broken.push((self.len(), error));
        self.push(&[], path, 0);
    }

    pub(super) fn path(&self, index: usize) -> &Path {
        let name = self.names[index];
        as_path(&self.bytes[name.start..][..name.len as usize])
    }

    pub(super) fn inode(&self, index: usize) -> u64 {
        self.names[index].inode
    }

    /// Returns the whole path, for the kernel.
    pub(super) fn c_path(&self, index: usize) -> &CStr {
        let name = self.names[index];
        c_str(&self.bytes[name.start..][..=name.len as usize])
    }

    /// Returns the name inside its folder, for the kernel.
    pub(super) fn c_name(&self, index: usize) -> &CStr {
        let name = self.names[index];
        let from = name.start + name.folder_len as usize;
        c_str(&self.bytes[from..=name.start + name.len as usize])
    }

    /// Returns the folder of a file, with its slash; "" for names without one.
    pub(super) fn folder_path(&self, index: usize) -> &Path {
        let name = self.names[index];
        as_path(&self.bytes[name.start..][..name.folder_len as usize])
    }

    /// Returns the run of a file, and the number of files in the run.
    pub(super) fn run(&self, index: usize) -> (u32, u32) {
        let folder = self.names[index].folder;
        (folder, self.runs[folder as usize])
    }

    /// Returns why `index` cannot be read, if that is known.
    pub(super) fn broken(&self, index: usize) -> Option<&Error> {
        let at = self.broken.binary_search_by_key(&index, |&(broken, _)| broken).ok()?;
        Some(&self.broken[at].1)
    }
}

pub(super) fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Returns the bytes up to the first zero byte: names that contain one are never opened.
fn c_str(bytes: &[u8]) -> &CStr {
    CStr::from_bytes_until_nul(bytes).unwrap_or(c"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_back_whole_and_in_two_parts() {
        let mut listing = Listing::default();
        for path in ["/a/b", "/a/c", "d", "/a/e", "//", "f/"] {
            listing.push_path(path.as_bytes());
        }
        let of = |index| {
            let name = listing.c_name(index).to_str().expect("text").to_owned();
            (listing.path(index).to_str().expect("text"), name, listing.run(index))
        };
        assert_eq!(of(0), ("/a/b", String::from("b"), (0, 2)));
        assert_eq!(of(1), ("/a/c", String::from("c"), (0, 2)));
        assert_eq!(of(2), ("d", String::from("d"), (1, 1)));
        assert_eq!(of(3), ("/a/e", String::from("e"), (2, 1)));
        assert_eq!((of(4).1, of(5).1), (String::new(), String::new()));
        assert_eq!(listing.c_path(3), c"/a/e");
        assert_eq!(listing.folder_path(3), Path::new("/a/"));
    }

    #[test]
    fn names_that_no_kernel_takes_are_broken_from_the_start() {
        let mut listing = Listing::default();
        listing.push_path(b"fine");
        listing.push_path(b"a\0b");
        listing.push_path(b"");
        assert!(listing.broken(0).is_none());
        assert_eq!(listing.broken(1).map(Error::reason), Some(Reason::Invalid));
        assert_eq!(listing.broken(2).map(Error::reason), Some(Reason::Invalid));
        assert_eq!(listing.path(1).as_os_str().as_bytes(), b"a\0b");
    }
}
