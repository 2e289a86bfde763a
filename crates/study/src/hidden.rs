//! A folder of our own in another one, in which everything is made that is measured with.
//!
//! Whoever makes one holds a lock on it, so that what a process has left that was killed is known
//! by having none, and goes when the next one is made.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A folder of our own in another one. Removed when dropped, with all that is in it.
#[derive(Debug)]
pub(crate) struct Hidden {
    path: PathBuf,
    _lock: File,
}

impl Hidden {
    /// Makes it, under a name that starts with `kind`, and removes what others of that kind have
    /// left there who did not come to their end.
    ///
    /// # Errors
    ///
    /// If it cannot be made there.
    pub(crate) fn make(parent: &Path, kind: &str) -> Result<Self> {
        sweep(parent, kind);
        let path = parent.join(format!("{kind}-{}", std::process::id()));
        let what = || format!("cannot make a folder in {}", parent.display());
        // Between its making and its lock another process may take it for one that was left.
        loop {
            fs::create_dir(&path).with_context(what)?;
            match locked(&path).with_context(what)? {
                Some(lock) => return Ok(Self { path, _lock: lock }),
                None => continue,
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Locks a folder; `None` if it is gone by then.
fn locked(path: &Path) -> io::Result<Option<File>> {
    let folder = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        folder => folder?,
    };
    // Where nothing can be locked nothing is swept either: see below.
    let _ = folder.lock();
    let is_there = fs::metadata(path).is_ok_and(|facts| is_same(&facts, &folder));
    Ok(is_there.then_some(folder))
}

fn is_same(facts: &fs::Metadata, folder: &File) -> bool {
    folder.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (facts.dev(), facts.ino()))
}

/// Removes folders of that kind whose makers are gone. What cannot be told, or not be removed, stays.
fn sweep(parent: &Path, kind: &str) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(kind)?.strip_prefix('-'));
        let is_ours = number.is_some_and(|it| it.parse::<u32>().is_ok())
            && entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_ours {
            continue;
        }
        if let Ok(folder) = File::open(entry.path())
            && folder.try_lock().is_ok()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_has_left_goes_and_nothing_else_does() {
        let parent = tempfile::tempdir().expect("a folder");
        let at = |name: &str| parent.path().join(name);
        for name in [".ours-4000000001", ".ours-x", ".ours-", ".other-1", "ours-1"] {
            fs::create_dir(at(name)).expect("made");
            fs::write(at(name).join("file"), "bytes").expect("written");
        }
        fs::write(at(".ours-7"), "a file").expect("written");
        let busy = at(".ours-4000000002");
        fs::create_dir(&busy).expect("made");
        let _busy = locked(&busy).expect("a folder").expect("there");
        let hidden = Hidden::make(parent.path(), ".ours").expect("made");
        let path = hidden.path().to_owned();
        assert!(path.is_dir() && !at(".ours-4000000001").exists());
        for name in [".ours-x", ".ours-", ".other-1", "ours-1", ".ours-7", ".ours-4000000002"] {
            assert!(at(name).exists(), "{name}");
        }
        sweep(parent.path(), ".ours");
        assert!(path.is_dir(), "it is in use");
        drop(hidden);
        assert!(!path.exists());
    }
}
