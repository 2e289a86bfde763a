//! A folder of our own inside another one, for everything that measurements make.
//!
//! Its maker holds a lock on it. A folder without a lock was left by a process that was killed, and is
//! removed when the next one is made.

use std::collections::hash_map::RandomState;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, Metadata};
use std::hash::BuildHasher;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context, Result, ensure};
use rustix::fs::OFlags;

/// A file in each of them: folders of others do not have it.
const MARK: &str = ".made-by-swath";

/// A folder of our own in another one. Removed when dropped, with all that is in it.
#[derive(Debug)]
pub struct Hidden {
    place: PathBuf,
    inside: PathBuf,
    lock: File,
}

impl Hidden {
    /// Makes it, under a name that starts with `kind` and cannot be guessed, and removes folders of that
    /// kind and this user whose processes were killed.
    ///
    /// # Errors
    ///
    /// If it cannot be made there.
    pub fn make(parent: &Path, kind: &str) -> Result<Self> {
        Self::make_telling(parent, kind, |_| {})
    }

    /// As [`Self::make`]; `tell` gets its path as soon as it is there and locked, before the folders of
    /// killed processes are removed, which may take long.
    ///
    /// # Errors
    ///
    /// If it cannot be made there.
    pub fn make_telling(parent: &Path, kind: &str, tell: impl FnOnce(&Path)) -> Result<Self> {
        let what = || format!("cannot make a folder in {}", parent.display());
        // Before it is locked, another process may take it for one that was left.
        loop {
            let path = made(parent, kind).with_context(what)?;
            let locked = locked(&path).with_context(what);
            if locked.is_err() {
                let _ = fs::remove_dir(&path);
            }
            if let Some(lock) = locked? {
                // Now its lock says whether it is in use.
                let inside = inside_of(&lock, &path);
                // Another user may have put a folder in its place before it was opened.
                let is_empty = fs::read_dir(&inside).with_context(what)?.next().is_none();
                ensure!(is_empty, "{}: another folder is in its place", what());
                let hidden = Self { place: path, inside, lock };
                tell(&hidden.place);
                File::create_new(hidden.inside.join(MARK)).with_context(what)?;
                sweep(parent, kind, &hidden.lock.metadata().with_context(what)?);
                return Ok(hidden);
            }
        }
    }

    /// A path to it that no other user can lead elsewhere: through its descriptor.
    pub fn path(&self) -> &Path {
        &self.inside
    }

    /// Where it is: in a folder that others may write to, another one may be there later.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Removes it.
    ///
    /// # Errors
    ///
    /// What kept it from being removed.
    pub fn close(self) -> io::Result<()> {
        remove(&self.place)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let _ = remove(&self.place);
    }
}

/// Removes such a folder, if it is there, even while threads are writing to it: it is renamed first, so
/// that they make no more files by its [`Hidden::place`]. What another user has put in its place stays.
///
/// # Errors
///
/// What kept it from being removed; that something else is in its place.
pub fn remove(path: &Path) -> io::Result<()> {
    /// Against a thread that makes files faster than this, there is no help.
    const TIMES: usize = 100;
    let mut gone = path.to_owned().into_os_string();
    gone.push("-gone");
    let gone = PathBuf::from(gone);
    // Of the same kind, so the next one finds what is left of it.
    let at = if fs::rename(path, &gone).is_ok() { &gone } else { path };
    let mut removed = fs::remove_dir(at);
    let is_full = |it: &io::Result<()>| {
        it.as_ref().is_err_and(|it| it.kind() == io::ErrorKind::DirectoryNotEmpty)
    };
    if is_full(&removed) {
        let folder = opened(at)?;
        let inside = inside_of(&folder, at);
        if inside.join(MARK).symlink_metadata().is_err() {
            let _ = fs::rename(at, path);
            return Err(io::Error::other("another folder is in its place"));
        }
        for _ in 0..TIMES {
            empty(&inside)?;
            removed = fs::remove_dir(at);
            if !is_full(&removed) {
                break;
            }
        }
    }
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Removes what is in a folder, its mark last: until then the next one finds it.
fn empty(folder: &Path) -> io::Result<()> {
    let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let removed = match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path()),
            false if entry.file_name() == MARK => Ok(()),
            false => fs::remove_file(entry.path()),
        };
        match removed {
            // Threads still write to it: the next round removes that.
            Err(error)
                if error.kind() != io::ErrorKind::DirectoryNotEmpty && !is_gone(&error) =>
            {
                return Err(error);
            }
            _ => {}
        }
    }
    fs::remove_file(folder.join(MARK))
        .or_else(|error| if is_gone(&error) { Ok(()) } else { Err(error) })
}

/// A path that leads to the open folder, whatever another user puts in its place; its own path where there
/// is no `/proc`.
fn inside_of(folder: &File, path: &Path) -> PathBuf {
    // Of this process, so that its children can use it too.
    let inside = PathBuf::from(format!("/proc/{}/fd/{}", process::id(), folder.as_raw_fd()));
    let leads_there = fs::metadata(&inside).is_ok_and(|facts| is_same(&facts, folder));
    if leads_there { inside } else { path.to_owned() }
}

/// Makes a folder for this user alone, under a name that cannot be guessed. Its errors are those of
/// mkdir(2); `tempfile` would add the name to them.
fn made(parent: &Path, kind: &str) -> io::Result<PathBuf> {
    /// Some servers say that a name is taken if the disk is full.
    const TIMES: usize = 100;
    let mut attempt = 0;
    loop {
        attempt += 1;
        // Each has other keys, which come from the kernel.
        let number = RandomState::new().hash_one(kind);
        let path = parent.join(format!("{kind}-{number:016x}"));
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < TIMES => {}
            made => return made.map(|()| path),
        }
    }
}

/// Locks a folder; `None` if it is gone by then.
fn locked(path: &Path) -> io::Result<Option<File>> {
    let folder = match opened(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        folder => folder?,
    };
    // Where nothing can be locked nothing is swept either: see below.
    let _ = folder.lock();
    let is_there = fs::metadata(path).is_ok_and(|facts| is_same(&facts, &folder));
    Ok(is_there.then_some(folder))
}

/// Opens a folder, not one that a link leads to.
fn opened(path: &Path) -> io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

fn is_same(facts: &fs::Metadata, folder: &File) -> bool {
    folder.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (facts.dev(), facts.ino()))
}

/// Removes folders of that kind whose makers are gone, of the user who owns `mine`. A folder whose
/// state is not known, or that cannot be removed, stays.
fn sweep(parent: &Path, kind: &str, mine: &Metadata) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        // A link is not a folder.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && is_of_kind(&name, kind) {
            sweep_one(&entry.path(), mine);
        }
    }
}

fn is_of_kind(name: &OsStr, kind: &str) -> bool {
    name.to_str().is_some_and(|name| {
        name.strip_prefix(kind).is_some_and(|rest| rest.len() > 1 && rest.starts_with('-'))
    })
}

fn sweep_one(path: &Path, mine: &Metadata) {
    let Ok(folder) = opened(path) else { return };
    let is_ours = folder.metadata().is_ok_and(|facts| facts.uid() == mine.uid());
    if !is_ours || folder.try_lock().is_err() {
        return;
    }
    // A folder that its maker had no time to mark is empty.
    if fs::remove_dir(path).is_err() && path.join(MARK).symlink_metadata().is_ok() {
        let _ = remove(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_writing_to_it_does_not_outrun_its_removal() {
        let parent = tempfile::tempdir().expect("a folder");
        let hidden = Hidden::make(parent.path(), ".ours").expect("made");
        let path = hidden.place().to_owned();
        let (begun, begins) = std::sync::mpsc::channel();
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let (path, begun) = (path.clone(), begun.clone());
                std::thread::spawn(move || {
                    for folder in 0..100_000 {
                        let folder = path.join(format!("{writer}-{folder}"));
                        let made = fs::create_dir(&folder)
                            .and_then(|()| fs::write(folder.join("file"), "bytes"));
                        let _ = begun.send(());
                        if made.is_err() {
                            return folder;
                        }
                    }
                    PathBuf::new()
                })
            })
            .collect();
        begins.iter().take(40).for_each(drop);
        remove(&path).expect("removed");
        for writer in writers {
            assert_ne!(writer.join().expect("no panic"), PathBuf::new(), "it was stopped");
        }
        assert_eq!(fs::read_dir(parent.path()).expect("listed").count(), 0);
    }

    #[test]
    fn what_another_user_puts_in_its_place_is_neither_written_to_nor_removed() {
        let parent = tempfile::tempdir().expect("a folder");
        let hidden = Hidden::make(parent.path(), ".ours").expect("made");
        let (aside, other) = (parent.path().join("aside"), parent.path().join("other"));
        fs::create_dir(&other).expect("made");
        fs::write(other.join("file"), "of another").expect("written");
        fs::rename(hidden.place(), &aside).expect("mine");
        fs::rename(&other, hidden.place()).expect("mine");
        fs::write(hidden.path().join("file"), "ours").expect("written");
        let place = hidden.place().to_owned();
        hidden.close().expect_err("another one is there");
        assert_eq!(fs::read(place.join("file")).expect("there"), b"of another");
        assert_eq!(fs::read(aside.join("file")).expect("there"), b"ours");
    }

    #[test]
    fn its_path_is_told_before_others_are_removed() {
        let parent = tempfile::tempdir().expect("a folder");
        let left = parent.path().join(".ours-1");
        fs::create_dir(&left).expect("made");
        let mut told = None;
        let hidden = Hidden::make_telling(parent.path(), ".ours", |path| {
            assert!(path.is_dir() && left.is_dir());
            told = Some(path.to_owned());
        });
        assert_eq!(told.as_deref(), Some(hidden.expect("made").place()));
        assert!(!left.exists());
    }

    #[test]
    fn what_a_killed_process_has_left_goes_and_nothing_else_does() {
        let parent = tempfile::tempdir().expect("a folder");
        let at = |name: &str| parent.path().join(name);
        let left = [".ours-1", ".ours-Ab3xYz"];
        let others = [".ours-", ".oursx1", ".other-1", "ours-1", ".ours-unmarked"];
        for name in left.into_iter().chain(others) {
            fs::create_dir(at(name)).expect("made");
            fs::write(at(name).join("file"), "bytes").expect("written");
            if name != ".ours-unmarked" {
                fs::write(at(name).join(MARK), "").expect("written");
            }
        }
        fs::create_dir(at(".ours-empty")).expect("made");
        fs::write(at(".ours-7"), "a file").expect("written");
        std::os::unix::fs::symlink(at(".other-1"), at(".ours-link")).expect("linked");
        let busy = at(".ours-busy");
        fs::create_dir(&busy).expect("made");
        fs::write(busy.join(MARK), "").expect("written");
        let _busy = locked(&busy).expect("a folder").expect("there");
        let hidden = Hidden::make(parent.path(), ".ours").expect("made");
        let path = hidden.place().to_owned();
        assert!(path.is_dir());
        for name in left.into_iter().chain([".ours-empty"]) {
            assert!(!at(name).exists(), "{name}");
        }
        for name in others.into_iter().chain([".ours-7", ".ours-link", ".ours-busy"]) {
            assert!(at(name).exists(), "{name}");
        }
        assert!(at(".other-1").join("file").exists());
        let next = Hidden::make(parent.path(), ".ours").expect("made");
        assert!(path.is_dir(), "it is in use");
        next.close().expect("removed");
        drop(hidden);
        assert!(!path.exists());
    }
}
