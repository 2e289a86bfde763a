//! Opens the folders on the way to a name: at once if no link is among them, otherwise one by one.
//!
//! The kernel applies `fs.protected_symlinks` only to a link at the end of a path. Here every link
//! is checked: otherwise a user who plants a link to a folder could redirect a write anywhere.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{
    FileType, Mode, OFlags, PROC_SUPER_MAGIC, ResolveFlags, fstat, fstatfs, openat, openat2,
};
use rustix::io::{Errno, retry_on_intr};

use super::{MOST_LINKS, Strangers, text_held};

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);
const HELD: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// The target of a name on the way.
enum Step {
    Folder(OwnedFd),
    /// A link, and its target.
    Link(PathBuf),
}

/// Opens a folder, for reading if that is allowed.
///
/// # Errors
///
/// The errors of open(2), including `EACCES` for a link that must not be followed.
pub(super) fn open(
    from: impl AsFd,
    path: &Path,
    strangers: &mut Strangers,
) -> io::Result<OwnedFd> {
    let opened = match open_without_links(&from, path, OFlags::RDONLY) {
        // Names may still be created in it.
        Err(Errno::ACCESS) => open_without_links(&from, path, OFlags::PATH),
        opened => opened,
    };
    match opened {
        // There is a link; or this kernel lacks the call, or a filter forbids it; or the path is
        // longer than the kernel takes at one time.
        Err(Errno::LOOP | Errno::NOSYS | Errno::PERM | Errno::NAMETOOLONG) => {
            to_be_read(walk(&from, path, strangers)?)
        }
        opened => Ok(opened?),
    }
}

fn open_without_links(
    from: impl AsFd,
    path: &Path,
    how: OFlags,
) -> rustix::io::Result<OwnedFd> {
    let (flags, resolve) = (how | FOLDER, ResolveFlags::NO_SYMLINKS);
    retry_on_intr(|| openat2(&from, path, flags, Mode::empty(), resolve))
}

/// Opens the folder for reading.
fn to_be_read(held: OwnedFd) -> io::Result<OwnedFd> {
    match open_at(&held, ".", OFlags::RDONLY | FOLDER) {
        Err(Errno::ACCESS) => Ok(held),
        opened => Ok(opened?),
    }
}

fn open_at(
    from: impl AsFd,
    name: impl AsRef<OsStr>,
    flags: OFlags,
) -> rustix::io::Result<OwnedFd> {
    retry_on_intr(|| openat(&from, name.as_ref(), flags, Mode::empty()))
}

/// Goes from folder to folder, holding each one while the next name is inspected.
fn walk(from: impl AsFd, path: &Path, strangers: &mut Strangers) -> io::Result<OwnedFd> {
    let mut at = open_at(from, ".", HELD | FOLDER)?;
    // Reversed: the next name is last.
    let mut names = Vec::new();
    push(&mut names, path);
    let mut links = 0;
    while let Some(name) = names.pop() {
        match step(&at, &name, strangers)? {
            Step::Folder(folder) => at = folder,
            Step::Link(_) if links == MOST_LINKS => return Err(Errno::LOOP.into()),
            Step::Link(text) => {
                links += 1;
                push(&mut names, &text);
            }
        }
    }
    Ok(at)
}

fn push(names: &mut Vec<OsString>, path: &Path) {
    names.extend(path.iter().rev().map(OsStr::to_owned));
}

fn step(at: &OwnedFd, name: &OsStr, strangers: &mut Strangers) -> io::Result<Step> {
    // Also an automount, which is mounted only when it is opened as a folder.
    match open_at(at, name, HELD | FOLDER | OFlags::NOFOLLOW) {
        Err(Errno::NOTDIR | Errno::LOOP) => {}
        opened => return Ok(Step::Folder(opened?)),
    }
    let link = open_at(at, name, HELD | OFlags::NOFOLLOW)?;
    let facts = fstat(&link)?;
    if FileType::from_raw_mode(facts.st_mode) != FileType::Symlink {
        return Err(Errno::NOTDIR.into());
    }
    if fstatfs(&link)?.f_type == PROC_SUPER_MAGIC {
        // One of the kernel's own links, whose text need not be a path: `/proc/self/fd/3`.
        return Ok(Step::Folder(open_at(at, name, HELD | FOLDER)?));
    }
    text_held(at, &link, &facts, strangers).map(Step::Link)
}
