//! The folder of a study's results.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use rustix::process::geteuid;
use swath_os::links::locate;
use swath_os::names::open_folder;

use swath_os::hidden;

/// The folder of results, locked until it is dropped.
#[derive(Debug)]
pub struct ResultsFolder {
    lock: File,
    inside: PathBuf,
    /// The path as given.
    named: PathBuf,
}

impl ResultsFolder {
    /// Returns a path that no other user can redirect.
    pub fn path(&self) -> &Path {
        &self.inside
    }

    /// Fails if the given path now leads to another folder.
    pub(super) fn check_place(&self) -> Result<()> {
        let there = fs::metadata(&self.named).map(|facts| hidden::identity(&facts)).ok();
        let is_there = there == Some(hidden::identity(&self.lock.metadata()?));
        let moved = || {
            format!(
                "{}: the study was written, and its folder has been moved since",
                self.named.display()
            )
        };
        ensure!(is_there, moved());
        Ok(())
    }
}

/// Makes the folder of results, and locks it.
///
/// # Errors
///
/// If the folder cannot be made, or another study is writing to it; if it, or a link to it, belongs to
/// another user, who could have put links to other files into it.
pub fn begin(out: &Path) -> Result<ResultsFolder> {
    let what = || format!("cannot write a study to {}", out.display());
    let absolute = std::path::absolute(out).with_context(what)?;
    // Other users' links in folders such as `/tmp` are not followed.
    if let Err(error) = locate(&absolute)
        && error.kind() == io::ErrorKind::PermissionDenied
    {
        return Err(error).with_context(what);
    }
    fs::create_dir_all(out).with_context(what)?;
    let folder = locate(&absolute).and_then(|at| open_folder(&at.folder, &at.name));
    let folder = folder.with_context(what)?;
    let inside = hidden::inside_of(&folder, out);
    let (named, facts) = (fs::symlink_metadata(out).with_context(what)?, folder.metadata()?);
    // If not, another user has replaced the folder by a link.
    let is_it = named.is_symlink() || hidden::identity(&named) == hidden::identity(&facts);
    let owners = [named.uid(), facts.uid()];
    // A file server may map our user to another number, which a new file shows.
    let own = || Some(tempfile::tempfile_in(&inside).ok()?.metadata().ok()?.uid());
    let is_known = |owner: &u32| [0, geteuid().as_raw()].contains(owner);
    let is_kept = owners.iter().all(is_known) || own().is_some_and(|own| owners == [own, own]);
    ensure!(is_it && is_kept, "{}: it is another user's", what());
    // Without locks, the later of two studies wins.
    let is_taken = matches!(folder.try_lock(), Err(TryLockError::WouldBlock));
    ensure!(!is_taken, "{}: another study is writing to it", what());
    Ok(ResultsFolder { lock: folder, inside, named: absolute })
}
