//! The file that is at a target already: the options for it, and the checks before and at the
//! commit.

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
    /// The kernel has bytes and name and will write them later: readers see all or nothing, but
    /// after a power cut the target may be old, empty or damaged.
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
    /// It is truncated and written in place: for a file that cannot be replaced by another one, such as one that
    /// is mounted by itself in a container, or one in a folder that this process cannot write to.
    ///
    /// This is not one step: readers see the file grow, and after an error, a crash or a power cut it holds a
    /// part of the new bytes. It keeps its owner, mode, attributes and other names. The input must be another
    /// file. If nothing is there, a new file is created, in one step. Where the folder cannot be written to,
    /// there is no lock: a second writer is then not detected
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
    /// This name gets the new bytes; the other names keep the old ones.
    Broken,
}

words!(HardLinks { Refused = "refuse", Broken = "break" });

/// The file that must still be at the target when the draft gets its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DraftBase {
    /// Any file that [`Replace`] permits.
    #[default]
    Any,
    /// No file. Where no call refuses a taken name, the name is checked just before the rename.
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
    /// The known input files of the new bytes.
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
    /// Fails if the target would be written in place, which `what` never is.
    pub(crate) fn refuse_in_place(&self, path: &Path, what: &str) -> Result<()> {
        if self.replace != Replace::InPlace {
            return Ok(());
        }
        Err(Error::new(Operation::Create, Reason::Invalid, path)
            .detail(format!("{what} is never written in place"))
            .hint("let the file be replaced, or write to another name"))
    }

    /// Fails if the target, a file of `facts`, is an input of the new bytes.
    pub(crate) fn refuse_input(&self, path: &Path, facts: &Facts) -> Result<()> {
        let is_it = |path: &Path| {
            let input = fs::metadata(path);
            input.is_ok_and(|input| (input.dev(), input.ino()) == facts.identity)
        };
        // An input may be a file in a folder of segments.
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

/// Returns the error of a target that no new file can replace, for the reason `text`.
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

/// Returns the error of a target that is a mount point.
pub(crate) fn mounted(path: &Path, error: &io::Error) -> Error {
    irreplaceable(path, error, "it is a mount point, which no other file can take the place of")
}

/// Returns the error of an output that is never written in place.
pub(crate) fn not_in_place(error: Error) -> Error {
    match error.io_kind() {
        _ if error.what_to_try() != IN_PLACE => error,
        io::ErrorKind::PermissionDenied => error.hint("check the permissions of its folder"),
        _ => error.hint("write to another name"),
    }
}

/// Returns the error for a name that is taken.
pub(crate) fn taken(path: &Path) -> Error {
    Error::io(Operation::Create, path, Errno::EXIST.into())
        .hint("choose another name, or allow the file to be replaced")
}

/// Fails if the target is no longer the file that the new bytes build on.
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

/// Returns the facts about the file at the target.
///
/// # Errors
///
/// If it must not be replaced: those of [`look_at`]; if it has other names, or if no file may be
/// replaced.
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

/// Returns the access of a file that was found under a name: its owner's alone, if it cannot be read.
pub(crate) fn access_of(folder: &dyn FsFolder, name: &OsStr, found: &Facts) -> Access {
    let opened = folder.open(name).and_then(|file| Ok((file.facts()?, file.access()?)));
    match opened {
        Ok((facts, access)) if facts.are_of_one_file(found) => access,
        _ => Access::new(found.mode & 0o700, None),
    }
}

/// Whether a new file is there: it has not been checked, and may be another user's, who would lose it.
pub(crate) fn is_new_there(there: &Facts, before: Option<&Facts>) -> bool {
    before.is_none_or(|before| !before.are_of_one_file(there))
}

/// Returns the facts about the file at the target.
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
            // It was removed in the meantime.
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

/// Whether the folder is sticky, as `/tmp` is, and neither it nor the target belongs to the owner of a new file.
pub(crate) fn is_kept_by_its_owner(claim: &Claim, new: &dyn FsFile) -> bool {
    let folder = claim.folder.own_facts().ok().filter(|folder| folder.mode & STICKY != 0);
    let Some(folder) = folder else { return false };
    let (there, new) = (claim.folder.facts(&claim.name), new.facts());
    let (Ok(Some(there)), Ok(new)) = (there, new) else { return false };
    ![folder.owner, there.owner].contains(&new.owner)
}

/// Fails if a file in a folder such as `/tmp` belongs neither to this user nor to the folder's owner: its owner could
/// read the new bytes. The kernel's `fs.protected_regular` has the same rule for files.
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

/// Whether the error means that the file system cannot set lengths.
pub(crate) fn is_no_length(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported)
}

/// Whether the file system has no hard links; it may report this in two ways.
pub(crate) fn cannot_link(error: &io::Error) -> bool {
    [io::ErrorKind::Unsupported, io::ErrorKind::PermissionDenied].contains(&error.kind())
}
