//! The input files: paths, folders, lists, patterns.

use std::collections::TryReserveError;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use swath_os::links::open_long;

use super::glob::Glob;
use super::listing::{Listing, as_path};
use super::options::Symlinks;
use super::walk::{WalkFilter, walk};
use crate::error::{Error, Operation, Reason, Result};
use crate::observe::CancelToken;

/// The files to read, in the order in which their bytes are passed on. The verb that receives this
/// looks them up.
///
/// ```
/// use swath::ingest::Files;
///
/// let files = Files::paths(["/etc/passwd", "/etc/group"])
///     .and(Files::list(b"/etc/hosts\0/etc/hostname\0", 0));
/// let ingested = swath::ingest::IngestOptions::new()
///     .with_failures(swath::ingest::Failures::Collect)
///     .ingest(files)?;
/// assert_eq!(ingested.len(), 4);
/// # Ok::<(), swath::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Files(Vec<Given>);

#[derive(Clone, Debug)]
enum Given {
    /// Listed already: nothing to look up.
    Paths(Listing),
    /// The names, and their separator.
    List(Vec<u8>, u8),
    Folder(PathBuf),
    Glob(String),
    /// A folder, which is walked, or one file.
    Either(PathBuf),
}

impl Files {
    /// These files. Each path is one file: a folder among them is an error of that entry.
    pub fn paths<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Self {
        let paths = paths.into_iter();
        let mut listing = Listing::default();
        listing.expect(paths.size_hint().0);
        paths.for_each(|path| listing.push_path(path.as_ref().as_os_str().as_bytes()));
        Self(vec![Given::Paths(listing)])
    }

    /// Every file in a folder and in the folders below it, including hidden ones and those that
    /// a `.gitignore` lists, in the order of the bytes of their names, a folder's own files before
    /// those of its subfolders.
    pub fn folder(path: impl Into<PathBuf>) -> Self {
        Self(vec![Given::Folder(path.into())])
    }

    /// The files of a list as written by `find -print` (`separator` `b'\n'`) or `find -print0`
    /// (0). Empty names are skipped; the separator after the last name is optional.
    pub fn list(bytes: impl Into<Vec<u8>>, separator: u8) -> Self {
        Self(vec![Given::List(bytes.into(), separator)])
    }

    /// The files that match a pattern, in the order of [`folder`](Self::folder). `*` matches any
    /// number of bytes and `?` one byte, except slashes; `[a-c]` and `[!a-c]` match one byte,
    /// `{jpg,png}` one of the alternatives, `**` any number of folders; a backslash takes the
    /// next character literally. Hidden files match like others. A pattern that matches nothing
    /// gives no file, but the folder before its first wildcard must exist. A bracket or brace
    /// that is not closed is an error of the verb that receives the pattern.
    pub fn glob(pattern: impl Into<String>) -> Self {
        Self(vec![Given::Glob(pattern.into())])
    }

    /// Paths of folders, which are walked, or of files: like the arguments of a command.
    pub fn each<P: Into<PathBuf>>(paths: impl IntoIterator<Item = P>) -> Self {
        Self(paths.into_iter().map(|path| Given::Either(path.into())).collect())
    }

    /// These files, followed by `more`. A file that is named twice is read twice.
    #[must_use]
    pub fn and(mut self, more: impl Into<Files>) -> Self {
        self.0.extend(more.into().0);
        self
    }

    /// Adds files after the existing ones, as [`paths`](Self::paths) names them: all or none.
    ///
    /// # Errors
    ///
    /// If there is not enough memory; the list is then unchanged.
    pub fn try_add_paths<P: AsRef<Path>>(
        &mut self,
        paths: &[P],
    ) -> std::result::Result<(), TryReserveError> {
        if !matches!(self.0.last(), Some(Given::Paths(_))) {
            self.0.try_reserve(1)?;
            self.0.push(Given::Paths(Listing::default()));
        }
        if let Some(Given::Paths(listing)) = self.0.last_mut() {
            let bytes = paths.iter().map(|path| path.as_ref().as_os_str().len() + 1).sum();
            listing.try_expect(paths.len(), bytes)?;
            for path in paths {
                listing.push_path(path.as_ref().as_os_str().as_bytes());
            }
        }
        Ok(())
    }

    /// Looks the files up without opening them; returns their paths in the order of reading. Links are
    /// followed to files only.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # for name in ["b.csv", "a.csv", "note"] {
    /// #     std::fs::write(folder.path().join(name), "").unwrap();
    /// # }
    /// let pattern = format!("{}/*.csv", folder.path().display());
    /// let found = swath::ingest::Files::glob(pattern).found()?;
    /// assert_eq!(found, [folder.path().join("a.csv"), folder.path().join("b.csv")]);
    /// # Ok::<(), swath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a folder cannot be listed, a pattern is not one, or a pipe, a device or a socket is in a folder or matches
    /// a pattern.
    pub fn found(self) -> Result<Vec<PathBuf>> {
        let listing = self.listing(Symlinks::default(), None)?;
        if let Some(path) = &listing.special {
            return Err(Error::new(Operation::Open, Reason::Invalid, as_path(path))
                .detail("it is a pipe, a device or a socket")
                .hint("name the files"));
        }
        Ok((0..listing.len()).map(|index| listing.path(index).to_owned()).collect())
    }

    /// Looks the files up.
    pub(super) fn listing(
        self,
        symlinks: Symlinks,
        cancel: Option<&CancelToken>,
    ) -> Result<Listing> {
        let mut listing = Listing::default();
        for part in self.0 {
            match part {
                Given::Paths(paths) if listing.len() == 0 => listing = paths,
                Given::Paths(paths) => (0..paths.len()).for_each(|index| {
                    listing.push_path(paths.path(index).as_os_str().as_bytes());
                }),
                Given::List(bytes, separator) => {
                    let names = bytes.split(|&byte| byte == separator);
                    names
                        .filter(|name| !name.is_empty())
                        .for_each(|name| listing.push_path(name));
                }
                Given::Folder(path) => {
                    walk(&path, symlinks, WalkFilter::All, cancel, &mut listing)?
                }
                Given::Either(path) if is_folder(&path) => {
                    walk(&path, symlinks, WalkFilter::All, cancel, &mut listing)?;
                }
                Given::Either(path) => listing.push_path(path.as_os_str().as_bytes()),
                Given::Glob(pattern) => {
                    let glob = Glob::new(&pattern)?;
                    match glob.literal() {
                        Some(path) if Path::new(path).is_file() => {
                            listing.push_path(path.as_bytes());
                        }
                        Some(_) => {}
                        None => {
                            let kept = WalkFilter::Matching(&glob);
                            walk(Path::new(glob.base()), symlinks, kept, cancel, &mut listing)?;
                        }
                    }
                }
            }
        }
        Ok(listing)
    }
}

/// A folder is walked, anything else is one file.
impl From<&Path> for Files {
    fn from(path: &Path) -> Self {
        Self::each([path])
    }
}

/// A folder is walked, anything else is one file.
impl From<PathBuf> for Files {
    fn from(path: PathBuf) -> Self {
        Self::each([path])
    }
}

/// A folder is walked, anything else is one file.
impl From<&PathBuf> for Files {
    fn from(path: &PathBuf) -> Self {
        Self::each([path])
    }
}

/// A folder is walked, anything else is one file.
impl From<&str> for Files {
    fn from(path: &str) -> Self {
        Self::each([path])
    }
}

/// [`Files::paths`].
impl From<Vec<PathBuf>> for Files {
    fn from(paths: Vec<PathBuf>) -> Self {
        Self::paths(paths)
    }
}

/// [`Files::paths`].
impl From<&[PathBuf]> for Files {
    fn from(paths: &[PathBuf]) -> Self {
        Self::paths(paths)
    }
}

/// Whether the path is a folder, even if it is longer than the kernel takes in one call.
fn is_folder(path: &Path) -> bool {
    match path.metadata() {
        Err(error) if error.kind() == ErrorKind::InvalidFilename => {
            open_long(path, OFlags::PATH | OFlags::DIRECTORY).is_ok()
        }
        found => found.is_ok_and(|found| found.is_dir()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(files: Files) -> Vec<String> {
        let listing = files.listing(Symlinks::default(), None).expect("no walk");
        (0..listing.len()).map(|index| listing.path(index).display().to_string()).collect()
    }

    #[test]
    fn lists_end_with_or_without_a_separator() {
        for list in ["a\nb c\n", "a\nb c", "\na\n\nb c\n\n"] {
            assert_eq!(names(Files::list(list, b'\n')), ["a", "b c"]);
        }
        assert_eq!(names(Files::list("a\nb\0c", 0)), ["a\nb", "c"]);
        assert!(names(Files::list("", b'\n')).is_empty());
    }

    #[test]
    fn paths_that_are_added_follow_what_is_there() {
        let mut files = Files::list("y\n", b'\n');
        files.try_add_paths(&["a/x", "a/z"]).expect("there is memory");
        files.try_add_paths::<&str>(&[]).expect("nothing is wanted");
        let mut files = files.and(Files::paths(["w"]));
        files.try_add_paths(&["v"]).expect("there is memory");
        assert_eq!(names(files), ["y", "a/x", "a/z", "w", "v"]);
    }

    #[test]
    fn parts_follow_each_other() {
        let files = Files::paths(["x"]).and(Files::list("y\n", b'\n')).and("/no such thing");
        assert_eq!(names(files), ["x", "y", "/no such thing"]);
    }
}
