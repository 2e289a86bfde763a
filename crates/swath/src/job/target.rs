//! Records where the path of an output led when the job was planned, and checks that it still leads there: a neighbour
//! may put a link or another folder there between the plan and the commit.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::data::LocalInode;
use super::input::{local_inode_at, place_here};
use crate::error::{Error, Operation, Reason, Result};
use crate::sink::claim::locate;
use crate::sink::{Fs, path_text};

/// The place to which the path of an output leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TargetPlace {
    #[serde(with = "path_text")]
    name: PathBuf,
    is_link: bool,
    /// The inode of the folder.
    folder: Option<LocalInode>,
}

impl TargetPlace {
    /// Finds the place to which `target` leads.
    pub(super) fn of(target: &Path, fs: &dyn Fs) -> Result<Self> {
        let located = locate(Operation::Create, target, fs)?;
        let is_link = target.is_symlink();
        let inside = if is_link { target.canonicalize().ok() } else { None };
        let inside = inside.as_deref().unwrap_or(target).parent().and_then(local_inode_at);
        let number = located.folder.own_facts().map(|facts| facts.identity.1).ok();
        if inside.is_some_and(|inode| Some(inode.number) != number) {
            return Err(Error::new(Operation::Create, Reason::Changed, target)
                .detail("its path led to two folders while the job was planned")
                .hint("pass a path whose folders only you can rename"));
        }
        Ok(Self { name: PathBuf::from(&located.name), is_link, folder: inside })
    }

    /// Fails if `target` now leads elsewhere, as far as can be detected: file servers may number folders differently on
    /// each machine.
    pub(super) fn check(&self, target: &Path, fs: &dyn Fs) -> Result<()> {
        let located = locate(Operation::Commit, target, fs)?;
        let failed = |error| Error::io(Operation::Inspect, target, error);
        let number = located.folder.own_facts().map_err(failed)?.identity.1;
        let is_other = self.folder.is_some_and(|folder| {
            place_here() == Some(folder.place) && folder.number != number
        });
        let name = Path::new(&located.name);
        if is_other || self.is_link != target.is_symlink() || self.name != name {
            return Err(Error::new(Operation::Commit, Reason::Changed, target)
                .detail("its path leads to another file than when the job was planned")
                .hint("check what is at this path now, then plan the job again"));
        }
        Ok(())
    }
}
