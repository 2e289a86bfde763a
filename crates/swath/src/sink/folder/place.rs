//! The steps of writing a folder of segments: inspects an existing one; creates its files, opens them to readers,
//! stores and removes them; finds the error for a name that was not given.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use rustix::io::Errno;
use swath_os::access::Access;

use super::SWAPPED;
use crate::error::{Error, Operation, Reason, Result};
use crate::sink::claim::Claim;
use crate::sink::existing::{DraftOptions, Replace, refuse_planted};
use crate::sink::fs::{CLOSED, Facts, FileKind, FsFile, FsFolder, Located};
use crate::sink::names::{MANIFEST, is_of_a_folder};
use crate::sink::permissions::{close_to, mode_in, mode_of_folder, refuse_beyond};
use crate::sink::place::read_whole;
use crate::source::is_lost;
use crate::together::threads;

/// A manifest of a million segments and extents is shorter; anything longer is not a manifest.
const LONGEST_MANIFEST: usize = 1 << 30;
const LONGEST_PAUSE: Duration = Duration::from_millis(100);
/// Maximum number of segments synced at a time.
const MOST_SYNCS: usize = 8;

/// Reads the manifest in `folder`, called `path` in errors; `None` without one.
pub(crate) fn read_manifest(folder: &dyn FsFolder, path: &Path) -> Result<Option<Vec<u8>>> {
    let file = match folder.open(MANIFEST.as_ref()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|error| Error::io(Operation::Open, path, error))?,
    };
    // Before memory is allocated for a file that may be a hole.
    let len = file.facts().map_err(|error| Error::io(Operation::Inspect, path, error))?.len;
    let read = match len > LONGEST_MANIFEST as u64 {
        true => Ok(None),
        false => read_whole(&*file, LONGEST_MANIFEST),
    };
    match read.map_err(|error| Error::io(Operation::Read, path, error))? {
        Some(bytes) => Ok(Some(bytes)),
        None => Err(Error::new(Operation::Read, Reason::Corrupt, path)
            .detail("it is too long for a manifest")),
    }
}

pub(super) fn remove_if_there(folder: &dyn FsFolder, name: &OsStr) -> io::Result<()> {
    match folder.remove(name) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Creates a file of this mode, even where the mount gives new files more; returns its identity too. Fails if the file
/// lets in more users than the `readers` of the output.
pub(super) fn create_closed(
    folder: &dyn FsFolder,
    name: &OsStr,
    mode: u32,
    readers: Option<Access>,
) -> io::Result<(Arc<dyn FsFile>, (u64, u64))> {
    let file = folder.create_new(name, mode)?;
    let closed = match readers {
        Some(readers) if mode == CLOSED => close_to(&*file, mode)
            .and_then(|()| refuse_beyond(&*file, mode_in(readers, &*file)? | CLOSED)),
        // In a new folder, no other user can find it.
        _ => Ok(()),
    };
    match closed.and_then(|()| file.facts()) {
        Ok(facts) => Ok((file, facts.identity)),
        Err(error) => folder.remove(name).and(Err(error)),
    }
}

/// Lets the readers of an output read this file of it.
pub(super) fn open_to(readers: Access, file: &dyn FsFile) -> io::Result<()> {
    let mode = mode_in(readers, file)? & 0o666;
    file.set_mode(mode)?;
    refuse_beyond(file, mode)
}

/// Removes a folder whose files have just been removed. FUSE learns of a close with a delay, and until then keeps the
/// file in the folder under another name.
pub(super) fn remove_emptied(parent: &dyn FsFolder, name: &OsStr) -> io::Result<()> {
    let mut pause = Duration::from_millis(1);
    loop {
        match parent.remove_folder(name) {
            Err(error)
                if error.kind() == ErrorKind::DirectoryNotEmpty && pause < LONGEST_PAUSE =>
            {
                sleep(pause);
                pause *= 2;
            }
            removed => return removed,
        }
    }
}

/// Creates an empty folder that only its owner can open; returns its name too.
pub(super) fn create(claim: &Claim) -> Result<(Arc<dyn FsFolder>, OsString)> {
    let (parent, hidden) = (&claim.folder, claim.hidden());
    let made = match parent.create_folder(&hidden) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => claim
            .instead_of(hidden)
            .and_then(|hidden| parent.create_folder(&hidden).map(|made| (made, hidden))),
        made => made.map(|made| (made, hidden)),
    };
    let (made, hidden) = made.map_err(|error| claim.error(Operation::Create, error))?;
    // Another process could swap it between creation and opening.
    let is_new = made.own_facts().and_then(|own| {
        let is_ours = claim.owner() == Some(own.owner);
        Ok(is_ours && made.list()?.is_empty() && made.hold())
    });
    let closed = match is_new {
        Ok(false) => return Err(claim.changed(SWAPPED)),
        // The final permissions are set at the end.
        is_new => is_new.and_then(|_| made.set_mode(mode_of_folder(CLOSED))),
    };
    closed.map_err(|error| {
        let _ = parent.remove_folder(&hidden);
        claim.error(Operation::Create, error)
    })?;
    Ok((made, hidden))
}

/// Returns the folder at the target, which is writable; `None` if nothing is there.
pub(super) fn inspect(
    path: &Path,
    located: &Located,
    options: &DraftOptions,
) -> Result<Option<Arc<dyn FsFolder>>> {
    let failed = |error| Error::io(Operation::Inspect, path, error);
    let refused = |error| Error::io(Operation::Create, path, error);
    let Located { folder, name } = located;
    let Some(facts) = folder.facts(name).map_err(failed)? else { return Ok(None) };
    if facts.kind != FileKind::Folder {
        return Err(refused(Errno::NOTDIR.into())
            .hint("pass a folder or a new path to write segments, or choose one plain file"));
    }
    folder.may_write(name).map_err(refused)?;
    refuse_planted(path, &facts, &**folder)?;
    let inside = folder.open_folder(name).map_err(refused)?;
    let names = inside.list().map_err(failed)?;
    if let Some(other) = names.iter().find(|name| !is_of_a_folder(name)) {
        let detail =
            format!("it is a folder with other files in it, {} among them", other.display());
        return Err(Error::new(Operation::Create, Reason::Invalid, path)
            .detail(detail)
            .hint("pass a new path, or a folder of segments"));
    }
    if options.replace == Replace::Refused && names.iter().any(|name| name == MANIFEST) {
        let taken = refused(Errno::EXIST.into());
        return Err(taken.hint("choose another name, or allow the folder to be replaced"));
    }
    Ok(Some(inside))
}

pub(super) fn identity(folder: Option<&Arc<dyn FsFolder>>) -> io::Result<Option<(u64, u64)>> {
    folder.map(|folder| Ok(folder.own_facts()?.identity)).transpose()
}

/// Returns the readers of a folder's contents: those of its manifest.
pub(super) fn readers_of(folder: &dyn FsFolder) -> io::Result<Option<Access>> {
    match folder.open(MANIFEST.as_ref()) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        opened => opened?.access().map(Some),
    }
}

/// Syncs `files`, several at a time: the device has more to choose from, and waits for its cache
/// fewer times. Returns the first error, with the index of its file.
pub(super) fn sync_together(
    files: &[&dyn FsFile],
) -> std::result::Result<(), (usize, io::Error)> {
    let sync = |(): &mut (), index: usize| {
        files[index].store(true).map_err(|(_, error)| (index, error))
    };
    threads(files.len(), MOST_SYNCS, || (), sync)
}

/// Returns the error of a step that should have moved the folder of `ours` to the place of `there`.
pub(super) fn not_named(
    claim: &Claim,
    error: io::Error,
    is_remote: bool,
    there: io::Result<Option<Facts>>,
    ours: io::Result<Facts>,
) -> Error {
    match (there, ours) {
        // FUSE shows a file as another one under a name that it has not given itself.
        _ if is_lost(&error) && is_remote => claim.answer_lost(error),
        (Ok(there), Ok(ours)) if there.is_none_or(|there| there.identity != ours.identity) => {
            claim.error(Operation::Commit, error)
        }
        // The call reported a failure although the name was given, or the result is unknown.
        _ => claim.outcome_unknown(error),
    }
}
