//! What is at a target already, and what a draft may do with it: the options, and the checks
//! before and at the commit.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;
use swath_plan::words;

use crate::error::{Error, Operation, Reason, Result};
use crate::sink::claim::Claim;
use crate::sink::fs::{Facts, FileKind, Fs, FsFolder};
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

/// What to do if the target exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Replace {
    /// It is replaced, in one step; mode, owner (where allowed) and attributes are kept.
    #[default]
    Allowed,
    /// It is an error, and the file is never touched.
    Refused,
}

/// What to do if the target has other names (hard links), which would keep the old bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HardLinks {
    /// It is an error.
    #[default]
    Refused,
    /// This name gets the new bytes; the others keep the old ones.
    Broken,
}

words!(HardLinks { Refused = "refuse", Broken = "break" });

/// How to write a draft.
#[derive(Clone, Debug)]
pub(crate) struct DraftOptions {
    pub(crate) fs: Arc<dyn Fs>,
    pub(crate) replace: Replace,
    pub(crate) hard_links: HardLinks,
    pub(crate) durability: Durability,
    /// The file that the new bytes build on, if they do.
    pub(crate) base: Option<Facts>,
}

impl Default for DraftOptions {
    fn default() -> Self {
        Self {
            fs: Arc::new(LocalFs),
            replace: Replace::default(),
            hard_links: HardLinks::default(),
            durability: Durability::default(),
            base: None,
        }
    }
}

/// The error for a name that is taken.
pub(crate) fn taken(path: &Path) -> Error {
    Error::io(Operation::Create, path, Errno::EXIST.into())
        .hint("choose another name, or allow the file to be replaced")
}

/// Fails if the target is not what the new bytes build on any more.
pub(crate) fn still_there(claim: &Claim, options: &DraftOptions) -> Result<()> {
    let Some(base) = &options.base else { return Ok(()) };
    let found = claim.folder.facts(&claim.name);
    let found = found.map_err(|error| claim.error(Operation::Inspect, error))?;
    if found.is_some_and(|found| found.are_of_one_state(base)) {
        return Ok(());
    }
    Err(Error::new(Operation::Commit, Reason::Changed, &claim.path)
        .detail("another program has changed, replaced or removed it since this append began")
        .hint("append again to the file as it is now"))
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
    if options.replace == Replace::Refused {
        return Err(taken(path));
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
            Ok(()) => Ok(Some(facts)),
        },
    }
}
