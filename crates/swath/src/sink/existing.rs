//! The file at a target already, and the ways of a draft with it: the options, and the checks
//! before and at the commit.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use rustix::io::Errno;
use rustix::process::geteuid;
use swath_os::access::Access;
use swath_plan::words;

use crate::error::{Common, Error, Operation, Reason, Result};
use crate::sink::claim::Claim;
use crate::sink::fs::{Facts, FileKind, Fs, FsFile, FsFolder, OTHERS_WRITE, STICKY};
use crate::sink::local::LocalFs;

/// Whether a commit survives a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// The device has stored the bytes and the name when commit returns.
    #[default]
    Full,
    /// The kernel has them and will write them later: readers see all or nothing, but after a
    /// power cut the target may be old, empty or damaged.
    None,
}

words!(Durability { Full = "full", None = "none" });

/// How to treat a target that exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Replace {
    /// It is replaced, in one step; mode, owner (where allowed) and attributes are kept.
    #[default]
    Allowed,
    /// It is an error, and the file is never touched.
    Refused,
    /// It is truncated, and written where it is: for a file that no other can take the place of, such as one
    /// that is mounted by itself in a container, or one in a folder that this process cannot write to.
    ///
    /// This is not one step: readers see the file grow, and after an error, a crash or a power cut it holds a
    /// part of the new bytes. It keeps its owner, mode, attributes and other names. What the bytes are made
    /// from must be another file. If nothing is there, a new file is made, in one step. Where the folder
    /// cannot be written to, there is no lock: a second writer is then not detected
    /// ([`Fallback::NoLocks`](crate::Fallback::NoLocks)). A copy of [`heal`](crate::heal()) or
    /// [`mirror`](crate::mirror()), a job's output, a shared draft and an existing file that is appended to are
    /// never written in this way.
    InPlace,
}

/// The hint if no file can take the place of the target.
const IN_PLACE: &str =
    "write to it in place (`Replace::InPlace`), which is not one step, or to another name";

/// How to treat a target with other names (hard links), which would keep the old bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HardLinks {
    /// It is an error.
    #[default]
    Refused,
    /// This name gets the new bytes; the others keep the old ones.
    Broken,
}

words!(HardLinks { Refused = "refuse", Broken = "break" });

/// The file that must still be at the target when the draft gets its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DraftBase {
    /// Whatever [`Replace`] lets a draft replace.
    #[default]
    Any,
    /// Nothing. Where no call refuses a name that is taken, it is looked at just before the rename.
    Nothing,
    /// This file, in this state.
    File(Facts),
}

/// How to write a draft.
#[derive(Clone, Debug)]
pub(crate) struct DraftOptions {
    pub(crate) fs: Arc<dyn Fs>,
    pub(crate) replace: Replace,
    pub(crate) hard_links: HardLinks,
    pub(crate) durability: Durability,
    /// The file that the new bytes build on.
    pub(crate) base: DraftBase,
    /// The files that the new bytes are made from, as far as they are known.
    pub(crate) inputs: Vec<PathBuf>,
}

impl Default for DraftOptions {
    fn default() -> Self {
        Self {
            fs: Arc::new(LocalFs),
            replace: Replace::default(),
            hard_links: HardLinks::default(),
            durability: Durability::default(),
            base: DraftBase::Any,
            inputs: Vec::new(),
        }
    }
}

impl DraftOptions {
    /// Fails if the target is to be written in place, where `what` is not.
    pub(crate) fn refuse_in_place(&self, path: &Path, what: &str) -> Result<()> {
        if self.replace != Replace::InPlace {
            return Ok(());
        }
        Err(Error::new(Operation::Create, Reason::Invalid, path)
            .detail(format!("{what} is never written in place"))
            .hint("let the file be replaced, or write to another name"))
    }

    /// Fails if the target, a file of `facts`, is what its bytes are made from.
    pub(crate) fn refuse_input(&self, path: &Path, facts: &Facts) -> Result<()> {
        let is_it = |path: &Path| {
            let input = fs::metadata(path);
            input.is_ok_and(|input| (input.dev(), input.ino()) == facts.identity)
        };
        // Of a folder of segments, each file.
        let has_it = |folder: &Path| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.into_iter().any(|entry| is_it(&entry.path()))
        };
        if !self.inputs.iter().any(|input| is_it(input) || has_it(input)) {
            return Ok(());
        }
        Err(Error::new(Operation::Create, Reason::Invalid, path)
            .detail("it is the input, or a part of it, and would be written in place")
            .hint("write to another name"))
    }
}

/// The error of a target that no new file can replace, for the reason `text`.
pub(crate) fn irreplaceable(path: &Path, error: &io::Error, text: &str) -> Error {
    Error::io(Operation::Create, path, explained(error, text)).hint(IN_PLACE)
}

/// Returns the error with the reason `text` before it.
pub(crate) fn explained(error: &io::Error, text: &str) -> io::Error {
    let text = format!("{text}: {error}");
    match error.raw_os_error() {
        Some(number) => Common { number, text }.into(),
        None => io::Error::new(error.kind(), text),
    }
}

/// The error of a target that is a mount point.
pub(crate) fn mounted(path: &Path, error: &io::Error) -> Error {
    irreplaceable(path, error, "it is a mount point, which no other file can take the place of")
}

/// The error of an output that is never written in place.
pub(crate) fn not_in_place(error: Error) -> Error {
    match error.io_kind() {
        _ if error.what_to_try() != IN_PLACE => error,
        io::ErrorKind::PermissionDenied => error.hint("check the permissions of its folder"),
        _ => error.hint("write to another name"),
    }
}

/// The error for a name that is taken.
pub(crate) fn taken(path: &Path) -> Error {
    Error::io(Operation::Create, path, Errno::EXIST.into())
        .hint("choose another name, or allow the file to be replaced")
}

/// Fails if the target is not what the new bytes build on any more.
pub(crate) fn still_there(claim: &Claim, options: &DraftOptions) -> Result<()> {
    if options.base == DraftBase::Any {
        return Ok(());
    }
    let found = claim.folder.facts(&claim.name);
    let found = found.map_err(|error| claim.error(Operation::Inspect, error))?;
    match (&options.base, found) {
        (DraftBase::Nothing, None) => return Ok(()),
        (DraftBase::Nothing, Some(_)) => return Err(made_meanwhile(claim)),
        (DraftBase::File(base), Some(found)) if found.are_of_one_state(base) => return Ok(()),
        _ => {}
    }
    Err(Error::new(Operation::Commit, Reason::Changed, &claim.path)
        .detail("another program has changed, replaced or removed it since it was read")
        .hint("run it again with the file as it is now"))
}

fn made_meanwhile(claim: &Claim) -> Error {
    Error::new(Operation::Commit, Reason::Changed, &claim.path)
        .detail("another program has made it since its absence was noted")
        .hint("run it again with the file as it is now")
}

/// Returns what is at the target.
///
/// # Errors
///
/// If it must not be replaced: because of what [`look_at`] finds, because it has other names, or
/// because no file may be.
pub(crate) fn inspect(claim: &Claim, options: &DraftOptions) -> Result<Option<Facts>> {
    let path = &claim.path;
    let Some(facts) = look_at(path, &*claim.folder, &claim.name)? else { return Ok(None) };
    match options.replace {
        Replace::Refused => return Err(taken(path)),
        _ if options.base == DraftBase::Nothing => return Err(made_meanwhile(claim)),
        Replace::InPlace => return Ok(Some(facts)),
        Replace::Allowed => {}
    }
    if facts.links > 1 && options.hard_links == HardLinks::Refused {
        let detail =
            format!("it has {} names, and the others would keep the old bytes", facts.links);
        return Err(Error::new(Operation::Create, Reason::Invalid, path)
            .detail(detail)
            .hint("write to another name, or choose that hard links are broken"));
    }
    Ok(Some(facts))
}

/// Who may use a file that was found under a name: its owner alone, if that cannot be found out.
pub(crate) fn access_of(folder: &dyn FsFolder, name: &OsStr, found: &Facts) -> Access {
    let opened = folder.open(name).and_then(|file| Ok((file.facts()?, file.access()?)));
    match opened {
        Ok((facts, access)) if facts.are_of_one_file(found) => access,
        _ => Access::new(found.mode & 0o700, None),
    }
}

/// Whether a file is there now that was not there before: nothing about it has been checked, and another user may have
/// put it there, who would lose it.
pub(crate) fn is_new_there(there: &Facts, before: Option<&Facts>) -> bool {
    before.is_none_or(|before| !before.are_of_one_file(there))
}

/// Returns what is at the target.
///
/// # Errors
///
/// If it is not a regular file, or is not writable.
pub(crate) fn look_at(
    path: &Path,
    folder: &dyn FsFolder,
    name: &OsStr,
) -> Result<Option<Facts>> {
    let found = folder.facts(name);
    let Some(facts) = found.map_err(|error| Error::io(Operation::Inspect, path, error))? else {
        return Ok(None);
    };
    match facts.kind {
        FileKind::Folder => Err(Error::io(Operation::Create, path, Errno::ISDIR.into())),
        FileKind::Special => Err(Error::new(Operation::Create, Reason::Invalid, path)
            .detail("it is a device, pipe, socket or new link, which cannot be replaced")
            .hint("pass the path of a regular file, or one that does not exist yet")),
        FileKind::File => match folder.may_write(name) {
            // It has been removed since.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(Operation::Create, path, error)),
            Ok(()) => refuse_planted(path, &facts, folder).map(|()| Some(facts)),
        },
    }
}

/// The hint about a target in a folder such as `/tmp`.
pub(crate) const KEPT: &str =
    "write to another name: in this folder only its owner may replace a file";

/// Fails for a target that only its owner or root may replace by `new`.
pub(crate) fn check_replaceable(claim: &Claim, new: &dyn FsFile) -> Result<()> {
    if geteuid().is_root() || !is_kept_by_its_owner(claim, new) {
        return Ok(());
    }
    Err(claim.error(Operation::Create, Errno::PERM.into()).hint(KEPT))
}

/// Whether the folder is sticky, as `/tmp` is, and both it and the target are of other users than a new file.
pub(crate) fn is_kept_by_its_owner(claim: &Claim, new: &dyn FsFile) -> bool {
    let folder = claim.folder.own_facts().ok().filter(|folder| folder.mode & STICKY != 0);
    let Some(folder) = folder else { return false };
    let (there, new) = (claim.folder.facts(&claim.name), new.facts());
    let (Ok(Some(there)), Ok(new)) = (there, new) else { return false };
    ![folder.owner, there.owner].contains(&new.owner)
}

/// Fails if what is in a folder such as `/tmp` is neither ours nor of the folder's owner: new bytes would be its
/// owner's to read. The kernel's `fs.protected_regular` has the same rule for files.
pub(crate) fn refuse_planted(path: &Path, facts: &Facts, folder: &dyn FsFolder) -> Result<()> {
    let is_planted = folder.own_facts().is_ok_and(|folder| {
        folder.mode & STICKY != 0
            && folder.mode & OTHERS_WRITE != 0
            && ![folder.owner, geteuid().as_raw()].contains(&facts.owner)
    });
    if !is_planted {
        return Ok(());
    }
    let what = "another user has put it into a folder that others may write to";
    Err(Error::io(Operation::Create, path, explained(&Errno::ACCESS.into(), what))
        .hint("write to another name, or remove it first"))
}

pub(crate) fn is_unsupported<T>(result: &io::Result<T>) -> bool {
    result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::Unsupported)
}

/// Whether a file system sets no lengths.
pub(crate) fn is_no_length(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported)
}

/// Whether the answer to a call may have been lost, and not the call.
pub(crate) fn is_lost(error: &io::Error) -> bool {
    let lost =
        [Errno::IO, Errno::NOTCONN, Errno::CONNRESET, Errno::CONNABORTED, Errno::TIMEDOUT];
    lost.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// File systems without hard links answer in either way.
pub(crate) fn cannot_link(error: &io::Error) -> bool {
    [io::ErrorKind::Unsupported, io::ErrorKind::PermissionDenied].contains(&error.kind())
}
