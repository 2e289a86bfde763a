//! A hidden folder inside another one, for the files of measurements.
//!
//! Its maker holds a lock on it. A folder without a lock was left by a killed process, and is
//! removed when the next one is made.

use std::collections::hash_map::RandomState;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, Metadata, TryLockError};
use std::hash::BuildHasher;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;

use rustix::fs::OFlags;

use crate::file_system::is_remote;
use crate::names::open_to_read;

/// A file in each hidden folder, of the same owner, with the folder's name in it. Another user cannot put such a file into
/// another folder that only its owner may use; one that others may use is not taken for a hidden one.
const MARK: &str = ".made-by-swath";
/// The end of the name of a folder that is being removed.
const GONE: &str = "-gone";
/// The most times that a folder may be taken away between two calls.
const TIMES: usize = 100;

/// The place and identity of a folder: see [`remove`].
#[derive(Clone, Debug)]
pub struct HiddenPlace {
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
}

impl HiddenPlace {
    fn of(folder: &File, path: PathBuf) -> io::Result<Self> {
        Ok(Self { path, identity: identity(&folder.metadata()?) })
    }
}

/// A hidden folder in another one. Removed when dropped, with all its contents.
#[derive(Debug)]
pub struct Hidden {
    place: HiddenPlace,
    inside: PathBuf,
    lock: File,
}

impl Hidden {
    /// Makes the folder, under a name that starts with `kind` and cannot be guessed, and removes
    /// folders of that kind and this user whose processes were killed.
    ///
    /// # Errors
    ///
    /// If it cannot be made there.
    pub fn make(parent: &Path, kind: &str) -> io::Result<Self> {
        Self::make_telling(parent, kind, |_| {})
    }

    /// Like [`Self::make`]; calls `tell` with the place as soon as the folder exists and is locked,
    /// before removing the folders of killed processes, which may take long.
    ///
    /// # Errors
    ///
    /// If it cannot be made there.
    pub fn make_telling(
        parent: &Path,
        kind: &str,
        tell: impl FnOnce(&HiddenPlace),
    ) -> io::Result<Self> {
        let failed = |error: io::Error| {
            let text = format!("cannot make a folder in {}: {error}", parent.display());
            io::Error::new(error.kind(), text)
        };
        // Until it is locked, another process may take it for an abandoned one.
        for _ in 0..TIMES {
            let path = made(parent, kind).map_err(failed)?;
            let locked = locked(&path).map_err(failed);
            if locked.is_err() {
                let _ = fs::remove_dir(&path);
            }
            if let Some(lock) = locked? {
                // From here its lock shows whether it is in use.
                let inside = inside_of(&lock, &path);
                if !mark(&lock, &inside, &path).map_err(failed)? {
                    return Err(failed(io::Error::other("another folder is in its place")));
                }
                let place = HiddenPlace::of(&lock, path).map_err(failed)?;
                let hidden = Self { place, inside, lock };
                tell(&hidden.place);
                sweep(parent, kind, &hidden.lock.metadata().map_err(failed)?);
                return Ok(hidden);
            }
        }
        Err(failed(io::Error::other("others lock or remove what is made there")))
    }

    /// Returns a path to the folder that no other user can redirect: through its descriptor.
    pub fn path(&self) -> &Path {
        &self.inside
    }

    /// Returns the folder's path. If others may write to its parent, another folder may be there
    /// later.
    pub fn place(&self) -> &Path {
        &self.place.path
    }

    /// Removes the folder.
    ///
    /// # Errors
    ///
    /// The failure to remove it.
    pub fn close(self) -> io::Result<()> {
        remove_through(&self.place, Some(&self.inside))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let _ = remove_through(&self.place, Some(&self.inside));
    }
}

/// Removes a hidden folder, if it exists, even if threads are writing to it: it is renamed first,
/// so that they make no more files through its [`Hidden::place`]. Keeps anything that another user
/// has put in its place.
///
/// # Errors
///
/// The failure to remove it, or that something else is in its place.
pub fn remove(place: &HiddenPlace) -> io::Result<()> {
    remove_through(place, None)
}

/// Removes a hidden folder `through` a path by its descriptor: a process may have no other one
/// left.
fn remove_through(place: &HiddenPlace, through: Option<&Path>) -> io::Result<()> {
    let path = &place.path;
    let mut gone = path.clone().into_os_string();
    gone.push(GONE);
    let gone = PathBuf::from(gone);
    // Of the same kind, so that the next one finds the rest of it.
    let at = if fs::rename(path, &gone).is_ok() { &gone } else { path };
    let is_it = |facts: &Metadata| identity(facts) == place.identity;
    let other = || {
        let _ = fs::rename(at, path);
        empty_moved(through)?;
        Err(io::Error::other("another folder is in its place"))
    };
    match fs::symlink_metadata(at) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return empty_moved(through),
        Ok(facts) if is_it(&facts) => {}
        _ => return other(),
    }
    let mut removed = fs::remove_dir(at);
    let is_full = |it: &io::Result<()>| {
        it.as_ref().is_err_and(|it| it.kind() == io::ErrorKind::DirectoryNotEmpty)
    };
    if is_full(&removed) {
        let folder = if through.is_some() { None } else { Some(opened(at)?) };
        if folder.as_ref().is_some_and(|it| !it.metadata().is_ok_and(|facts| is_it(&facts))) {
            return other();
        }
        let own = folder.as_ref().map(|folder| inside_of(folder, at));
        let inside = own.as_deref().or(through).unwrap_or(at);
        // A thread that makes files faster than this cannot be stopped.
        for _ in 0..TIMES {
            empty(inside)?;
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

/// Empties a folder whose name is gone: it was removed, or another user has moved it.
fn empty_moved(through: Option<&Path>) -> io::Result<()> {
    let Some(inside) = through else { return Ok(()) };
    if fs::metadata(inside).is_ok_and(|facts| facts.is_dir() && facts.nlink() > 0) {
        empty(inside)?;
        return Err(io::Error::other("another user has moved it; what was in it is removed"));
    }
    Ok(())
}

/// Empties a folder, its mark last: until then the next one finds it.
fn empty(folder: &Path) -> io::Result<()> {
    let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let removed = match entry.file_type()?.is_dir() {
            // Threads that make files by its path no longer find it.
            true => {
                let mut gone = entry.path().into_os_string();
                gone.push(GONE);
                let gone = PathBuf::from(gone);
                let at =
                    if fs::rename(entry.path(), &gone).is_ok() { gone } else { entry.path() };
                fs::remove_dir_all(at)
            }
            false if entry.file_name() == MARK => Ok(()),
            false => fs::remove_file(entry.path()),
        };
        match removed {
            // Threads still write to it: the next round removes those files.
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

/// Returns a path that leads to the open folder, whatever another user puts in its place; its own
/// path without `/proc`.
pub fn inside_of(folder: &File, path: &Path) -> PathBuf {
    // With the process's number, so that its children can use it too.
    let inside = PathBuf::from(format!("/proc/{}/fd/{}", process::id(), folder.as_raw_fd()));
    let leads_there = fs::metadata(&inside).is_ok_and(|facts| is_same(&facts, folder));
    if leads_there { inside } else { path.to_owned() }
}

/// Makes a folder for this user alone, under a name that cannot be guessed. Its errors are those of
/// mkdir(2); `tempfile` would add the name to them.
fn made(parent: &Path, kind: &str) -> io::Result<PathBuf> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        // Each has new keys, which come from the kernel.
        let number = RandomState::new().hash_one(kind);
        let path = parent.join(format!("{kind}-{number:016x}"));
        match DirBuilder::new().mode(0o700).create(&path) {
            // Some servers report this error if the disk is full.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < TIMES => {}
            made => return made.map(|()| path),
        }
    }
}

/// Marks a folder that was just made and opened; `false` if another user has replaced it before:
/// the folder is not empty, belongs to another user, or can be written by others although the new
/// one is for its owner.
fn mark(folder: &File, inside: &Path, path: &Path) -> io::Result<bool> {
    let facts = folder.metadata()?;
    let is_closed = facts.mode() & 0o022 == 0 || is_remote(folder);
    if !is_closed || fs::read_dir(inside)?.next().is_some() {
        return Ok(false);
    }
    let mark = inside.join(MARK);
    let mut file = match File::create_new(&mark) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(false),
        file => file?,
    };
    let is_ours = file.metadata()?.uid() == facts.uid();
    match is_ours {
        true => file.write_all(name_of(path))?,
        false => fs::remove_file(&mark)?,
    }
    Ok(is_ours)
}

/// Whether the folder was made here under this name, by its owner.
fn is_marked(folder: &File, path: &Path) -> bool {
    let file = open_to_read(folder, OsStr::new(MARK));
    let (Ok(file), Ok(folder)) = (file, folder.metadata()) else { return false };
    let is_closed = folder.mode() & 0o077 == 0;
    let is_its_owner = |it: Metadata| is_closed && it.is_file() && it.uid() == folder.uid();
    let mut name = Vec::new();
    let read = (&file).take(name_of(path).len() as u64 + 1).read_to_end(&mut name);
    file.metadata().is_ok_and(is_its_owner) && read.is_ok() && name == name_of(path)
}

/// Returns the name under which the folder was made.
fn name_of(path: &Path) -> &[u8] {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    name.strip_suffix(GONE.as_bytes()).unwrap_or(name)
}

/// Locks a folder; `None` if it is gone by then, or locked by a process that is about to remove it.
fn locked(path: &Path) -> io::Result<Option<File>> {
    let folder = match opened(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        folder => folder?,
    };
    // If locks do not work here, nothing is swept either: see below.
    if matches!(folder.try_lock(), Err(TryLockError::WouldBlock)) {
        return Ok(None);
    }
    let is_there = fs::metadata(path).is_ok_and(|facts| is_same(&facts, &folder));
    Ok(is_there.then_some(folder))
}

/// Opens a folder, but not through a link.
fn opened(path: &Path) -> io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

fn is_same(facts: &Metadata, folder: &File) -> bool {
    folder.metadata().is_ok_and(|own| identity(&own) == identity(facts))
}

/// Returns device and inode.
pub fn identity(facts: &Metadata) -> (u64, u64) {
    (facts.dev(), facts.ino())
}

/// Removes folders of that kind whose makers are gone, of the user who owns `mine`. Keeps a folder
/// whose state is unknown, or that cannot be removed.
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
    if fs::remove_dir(path).is_err()
        && is_marked(&folder, path)
        && let Ok(place) = HiddenPlace::of(&folder, path.to_owned())
    {
        let _ = remove(&place);
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

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
        remove(&hidden.place).expect("removed");
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
        fs::write(other.join(MARK), name_of(hidden.place())).expect("written");
        fs::rename(hidden.place(), &aside).expect("mine");
        fs::rename(&other, hidden.place()).expect("mine");
        fs::write(hidden.path().join("file"), "ours").expect("written");
        let place = hidden.place().to_owned();
        hidden.close().expect_err("another one is there");
        assert_eq!(fs::read(place.join("file")).expect("there"), b"of another");
        assert!(!aside.join("file").exists(), "what is ours goes wherever it is");
    }

    #[test]
    fn what_is_in_one_that_was_moved_is_removed_and_that_is_said() {
        let parent = tempfile::tempdir().expect("a folder");
        let hidden = Hidden::make(parent.path(), ".ours").expect("made");
        let aside = parent.path().join("aside");
        fs::write(hidden.path().join("file"), "ours").expect("written");
        fs::rename(hidden.place(), &aside).expect("mine");
        let error = hidden.close().expect_err("it is elsewhere");
        assert!(error.to_string().contains("moved"), "{error}");
        assert_eq!(fs::read_dir(&aside).expect("there").count(), 0);
        let hidden = Hidden::make(parent.path(), ".ours").expect("made");
        fs::remove_dir_all(hidden.place()).expect("ours");
        hidden.close().expect("it is gone, as it should be");
    }

    #[test]
    fn a_folder_that_others_can_write_to_or_that_is_not_empty_is_not_taken_for_the_new_one() {
        let parent = tempfile::tempdir().expect("a folder");
        let path = parent.path().join(".ours-1");
        fs::create_dir(&path).expect("made");
        let is_taken = |mode| {
            fs::set_permissions(&path, Permissions::from_mode(mode)).expect("mine");
            let folder = opened(&path).expect("there");
            mark(&folder, &inside_of(&folder, &path), &path).expect("mine")
        };
        assert!(!is_taken(0o777));
        assert!(is_taken(0o700));
        assert!(!is_taken(0o700), "it has a mark now");
    }

    #[test]
    fn its_path_is_told_before_others_are_removed() {
        let parent = tempfile::tempdir().expect("a folder");
        let left = parent.path().join(".ours-1");
        fs::create_dir(&left).expect("made");
        let mut told = None;
        let hidden = Hidden::make_telling(parent.path(), ".ours", |place| {
            assert!(place.path.is_dir() && left.is_dir());
            told = Some(place.path.clone());
        });
        assert_eq!(told.as_deref(), Some(hidden.expect("made").place()));
        assert!(!left.exists());
    }

    #[test]
    fn what_a_killed_process_has_left_goes_and_nothing_else_does() {
        let parent = tempfile::tempdir().expect("a folder");
        let at = |name: &str| parent.path().join(name);
        let left = [".ours-1", ".ours-Ab3xYz"];
        let others = [
            ".ours-",
            ".oursx1",
            ".other-1",
            "ours-1",
            ".ours-unmarked",
            ".ours-moved",
            ".ours-open",
        ];
        for name in left.into_iter().chain(others) {
            fs::create_dir(at(name)).expect("made");
            // A user who may write to one that is open can mark it.
            let mode = if name == ".ours-open" { 0o770 } else { 0o700 };
            fs::set_permissions(at(name), Permissions::from_mode(mode)).expect("mine");
            fs::write(at(name).join("file"), "bytes").expect("written");
            if name != ".ours-unmarked" {
                // A folder that was moved here has the mark of another name.
                let name_there = if name == ".ours-moved" { ".ours-3" } else { name };
                fs::write(at(name).join(MARK), name_there).expect("written");
            }
        }
        fs::create_dir(at(".ours-empty")).expect("made");
        fs::write(at(".ours-7"), "a file").expect("written");
        std::os::unix::fs::symlink(at(".other-1"), at(".ours-link")).expect("linked");
        let busy = at(".ours-busy");
        fs::create_dir(&busy).expect("made");
        fs::write(busy.join(MARK), ".ours-busy").expect("written");
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
