//! What stands under a target already, and what a draft may do with it: the choices, and the looks
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

/// How sure to be, at commit, that a power cut does not undo it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// The device has bytes and name when commit returns.
    #[default]
    Full,
    /// The kernel has them, and will write them when it likes: readers see all or nothing, but
    /// after a power cut the target may be old, empty or damaged.
    None,
}

words!(Durability { Full = "full", None = "none" });

/// What to do if the target exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Replace {
    /// It is replaced, in one step; mode, owner (where allowed) and attributes are kept.
    #[default]
    Allowed,
    /// That is an error, and the file is never touched.
    Refused,
}

/// What to do if the target has further names (hard links), which would keep the old bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HardLinks {
    /// That is an error.
    #[default]
    Refused,
    /// This name gets the new bytes; the others keep the old ones.
    Broken,
}

words!(HardLinks { Refused = "refuse", Broken = "break" });

/// How to leave something behind.
#[derive(Clone, Debug)]
pub(crate) struct DraftOptions {
    pub(crate) fs: Arc<dyn Fs>,
    pub(crate) replace: Replace,
    pub(crate) hard_links: HardLinks,
    pub(crate) durability: Durability,
    /// What is replaced, if the new bytes build on it.
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

/// The error of a name that is taken.
pub(crate) fn taken(path: &Path) -> Error {
    Error::io(Operation::Create, path, Errno::EXIST.into())
        .hint("choose another name, or allow it to be replaced")
}

/// Fails if something else stands under the target than what the new bytes build on.
pub(crate) fn still_there(claim: &Claim, options: &DraftOptions) -> Result<()> {
    let Some(base) = &options.base else { return Ok(()) };
    let found = claim.folder.facts(&claim.name);
    let found = found.map_err(|error| claim.error(Operation::Inspect, error))?;
    if found.is_some_and(|found| found.are_of_one_state(base)) {
        return Ok(());
    }
    Err(Error::new(Operation::Commit, Reason::Changed, &claim.path)
        .detail("another program has written, replaced or removed it since it was taken over")
        .hint("append again: it is as the other program left it"))
}

/// Returns what stands under the target.
///
/// # Errors
///
/// That it must not be replaced: what [`look_at`] finds, a file with further names, or any file if
/// that is not allowed.
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
            .hint("write to another name, or allow hard links to be broken"));
    }
    Ok(Some(facts))
}

/// Returns what stands under the target.
///
/// # Errors
///
/// That it is no ordinary file, or one that may not be written.
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
            .hint("name an ordinary file, or a new one")),
        FileKind::File => match folder.may_write(name) {
            // It has gone since.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(Operation::Create, path, error)),
            Ok(()) => Ok(Some(facts)),
        },
    }
}
