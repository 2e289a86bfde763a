//! The files to ingest.

use std::ffi::c_char;
use std::mem::{self, MaybeUninit};
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};
use crate::guard::{guard, quietly};
use crate::pointer::{self, given, handle};
use crate::status::Status;

/// The files to read, in order: a list of files, folders and patterns. Nothing is looked up
/// before a call uses the list. One thread at a time may add to it.
#[derive(Debug, Default)]
pub struct Files {
    pub(crate) files: swath::ingest::Files,
    /// The path whose profile applies.
    pub(crate) first: Option<PathBuf>,
}

/// Makes an empty list. Free it with `swath_files_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_files_new(
    files: Option<&mut MaybeUninit<Option<Box<Files>>>>,
) -> Status {
    guard(|| {
        *handle(files, "files")? = Some(Box::default());
        Ok(())
    })
}

/// Frees a list; NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn swath_files_free(files: Option<Box<Files>>) {
    quietly(|| drop(files));
}

impl Files {
    fn add(&mut self, more: swath::ingest::Files, first: Option<&Path>) {
        self.files = mem::take(&mut self.files).and(more);
        self.begin_with(first);
    }

    fn add_paths(&mut self, paths: &[&Path]) -> Result<()> {
        self.files.try_add_paths(paths).map_err(|error| {
            let text = format!("cannot add {} paths to a list of files: {error}", paths.len());
            Failure::new(Status::OutOfMemory, text)
        })?;
        self.begin_with(paths.first().copied());
        Ok(())
    }

    fn begin_with(&mut self, first: Option<&Path>) {
        if self.first.is_none() {
            self.first = first.map(Path::to_owned);
        }
    }
}

fn add(
    files: Option<&mut Files>,
    path: Result<&Path>,
    more: impl FnOnce(&Path) -> swath::ingest::Files,
) -> Status {
    guard(|| {
        let (files, path) = (given(files, "files")?, path?);
        files.add(more(path), Some(path));
        Ok(())
    })
}

/// Adds one file. If the path is a folder, reading that file is an error.
///
/// SWATH_STATUS_OUT_OF_MEMORY if the list cannot grow; it then stays unchanged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_files_add_path(
    files: Option<&mut Files>,
    path: *const c_char,
) -> Status {
    guard(|| {
        // SAFETY: the contract of the header.
        let path = unsafe { pointer::path(path, "path") }?;
        given(files, "files")?.add_paths(&[path])
    })
}

/// Adds `count` files, each as `swath_files_add_path` does, in time that does not depend on the
/// length of the list. Adds nothing if one of the pointers is NULL or the list cannot grow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_files_add_paths(
    files: Option<&mut Files>,
    paths: *const *const c_char,
    count: usize,
) -> Status {
    guard(|| {
        let files = given(files, "files")?;
        // SAFETY: the contract of the header.
        let paths = unsafe { pointer::paths(paths, count, "paths") }?;
        files.add_paths(&paths)
    })
}

/// Adds every file in a folder and in the folders below it, ordered by name; a folder's own files
/// come before those of its subfolders.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_files_add_folder(
    files: Option<&mut Files>,
    path: *const c_char,
) -> Status {
    // SAFETY: the contract of the header.
    let path = unsafe { pointer::path(path, "path") };
    add(files, path, |path| swath::ingest::Files::folder(path))
}

/// Adds the files that match a pattern: `*`, `?`, `[a-c]`, `{jpg,png}`, and `**` for any number
/// of folders. The pattern is UTF-8. A malformed pattern is an error of the call that reads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_files_add_glob(
    files: Option<&mut Files>,
    pattern: *const c_char,
) -> Status {
    guard(|| {
        let files = given(files, "files")?;
        // SAFETY: the contract of the header.
        let pattern = unsafe { pointer::text(pattern, "pattern") }?;
        let pattern = str::from_utf8(pattern)
            .map_err(|error| Failure::invalid(format!("`pattern` is not UTF-8: {error}")))?;
        files.add(swath::ingest::Files::glob(pattern), None);
        Ok(())
    })
}
